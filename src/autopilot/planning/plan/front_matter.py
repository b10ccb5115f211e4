"""The small part of YAML that plan files put on top: keys with words, lists, and nested blocks that are skipped."""

import re
from collections.abc import Sequence

_KEY = re.compile(r"(?P<key>[A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(?P<value>.*)|[ \t]*)$")
_ENTRY = re.compile(r"[ \t]*-[ \t]+(?P<value>.*)$")
_COMMENT = re.compile(r"[ \t]+#.*$")
_MAX_LINES = 2000

FrontMatter = dict[str, tuple[str, ...]]


def read(lines: Sequence[str]) -> tuple[FrontMatter, int]:
    """The values of each top-level key, a plain one as a single value, and how many lines the block takes."""
    if not lines or lines[0].rstrip() != "---":
        return {}, 0
    end = next((at for at, line in enumerate(lines[1:_MAX_LINES], start=1) if line.rstrip() in {"---", "..."}), 0)
    if not end:
        return {}, 0
    found: FrontMatter = {}
    key = ""
    for line in lines[1:end]:
        if named := _KEY.match(line):
            key = named["key"]
            found[key] = _values(named["value"] or "")
        elif key and (entry := _ENTRY.match(line)) and not found.get(key + "!"):
            found[key] = (*found[key], *_values(entry["value"]))
        elif line.strip() and not line.lstrip().startswith("#") and key:
            found[key + "!"] = ("nested",)
    return {name: values for name, values in found.items() if not name.endswith("!")}, end + 1


def _values(text: str) -> tuple[str, ...]:
    """`x`, `"x"`, `[a, "b"]`; a block scalar's mark is no value."""
    text = text.strip()
    if text.startswith("["):
        inner = text[1:].partition("]")[0]
        return tuple(value for piece in inner.split(",") if (value := _scalar(piece)))
    value = _scalar(text)
    return (value,) if value and value not in {"|", ">", "|-", ">-", "{}", "null", "~"} else ()


def _scalar(text: str) -> str:
    text = text.strip()
    if text[:1] in {'"', "'"}:
        return text[1:].partition(text[0])[0]
    return _COMMENT.sub("", text).strip()
