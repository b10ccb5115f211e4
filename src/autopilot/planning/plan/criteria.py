"""Acceptance criteria: which command proves one, and what that command must show (AMB-38)."""

import re
from typing import Literal

from autopilot.domain.phase import Criterion, Expectation
from autopilot.domain.settings import Commands

Source = Literal["roadmap", "requirement", "plan"]

_INTRODUCED = re.compile(
    r"\s*(?:[-\u2013\u2014]{1,3}\s*|\()?\b(?:verified|verify|checked)\s+(?:by|with|via)\b\s*:?\s*", re.IGNORECASE
)
_JOIN = re.compile(r"\s*(?:,?\s*and|,|;|&&)\s*(?=`)", re.IGNORECASE)
_TRACING = re.compile(
    r"\W*(?:read|trace|inspect|review|examine|observe|walk|manually|visually|confirm|ensure)\b(?!\s*=)", re.IGNORECASE
)
_PLACEHOLDER = re.compile(r"\{\{?\s*project\.commands\.(\w+)\s*\}?\}")

_EXIT = re.compile(
    r"(?:expects?\s+)?(?:an?\s+)?exits?(?:\s*(?:with\s*)?code|\s*status|\s*with)?\s*(?:[:=]|is|of)?\s*(\d{1,3})\b",
    re.IGNORECASE,
)
_AT_LEAST = re.compile(
    r"(?:(?:returns?|expects?|prints?|outputs?|shows?)\s+)?(?:a\s+count\s+of\s+)?(?:at\s+least|>=|\u2265|no\s+less\s+than)\s*(\d{1,9})\b",
    re.IGNORECASE,
)
_MORE_THAN = re.compile(
    r"(?:(?:returns?|expects?|prints?|outputs?|shows?)\s+)?(?:more\s+than|greater\s+than|>)\s*(\d{1,9})\b",
    re.IGNORECASE,
)
_OR_MORE = re.compile(r"(?:returns?|expects?|prints?|outputs?)\s+(\d{1,9})\s*(?:\+|or\s+more\b)", re.IGNORECASE)
_COUNT = re.compile(
    r"(?:returns?|expects?|prints?|outputs?|shows?|count\s+is|exactly)\s*(?:exactly\s+|==?\s*|a\s+count\s+of\s+)?(-?\d{1,9})(?![\w.])(?!\s*(?:-|to\b|or\b))",
    re.IGNORECASE,
)
_TEXT = re.compile(
    r"""(?:returns?|expects?|prints?|outputs?|shows?|contains?|output\s+contains)\s*:?\s*(?:output\s+)?["'\u201c`](.+?)["'\u201d`]\s*$""",
    re.IGNORECASE,
)
_BARE_TEXT = re.compile(r"expects?\s*:?\s*(?:output\s+|text\s+)?(\S.*)$", re.IGNORECASE)
_SUCCESS = re.compile(
    r"(?:expects?\s+)?(?:an?\s+)?(?:match(?:es)?|success|succeeds|to\s+pass|pass(?:es)?)\s*$", re.IGNORECASE
)
_NO_MATCH = re.compile(
    r"(?:(?:returns?|expects?|prints?|outputs?)\s+)?(?:no\s+(?:match(?:es)?|results?|output|hits?|lines?)|nothing|empty)\s*$",
    re.IGNORECASE,
)
_DEMANDING = re.compile(
    r"(?:returns?|expects?|outputs?|prints?|shows?|contains?|at\s+(?:least|most)|exactly|no|empty|nothing|zero|must|should|less|fewer|more|equals?|[<>=!\u2264\u2265])(?:\b|\s|\d|$)",
    re.IGNORECASE,
)
_GREP = re.compile(r"(?:git\s+grep|e?grep|fgrep|rg)\b(?![^|]*\s-\w*c)[^|;&]*$")


# Words with which a sentence goes on to say what the command shows.
_ASKS = re.compile(
    r"(?:returns?|prints?|outputs?|shows?|exits?|passes|succeeds|expects?)\b(?!\s+(?:review|against|from))",
    re.IGNORECASE,
)
_CANNOT_FAIL = re.compile(r"(?:true|:|(?:echo|printf)\b[^|;&<>]*|.*(?:\|\||;)\s*(?:true|:))\s*")


class Unreadable(ValueError):
    """An expectation that says something we cannot check. Its command is not run: a guess could pass by accident."""


