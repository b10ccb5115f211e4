"""Product code that knows it is being tested, or has the answers written down."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from autopilot.evidence.tamper.case_finder import cases
from autopilot.evidence.tamper.case_finder_python import python_cases
from autopilot.evidence.tamper.case_values import literals
from autopilot.evidence.tamper.file_pairs import Hit, Pair
from autopilot.evidence.tamper.masking import language_of, masked

_CONFIGURES = re.compile(
    r"(?:\.config\.[cm]?[jt]s|\.conf\.[jt]s|rc\.[cm]?js|(?:^|/)(?:setup|settings|noxfile|manage"
    r"|build)\.(?:py|rs))$|(?:^|/)(?:scripts|tools|\.github)/"
)
_WATCHED = {
    "python": re.compile(
        r"PYTEST_CURRENT_TEST|PYTEST_VERSION|[\"'](?:py\.?test|unittest|_pytest"
        r"|nose)[\"']\s+(?:not\s+)?in\s+(?:sys\.(?:modules|argv)|os\.environ)"
        r"|sys\.modules(?:\.get\(|\[)\s*[\"'](?:_?pytest|unittest)|[\"']pytest[\"']\s+in\s+sys\.argv"
        r"|_called_from_test"
    ),
    "javascript": re.compile(
        r"\bJEST_WORKER_ID\b|\bprocess\.env\.VITEST\w*|\bVITEST_WORKER_ID\b|\bimport\.meta\.vitest\b"
        r"|typeof\s+(?:globalThis\.)?(?:jest|describe|it|vi|expect)\s*[!=]==|\bNODE_TEST_(?:CONTEXT|WORKER_ID)\b"
        r"|\bprocess\.env(?:\.|\[[\"'`])(?:MOCHA|AVA|JASMINE|KARMA|TAP|CYPRESS|PLAYWRIGHT|WDIO)(?:_\w+)?\b"
        r"|\bprocess\.(?:argv|execArgv|title)\b.*[\"'`/](?:--test|jest|mocha|vitest|ava|test)\b|[\"'`]--test[\"'`].*\bexecArgv\b"
        r"|\bnpm_lifecycle_(?:event|script)\b|\bdetectTest\w*\("
    ),
    "go": re.compile(r"flag\.Lookup\(\s*\"test\.|HasSuffix\(\s*os\.Args\[0\]\s*,\s*\"\.test\""),
    "java": re.compile(
        r"\"(?:org\.)?(?:junit|testng)|getStackTrace\(\).*[Tt]est|StackWalker\b.*[Tt]est|\"(?:surefire|sun\.java\.command)"
    ),
    "rust": re.compile(
        r"\b(?:env::var(?:_os)?|env!|option_env!)\(\s*\"(?:RUST_TEST_\w+|CARGO_TARGET_TMPDIR|NEXTEST\w*)\b"
        r"|\bcfg!\(\s*(?:not\(\s*)?test\b"
    ),
}
# In Python the name alone, inside a longer string, asks nothing.
_ASKED = re.compile(r"\b(?:environ|getenv|sys\.modules|sys\.argv|_called_from_test)\b")
_NAMED = re.compile(r"[\"']PYTEST_(?:CURRENT_TEST|VERSION)[\"']")
_COMMON = {
    "python": re.compile(
        r"\benviron(?:\.get\(|\[)\s*[\"'](?:CI|GITHUB_ACTIONS|GITLAB_CI|TESTING|TEST_MODE)[\"']"
        r"|getenv\(\s*[\"'](?:CI|GITHUB_ACTIONS|TESTING)[\"']"
    ),
    "javascript": re.compile(
        r"\bNODE_ENV\b[\"'\])]*\s*[!=]==?\s*[\"'`]test|\bMODE\s*===?\s*[\"'`]test"
        r"|\bprocess\.env\.(?:CI|GITHUB_ACTIONS|TESTING|TEST)\b"
        r"|[\"'`]test[\"'`]\s*[!=]==?\s*process\.env\.NODE_ENV"
    ),
    "go": re.compile(r"\btesting\.Testing\(\)|Getenv\(\"(?:CI|GITHUB_ACTIONS|TESTING)\"\)"),
    "rust": re.compile(r"\benv::var\(\"CI\"\)|^\s*#\[cfg\(\s*not\(\s*test\s*\)\s*\)\]"),
    "java": re.compile(r"getenv\(\"(?:CI|GITHUB_ACTIONS|TESTING)\"\)"),
}
_FOR_TESTS = re.compile(
    r"#\[cfg\(\s*(?P<not>not\(\s*)?test\s*\)?\s*\)\]\s*(?:#\[[^\]\n]*\]\s*){0,8}"
    r"(?:pub(?:\([^)\n]*\))?\s+)?(?:(?:const|async|unsafe|static|extern)\s+)*(?:fn|const|static|mod|struct|use|impl)\s+"
    r"(?P<name>[\w:]+)"
)
_LITERAL = r"(?:\"[^\"\n]*\"|'[^'\n]*'|-?\d[\w.]*)"
_RETURN = re.compile(rf"^\s*return\s+(?P<value>{_LITERAL})\s*;?\s*$")
_GUARD = re.compile(rf"(?:==|===|\.equals\(|\bcase\b|\bin\b)\s*\(?(?P<given>{_LITERAL})")
_INLINE = re.compile(
    rf"(?:==|===)\s*(?P<given>{_LITERAL}).*\breturn\s+(?P<value>{_LITERAL})"
    rf"|return\s+(?P<chosen>{_LITERAL})\s+if\s+.*==\s*(?P<when>{_LITERAL})"
)
_ENTRY = re.compile(rf"^\s*[{{(\[]?\s*(?P<given>{_LITERAL})\s*(?::|=>|,)\s*(?P<value>{_LITERAL})\s*[,}})\]]*\s*$")
_TAKES = re.compile(
    r"(?:\bdef\s+\w+\(\s*(?!self\s*\)|cls\s*\)|\))|\bfunction\s*\w*\(\s*(?!\))"
    r"|\bfunc\s[^()]*(?:\([^()]*\)\s*\w+)?\(\s*(?!\))|\bfn\s+\w+\(\s*(?!\)|&self\s*\))"
    r"|\(\s*\w+[^()]*\)\s*(?:=>|\{\s*$))"
)
_LEAST_TEXT, _LEAST_DIGITS, _NEAR = 8, 3, 3
_MOST_ASSERTIONS = 20_000


def test_detection(pair: Pair) -> Iterator[Hit]:
    if pair.is_test or pair.is_prose or _CONFIGURES.search(pair.path):
        return
    surely, common = _WATCHED.get(pair.language), _COMMON.get(pair.language)
    for number, bare, code in pair.fresh_code():
        if not code.strip(" \t\"'`"):
            continue
        if surely and surely.search(bare):
            asked = pair.language != "python" or _ASKED.search(code) is not None
            if asked or _NAMED.search(bare):
                yield Hit("test-detection", number, f"`{bare.strip()[:80]}`", milder=not asked)
        elif common and common.search(bare):
            yield Hit("test-detection", number, f"`{bare.strip()[:80]}`", milder=True)


def twofold(pair: Pair) -> Iterator[Hit]:
    """A Rust function that is one thing in tests and another outside of them."""
    if pair.language != "rust" or pair.is_test:
        return
    fresh, code = frozenset(pair.fresh), pair.new.code
    tested = {found["name"]: found for found in _FOR_TESTS.finditer(code) if not found["not"]}
    for found in _FOR_TESTS.finditer(code):
        other = tested.get(found["name"]) if found["not"] else None
        lines = [code.count("\n", 0, side.start()) + 1 for side in (found, other) if side]
        if other and fresh.intersection(lines):
            yield Hit(
                "test-detection", lines[0], f"`{found['name']}` is another function in tests than outside of them"
            )


def written_answers(pairs: Sequence[Pair]) -> tuple[tuple[Pair, int, frozenset[str]], ...]:
    """New lines of product code that give a written value back: where, and the values that must meet in a test."""
    found = []
    for pair in pairs:
        if pair.language in _COMMON and not pair.is_test:
            found += [(pair, number, values) for number, values in _answers(pair)]
    return tuple(found)


def _answers(pair: Pair) -> Iterator[tuple[int, frozenset[str]]]:
    lines = pair.new.bare.split("\n")
    for number, bare, _ in pair.fresh_code():
        inline = _INLINE.search(bare) or _ENTRY.match(bare)
        if inline:
            yield number, literals(" ".join(value for value in inline.groups() if value))
            continue
        plain = _RETURN.match(bare)
        if plain is None:
            continue
        above = [line for line in lines[max(0, number - 1 - _NEAR) : number - 1] if line.strip()]
        guard = _GUARD.search(above[-1]) if above else None
        if guard:
            yield number, literals(f"{guard['given']} {plain['value']}")
        elif _telling(plain["value"]) and any(_TAKES.search(line) for line in above):
            yield number, literals(plain["value"])


def _telling(value: str) -> bool:
    text = value.strip("\"'")
    return len(text) >= _LEAST_TEXT or (value[:1] not in "\"'" and sum(c.isdigit() for c in text) >= _LEAST_DIGITS)


def hardcoded(answers: Sequence[tuple[Pair, int, frozenset[str]]], tests: Mapping[str, str]) -> Iterator[Hit]:
    """Answers that some assertion of a test expects: all their values stand in one assertion."""
    expected = [values for path, text in tests.items() for values in _expectations(path, text)][:_MOST_ASSERTIONS]
    for pair, number, values in answers:
        if values and _expected(values, expected):
            line = pair.new.bare.split("\n")[number - 1].strip()[:80]
            yield Hit("expectation-hardcoded", number, f"`{line}` is what a test expects", path=pair.path)


def _expected(values: frozenset[str], expected: Collection[frozenset[str]]) -> bool:
    telling = any(len(value) > 1 for value in values)
    return telling and any(values <= said for said in expected)


def _expectations(path: str, text: str) -> Iterator[frozenset[str]]:
    language = language_of(path, text)
    read = masked(text, language)
    for case in python_cases(read) if language == "python" else cases(read, language):
        for assertion in case.assertions:
            yield assertion.literals
        if case.parametrised:
            yield from (literals(line) for line in case.text.split("\n"))
