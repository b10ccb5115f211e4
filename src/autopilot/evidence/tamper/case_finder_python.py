"""Test cases of Python source, read with its own parser."""

import ast
import re
import warnings
from collections.abc import Iterator

from autopilot.evidence.tamper.case_values import EXACT, PARTIAL, SOMETHING, Assertion, Case, squeezed
from autopilot.evidence.tamper.masking import Masked

Function = ast.FunctionDef | ast.AsyncFunctionDef
_DEF = re.compile(r"^(?P<indent>[ \t]*)(?:async[ \t]+)?def[ \t]+(?P<name>\w+)", re.MULTILINE)
_ASSERT_LINE = re.compile(r"^\s*(?:assert\b|self\.assert\w+\(|with\s+pytest\.raises)")
_PART_METHODS = re.compile(
    r"assert(?:In|NotIn|Regex|Greater|Less|AlmostEqual|NotEqual|Raises\w*|CountEqual|Logs|Warns)"
)
_WEAK_METHODS = frozenset({"assertTrue", "assertIsNotNone", "assertIsInstance", "assertIsNot", "assert_called"})
_SAME_METHODS = frozenset({"assertEqual", "assertEquals", "assertIs", "assertListEqual", "assertDictEqual"})
_RAISES = frozenset({"raises", "assertRaises", "assertRaisesRegex", "warns", "assertWarns", "assertLogs"})
_TRUE_HELPERS = frozenset({"assert_true", "assert_", "ok_"})
_HELPER = re.compile(r"_?(?:assert|check|verify|expect|ensure|should)(?:_|[A-Z]|$)")
_ASKS = re.compile(r"(?:is|has|can|same|equals?|all)(?:_|$)")
_PARTIAL_CALLS = frozenset({"startswith", "endswith", "search", "match", "issubset", "issuperset"})


