"""Reads `must_haves` in the front matter of a plan file: what must hold once its tasks are done."""

import re
from collections.abc import Callable, Sequence

from autopilot.domain.phase import MustHaves

_BLOCK = re.compile(r"must_haves[ \t]*:[ \t]*$")
_KEY = re.compile(r"(?P<key>[A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(?P<value>.*)|[ \t]*)$")
_MOST = 100

Item = dict[str, str]


def read(matter: Sequence[str]) -> MustHaves:
    """`matter` are the lines of the front matter. What is not understood is left out."""
    start = next((at + 1 for at, line in enumerate(matter) if _BLOCK.match(line)), None)
    if start is None:
        return MustHaves()
    lists = _lists(matter[start:])
    return MustHaves(
        truths=_texts(lists, "truths", lambda item: item.get("", "") or item.get("truth", "")),
        artifacts=_texts(lists, "artifacts", lambda item: item.get("path", "") or item.get("", "")),
        links=_texts(lists, "key_links", _link),
    )


def _lists(lines: Sequence[str]) -> dict[str, list[Item]]:
    """The items of each list of the block: keys to values, a plain item under the empty key."""
    found: dict[str, list[Item]] = {}
    items: list[Item] = []
    for line in lines:
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if not line[:1].isspace():
            break
        bare = text.removeprefix("- ").strip()
        named = _KEY.match(bare)
        if text.startswith("- "):
            items.append({named["key"]: _scalar(named["value"] or "")} if named else {"": _scalar(bare)})
        elif named and not (named["value"] or "").strip():
            items = found.setdefault(named["key"], [])
        elif named and items:
            items[-1].setdefault(named["key"], _scalar(named["value"] or ""))
    return found


def _texts(lists: dict[str, list[Item]], name: str, text: Callable[[Item], str]) -> tuple[str, ...]:
    return tuple(said for item in lists.get(name, [])[:_MOST] if (said := text(item)))


def _link(item: Item) -> str:
    ends = " -> ".join(end for end in (item.get("from", ""), item.get("to", "")) if end)
    return f"{ends} ({item['via']})" if ends and item.get("via") else ends or item.get("", "")


def _scalar(text: str) -> str:
    text = text.strip()
    if text[:1] in {'"', "'"}:
        return text[1:].rpartition(text[0])[0] or text[1:]
    return re.sub(r"[ \t]+#.*$", "", text)
