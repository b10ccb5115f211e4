"""The outline of a Java or C# file: types, nested in namespaces or not, and their methods."""

from autopilot.codemap.outline import Kind, Sheet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tree_sitter import Node

KINDS: dict[str, Kind] = {
    "class_declaration": "class",
    "record_declaration": "class",
    "struct_declaration": "class",
    "interface_declaration": "interface",
    "annotation_type_declaration": "interface",
    "enum_declaration": "enum",
    "delegate_declaration": "type",
}
METHODS = frozenset({"method_declaration", "constructor_declaration", "compact_constructor_declaration"})
SPACES = frozenset({"namespace_declaration", "file_scoped_namespace_declaration", "declaration_list"})
BASES = {"superclass": "extends ", "extends_interfaces": "extends ", "base_list": ":"}


def walk(root: "Node", sheet: Sheet) -> None:
    sheet.bare_methods = True
    waiting = list(reversed(root.named_children))
    while waiting:
        node = waiting.pop()
        kind = node.type
        if kind in KINDS:
            _type(node, kind, sheet)
        elif kind in SPACES:
            waiting += reversed(node.named_children)
        elif kind == "import_declaration":
            _import(node, sheet)
        elif kind == "using_directive":
            _using(node, sheet)
        elif kind == "global_statement" and node.named_children:
            _local(node.named_children[0], sheet)


def _import(node: "Node", sheet: Sheet) -> None:
    path = "".join(sheet.text(next((c for c in node.named_children if "identifier" in c.type), None)).split())
    if any(child.type == "asterisk" for child in node.named_children):
        sheet.include(path, ("*",), node)
        return
    source, _, name = path.rpartition(".")
    sheet.include(source or name, (name,) if source else (), node)


def _using(node: "Node", sheet: Sheet) -> None:
    """The last part is what is used; an alias stands before it."""
    if node.named_children:
        sheet.include(sheet.phrase(node.named_children[-1]), (), node)


def _type(node: "Node", kind: str, sheet: Sheet) -> None:
    name = sheet.text(node.child_by_field_name("name"))
    if _public(node, sheet):
        sheet.export(name, KINDS[kind], node)
    if kind == "delegate_declaration":
        return
    sheet.owned(node, name, _extends(node, sheet))
    body = node.child_by_field_name("body")
    members = [member for child in (body.named_children if body else ()) for member in _members(child)]
    for child in members:
        if child.type in METHODS:
            sheet.method(child, name, sheet.text(child.child_by_field_name("name")))


def _members(node: "Node") -> list["Node"]:
    return node.named_children if node.type == "enum_body_declarations" else [node]


def _extends(node: "Node", sheet: Sheet) -> str:
    for child in node.named_children:
        if child.type in BASES:
            return sheet.phrase(child).removeprefix(BASES[child.type]).strip()
    return ""


def _public(node: "Node", sheet: Sheet) -> bool:
    return any("public" in sheet.text(c).split() for c in node.named_children if c.type in {"modifiers", "modifier"})


def _local(node: "Node", sheet: Sheet) -> None:
    """A function of a C# program without a class."""
    if node.type != "local_function_statement":
        return
    listed = node.child_by_field_name("parameters")
    params = (
        sheet.text(name) for name in (c.child_by_field_name("name") for c in (listed.named_children if listed else ()))
    )
    sheet.function(
        node,
        sheet.text(node.child_by_field_name("name")),
        tuple(filter(None, params)),
        sheet.phrase(node.child_by_field_name("type")),
    )