def criterion(text: str, id: str, source: Source = "plan", line: int = 0) -> Criterion:  # noqa: A002  the field's name
    """
    Read one criterion. A command is only what `verified by` introduces; other code in the text is prose.

    A false anchor is worse than none: code in the middle of a sentence (`mc ls` against the bucket), the bare name of a
    program without a colon before it (`nmap`) and a command that cannot fail prove nothing and are not run.
    """
    clean = " ".join(text.split())
    found = _INTRODUCED.search(clean)
    spans, rest = _code_spans(clean[found.end() :]) if found else ((), "")
    if not spans:
        hint = clean[found.end() :] if found else clean
        return Criterion(id=id, text=clean, behavioural=_traced(hint), source=source, line=line)
    command = " && ".join(spans)
    assert found, "only what was introduced has spans"
    if not _proves(command, rest, declared=found[0].rstrip().endswith(":")):
        return Criterion(id=id, text=clean, source=source, line=line)
    if any(_traced(span) for span in spans):
        return Criterion(id=id, text=clean, behavioural=True, source=source, line=line)
    try:
        expect = expectation(_demand(rest), command)
    except Unreadable:
        return Criterion(id=id, text=clean, source=source, line=line)
    return Criterion(id=id, text=clean, command=command, expect=expect, source=source, line=line)


def expectation(text: str, command: str = "") -> Expectation:
    """The small grammar; exit code 0 when nothing is demanded. Raises `Unreadable` for a demand outside it."""
    wanted = text.strip().rstrip(".")
    if not wanted or _SUCCESS.match(wanted):
        return Expectation()
    if found := _numeric(wanted):
        return found
    if _NO_MATCH.match(wanted):
        if _GREP.search(command):
            return Expectation(number=1)
        raise Unreadable(wanted)
    if found_text := _TEXT.match(wanted) or _BARE_TEXT.match(wanted):
        return Expectation(form="text", text=found_text[1])
    if _DEMANDING.match(wanted):
        raise Unreadable(wanted)
    return Expectation()


def fill(criterion: Criterion, commands: Commands) -> Criterion:
    """Put the project's own commands for placeholders. One that is not configured leaves nothing to run."""
    if criterion.command is None or not _PLACEHOLDER.search(criterion.command):
        return criterion
    known = dict(commands.configured())
    names = _PLACEHOLDER.findall(criterion.command)
    filled = None
    if all(name in known for name in names):
        filled = _PLACEHOLDER.sub(lambda found: known[found[1]], criterion.command)
    return Criterion(
        id=criterion.id,
        text=criterion.text,
        command=filled,
        expect=criterion.expect,
        behavioural=criterion.behavioural,
        source=criterion.source,
        line=criterion.line,
    )


def _numeric(wanted: str) -> Expectation | None:
    if found := _EXIT.match(wanted):
        return Expectation(number=int(found[1]))
    if found := _OR_MORE.match(wanted) or _AT_LEAST.match(wanted):
        return Expectation(form="at_least", number=int(found[1]))
    if found := _MORE_THAN.match(wanted):
        return Expectation(form="at_least", number=int(found[1]) + 1)
    if found := _COUNT.match(wanted):
        return Expectation(form="count", number=int(found[1]))
    return None


def _code_spans(text: str) -> tuple[tuple[str, ...], str]:
    """The code spans the text starts with, joined by `and` or a comma, and what follows them."""
    spans: list[str] = []
    while text.startswith("`"):
        ticks = len(text) - len(text.lstrip("`"))
        closing = re.compile(rf"(?<!`)`{{{ticks}}}(?!`)").search(text, ticks)
        if closing is None:
            break
        if code := text[ticks : closing.start()].strip():
            spans.append(code)
        text = text[closing.end() :]
        if join := _JOIN.match(text):
            text = text[join.end() :]
    return tuple(spans), text


def _proves(command: str, rest: str, *, declared: bool) -> bool:
    bare = len(command.split()) == 1 and "/" not in command and not _PLACEHOLDER.search(command)
    if (bare and not declared) or _CANNOT_FAIL.fullmatch(command):
        return False
    after = rest.lstrip()
    return not after[:1].isalnum() or _ASKS.match(after) is not None


def _demand(text: str) -> str:
    """What the command must show: in the parentheses right after it, or in the words that follow it."""
    stripped = text.lstrip()
    if _ASKS.match(stripped):
        return re.split(r"[.;,](?:\s|$)", stripped, maxsplit=1)[0]
    if not stripped.startswith("("):
        return ""
    depth = 0
    for at, sign in enumerate(stripped):
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            return stripped[1:at]
    return stripped[1:]


def _traced(text: str) -> bool:
    return _TRACING.match(text) is not None
