"""The outline of a PHP file."""

from autopilot.codemap.outline import Kind, Sheet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tree_sitter import Node

KINDS: dict[str, Kind] = {
    "class_declaration": "class",
    "trait_declaration": "class",
    "interface_declaration": "interface",
    "enum_declaration": "enum",
}
LOADS = frozenset(
    {"require_expression", "require_once_expression", "include_expression", "include_once_expression"}
)  # fmt: skip


def walk(root: "Node", sheet: Sheet) -> None:
    waiting = list(reversed(root.named_children))
    while waiting:
        node = waiting.pop()
        kind = node.type
        if kind in KINDS:
            _type(node, kind, sheet)
        elif kind == "function_definition":
            _function(node, sheet)
        elif kind == "namespace_definition":
            body = node.child_by_field_name("body")
            waiting += reversed(body.named_children if body else [])
        else:
            _needs(node, kind, sheet)


def _needs(node: "Node", kind: str, sheet: Sheet) -> None:
    if kind == "namespace_use_declaration":
        _use(node, sheet)
    elif kind == "const_declaration":
        for child in node.named_children:
            sheet.export(sheet.text(child.named_children[0]) if child.named_children else "", "const", node)
    elif kind == "expression_statement" and node.named_children:
        _load(node.named_children[0], sheet)


def _type(node: "Node", kind: str, sheet: Sheet) -> None:
    name = sheet.text(node.child_by_field_name("name"))
    sheet.export(name, KINDS[kind], node)
    bases = next((sheet.phrase(c) for c in node.named_children if c.type == "base_clause"), "")
    sheet.owned(node, name, bases.removeprefix("extends").strip())
    body = node.child_by_field_name("body")
    for child in body.named_children if body else ():
        if child.type == "method_declaration":
            sheet.method(child, name, sheet.text(child.child_by_field_name("name")))


def _function(node: "Node", sheet: Sheet) -> None:
    name, listed = sheet.text(node.child_by_field_name("name")), node.child_by_field_name("parameters")
    named = (child.child_by_field_name("name") for child in (listed.named_children if listed else ()))
    sheet.export(name, "function", node)
    params = tuple(sheet.text(param) for param in named if param is not None)
    sheet.function(node, name, params, sheet.phrase(node.child_by_field_name("return_type")))


def _use(node: "Node", sheet: Sheet) -> None:
    group = node.child_by_field_name("body")
    prefix = next((sheet.text(c) for c in node.named_children if c.type == "namespace_name"), "")
    for clause in (group or node).named_children:
        if clause.type == "namespace_use_clause" and clause.named_children:
            path = "\\".join(filter(None, (prefix, sheet.text(clause.named_children[0])))).lstrip("\\")
            source, _, name = path.rpartition("\\")
            sheet.include(source or name, (name,) if source else (), node)


def _load(node: "Node", sheet: Sheet) -> None:
    """`require __DIR__ . '/a.php'` is relative to the file, as is a bare name."""
    if node.type not in LOADS or not node.named_children:
        return
    said = sheet.phrase(node.named_children[0])
    path = said.removeprefix("(").removesuffix(")").removeprefix("__DIR__").lstrip(" .").strip("\"'").lstrip("/")
    sheet.include(f"./{path}" if path and "$" not in path else "", ("*",), node)
