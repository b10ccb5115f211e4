"""What is noted down while a syntax tree is walked, and the calls found in the noted bodies."""

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import msgspec

from autopilot.domain.repo_map import Calls, ClassOutline, Export, ExportType, Function, Import, Outline

if TYPE_CHECKING:
    from tree_sitter import Node

LONGEST = 200
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


class Body(msgspec.Struct, frozen=True, gc=False):
    """A function or method and where its own code lies. `owner` is its class."""

    name: str
    owner: str
    node: "Node"
    start: int
    end: int

    @property
    def caller(self) -> str:
        return f"{self.owner}.{self.name}" if self.owner else self.name


class Sheet(msgspec.Struct):
    """`bare_methods`: in this language a method may be called by its name alone."""

    source: bytes
    bare_methods: bool = False
    exports: list[Export] = []
    imports: list[Import] = []
    functions: list[Function] = []
    classes: list[ClassOutline] = []
    bodies: list[Body] = []
    methods: dict[str, list[str]] = {}

    def text(self, node: "Node | None") -> str:
        """A name as it stands there."""
        return "" if node is None else self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def phrase(self, node: "Node | None") -> str:
        """A longer piece of code on one line, cut where it would be a page."""
        return " ".join(self.text(node).split())[:LONGEST]

    def export(self, name: str, kind: ExportType, node: "Node") -> None:
        if name:
            self.exports.append(Export(name=name, type=kind, line=line_of(node)))

    def include(self, source: str, names: tuple[str, ...], node: "Node") -> None:
        if source:
            self.imports.append(Import(source=source[:LONGEST], names=names, line=line_of(node)))

    def function(self, node: "Node", name: str, params: tuple[str, ...], returns: str) -> None:
        if name:
            found = Function(name=name, params=params, line=line_of(node), returns=returns or None)
            self.functions.append(found)
            self.body(node, name, "")

    def body(self, node: "Node", name: str, owner: str) -> None:
        inside = node.child_by_field_name("body")
        if inside is not None and name:
            self.bodies.append(Body(name, owner, node, inside.start_byte, inside.end_byte))

    def method(self, node: "Node", owner: str, name: str) -> None:
        if name:
            self.methods.setdefault(owner, []).append(name)
            self.body(node, name, owner)

    def owned(self, node: "Node", name: str, extends: str) -> None:
        """A class, a struct, a trait: whatever may have methods."""
        if name:
            found = ClassOutline(name=name, extends=extends or None, line=line_of(node))
            self.classes.append(found)


def line_of(node: "Node") -> int:
    return node.start_point.row + 1


def finished(sheet: Sheet, root: "Node", pattern: re.Pattern[bytes] = CALL) -> Outline:
    """Everything noted, in the order of the text, the first of several things of one name."""
    classes = {c.name: c for c in reversed(sheet.classes)}
    return Outline(
        exports=tuple(sorted({e.name: e for e in reversed(sheet.exports)}.values(), key=lambda e: (e.line, e.name))),
        imports=tuple(sorted(sheet.imports, key=lambda i: i.line)),
        functions=tuple(sheet.functions),
        classes=tuple(
            ClassOutline(name=c.name, extends=c.extends, line=c.line, methods=_once(sheet.methods.get(c.name, ())))
            for c in reversed(classes.values())
        ),
        call_graph=tuple(_calls(sheet, root, pattern)),
    )


def _once(names: "list[str] | tuple[str, ...]") -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _calls(sheet: Sheet, root: "Node", pattern: re.Pattern[bytes]) -> Iterator[Calls]:
    """
    A search of the text finds what may be a call of something this file defines; the tree says whether it is one.

    Looking at every node of the tree instead takes longer than parsing.
    """
    names = Names.of(sheet)
    backwards = sheet.source[::-1]
    if names.every.isdisjoint(pattern.findall(backwards)):
        return
    size = len(backwards)
    for body in sheet.bodies:
        own = names.owned.get(body.owner, frozenset())
        spots = [
            (size - match.end(1), match[1])
            for match in pattern.finditer(backwards, size - body.end, size - body.start)
            if match[1] in names.known or match[1] in own
        ]
        callees = dict.fromkeys(_callee(sheet, root, spot, (names.known, own, body.owner)) for spot in reversed(spots))
        found = tuple(callee for callee in callees if callee)
        if found:
            yield Calls(caller=body.caller, callees=found, line=line_of(body.node))


class Names(msgspec.Struct, frozen=True):
    """What a file defines, spelled backwards."""

    known: frozenset[bytes]
    owned: dict[str, frozenset[bytes]]
    every: frozenset[bytes]

    @classmethod
    def of(cls, sheet: Sheet) -> "Names":
        known = _backwards([*(f.name for f in sheet.functions), *(c.name for c in sheet.classes)])
        owned = {owner: _backwards(names) for owner, names in sheet.methods.items()}
        return cls(known, owned, known.union(*owned.values()))


def _backwards(names: Iterable[str]) -> frozenset[bytes]:
    return frozenset(name.encode("utf-8", "replace")[::-1] for name in names)


def _callee(
    sheet: Sheet, root: "Node", spot: tuple[int, bytes], names: tuple[frozenset[bytes], frozenset[bytes], str]
) -> str | None:
    known, own, owner = names
    at, name = spot
    before = sheet.source[max(0, at - 8) : at]
    attached = before.endswith((b".", b"->", b"::"))
    mine = before.endswith(OWN) if attached else sheet.bare_methods and name in own
    if (attached and not mine) or name not in (own if mine else known) or not _in_code(root, at, at + len(name)):
        return None
    said = name[::-1].decode("utf-8", "replace")
    return f"{owner}.{said}" if mine else said


def _in_code(root: "Node", start: int, end: int) -> bool:
    node = root.descendant_for_byte_range(start, end)
    parent = node.parent if node else None
    if node is None or parent is None or node.type in NO_CALLS or parent.type in NO_CALLS:
        return False
    named = parent.child_by_field_name("name")
    return not (named == node and parent.type.endswith(DEFINES))
