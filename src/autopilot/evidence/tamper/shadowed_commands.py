"""Shell functions and aliases that take the place of the commands by which checks decide."""

import re
from collections.abc import Iterator

from autopilot.evidence.tamper.case_values import brackets
from autopilot.evidence.tamper.file_pairs import Hit, Pair

_DECIDES = r"\[\[?|test|grep|egrep|fgrep|rg|diff|cmp|comm|false|exit|return|set|trap|expr|let|eval|kill"
_WORKS = (
    r"command|builtin|source|cat|awk|sed|wc|sort|uniq|head|tail|cut|jq|find|xargs|env|bash|sh|python3?|node|npm|npx|make"
    r"|cargo|go|pytest|git"
)
_FUNCTION = re.compile(
    rf"^[ \t]*(?:function[ \t]+(?P<named>(?:{_DECIDES}|{_WORKS}))(?=[\s({{])(?:[ \t]*\([ \t]*\))?"
    rf"|(?P<name>(?:{_DECIDES}|{_WORKS}))[ \t]*\([ \t]*\))\s*(?P<open>[{{(])",
    re.MULTILINE,
)
_ALIAS = re.compile(rf"(?:^|[;&|]\s*|\bthen\s+)\s*alias\s+(?P<name>{_DECIDES}|{_WORKS})=(?P<value>.*)$")
_EXPORTED = re.compile(r"\b(?:enable\s+-n|hash\s+-p\s+\S+|unset\s+-f)\s+(?P<name>\S+)")


def shadowed_commands(pair: Pair) -> Iterator[Hit]:
    """One that hands over to the command it is named after only dresses it up."""
    if pair.language != "shell":
        return
    fresh, code = frozenset(pair.fresh), pair.new.code
    ends = {**brackets(code, "{}"), **brackets(code, "()")}
    for found in _FUNCTION.finditer(code):
        name = found["named"] or found["name"]
        line = code.count("\n", 0, found.start("named" if found["named"] else "name")) + 1
        end = ends.get(found.start("open"), len(code))
        if fresh.intersection(range(line, line + code.count("\n", found.start(), end) + 1)):
            body = pair.new.bare[found.start("open") : end]
            yield _told(name, line, f"a function takes the place of `{name}`", milder=_hands_over(name, body))
    for number, bare, _ in pair.fresh_code():
        if alias := _ALIAS.search(bare):
            same = _hands_over(alias["name"], alias["value"]) or alias["value"].strip("\"' ").startswith(
                f"{alias['name']} "
            )
            yield _told(alias["name"], number, f"an alias takes the place of `{alias['name']}`", milder=same)
        elif (off := _EXPORTED.search(bare)) and re.fullmatch(_DECIDES, off["name"]) and "unset" not in bare:
            yield _told(off["name"], number, f"`{bare.strip()[:80]}`", milder=False)


def _told(name: str, line: int, what: str, *, milder: bool) -> Hit:
    return Hit("command-shadowed", line, what, milder=milder or re.fullmatch(_DECIDES, name) is None)


def _hands_over(name: str, body: str) -> bool:
    return (
        re.search(rf"(?:\b(?:command|builtin|exec|env)\s+(?:-\w+\s+)*|\\|/bin/){re.escape(name)}(?!\w)", body)
        is not None
    )
