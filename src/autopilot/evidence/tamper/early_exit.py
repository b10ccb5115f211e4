"""Product code that ends the process with success by merely being loaded, or when the process ends otherwise."""

import ast
import re
from collections.abc import Iterator

from autopilot.evidence.tamper.case_finder_python import parsed
from autopilot.evidence.tamper.case_values import brackets
from autopilot.evidence.tamper.file_pairs import Hit, Pair

_SCRIPT = re.compile(
    r"(?:^|/)(?:__main__\.py|(?:scripts|tools|bin|examples|docs)/.*)$|(?:^|/)(?:setup|manage|noxfile)\.py$"
)
_QUIET_EXITS = {"exit", "quit"}
_JS_EXIT = re.compile(r"\bprocess\.(?:exit|reallyExit)\(\s*0?\s*\)")
_JS_HANDLER = re.compile(r"\bprocess\.(?:on|once|addListener|prependListener)\(")
_JS_SOFT = re.compile(r"\bprocess\.exitCode\s*=\s*0\b|\bprocess\.(?:exit|reallyExit)\(\s*0?\s*\)")
_EXPORTS = re.compile(r"^\s*export\b|\bmodule\.exports\b|^\s*exports\.", re.MULTILINE)
# What runs before anybody calls anything, and what runs when all is over.
_BLOCKS = {
    "java": (
        re.compile(r"\bstatic\s*\{|\bcompanion\s+object[^{}]*\{\s*init\s*\{|\baddShutdownHook\(|\bsetDefaultUncaughtExceptionHandler\("),
        re.compile(r"\b(?:System\.exit|exitProcess|halt)\(\s*0?\s*\)"),
    ),
    "go": (re.compile(r"^func\s+init\s*\(\s*\)\s*\{", re.MULTILINE), re.compile(r"\bos\.Exit\(\s*0\s*\)")),
    "rust": (
        re.compile(r"#\[(?:\w+::)?(?:ctor|dtor)\b[^\]]*\]|#\[link_section\b[^\]]*\]|\bset_hook\("),
        re.compile(r"\b(?:exit|_exit)\(\s*0\s*\)"),
    ),
}  # fmt: skip
_FAR = 2_000


def leaves_when_loaded(pair: Pair) -> Iterator[Hit]:
    """Only in product code; test code is looked at by itself, and a script may end as it likes."""
    if pair.is_test or _SCRIPT.search(pair.path):
        return
    match pair.language:
        case "python":
            yield from _python(pair)
        case "javascript":
            yield from _javascript(pair)
        case language if language in _BLOCKS:
            yield from _in_blocks(pair, *_BLOCKS[language])


def _hit(pair: Pair, line: int, *, milder: bool = False) -> Hit:
    text = pair.new.bare.split("\n")[line - 1].strip()[:80]
    return Hit("forced-success", line, f"`{text}` ends the process as soon as the code is loaded", milder=milder)


def _python(pair: Pair) -> Iterator[Hit]:
    tree, fresh = parsed(pair.new.raw), frozenset(pair.fresh)
    if tree is None:
        return
    hooked = re.search(r"\batexit\.register\(|\bsys\.excepthook\s*=", pair.new.code) is not None
    loaded = {node.lineno: _ends(node) for node in _at_load(tree.body) if _ends(node)}
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        if line not in fresh or not isinstance(node, ast.Call | ast.Raise) or not _ends(node):
            continue
        hard = _ends(node) == "hard"
        if line in loaded:
            yield _hit(pair, line, milder=not hard and not pair.existed)
        elif hard and hooked:
            yield _hit(pair, line)


def _at_load(body: list[ast.stmt]) -> Iterator[ast.Call | ast.Raise]:
    """Calls and raises that importing the module comes to; a main guard is not imported."""
    for statement in body:
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                continue
            case ast.ClassDef(body=inner) | ast.With(body=inner) | ast.Try(body=inner):
                yield from _at_load(inner)
            case ast.If(test=test, body=inner, orelse=other):
                if "__name__" not in ast.unparse(test):
                    yield from (node for node in _at_load([*inner, *other]) if _ends(node) == "hard")
            case ast.Raise():
                yield statement
            case ast.Expr(value=ast.Call() as call):
                yield call
            case _:
                continue


def _ends(node: ast.AST) -> str:
    """`hard` for an end nobody can catch, `soft` for one with success, empty for what ends nothing."""
    match node:
        case ast.Call(func=ast.Attribute(attr="_exit")):
            return "hard"
        case ast.Call(func=ast.Attribute(value=ast.Name(id="sys"), attr="exit"), args=args):
            return "soft" if _zero(args) else ""
        case ast.Call(func=ast.Name(id=name), args=args) if name in _QUIET_EXITS:
            return "soft" if _zero(args) else ""
        case ast.Raise(exc=ast.Name(id="SystemExit")):
            return "soft"
        case ast.Raise(exc=ast.Call(func=ast.Name(id="SystemExit"), args=args)):
            return "soft" if _zero(args) else ""
        case _:
            return ""


def _zero(args: list[ast.expr]) -> bool:
    return not args or (isinstance(args[0], ast.Constant) and args[0].value in (0, None, False))


def _javascript(pair: Pair) -> Iterator[Hit]:
    code, fresh = pair.new.code, frozenset(pair.fresh)
    ends = {**brackets(code, "()"), **brackets(code, "{}")}
    if _EXPORTS.search(code):
        for found in _JS_EXIT.finditer(code):
            line = _line(code, found.start())
            if line in fresh and not any(start < found.start() < end for start, end in ends.items()):
                yield _hit(pair, line)
    for found in _JS_HANDLER.finditer(code):
        inner = code[found.end() : ends.get(found.end() - 1, found.end() + _FAR)]
        soft = _JS_SOFT.search(inner)
        exits = re.match(
            r"\s*[\"'`](?:exit|beforeExit|uncaughtException|unhandledRejection)", pair.new.bare[found.end() :]
        )
        if soft and exits and _line(code, found.end() + soft.start()) in fresh:
            yield _hit(pair, _line(code, found.end() + soft.start()))


def _in_blocks(pair: Pair, opening: re.Pattern[str], leaving: re.Pattern[str]) -> Iterator[Hit]:
    code, fresh = pair.new.code, frozenset(pair.fresh)
    ends = {**brackets(code, "()"), **brackets(code, "{}")}
    for found in opening.finditer(code):
        opened = next((at for at in range(found.end() - 1, min(len(code), found.end() + _FAR)) if code[at] in "({"), -1)
        if code[found.end() - 1] not in "({":
            opened = code.find("{", found.end())
        inside = leaving.search(code, found.start(), ends.get(opened, found.end()))
        if inside and _line(code, inside.start()) in fresh:
            yield _hit(pair, _line(code, inside.start()))


def _line(code: str, at: int) -> int:
    return code.count("\n", 0, at) + 1
