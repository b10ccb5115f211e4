"""Success that does not depend on the tests: exits, hooks that set outcomes, assertions written over."""

import ast
import re
from collections.abc import Iterator

from autopilot.evidence.tamper.case_finder_python import Function, parsed
from autopilot.evidence.tamper.file_pairs import Hit, Pair

_EXITS = {
    "python": re.compile(
        r"\bos\._exit\(\s*0?\s*\)|\.exitstatus\s*=\s*(?:0|(?:pytest\.)?ExitCode\.OK)"
        r"|\.(?:testsfailed|failed)\s*=\s*(?:0|False)\b|\.force_result\("
    ),
    "javascript": re.compile(r"\bprocess\.exit\(\s*0?\s*\)|\bprocess\.exitCode\s*=\s*0\b|\bprocess\.reallyExit\("),
    "go": re.compile(r"\bos\.Exit\(\s*0\s*\)"),
    "java": re.compile(r"\bSystem\.exit\(\s*0\s*\)|\bRuntime\.getRuntime\(\)\.halt\(\s*0"),
    "rust": re.compile(r"\bprocess::exit\(\s*0\s*\)"),
}
_LEAVES = re.compile(r"\b(?:sys\.exit|exit|quit)\(\s*(?:0|None)?\s*\)|\braise\s+SystemExit(?:\(\s*0?\s*\))?\s*$")
_GUARD = re.compile(r"\braises\(|__name__\s*==|\bassertRaises|\bsuppress\(")
_HOOK = re.compile(
    r"^\s*def\s+(?P<name>pytest_(?:sessionfinish|runtest_makereport|collection_modifyitems"
    r"|report_teststatus|unconfigure"
    r"|runtest_logreport|cmdline_main|runtest_protocol|pyfunc_call|runtest_call|ignore_collect|collection_finish))\b"
)
_COLLECT_IGNORE = re.compile(r"^\s*collect_ignore(?:_glob)?\s*(?:\+?=|\.(?:append|extend))")
_SUPPORT = re.compile(
    r"(?:^|/)(?:conftest\.py|sitecustomize\.py|usercustomize\.py|(?:jest|vitest|test"
    r"|mocha)[._-]?setup[^/]*|setup[._-]?tests?[^/]*"
    r"|global[._-]?(?:setup|teardown)[^/]*|test_?helper[^/]*)$",
    re.IGNORECASE,
)
_REPLACED = {
    "python": re.compile(
        r"\bTestCase\.(?:assert|fail)\w*\s*=|\bsetattr\(\s*(?:unittest\.)?TestCase\b|\bself\.assert\w+\s*=\s*lambda"
        r"|^\s*def\s+assert(?:Equal|True|False|In|Is|IsNone|Raises|AlmostEqual|DictEqual|ListEqual)\(\s*self"
    ),
    "javascript": re.compile(
        r"\b(?:global|globalThis|window)\.(?:expect|assert|it|test)\s*=|^\s*(?:(?:const|let"
        r"|var)\s+)?(?:expect|assert)\s*=\s*(?:\(|function|\w+\s*=>)"
        r"|\bassert\.(?:equal|strictEqual|deepEqual|ok|deepStrictEqual)\s*="
    ),
}
_LIBRARIES = {
    "python": re.compile(
        r"^\s*import\s+(?:unittest|_?pytest|nose|doctest)\b(?:[\w.]*\s+as\s+(\w+))?"
        r"|^\s*from\s+(?:unittest|_?pytest|nose|doctest)[\w.]*\s+import\s+([^#\n]+)",
        re.MULTILINE,
    ),
    "javascript": re.compile(
        r"\bimport\s+(?:\*\s+as\s+)?(\w+|\{[^}]*\})(?:\s*,\s*(\{[^}]*\}))?\s+from\s+[\"'](?:node:)?(?:assert(?:/strict)?|test"
        r"|chai|expect|vitest|@jest/globals)[\"']"
        r"|\b(?:const|let|var)\s+(\w+|\{[^}]*\})\s*=\s*(?:await\s+import|require)\(\s*[\"'](?:node:)?(?:assert(?:/strict)?|test|chai"
        r"|expect|vitest|@jest/globals)[\"']"
    ),
}
_ALWAYS_THERE = {
    "python": r"\bunittest(?:\.\w+)*\.(?!maxDiff\b)\w+\s*=(?!=)|\bsetattr\(\s*unittest\b"
    r"|\bTestCase\.(?:assert|fail)\w*\s*=(?!=)|\bbuiltins\.(?:AssertionError|all|any|isinstance)\s*=(?!=)",
    "javascript": r"\b(?:global|globalThis|window)\.(?:expect|assert|it|test|describe)\s*=(?![=>])"
    r"|\bObject\.is\s*=(?![=>])|\b(?:Assertion|AssertionError)\.prototype\.\w+\s*=(?![=>])",
}
_MACROS = re.compile(r"\bmacro_rules!\s*(?:debug_)?(?:assert(?:_eq|_ne)?|panic)\b")
_ALWAYS_EQUAL = {
    "java": re.compile(r"\bboolean\s+equals\s*\([^()\n]*\)\s*\{\s*return\s+true\s*;"),
    "rust": re.compile(r"\bfn\s+eq\s*\(\s*&self[^()\n]*\)\s*->\s*bool\s*\{\s*(?:return\s+)?true\b"),
}


