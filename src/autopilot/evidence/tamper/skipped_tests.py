"""Tests kept from running or from failing: skipped, focused, ended early, or with their failures swallowed."""

import ast
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from autopilot.evidence.tamper.case_finder_python import Function, assertions, called, parsed
from autopilot.evidence.tamper.case_values import Case, brackets
from autopilot.evidence.tamper.file_pairs import Hit, Pair
from autopilot.evidence.tamper.suites import Scene, Suite

_ALWAYS = r"(?:True|1|not\s+False|sys\.version_info\s*>\s*\(0)"
_SKIPS = {
    "python": re.compile(
        r"\bmark\.(?:skip|xfail)\b|@(?:unittest\.)?(?:skip|expectedFailure)\b|\bpytest\.(?:skip|xfail)\(|\.skipTest\("
        rf"|\braise\s+(?:unittest\.)?SkipTest\b|\b__test__\s*=\s*False|\bskip[iI]f\(\s*{_ALWAYS}"
        rf"|\bskipUnless\(\s*(?:False|0)\b"
    ),
    "javascript": re.compile(
        r"(?<![\w.$])(?:it|test|describe|context|specify|suite)(?:\s*\.\s*\w+){0,2}\s*\.\s*(?:skip"
        r"|todo|failing|fails|fixme)\b"
        r"|(?<![\w.$])(?:xit|xtest|xdescribe|xcontext|xspecify|pending)\s*\(|\bthis\.skip\(|\bt\.(?:skip|todo)\("
    ),
    "go": re.compile(r"\b[tb]\.(?:Skip|Skipf|SkipNow)\("),
    "rust": re.compile(r"#\[ignore\b|#\[should_panic\b"),
    "java": re.compile(r"@(?:Disabled|Ignore)\b|\bthrow\s+new\s+(?:SkipException|TestAbortedException)\b"),
    "shell": re.compile(r"(?:^|[;&|]\s*)\s*skip\b(?!\s*[=(])"),
}
_MARKS_WITHIN = 4
_OLD_PYTHON = re.compile(r"skip[iI]f\(\s*(?:sys\.version_info\s*>=?\s*\(3|six\.PY3|PY3)")
_CONDITIONS = {
    "python": re.compile(r"\bskip[iI]f\(|\bskipUnless\(|\bimportorskip\(|\bxfail\(\s*(?!\w+\s*=|\)|[\"'])|marks\s*="),
    "javascript": re.compile(r"\.\s*(?:skipIf|runIf)\b|\?\s*\w+\s*[:.]|&&\s*this\.skip"),
    "go": re.compile(r"^\s*if\b"),
    "rust": re.compile(r"#\[cfg_attr\("),
    "java": re.compile(r"@(?:Disabled|Enabled)(?:On|If|For)\w*|\bassumeTrue\("),
    "shell": re.compile(r"(?:&&|\|\|)\s*skip\b|^\s*if\b"),
}
_BRANCH = re.compile(
    r"^\s*(?:\}?\s*else\b|if\b|elif\b|except\b|unless\b|case\b|switch\b|catch\b|try\b|while\b" r"|for\b)"
)
_FOCUS = re.compile(
    r"(?<![\w.$])(?:it|test|describe|context|specify|suite)(?:\s*\.\s*\w+){0,2}\s*\.\s*only\b"
    r"|(?<![\w.$])(?:fit|fdescribe|fcontext|ftest)\s*\("
)
_RETURN = re.compile(r"^\s*(?:return(?:\s+(?:true|false|nil|null|undefined|0|Ok\(\(\)\)))?|exit(?:\s+0)?)\s*;?\s*$")
_EMPTY_CATCH = re.compile(r"\bcatch\s*(?:\([^()\n]*\)|\w+)?\s*\{(?P<body>[^{}]*)\}")
_QUIET = re.compile(
    r"(?:\s|;|console\.\w+\([^()\n]*\)|return(?:\s+\w+)?|//|System\.out\.\w+\([^()\n]*\)" r"|\w+\.printStackTrace\(\))*"
)
_ASSERTS = re.compile(r"\b(?:expect|assert\w*)\s*[(.!]")
_DROPPED = re.compile(r"\.catch\(\s*(?:\(\s*\w*\s*\)|\w+)\s*=>\s*(?:\{\s*\}|null|undefined|void 0|true)\s*\)")
_PATCHED = re.compile(
    r"\bpatch(?:\.object)?\(\s*(?:[\w.]+\s*,\s*)?[\"'](?:[\w.]+\.)?(?P<name>\w+)[\"']"
    r"|\bmonkeypatch\.setattr\(\s*(?:[\w.]+\s*,\s*)?[\"'](?:[\w.]+\.)?(?P<set>\w+)[\"']"
)
_JS_MOCK = re.compile(r"\b(?:jest|vi)\.mock\(\s*[\"'`](?P<path>[^\"'`]+)[\"'`]")
_MOST = 40


