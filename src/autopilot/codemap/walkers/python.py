"""The outline of a Python module."""

import re
from itertools import islice

from autopilot.codemap.outline import MOST_LOOKS, Sheet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tree_sitter import Node

STATEMENTS = frozenset({"import_statement", "import_from_statement", "future_import_statement"})
NO_NAMES = frozenset({"comment", "line_continuation"})
LATE = re.compile(rb"\n[ \t]++((?:import|from)[ \t.])")
ENUMS = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"})


def walk(root: "Node", sheet: Sheet) -> None:
    public: set[str] | None = None
    for node in root.named_children:
        kind = node.type
        if kind == "function_definition":
            _function(node, sheet)
        elif kind == "class_definition":
            _class(node, sheet)
        elif kind == "decorated_definition":
            inner = node.child_by_field_name("definition")
            if inner is not None:
                (_class if inner.type == "class_definition" else _function)(inner, sheet)
        elif kind == "expression_statement":
            public = _assigned(node, sheet) or public
        else:
            _other(node, kind, sheet)
    _late_imports(root, sheet)
    sheet.exports = [e for e in sheet.exports if (e[0] in public if public else not e[0].startswith("_"))]


def _other(node: "Node", kind: str, sheet: Sheet) -> None:
    if kind in STATEMENTS:
        _import(node, kind, sheet)
    elif kind == "type_alias_statement" and node.named_children:
        sheet.export(sheet.text(node.named_children[0]).partition("[")[0], "type", node)


def _function(node: "Node", sheet: Sheet) -> None:
    name = sheet.text(node.child_by_field_name("name"))
    sheet.export(name, "function", node)
    sheet.function(node, name, _params(node, sheet), sheet.phrase(node.child_by_field_name("return_type")))


def _params(node: "Node", sheet: Sheet) -> tuple[str, ...]:
    listed = node.child_by_field_name("parameters")
    if listed is None:
        return ()
    # The name is what stands before a type or a default.
    parts = (sheet.text(child) for child in listed.named_children if child.type not in NO_NAMES)
    return tuple(part.partition(":")[0].partition("=")[0].strip() for part in parts if part not in {"*", "/"})


def _class(node: "Node", sheet: Sheet) -> None:
    name = sheet.text(node.child_by_field_name("name"))
    bases = node.child_by_field_name("superclasses")
    extends = [sheet.phrase(base) for base in bases.named_children if base.type != "keyword_argument"] if bases else []
    sheet.export(name, "enum" if any(base.rpartition(".")[2] in ENUMS for base in extends) else "class", node)
    sheet.owned(node, name, ", ".join(extends))
    body = node.child_by_field_name("body")
    for child in body.named_children if body else ():
        method = child.child_by_field_name("definition") if child.type == "decorated_definition" else child
        if method is not None and method.type == "function_definition":
            sheet.method(method, name, sheet.text(method.child_by_field_name("name")))


def _assigned(node: "Node", sheet: Sheet) -> set[str] | None:
    """A constant of the module; the names in it if it is `__all__`."""
    assignment = node.named_children[0] if node.named_children else None
    if assignment is None or assignment.type != "assignment":
        return None
    left, right = assignment.child_by_field_name("left"), assignment.child_by_field_name("right")
    if left is None or left.type != "identifier":
        return None
    name = sheet.text(left)
    if name == "__all__" and right is not None:
        return {sheet.text(item).strip("\"'") for item in right.named_children if item.type == "string"}
    sheet.export(name, "const", node)
    return None


def _late_imports(root: "Node", sheet: Sheet) -> None:
    """Those inside functions, conditions and try blocks: indented lines that begin as an import does."""
    for found in islice(LATE.finditer(sheet.source), MOST_LOOKS):
        node = root.descendant_for_byte_range(found.start(1), found.start(1) + 1)
        statement = node.parent if node is not None else None
        if statement is not None and statement.type in STATEMENTS:
            _import(statement, statement.type, sheet)


def _import(node: "Node", kind: str, sheet: Sheet) -> None:
    children = node.named_children
    if kind == "import_statement":
        for child in children:
            name = child.child_by_field_name("name") if child.type == "aliased_import" else child
            sheet.include(sheet.text(name), (), node)
        return
    module = node.child_by_field_name("module_name")
    source = "__future__" if kind == "future_import_statement" else sheet.text(module)
    names = []
    for child in children:
        if child != module and child.type not in NO_NAMES:
            name = child.child_by_field_name("name") if child.type == "aliased_import" else child
            names.append(sheet.text(name))
    sheet.include("".join(source.split()), tuple(names), node)
