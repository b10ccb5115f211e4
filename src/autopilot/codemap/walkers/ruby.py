"""The outline of a Ruby file."""

from autopilot.codemap.outline import Sheet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tree_sitter import Node

REQUIRES = frozenset({"require", "require_relative", "load", "autoload"})
METHODS = frozenset({"method", "singleton_method"})
DEEPEST = 12


def walk(root: "Node", sheet: Sheet) -> None:
    sheet.bare_methods = True
    for node in root.named_children:
        kind = node.type
        if kind in METHODS:
            name = sheet.text(node.child_by_field_name("name"))
            sheet.export(name, "function", node)
            sheet.function(node, name, _params(node, sheet), "")
        elif kind == "call":
            _require(node, sheet)
        else:
            _inside(node, sheet, DEEPEST)


def _inside(node: "Node", sheet: Sheet, depth: int) -> None:
    """A class, a module or a constant, and those within it."""
    if node.type == "assignment":
        left = node.child_by_field_name("left")
        if left is not None and left.type == "constant":
            sheet.export(sheet.text(left), "const", node)
    if node.type not in {"class", "module"} or not depth:
        return
    name = sheet.phrase(node.child_by_field_name("name"))
    sheet.export(name, "class", node)
    sheet.owned(node, name, sheet.phrase(node.child_by_field_name("superclass")).removeprefix("<").strip())
    body = node.child_by_field_name("body")
    for child in body.named_children if body else ():
        if child.type in METHODS:
            sheet.method(child, name, sheet.text(child.child_by_field_name("name")))
        else:
            _inside(child, sheet, depth - 1)


def _require(node: "Node", sheet: Sheet) -> None:
    method, given = sheet.text(node.child_by_field_name("method")), node.child_by_field_name("arguments")
    if method not in REQUIRES or given is None:
        return
    source = next((child for child in reversed(given.named_children) if child.type == "string"), None)
    path = sheet.text(source)[1:-1]
    local = method == "require_relative" and not path.startswith(".")
    sheet.include(f"./{path}" if local and path else path, (), node)


def _params(node: "Node", sheet: Sheet) -> tuple[str, ...]:
    listed = node.child_by_field_name("parameters")
    children = listed.named_children if listed else ()
    return tuple(sheet.phrase(child).partition("=")[0].partition(":")[0].strip() for child in children)