def skipped(scene: Scene, pair: Pair) -> Iterator[Hit]:
    pattern = _SKIPS.get(pair.language)
    if pattern is None or not (pair.is_test or pair.language in {"rust", "java"}):
        return
    lines = pair.new.code.split("\n")
    for number, bare, code in pair.fresh_code():
        told = pattern.search(code)
        conditional = _CONDITIONS[pair.language].search(code)
        if told is None and not (conditional and pair.language == "python" and "marks" not in code):
            continue
        if told and "should_panic" in told[0]:
            continue
        always = told is not None and re.match(r"skip[iIU]", told[0])
        known = scene.is_known(pair, number)
        new = known is False or not pair.existed
        mild = new or (not always and (conditional is not None or _branched(lines, number)))
        yield Hit("test-skipped", number, f"`{_short(bare)}`", milder=mild)


def is_skipped(text: str, language: str) -> bool:
    """Whether a test, marks included, is left out of every run on a machine of today."""
    pattern = _SKIPS.get(language)
    head = "\n".join(text.split("\n")[:_MARKS_WITHIN])
    old = language == "python" and _OLD_PYTHON.search(head)
    return bool(old) or (pattern is not None and pattern.search(head) is not None)


def _branched(lines: list[str], number: int) -> bool:
    """Whether the line stands below a condition: the nearest line that is less indented begins one."""
    own = _indent(lines[number - 1])
    for at in range(number - 2, max(number - 2 - _MOST, -1), -1):
        if lines[at].strip() and _indent(lines[at]) < own:
            return bool(_BRANCH.match(lines[at]))
    return False


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def focused(pair: Pair) -> Iterator[Hit]:
    if pair.language == "javascript" and pair.is_test:
        for number, bare, code in pair.fresh_code():
            if _FOCUS.search(code):
                yield Hit("test-focused", number, f"`{_short(bare)}`")


def ended_early(scene: Scene) -> Iterator[Hit]:
    for match in scene.matches:
        if match.new is None or match.new_pair is None or match.new.text == match.old.text:
            continue
        line = _early(match.new_pair, match.new)
        if line and line in match.new_pair.fresh:
            what = f"`{match.new.name[:80]}` returns before its assertions"
            yield Hit("test-ends-early", line, what, path=match.new_pair.path)


def _early(pair: Pair, case: Case) -> int:
    """The line of an unconditional return with assertions behind it; 0 when there is none."""
    last = max((assertion.line for assertion in case.assertions), default=0)
    lines = pair.new.code.split("\n")
    if pair.language == "python":
        body = _indent(lines[case.line]) if case.line < len(lines) else 0
        returns = (n for n in range(case.line + 1, last) if re.match(r"\s*return\b", lines[n - 1]))
        return next((n for n in returns if _indent(lines[n - 1]) == body), 0)
    depth = 0
    for number in range(case.first, min(last, len(lines)) + 1):
        if depth == 1 and number < last and _RETURN.match(lines[number - 1]):
            return number
        depth += lines[number - 1].count("{") - lines[number - 1].count("}")
    return 0


def swallowed(scene: Scene) -> Iterator[Hit]:
    for suite in scene.suites:
        if suite.pair.language == "python":
            yield from _python_swallows(suite)
        elif suite.pair.language in {"javascript", "java"} and suite.pair.is_test:
            yield from _brace_swallows(suite.pair)


