"""What is noted down while a syntax tree is walked, and the calls found in the noted bodies."""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tree_sitter import Node

# One of `ExportType`.
Kind = str
Raw = dict[str, list[dict[str, object]]]
# Whether what lies between two bytes is code.
InCode = Callable[[int, int], bool]
NONE: frozenset[bytes] = frozenset()
LONGEST = 200
# Places of a file looked up in its tree; in one that is nested very deeply each look is long.
MOST_LOOKS = 2_000
# Over the text read backwards: a search that starts with a fixed sign is many times faster.
CALL = re.compile(rb"\([ \t]*([\w$]+)")
# Ruby calls without parentheses.
WORD = re.compile(rb"([?!]?\w+)")
OWN = (b"self.", b"this.", b"cls.", b"this->", b"self::", b"Self::", b"static::", b"&self.")
NO_CALLS = frozenset(
    {"comment", "line_comment", "block_comment", "string", "string_content", "string_fragment", "heredoc_content",
     "interpreted_string_literal", "raw_string_literal", "string_literal", "ERROR"}
)  # fmt: skip
DEFINES = ("definition", "declaration", "declarator", "specifier", "_item", "parameter", "signature")


class Body:
    """A function or method, the line it is on and where its own code lies. `owner` is its class."""

    __slots__ = ("end", "line", "name", "owner", "start")

    def __init__(self, name: str, owner: str, line: int, start: int, end: int) -> None:
        self.name, self.owner, self.line, self.start, self.end = name, owner, line, start, end

    @property
    def caller(self) -> str:
        return f"{self.owner}.{self.name}" if self.owner else self.name


class Sheet:
    """
    Facts in the order they are found, as plain tuples: a worker reads thousands of files and lives for a second.

    `bare_methods`: in this language a method may be called by its name alone.
    """

    __slots__ = (
        "_at", "_line", "bare_methods", "bodies", "classes", "exports", "functions", "imports", "methods", "source",
    )  # fmt: skip

    def __init__(self, source: bytes) -> None:
        self.source, self.bare_methods = source, False
        self._at, self._line = 0, 1
        self.exports: list[tuple[str, Kind, int]] = []
        self.imports: list[tuple[str, tuple[str, ...], int]] = []
        self.functions: list[tuple[str, tuple[str, ...], int, str | None]] = []
        self.classes: list[tuple[str, str | None, int]] = []
        self.bodies: list[Body] = []
        self.methods: dict[str, list[str]] = {}

    def text(self, node: "Node | None") -> str:
        """A name as it stands there."""
        return "" if node is None else self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def phrase(self, node: "Node | None") -> str:
        """A longer piece of code on one line, cut where it would be a page."""
        return "" if node is None else one_line(self.text(node))

    def line(self, node: "Node") -> int:
        """Counted on from where it was asked last: a tree is walked in order, and asking the node is slow."""
        at = node.start_byte
        if at >= self._at:
            self._line += self.source.count(b"\n", self._at, at)
        else:
            self._line -= self.source.count(b"\n", at, self._at)
        self._at = at
        return self._line

    def export(self, name: str, kind: Kind, node: "Node") -> None:
        if name:
            self.exports.append((name, kind, self.line(node)))

    def include(self, source: str, names: tuple[str, ...], node: "Node") -> None:
        if source:
            self.imports.append((source[:LONGEST], names, self.line(node)))

    def function(self, node: "Node", name: str, params: tuple[str, ...], returns: str, line: int = 0) -> None:
        if name:
            self.functions.append((name, params, line or self.line(node), returns or None))
            self.body(node, name, "")

    def body(self, node: "Node", name: str, owner: str) -> None:
        inside = node.child_by_field_name("body")
        if inside is not None and name:
            self.bodies.append(Body(name, owner, self.line(node), inside.start_byte, inside.end_byte))

    def method(self, node: "Node", owner: str, name: str) -> None:
        if name:
            self.methods.setdefault(owner, []).append(name)
            self.body(node, name, owner)

    def owned(self, node: "Node", name: str, extends: str) -> None:
        """A class, a struct, a trait: whatever may have methods."""
        if name:
            self.classes.append((name, extends or None, self.line(node)))


