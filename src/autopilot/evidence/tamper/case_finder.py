"""Test cases found in source text: their names, bodies and assertions, for languages with braces and for shell."""

import re
from collections.abc import Iterator

from autopilot.evidence.tamper.assertion_strength import call_strength, is_tautology, shell_strength
from autopilot.evidence.tamper.case_values import Assertion, Case, brackets, squeezed
from autopilot.evidence.tamper.masking import Masked

_BODY_WITHIN = 2_000
_ARGS = r"(?:\s*<[^<>()]{0,80}>)?\s*\("
_JS_CASE = re.compile(
    r"(?<![\w.$])(?P<head>(?:f|x)?(?:it|test|describe|context|specify))(?P<chain>(?:\s*\.\s*\w+){0,4})" + _ARGS
)
_HEADS = {
    "go": re.compile(r"^func\s+(?P<name>(?P<mark>Test|Example|Fuzz|Benchmark)?\w*)\s*\(", re.MULTILINE),
    "rust": re.compile(
        r"(?P<mark>(?:#\[[^\]\n]*\]\s*){0,12})(?:pub(?:\([^)\n]*\))?\s+)?(?:async\s+)?fn\s+(?P<name>\w+)"
    ),
    "java": re.compile(
        r"(?<![\w<>\[\]@.])(?P<mark>(?:@[\w.]+(?:\([^()\n]*\))?\s+){0,8})"
        r"(?:(?:public|protected|private|static|final|suspend|override)\s+){0,4}"
        r"(?:void|fun|[\w<>\[\]]+)\s+(?P<name>\w+|`[^`\n]*`)\s*\([^()\n]*\)[^{};\n]*\{"
    ),
    "shell": re.compile(
        r"^[ \t]*(?:(?P<mark>@test)[ \t]+(?P<title>.+?)" r"|(?:function[ \t]+)?(?P<name>[\w-]+)[ \t]*\(\))[ \t]*\n?\{",
        re.MULTILINE,
    ),
}
_RUST_TEST = re.compile(r"#\[(?:[\w:]*::)?(?:test|rstest|test_case|quickcheck|proptest)\b")
_JAVA_TEST = re.compile(r"@(?:[\w.]*\.)?(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Property)\b")
_PARAMETRISED = re.compile(
    r"\.each\b|parametrize|@ParameterizedTest|#\[(?:case|test_case|values)|range\s+(?:tests|cases"
    r"|tt)|\[\]struct|subTest"
)
_ASSERT = re.compile(
    r"(?<![\w$])(?:"
    r"(?P<expect>expect|assertThat)(?:\.\w+)?\s*\(|"
    r"(?P<call>(?:[\w$]+\.){0,4}(?:assert\w*(?:\.\w+){0,3}|require\.\w+|XCTAssert\w*|fail)!?)\s*\(|"
    r"(?P<go>[tb]\.(?:Errorf?|Fatalf?|Fail|FailNow))\s*\(|"
    r"(?P<helper>(?:[\w$]+\.){0,4}(?:check|verify|should|must|expect|ensure)[A-Z_]\w*)\s*\()"
)
_SHELL_ASSERT = re.compile(
    r"(?:^[ \t]*|[;&|][ \t]*|\bif[ \t]+|![ \t]*)(?P<call>\[\[?\s|test\s|(?:assert|refute)\w*\b"
    r"|e?grep\s|diff\s|cmp\s)",
    re.MULTILINE,
)


def cases(masked: Masked, language: str) -> tuple[Case, ...]:
    """Every function of the text, tests marked as such; empty for a language without such."""
    found = _javascript(masked) if language == "javascript" else _braced(masked, language)
    return tuple(_apart(found, masked, language))


_Span = tuple[str, int, int, int, bool, str]
"""A name, where the case begins, where its body does, where it ends, whether it is a test, and what it stands in."""


def _apart(spans: Iterator[_Span], masked: Masked, language: str) -> Iterator[Case]:
    """Tests do not stand inside each other, so each letter is read once."""
    done, line = 0, 1
    for name, start, inner, end, collected, scope in spans:
        if start < done:
            continue
        line += masked.code.count("\n", done, start)
        text, body = masked.bare[start:end], masked.bare[inner:end]
        yield Case(
            name=name,
            line=line,
            text=text,
            body=squeezed(body.partition(",")[2] if language == "javascript" else body),
            assertions=tuple(_assertions(masked, (inner, end), language, line + masked.code.count("\n", start, inner))),
            collected=collected,
            parametrised=bool(_PARAMETRISED.search(text)),
            first=line,
            last=line + text.count("\n"),
            scope=scope,
        )
        line += masked.code.count("\n", start, end)
        done = end


