"""The outline of a Go file."""

from autopilot.codemap.outline import Kind, Sheet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tree_sitter import Node


def walk(root: "Node", sheet: Sheet) -> None:
    for node in root.named_children:
        kind = node.type
        if kind == "import_declaration":
            _imports(node, sheet)
        elif kind == "function_declaration":
            name = sheet.text(node.child_by_field_name("name"))
            _public(name, "function", node, sheet)
            sheet.function(node, name, _params(node, sheet), sheet.phrase(node.child_by_field_name("result")))
        elif kind == "method_declaration":
            sheet.method(node, _receiver(node, sheet), sheet.text(node.child_by_field_name("name")))
        elif kind == "type_declaration":
            for child in node.named_children:
                _type(child, sheet)
        elif kind in {"const_declaration", "var_declaration"}:
            _values(node, sheet)


def _imports(node: "Node", sheet: Sheet) -> None:
    specs = [child for child in node.named_children if child.type == "import_spec"]
    for listed in node.named_children:
        if listed.type == "import_spec_list":
            specs += [child for child in listed.named_children if child.type == "import_spec"]
    for spec in specs:
        name = sheet.text(spec.child_by_field_name("name"))
        names = ("*",) if name == "." else (name,) if name and name != "_" else ()
        sheet.include(sheet.text(spec.child_by_field_name("path"))[1:-1], names, spec)


def _params(node: "Node", sheet: Sheet) -> tuple[str, ...]:
    listed = node.child_by_field_name("parameters")
    names = []
    for child in listed.named_children if listed else ():
        own = [sheet.text(name) for name in child.children_by_field_name("name")]
        names += own or ([sheet.phrase(child)] if child.type != "comment" else [])
    return tuple(names)


def _receiver(node: "Node", sheet: Sheet) -> str:
    listed = node.child_by_field_name("receiver")
    owner = listed.named_children[0].child_by_field_name("type") if listed and listed.named_children else None
    return sheet.text(owner).lstrip("*( ").partition("[")[0].rstrip(") ")


def _type(node: "Node", sheet: Sheet) -> None:
    name, made = sheet.text(node.child_by_field_name("name")), node.child_by_field_name("type")
    shape = made.type if made is not None else ""
    kinds: dict[str, Kind] = {"struct_type": "class", "interface_type": "interface"}
    _public(name, kinds.get(shape, "type"), node, sheet)
    if shape in kinds:
        sheet.owned(node, name, _embedded(made, sheet) if made else "")
    for child in made.named_children if made is not None and shape == "interface_type" else ():
        if child.type == "method_elem":
            sheet.method(child, name, sheet.text(child.child_by_field_name("name")))


def _embedded(node: "Node", sheet: Sheet) -> str:
    """The types whose fields and methods become its own."""
    found = [sheet.phrase(child) for child in node.named_children if child.type == "type_elem"]
    fields = next((child.named_children for child in node.named_children if child.type == "field_declaration_list"), ())
    nameless = (f for f in fields if f.type == "field_declaration" and f.child_by_field_name("name") is None)
    found += [sheet.phrase(entry.child_by_field_name("type")).lstrip("*") for entry in nameless]
    return ", ".join(found)


def _values(node: "Node", sheet: Sheet) -> None:
    for child in node.named_children:
        specs = child.named_children if child.type == "var_spec_list" else (child,)
        for spec in specs:
            for name in spec.children_by_field_name("name"):
                _public(sheet.text(name), "const", name, sheet)


def _public(name: str, kind: Kind, node: "Node", sheet: Sheet) -> None:
    if name[:1].isupper():
        sheet.export(name, kind, node)
