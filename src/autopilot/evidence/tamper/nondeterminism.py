"""Product code whose way is decided by the clock, a process number or a random number, taken modulo something."""

import ast
import re
from collections.abc import Iterator

from autopilot.evidence.tamper.case_finder_python import parsed
from autopilot.evidence.tamper.file_pairs import Hit, Pair

_CLOCKS = frozenset(
    {
        "time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time", "getpid",
        "getppid", "get_ident", "now", "utcnow", "urandom", "getrandbits", "random", "randint", "randrange", "uuid4",
    }
)  # fmt: skip
_SOURCE = (
    r"(?:\bDate\.now\(\)|\bnew\s+Date\(\)[\w.()]*|\bMath\.random\(\)|\bperformance\.now\(\)|\bprocess\.(?:pid|hrtime\b[\w.()]*)"
    r"|\bSystem\.(?:nanoTime|currentTimeMillis)\(\)|\bProcessHandle\.current\(\)[\w.()]*"
    r"|\b(?:ThreadLocal)?Random\b[\w.() ]*\.next\w*\("
    r"|\b(?:SystemTime|Instant|Utc|Local)::now\(\)[\w.()?:]*|\bprocess::id\(\)|\btime\.Now\(\)[\w.()]*|\bos\.Getpid\(\)"
    r"|\brand\.\w+\([^()]*\)|\$RANDOM\b|\$\{RANDOM\}|\bRANDOM\b|\$\$|\$BASHPID\b|\$EPOCH\w+|\$\(date\b[^()]*\))"
)
_MODULO = re.compile(rf"{_SOURCE}[^;&|?{{}}\n]*?%\s*[\w$]")
_NAMED = re.compile(
    r"(?:\b(?:const|let|var|int|long|final|u\d+|i\d+|local|mut)\s+)?\b(?P<name>[A-Za-z_]\w*)\s*(?::\s*\w+\s*)?:?=(?!=)"
)
_CONDITION = re.compile(r"\b(?:if|elif|while|unless|when|until)\b|&&|\|\||\?(?!\.)|\[\[?\s|\btest\s|(?<!\$)\(\(")
_LANGUAGES = frozenset({"javascript", "java", "rust", "go", "shell"})


def decided_by_chance(pair: Pair) -> Iterator[Hit]:
    """A number for a colour, a delay or a name decides nothing; a branch on it does."""
    if pair.is_test or pair.is_prose:
        return
    if pair.language == "python":
        yield from _python(pair)
    elif pair.language in _LANGUAGES:
        yield from _others(pair)


def _hit(pair: Pair, line: int) -> Hit:
    return Hit("decided-by-chance", line, f"`{pair.new.bare.split(chr(10))[line - 1].strip()[:80]}`")


def _python(pair: Pair) -> Iterator[Hit]:
    tree, fresh = parsed(pair.new.raw), frozenset(pair.fresh)
    if tree is None or not re.search(r"%|&|divmod", pair.new.code):
        return
    lucky = _lucky_names(tree)
    for node in ast.walk(tree):
        for test in _conditions(node):
            if _is_lucky(test, lucky) and fresh.intersection(range(test.lineno, (test.end_lineno or test.lineno) + 1)):
                yield _hit(pair, next(n for n in range(test.lineno, (test.end_lineno or 0) + 1) if n in fresh))


def _lucky_names(tree: ast.Module) -> frozenset[str]:
    """Variables that hold such a number, and functions that return one."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=targets, value=value) if _draws(value):
                found.update(target.id for target in targets if isinstance(target, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value) if _draws(value):
                found.add(name)
            case ast.NamedExpr(target=ast.Name(id=name), value=value) if _draws(value):
                found.add(name)
            case ast.FunctionDef(name=name, body=[*_, ast.Return(value=ast.expr() as value)]) if _draws(value):
                found.add(name)
            case _:
                continue
    return frozenset(found)


def _conditions(node: ast.AST) -> tuple[ast.expr, ...]:
    match node:
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            return (test,)
        case ast.BoolOp(values=values):
            return tuple(values)
        case ast.comprehension(ifs=tests):
            return tuple(tests)
        case ast.Match(subject=subject):
            return (subject,)
        case _:
            return ()


def _is_lucky(test: ast.expr, lucky: frozenset[str]) -> bool:
    return any(
        (isinstance(n, ast.Name) and n.id in lucky) or (isinstance(n, ast.BinOp) and _draws(n)) for n in ast.walk(test)
    )


def _draws(value: ast.expr) -> bool:
    """A remainder, or some bits, of a clock's, a process's or a random number."""
    for node in ast.walk(value):
        left = node.left if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod | ast.BitAnd) else None
        if isinstance(left, ast.expr) and any(_is_clock(inner) for inner in ast.walk(left)):
            return True
    return False


def _is_clock(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
            return name in _CLOCKS
        case _:
            return False


def _others(pair: Pair) -> Iterator[Hit]:
    lines, fresh = pair.new.code.split("\n"), frozenset(pair.fresh)
    # In shell a quoted variable is still one.
    read = pair.new.bare.split("\n") if pair.language == "shell" else lines
    lucky = []
    for number, line in enumerate(read, start=1):
        found = _MODULO.search(line)
        if found and _CONDITION.search(line) and number in fresh:
            yield _hit(pair, number)
        elif found and (name := _NAMED.search(line)) and number in fresh:
            lucky.append(name["name"])
    if not lucky:
        return
    used = re.compile(rf"(?<![\w.])\$?\{{?(?:{'|'.join(map(re.escape, lucky))})\b")
    for number, line in enumerate(read, start=1):
        if number in fresh and _CONDITION.search(line) and used.search(line) and not _MODULO.search(line):
            yield _hit(pair, number)