def _javascript(masked: Masked) -> Iterator[_Span]:
    ends = brackets(masked.code, "()")
    groups: list[tuple[int, str]] = []
    for found in _JS_CASE.finditer(masked.code):
        start = found.end() - 1
        groups = [group for group in groups if start < group[0]]
        if re.search(r"\.\s*each\b", found["chain"]):
            following = re.compile(r"\s*\(").match(masked.code, ends.get(start, len(masked.code)))
            start = following.end() - 1 if following else start
        end = ends.get(start, _line_end(masked.code, start))
        title = re.match(
            r"\(\s*([\"'`])(?P<title>.*?)\1", masked.bare[start : min(end, start + _BODY_WITHIN)], re.DOTALL
        )
        name = squeezed(title["title"]) if title else ""
        if found["head"].lstrip("fx") in {"describe", "context"}:
            groups.append((end, name))
        else:
            yield name, found.start(), start, end, True, " > ".join(group for _, group in groups)


def _braced(masked: Masked, language: str) -> Iterator[_Span]:
    head = _HEADS.get(language)
    ends = brackets(masked.code, "{}") if head else {}
    for found in head.finditer(masked.code) if head else ():
        opened = masked.code.find("{", found.end() - 1, found.end() + _BODY_WITHIN)
        if opened < 0 or (language == "rust" and masked.code.find(";", found.end(), opened) >= 0):
            continue
        groups = found.groupdict()
        name = groups.get("name") or ""
        if groups.get("title") is not None:
            name = squeezed(masked.bare[found.start("title") : found.end("title")]).strip("\"'")
        end = ends.get(opened, _line_end(masked.code, opened))
        yield name, found.start(), opened, end, _collected(language, found["mark"] or "", name), ""


def _collected(language: str, mark: str, name: str) -> bool:
    match language:
        case "go":
            return bool(re.match(r"(?:Test|Example|Fuzz)(?![a-z])", name))
        case "rust":
            return bool(_RUST_TEST.search(mark))
        case "java":
            return bool(_JAVA_TEST.search(mark))
        case _:
            return mark == "@test" or name.startswith("test")


def _assertions(masked: Masked, span: tuple[int, int], language: str, line: int) -> Iterator[Assertion]:
    start, end = span
    pattern = _SHELL_ASSERT if language == "shell" else _ASSERT
    counted = done = start
    for found in pattern.finditer(masked.code, start, end):
        at = found.start("call") if language == "shell" else found.start()
        if at < done:
            continue
        line += masked.code.count("\n", counted, at)
        counted = at
        done = _line_end(masked.code, at) if language == "shell" else _statement_end(masked.code, at, end)
        text = squeezed(masked.bare[at:done]).rstrip(";")
        if language == "shell":
            yield Assertion(line, text, shell_strength(text))
            continue
        if found["go"]:
            text = _condition(masked, at) + text
        yield Assertion(line, text, call_strength(text), is_tautology(text), helper=bool(found["helper"]))


def _condition(masked: Masked, at: int) -> str:
    """Go's way: what is asserted stands in the `if` before the complaint."""
    before = masked.bare[max(0, at - 400) : at]
    opened = before.rfind("if ")
    between = before[opened:] if opened >= 0 else ""
    return squeezed(between) + " " if between.count("{") == between.count("}") + 1 else ""


def _line_end(code: str, at: int) -> int:
    end = code.find("\n", at)
    return len(code) if end < 0 else end


def _statement_end(code: str, at: int, end: int) -> int:
    """Where the statement ends: at a semicolon or a line's end outside all brackets, unless a call goes on below."""
    depth = 0
    for found in re.compile(r"[()\[\]{};\n]").finditer(code, at, end):
        letter = found[0]
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
            if depth < 0:
                return found.start()
        elif depth == 0 and (letter == ";" or not re.compile(r"\s*\.").match(code, found.end())):
            return found.start()
    return end
