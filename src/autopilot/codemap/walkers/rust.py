"""The outline of a Rust file."""

from autopilot.codemap.outline import Kind, Sheet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tree_sitter import Node

KINDS: dict[str, Kind] = {
    "struct_item": "class",
    "union_item": "class",
    "enum_item": "enum",
    "trait_item": "interface",
    "const_item": "const",
    "static_item": "const",
    "type_item": "type",
}
OWNED = frozenset({"struct_item", "union_item", "enum_item", "trait_item"})
METHODS = frozenset({"function_item", "function_signature_item"})
DEEPEST = 8


def walk(root: "Node", sheet: Sheet) -> None:
    for node in root.named_children:
        kind = node.type
        if kind == "function_item":
            name = sheet.text(node.child_by_field_name("name"))
            if _public(node):
                sheet.export(name, "function", node)
            sheet.function(node, name, _params(node, sheet), sheet.phrase(node.child_by_field_name("return_type")))
        elif kind in KINDS:
            _named(node, kind, sheet)
        elif kind == "impl_item":
            _methods(node, _plain(sheet.phrase(node.child_by_field_name("type"))), sheet)
        else:
            _needs(node, kind, sheet)


def _needs(node: "Node", kind: str, sheet: Sheet) -> None:
    if kind == "use_declaration":
        argument = node.child_by_field_name("argument")
        for path in _used(argument, sheet, DEEPEST) if argument is not None else ():
            source, _, name = path.rpartition("::")
            sheet.include(source or name, (name,) if source else (), node)
            if _public(node) and name != "*":
                sheet.export(name, "const", node)
    elif kind == "mod_item" and node.child_by_field_name("body") is None:
        sheet.include(f"self::{sheet.text(node.child_by_field_name('name'))}", (), node)
    elif kind == "extern_crate_declaration":
        sheet.include(sheet.text(node.child_by_field_name("name")), (), node)


def _used(node: "Node", sheet: Sheet, depth: int) -> list[str]:
    """`a::{b, c::d}` as `a::b` and `a::c::d`."""
    if node.type == "use_as_clause":
        inner = node.child_by_field_name("path")
        return _used(inner, sheet, depth - 1) if inner is not None and depth else []
    if node.type not in {"scoped_use_list", "use_list"}:
        return ["".join(sheet.text(node).split())]
    prefix = sheet.text(node.child_by_field_name("path"))
    listed = node.child_by_field_name("list") if node.type == "scoped_use_list" else node
    inner_paths = [
        p for child in (listed.named_children if listed and depth else ()) for p in _used(child, sheet, depth - 1)
    ]
    return [f"{prefix}::{path}" if prefix else path for path in inner_paths]


def _named(node: "Node", kind: str, sheet: Sheet) -> None:
    name = sheet.text(node.child_by_field_name("name"))
    if _public(node):
        sheet.export(name, KINDS[kind], node)
    if kind in OWNED:
        sheet.owned(node, name, sheet.phrase(node.child_by_field_name("bounds")).removeprefix(":").strip())
    if kind == "trait_item":
        _methods(node, name, sheet)


def _methods(node: "Node", owner: str, sheet: Sheet) -> None:
    body = node.child_by_field_name("body")
    for child in body.named_children if body else ():
        if child.type in METHODS:
            sheet.method(child, owner, sheet.text(child.child_by_field_name("name")))


def _plain(name: str) -> str:
    return name.partition("<")[0].rpartition("::")[2]


def _params(node: "Node", sheet: Sheet) -> tuple[str, ...]:
    listed = node.child_by_field_name("parameters")
    children = listed.named_children if listed else ()
    named = ((child, child.child_by_field_name("pattern")) for child in children if child.type == "parameter")
    return tuple(sheet.phrase(pattern or child) for child, pattern in named)


def _public(node: "Node") -> bool:
    first = node.named_children[0] if node.named_children else None
    return first is not None and first.type == "visibility_modifier"
