"""The outline of a C or C++ file."""

from autopilot.codemap.outline import LONGEST, Kind, Sheet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tree_sitter import Node

# What is looked into: include guards and conditions, namespaces, templates.
OPEN = frozenset(
    {"preproc_ifdef", "preproc_if", "preproc_else", "preproc_elif", "preproc_elifdef", "linkage_specification",
     "namespace_definition", "declaration_list", "template_declaration"}
)  # fmt: skip
TYPES: dict[str, Kind] = {
    "struct_specifier": "class",
    "class_specifier": "class",
    "union_specifier": "class",
    "enum_specifier": "enum",
}
MEMBERS = frozenset({"function_definition", "field_declaration", "declaration"})
DEEPEST = 12


def walk(root: "Node", sheet: Sheet) -> None:
    sheet.bare_methods = True
    waiting = list(reversed(root.named_children))
    while waiting:
        node = waiting.pop()
        kind = node.type
        if kind in OPEN:
            waiting += reversed(node.named_children)
        elif kind == "preproc_include":
            sheet.include(sheet.text(node.child_by_field_name("path"))[1:-1], (), node)
        elif kind in {"preproc_def", "preproc_function_def"}:
            _define(node, sheet)
        elif kind == "function_definition":
            _function(node, sheet)
        elif kind in TYPES:
            _type(node, kind, sheet)
        elif kind in {"type_definition", "alias_declaration", "declaration"}:
            _declaration(node, kind, sheet)


def _define(node: "Node", sheet: Sheet) -> None:
    """A constant or a macro; an include guard has no value and is neither."""
    if node.child_by_field_name("value") is not None:
        kind: Kind = "function" if node.type == "preproc_function_def" else "const"
        sheet.export(sheet.text(node.child_by_field_name("name")), kind, node)


def _function(node: "Node", sheet: Sheet) -> None:
    declarator = _called(node)
    target = declarator.child_by_field_name("declarator") if declarator is not None else None
    if declarator is None or target is None:
        return
    owner, _, name = sheet.phrase(target).rpartition("::")
    if owner:
        sheet.method(node, owner.rpartition("::")[2].partition("<")[0], name)
        return
    if not _static(node, sheet):
        sheet.export(name, "function", node)
    made = node.child_by_field_name("type")
    # Between the type and the name stand the stars of a pointer.
    returns = sheet.source[made.start_byte : declarator.start_byte].decode("utf-8", "replace") if made else ""
    sheet.function(node, name, _params(declarator, sheet), " ".join(returns.split())[:LONGEST])


def _called(node: "Node") -> "Node | None":
    """The function's declarator below pointers and references."""
    inner = node.child_by_field_name("declarator")
    for _ in range(DEEPEST):
        if inner is None or inner.type == "function_declarator":
            return inner
        inner = inner.child_by_field_name("declarator") or next(iter(inner.named_children), None)
    return None


def _params(declarator: "Node", sheet: Sheet) -> tuple[str, ...]:
    listed = declarator.child_by_field_name("parameters")
    return tuple(filter(None, (_name(child, sheet) for child in (listed.named_children if listed else ()))))


def _name(node: "Node", sheet: Sheet) -> str:
    """The name that is declared, below pointers, arrays and parentheses."""
    inner: Node | None = node
    for _ in range(DEEPEST):
        below = inner.child_by_field_name("declarator") if inner is not None else None
        if below is None and inner is not None and inner.type == "parenthesized_declarator":
            below = next(iter(inner.named_children), None)
        if below is None:
            break
        inner = below
    return "" if inner is None or inner == node else sheet.phrase(inner).lstrip("&* ")


def _type(node: "Node", kind: str, sheet: Sheet) -> None:
    name, body = sheet.text(node.child_by_field_name("name")), node.child_by_field_name("body")
    if body is None or not name:
        return
    sheet.export(name, TYPES[kind], node)
    if kind == "enum_specifier":
        return
    bases = next((sheet.phrase(c) for c in node.named_children if c.type == "base_class_clause"), "")
    sheet.owned(node, name, bases.removeprefix(":").strip())
    for child in body.named_children:
        declarator = _called(child) if child.type in MEMBERS else None
        if declarator is not None:
            sheet.method(child, name, sheet.phrase(declarator.child_by_field_name("declarator")))


def _declaration(node: "Node", kind: str, sheet: Sheet) -> None:
    made = node.child_by_field_name("type")
    if made is not None and made.type in TYPES:
        _type(made, made.type, sheet)
    if kind == "alias_declaration":
        sheet.export(sheet.text(node.child_by_field_name("name")), "type", node)
    elif kind == "type_definition":
        _typedef(node, made, sheet)
    elif not _static(node, sheet):
        for declarator in node.children_by_field_name("declarator"):
            function = _called(node) is not None
            name = sheet.phrase(declarator) if declarator.type == "identifier" else _name(declarator, sheet)
            sheet.export(name, "function" if function else "const", node)


def _typedef(node: "Node", made: "Node | None", sheet: Sheet) -> None:
    """An unnamed struct goes by the name that is given to it."""
    name = next((sheet.phrase(d) if d.type == "type_identifier" else _name(d, sheet)
                 for d in node.children_by_field_name("declarator")), "")  # fmt: skip
    sheet.export(name, "type", node)
    nameless = made is not None and made.type in TYPES and made.child_by_field_name("name") is None
    if nameless and made is not None and made.type != "enum_specifier":
        sheet.owned(node, name, "")


def _static(node: "Node", sheet: Sheet) -> bool:
    return any(c.type == "storage_class_specifier" and sheet.text(c) == "static" for c in node.named_children)