def parsed(text: str) -> ast.Module | None:
    """None for what this interpreter cannot read as Python."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def python_cases(masked: Masked, *, beside: str = "") -> tuple[Case, ...]:
    """
    Every function, tests marked as such; by indentation where the parser does not understand the text.

    `beside` is the text it is to be compared with: both are read in the same way.
    """
    tree = parsed(masked.raw) if parsed(beside) is not None else None
    if tree is None:
        return tuple(_by_lines(masked))
    lines = masked.bare.split("\n")
    try:
        return tuple(_case(function, lines, scope, collected=wanted) for function, scope, wanted in _functions(tree))
    except RecursionError:
        return tuple(_by_lines(masked))


def _functions(tree: ast.Module) -> Iterator[tuple[Function, str, bool]]:
    held = _collected_classes(tree)
    for node in tree.body:
        if isinstance(node, Function):
            yield node, "", node.name.startswith("test")
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, Function):
                    yield inner, node.name, node.name in held and inner.name.startswith("test")


def _collected_classes(tree: ast.Module) -> frozenset[str]:
    """Classes whose tests a runner finds: by their name, by a base, or because such a class inherits from them."""
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    held = {node.name for node in classes if node.name.startswith("Test") or node.bases}
    bases = {base.id for node in classes if node.name in held for base in node.bases if isinstance(base, ast.Name)}
    return frozenset(held | bases)


def _case(function: Function, lines: list[str], scope: str, *, collected: bool) -> Case:
    first = min([function.lineno, *(mark.lineno for mark in function.decorator_list)])
    end = function.end_lineno or function.lineno
    return Case(
        name=function.name,
        line=function.lineno,
        text="\n".join(lines[first - 1 : end]),
        body=squeezed(" ".join(lines[function.body[0].lineno - 1 : end])),
        assertions=tuple(assertions(function)),
        collected=collected,
        parametrised=any("parametrize" in ast.unparse(mark) for mark in function.decorator_list),
        first=first,
        last=end,
        scope=scope,
    )


def _by_lines(masked: Masked) -> Iterator[Case]:
    lines, bare = masked.code.split("\n"), masked.bare.split("\n")
    heads = [(i, found) for i, line in enumerate(lines) if (found := _DEF.match(line))]
    for number, (at, found) in enumerate(heads):
        end = heads[number + 1][0] if number + 1 < len(heads) else len(lines)
        said = [(i, lines[i]) for i in range(at + 1, end) if _ASSERT_LINE.match(lines[i])]
        text = "\n".join(bare[at:end])
        yield Case(
            name=found["name"],
            line=at + 1,
            text=text,
            body=squeezed(text.partition("\n")[2]),
            assertions=tuple(Assertion(i + 1, squeezed(line)) for i, line in said),
            collected=found["name"].startswith("test"),
            first=at + 1,
            last=end,
        )


def assertions(function: Function) -> Iterator[Assertion]:
    """In the order of their lines; an expected exception counts as one."""
    found = [made for node in ast.walk(function) if (made := _assertion(node)) is not None]
    yield from sorted(found, key=lambda made: made.line)


def _assertion(node: ast.AST) -> Assertion | None:
    if isinstance(node, ast.Assert):
        return Assertion(node.lineno, f"assert {ast.unparse(node.test)}", _strength(node.test), always(node.test))
    if isinstance(node, ast.With | ast.AsyncWith):
        held = [item.context_expr for item in node.items if isinstance(item.context_expr, ast.Call)]
        raised = next((call for call in held if called(call) in _RAISES), None)
        return Assertion(node.lineno, ast.unparse(raised), _raises_strength(raised)) if raised else None
    if isinstance(node, ast.Expr):
        value = node.value.value if isinstance(node.value, ast.Await) else node.value
        return _statement(value) if isinstance(value, ast.Call) else None
    return None


def _statement(call: ast.Call) -> Assertion | None:
    name = called(call)
    if re.match(r"assert[A-Z_]\w*$|fail$", name) and isinstance(call.func, ast.Attribute):
        strength = SOMETHING if name in _WEAK_METHODS else PARTIAL if _PART_METHODS.match(name) else EXACT
        if name == "assertTrue" and call.args:
            strength = _strength(call.args[0])
        return Assertion(call.lineno, ast.unparse(call), strength, _method_always(name, call))
    if name in _TRUE_HELPERS and call.args:
        return Assertion(call.lineno, ast.unparse(call), _strength(call.args[0]), always(call.args[0]))
    if _HELPER.match(name):
        return Assertion(call.lineno, ast.unparse(call), EXACT, helper=True)
    return None


def called(call: ast.Call) -> str:
    match call.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case _:
            return ""


def _raises_strength(call: ast.Call) -> int:
    broad = bool(call.args) and ast.unparse(call.args[0]) in {"Exception", "BaseException"}
    return SOMETHING if broad else EXACT if any(k.arg == "match" for k in call.keywords) else PARTIAL


def _strength(test: ast.expr) -> int:
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=ast.Call()):
            return PARTIAL
        case ast.Compare(ops=[ast.Eq() | ast.Is()]) | ast.UnaryOp(op=ast.Not()):
            return EXACT
        case ast.Compare(ops=ops):
            return SOMETHING if isinstance(ops[0], ast.IsNot) else PARTIAL
        case ast.BoolOp(op=op, values=values):
            strengths = list(map(_strength, values))
            return max(strengths) if isinstance(op, ast.And) else min(strengths)
        case ast.Call() as call:
            return PARTIAL if called(call) in _PARTIAL_CALLS else EXACT if _ASKS.match(called(call)) else SOMETHING
        case _:
            return SOMETHING


def always(test: ast.expr) -> bool:
    """Whether the expression is true whatever the code does."""
    match test:
        case ast.Constant(value=value):
            return bool(value)
        case ast.Tuple(elts=elements):
            return bool(elements)
        case ast.BoolOp(op=op, values=values):
            return any(map(always, values)) if isinstance(op, ast.Or) else all(map(always, values))
        case ast.UnaryOp(op=ast.Not(), operand=ast.Constant(value=value)):
            return not value
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _holds_anyway(left, op, right)
        case _:
            return False


def _holds_anyway(left: ast.expr, op: ast.cmpop, right: ast.expr) -> bool:
    """A thing compared with itself, or a length that is not negative."""
    if isinstance(op, ast.GtE) and isinstance(left, ast.Call) and called(left) == "len":
        return isinstance(right, ast.Constant) and right.value == 0
    return isinstance(op, ast.Eq | ast.Is | ast.GtE | ast.LtE) and ast.dump(left) == ast.dump(right)


def _method_always(name: str, call: ast.Call) -> bool:
    if name == "assertTrue" and call.args:
        return always(call.args[0])
    if name == "assertFalse" and call.args:
        return isinstance(call.args[0], ast.Constant) and not call.args[0].value
    pair = len(call.args) > 1 and name in _SAME_METHODS
    return pair and ast.dump(call.args[0]) == ast.dump(call.args[1])
