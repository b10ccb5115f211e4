"""Finds an agent's answer in whatever it printed."""

import re
from typing import Any

import msgspec

from autopilot.agents.json_fields import amount, count
from autopilot.domain.evidence import Usage
from autopilot.domain.value import Value

MAX_DEPTH = 200
SPACE = r"[ \t\n\r]*+"
STRING = r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+"'
SCALAR = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|true|false|null"
# A brace that opens a JSON object is followed by a name and a colon, or by its closing brace.
OPENING = re.compile(rf"\{{{SPACE}(?:\}}|{STRING}{SPACE}:)")
TOKEN = re.compile(rf"{SPACE}(?:(?P<sign>[{{}}\[\],:])|(?P<string>{STRING})|(?P<scalar>{SCALAR}))")
HALF_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*+')
BLANK = re.compile(SPACE)

# What may come next, and for each thing that came, what may come after it. Strings are values and names alike.
NEXT = {
    ("name or end", "string"): "colon",
    ("name", "string"): "colon",
    ("colon", ":"): "value",
    ("value", "string"): "comma or end",
    ("value", "scalar"): "comma or end",
    ("value or end", "string"): "comma or end",
    ("value or end", "scalar"): "comma or end",
}
OPENS = {"value", "value or end"}
CLOSES = {"}": {"name or end", "comma or end"}, "]": {"value or end", "comma or end"}}


class Extracted(Value, frozen=True, kw_only=True):
    """`answer` is the text of the answer object exactly as it was printed, None when there is none."""

    answer: str | None = None
    usage: Usage = Usage()
    commands: tuple[str, ...] = ()
    resets_at: str | None = None


def extract(text: str) -> Extracted:
    """
    Read the last complete JSON object of the text; an envelope (`"autopilot": 1`) is opened.

    An object inside one that is broken or cut off is no answer: it was meant as a part of something else.
    """
    last = last_object(text)
    if last is None:
        return Extracted()
    try:
        fields = msgspec.json.decode(last.encode(errors="replace"), type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, RecursionError):
        return Extracted()
    if bytes(fields.get("autopilot", msgspec.Raw(b""))) != b"1":
        return Extracted(answer=last)
    result = bytes(fields.get("result", msgspec.Raw(b""))).decode()
    limit = _read(fields.get("rate_limit"))
    resets_at = limit.get("resets_at") if isinstance(limit, dict) else None
    commands = _read(fields.get("commands"))
    return Extracted(
        answer=result if result.startswith("{") else None,
        usage=_usage(_read(fields.get("usage"))),
        commands=tuple(c for c in commands if isinstance(c, str)) if isinstance(commands, list) else (),
        resets_at=resets_at if isinstance(resets_at, str) else None,
    )


def last_object(text: str) -> str | None:
    """The last complete top-level JSON object, as it stands in the text. Every character is looked at once or twice."""
    last, opening = None, OPENING.search(text)
    while opening is not None:
        complete, end = _read_object(text, opening.start())
        if complete:
            last = text[opening.start() : end]
        opening = OPENING.search(text, end)
    return last


def _read_object(text: str, start: int) -> tuple[bool, int]:
    """Whether a complete object starts here, and where it ends or goes wrong."""
    open_signs, expected, at = ["{"], "name or end", start + 1
    while token := TOKEN.match(text, at):
        begun = token.start(token.lastgroup or 0)
        kind = token["sign"] or token.lastgroup or ""
        following = _step(expected, kind, open_signs)
        if following is None:
            return False, begun
        expected, at = following, token.end()
        if not open_signs:
            return True, at
    # What stopped us may be a string cut off in the middle: what it says is not looked at.
    blank = BLANK.match(text, at)
    at = blank.end() if blank else at
    half = HALF_STRING.match(text, at)
    return False, half.end() if half else at


def _step(expected: str, kind: str, open_signs: list[str]) -> str | None:
    """What may follow, None if this may not come here. `open_signs` is brought up to date."""
    if kind in CLOSES:
        matches = open_signs[-1] == ("{" if kind == "}" else "[")
        if not matches or expected not in CLOSES[kind]:
            return None
        open_signs.pop()
        return "comma or end"
    if kind in {"{", "["}:
        if expected not in OPENS or len(open_signs) >= MAX_DEPTH:
            return None
        open_signs.append(kind)
        return "name or end" if kind == "{" else "value or end"
    if kind == "," and expected == "comma or end":
        return "name" if open_signs[-1] == "{" else "value"
    return NEXT.get((expected, kind))


def _read(raw: msgspec.Raw | None) -> Any:
    """The part's value, None for one that is missing or that no program could hold."""
    try:
        return None if raw is None else msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return None


def _usage(said: Any) -> Usage:
    said = said if isinstance(said, dict) else {}
    return Usage(
        input_tokens=count(said.get("input_tokens")),
        output_tokens=count(said.get("output_tokens")),
        cost_usd=amount(said.get("cost_usd")),
    )
