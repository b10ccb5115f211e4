"""The text of one state after the other: what is the very same as in the one before is not written out again."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from operator import is_
from typing import Any

import msgspec

from autopilot.text.clean import harmless

_INDENT = b"  "
_BLOCK = 32


class StatePrinter:
    """
    Phases, lines of the log and the history of deferrals make up most of a state. Each is known by its identity, and so
    must not be changed once it was printed.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[object, bytes]] = {}
        self._used: dict[int, tuple[object, bytes]] = {}
        self._blocks: dict[int, _Block] = {}

    def text(self, state: Mapping[str, Any]) -> bytes:
        """Byte by byte what formatting the whole state gives."""
        self._used = {}
        parts = ((key, self._part(key, value)) for key, value in state.items())
        text = b"".join((*_braced(b"{}", (_named(key, part) for key, part in parts), 0), b"\n"))
        self._known = self._used
        return text

    def _part(self, key: str, value: Any) -> bytes:
        match key:
            case "phases" if isinstance(value, dict):
                return b"".join(_braced(b"{}", self._phases(value), 1))
            case "event_log" if isinstance(value, list):
                return b"".join(_braced(b"[]", (self._kept(line, 2) for line in value), 1))
            case "_meta" if isinstance(value, dict):
                named = (
                    _named(name, self._kept(one, 2) if name == "deferral_history" else _printed(one, 2))
                    for name, one in value.items()
                )
                return b"".join(_braced(b"{}", named, 1))
            case _:
                return _printed(value, 1)

    def _phases(self, phases: dict[str, Any]) -> Iterator[bytes]:
        """Many at a time: hardly one of them changes from one state to the next."""
        names, states, changed = tuple(phases), tuple(phases.values()), set[int]()
        for start in range(0, len(states), _BLOCK):
            before, end = self._blocks.get(start, _Block()), start + _BLOCK
            self._blocks[start] = block = before.after(names[start:end], states[start:end])
            changed |= {start} if block is not before else set()
            yield block.text
        if changed:
            self._blocks = {n: b if n in changed else replace(b, rows=()) for n, b in self._blocks.items()}

    def _kept(self, value: object, depth: int) -> bytes:
        held = self._known.get(id(value)) or self._used.get(id(value)) or (value, _printed(value, depth))
        self._used[id(value)] = held
        return held[1]


@dataclass(frozen=True, slots=True)
class _Block:
    """Some phases, and their text in one piece; where they change these days, in single ones (`rows`) as well."""

    names: tuple[str, ...] = ()
    states: tuple[object, ...] = ()
    text: bytes = b""
    rows: tuple[bytes, ...] = ()

    def after(self, names: tuple[str, ...], states: tuple[object, ...]) -> "_Block":
        if self.names == names and all(map(is_, self.states, states)):
            return self
        known = {id(state): row for state, row in zip(self.states, self.rows, strict=False)}
        rows = tuple(
            known.get(id(state)) or _named(name, _printed(state, 2)) for name, state in zip(names, states, strict=True)
        )
        return _Block(names, states, (b",\n" + _INDENT * 2).join(rows), rows)


def _printed(value: object, depth: int) -> bytes:
    text = msgspec.json.format(msgspec.json.encode(value), indent=len(_INDENT)).decode()
    return harmless(text).encode().replace(b"\n", b"\n" + _INDENT * depth)


def _named(name: str, part: bytes) -> bytes:
    return b"%s: %s" % (_printed(name, 0), part)


def _braced(braces: bytes, parts: Iterable[bytes], depth: int) -> Iterator[bytes]:
    """Each part on a line of its own; nothing but the braces where there is none."""
    yield braces[:1]
    before = b"\n"
    for part in parts:
        yield before + _INDENT * (depth + 1) + part
        before = b",\n"
    yield (b"\n" + _INDENT * depth if before != b"\n" else b"") + braces[1:]