def _python_swallows(suite: Suite) -> Iterator[Hit]:
    tree = parsed(suite.pair.new.raw) if suite.new_tests else None
    fresh = frozenset(suite.pair.fresh)
    for function in ast.walk(tree) if tree else ():
        if not isinstance(function, Function) or not function.name.startswith("test"):
            continue
        for node in ast.walk(function):
            line = _handler(node)
            if line in fresh:
                what = f"`{function.name}` drops the failure of its own assertion"
                yield Hit("failure-swallowed", line, what, path=suite.pair.path)


def _handler(node: ast.AST) -> int:
    """The line where an assertion's failure is caught and dropped; 0 for anything else."""
    if isinstance(node, ast.Try):
        holder = ast.FunctionDef(name="_", args=_NO_ARGUMENTS, body=node.body, decorator_list=[])
        for handler in node.handlers if any(True for _ in assertions(holder)) else ():
            if _catches(handler.type) and not any(
                isinstance(n, ast.Raise | ast.Assert) or _fails(n) for n in ast.walk(handler)
            ):
                return handler.lineno
    if isinstance(node, ast.With):
        calls = [i.context_expr for i in node.items if isinstance(i.context_expr, ast.Call)]
        holder = ast.FunctionDef(name="_", args=_NO_ARGUMENTS, body=node.body, decorator_list=[])
        suppress = any(called(call) == "suppress" and any(map(_catches, call.args)) for call in calls)
        return node.lineno if suppress and any(True for _ in assertions(holder)) else 0
    return 0


_NO_ARGUMENTS = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])


def _fails(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and (called(node).startswith(("assert", "fail", "skip", "exit", "append")))


def _catches(kind: ast.expr | None) -> bool:
    """Whether the handler's type takes in a failed assertion."""
    if kind is None:
        return True
    named = {ast.unparse(name) for name in (kind.elts if isinstance(kind, ast.Tuple) else [kind])}
    return bool(named & {"Exception", "BaseException", "AssertionError"})


def _brace_swallows(pair: Pair) -> Iterator[Hit]:
    code, fresh = pair.new.code, frozenset(pair.fresh)
    opened = {end: start for start, end in brackets(code, "{}").items()}
    line, counted = 1, 0
    for found in _EMPTY_CATCH.finditer(code):
        line += code.count("\n", counted, found.start())
        counted = found.start()
        end = len(code[: found.start()].rstrip())
        tried = code[opened[end] : end] if end in opened else ""
        touched = any(number in fresh for number in range(line, line + found[0].count("\n") + 1))
        if touched and _QUIET.fullmatch(found["body"]) and _ASSERTS.search(tried):
            yield Hit("failure-swallowed", line, "the failure of an assertion is caught and dropped", path=pair.path)
    for number, _, text in pair.fresh_code():
        if _DROPPED.search(text) and _ASSERTS.search(text):
            yield Hit("failure-swallowed", number, "the failure of an assertion is caught and dropped", path=pair.path)


def mocks_subject(scene: Scene) -> Iterator[Hit]:
    for suite in scene.suites:
        pair = suite.pair
        if pair.language == "javascript":
            subject = re.split(r"[._-](?:test|spec)\b", PurePosixPath(pair.path).name)[0]
            for number, bare, _ in pair.fresh_code():
                found = _JS_MOCK.search(bare)
                if found and PurePosixPath(found["path"]).name.split(".")[0] == subject:
                    yield Hit("test-mocks-subject", number, f"`{_short(bare)}` replaces what is tested", path=pair.path)
        elif pair.language == "python":
            yield from _python_mocks(suite)


def _python_mocks(suite: Suite) -> Iterator[Hit]:
    fresh = frozenset(suite.pair.fresh)
    for case in suite.new_tests:
        for offset, line in enumerate(case.text.split("\n")):
            found = _PATCHED.search(line) if case.first + offset in fresh else None
            name = (found["name"] or found["set"]) if found else ""
            if name and any(re.search(rf"\b{name}\(", assertion.text) for assertion in case.assertions):
                what = f"`{case.name}` replaces `{name}` and then asserts on it"
                yield Hit("test-mocks-subject", case.first + offset, what, path=suite.pair.path)


def _short(line: str) -> str:
    return line.strip()[:80]