def one_line(text: str) -> str:
    return " ".join(text.split())[:LONGEST]


def finished(sheet: Sheet, in_code: InCode, pattern: "re.Pattern[bytes]" = CALL) -> Raw:
    """Everything noted, in the order of the text, the first of several things of one name; in the form of `Outline`."""
    classes = {c[0]: c for c in reversed(sheet.classes)}
    exports = sorted({e[0]: e for e in reversed(sheet.exports)}.values(), key=_by_line)
    return {
        "exports": [{"name": name, "type": kind, "line": line} for name, kind, line in exports],
        "imports": [
            {"source": source, "names": names, "line": line}
            for source, names, line in sorted(sheet.imports, key=lambda i: i[2])
        ],
        "functions": [
            {"name": name, "params": params, "line": line, "returns": returns}
            for name, params, line, returns in sheet.functions
        ],
        "classes": [
            {"name": name, "extends": extends, "methods": [*dict.fromkeys(sheet.methods.get(name, ()))], "line": line}
            for name, extends, line in reversed(classes.values())
        ],
        "call_graph": list(_calls(sheet, in_code, pattern)),
    }


def _by_line(export: tuple[str, Kind, int]) -> tuple[int, str]:
    return export[2], export[0]


def _calls(sheet: Sheet, in_code: InCode, pattern: "re.Pattern[bytes]") -> Iterator[dict[str, object]]:
    """
    A search of the text finds what may be a call of something this file defines; `in_code` says whether it is one.

    Looking at every node of a tree instead takes longer than parsing.
    """
    names = Names(sheet)
    backwards = sheet.source[::-1]
    size = len(backwards)
    for body in sheet.bodies:
        own = names.owned.get(body.owner, NONE)
        span = size - body.end, size - body.start
        # Most call nothing of their own file, and that is soon found out.
        called = pattern.findall(backwards, *span)
        if names.known.isdisjoint(called) and own.isdisjoint(called):
            continue
        spots = [
            (size - match.end(1), match[1])
            for match in pattern.finditer(backwards, *span)
            if match[1] in names.known or match[1] in own
        ]
        callees = dict[str, None]()
        for at, name in reversed(spots):
            callee = _callee(sheet, at, name, (names.known, own, body.owner))
            # One that is known already is not looked at again.
            if callee is not None and callee not in callees and in_code(at, at + len(name)):
                callees[callee] = None
        if callees:
            yield {"caller": body.caller, "callees": [*callees], "line": body.line}


class Names:
    """What a file defines, spelled backwards."""

    __slots__ = ("known", "owned")

    def __init__(self, sheet: Sheet) -> None:
        self.known = _backwards([*(f[0] for f in sheet.functions), *(c[0] for c in sheet.classes)])
        self.owned = {owner: _backwards(names) for owner, names in sheet.methods.items()}


def _backwards(names: Iterable[str]) -> frozenset[bytes]:
    return frozenset(name.encode("utf-8", "replace")[::-1] for name in names)


def _callee(sheet: Sheet, at: int, name: bytes, names: tuple[frozenset[bytes], frozenset[bytes], str]) -> str | None:
    """What of the file is called there, if that is code."""
    known, own, owner = names
    before = sheet.source[max(0, at - 8) : at]
    attached = before.endswith((b".", b"->", b"::"))
    mine = before.endswith(OWN) if attached else sheet.bare_methods and name in own
    if (attached and not mine) or name not in (own if mine else known):
        return None
    said = name[::-1].decode("utf-8", "replace")
    return f"{owner}.{said}" if mine else said


def called_in(root: "Node") -> InCode:
    """Whether what lies there is code, by the tree: no comment, no string, no definition."""
    looks = count()

    def in_code(start: int, end: int) -> bool:
        if next(looks) >= MOST_LOOKS:
            return False
        node = root.descendant_for_byte_range(start, end)
        parent = node.parent if node else None
        if node is None or parent is None or node.type in NO_CALLS or parent.type in NO_CALLS:
            return False
        named = parent.child_by_field_name("name")
        return not (named == node and parent.type.endswith(DEFINES))

    return in_code