def forced(pair: Pair) -> Iterator[Hit]:
    """Only in test code and what runners load beside it."""
    if not (pair.is_test or _SUPPORT.search(pair.path)):
        return
    pattern, lines = _EXITS.get(pair.language), pair.new.code.split("\n")
    for number, bare, code in pair.fresh_code():
        exits = pattern is not None and (pattern.search(code) or _says_passed(bare, code))
        leaves = pair.language == "python" and _LEAVES.search(code) and not _guarded(lines, number)
        if exits or leaves:
            forks = "_exit" in code and "os.fork(" in pair.new.code
            yield Hit("forced-success", number, f"`{bare.strip()[:80]}` in test code", milder=forks)
        elif pair.language == "python" and re.search(r"\batexit\.register\(", code) and "_exit" in pair.new.code:
            yield Hit("forced-success", number, f"`{bare.strip()[:80]}` ends the run on its own terms")


def _says_passed(bare: str, code: str) -> bool:
    """An outcome is set in code, and the string it is set to says that all is well."""
    set_in_code = re.search(r"\.(?:outcome|status)\s*=\s*[\"']", code)
    return set_in_code is not None and re.search(r"=\s*[\"']passed[\"']", bare) is not None


def _guarded(lines: list[str], number: int) -> bool:
    """Below a `with raises(SystemExit)` or a main guard, or inside a function that only such code calls."""
    own = len(lines[number - 1]) - len(lines[number - 1].lstrip())
    for at in range(number - 1, max(number - 12, 0), -1):
        line = lines[at - 1]
        if line.strip() and len(line) - len(line.lstrip()) < own and _GUARD.search(line):
            return True
    return bool(_GUARD.search(lines[number - 1]))


def hooks(pair: Pair) -> Iterator[Hit]:
    for number, bare, code in pair.fresh_code() if pair.language == "python" else ():
        found = _HOOK.match(code)
        if found:
            yield Hit("test-hook-added", number, f"the hook `{found['name']}` is new")
        elif pair.path.endswith("conftest.py") and _COLLECT_IGNORE.match(code):
            yield Hit("test-narrowed", number, f"`{bare.strip()[:80]}` keeps files from being collected")


def replaced(pair: Pair) -> Iterator[Hit]:
    pattern = _REPLACED.get(pair.language)
    if not (pair.is_test or _SUPPORT.search(pair.path)):
        pattern = _patches(pair)
    for number, bare, code in pair.fresh_code() if pattern else ():
        if pattern and pattern.search(code):
            yield Hit("assertion-replaced", number, f"`{bare.strip()[:80]}`")
    yield from _always_equal(pair)


def _patches(pair: Pair) -> re.Pattern[str] | None:
    """Product code that writes into a test runner or an assertion library, under the names it has in the file."""
    imports = _LIBRARIES.get(pair.language)
    if pair.is_prose or imports is None:
        return _MACROS if pair.language == "rust" else None
    listed = (name for found in imports.finditer(pair.new.bare) for name in found.groups() if name)
    names = [
        word.split()[-1] for name in listed for word in name.strip("(){}").replace(":", " ").split(",") if word.split()
    ]
    own = "|".join(map(re.escape, names)) or "(?!)"
    written = rf"\b(?:{own})(?:\.(?!maxDiff\b)\w+|\[[^\]\n]*\])+\s*=(?![=>])"
    handed = rf"\b(?:setattr|patch\.object|Object\.(?:assign|definePropert(?:y|ies))|Reflect\.set)\(\s*(?:{own})\b"
    return re.compile(f"{written}|{handed}|{_ALWAYS_THERE[pair.language]}")


def _always_equal(pair: Pair) -> Iterator[Hit]:
    fresh = frozenset(pair.fresh)
    if pair.language == "python" and "__eq__" in pair.new.code:
        for node in ast.walk(parsed(pair.new.raw) or ast.Module(body=[], type_ignores=[])):
            line = getattr(node, "lineno", 0)
            touched = fresh.intersection(range(line, (getattr(node, "end_lineno", 0) or 0) + 1))
            if touched and _equals_anything(node):
                yield Hit("assertion-replaced", line, "`__eq__` is always true", milder=pair.is_test)
    pattern = _ALWAYS_EQUAL.get(pair.language)
    for found in pattern.finditer(pair.new.code) if pattern else ():
        line = pair.new.code.count("\n", 0, found.start()) + 1
        if fresh.intersection(range(line, line + found[0].count("\n") + 1)):
            yield Hit("assertion-replaced", line, "equality is always true", milder=pair.is_test)


def _equals_anything(node: ast.AST) -> bool:
    match node:
        case ast.FunctionDef(name="__eq__") | ast.AsyncFunctionDef(name="__eq__"):
            return _returns_true(node)
        case ast.Assign(targets=[ast.Name(id="__eq__") | ast.Attribute(attr="__eq__")], value=ast.Lambda(body=body)):
            return isinstance(body, ast.Constant) and bool(body.value)
        case _:
            return False


def _returns_true(function: Function) -> bool:
    body = [node for node in function.body if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))]
    match body:
        case [ast.Return(value=ast.Constant(value=True))]:
            return True
        case _:
            return False
