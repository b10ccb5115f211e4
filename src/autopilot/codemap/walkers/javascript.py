"""The outline of a JavaScript or TypeScript module."""

import re
from itertools import islice

from autopilot.codemap.outline import MOST_LOOKS, Kind, Sheet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tree_sitter import Node

DYNAMIC = {word: re.compile(re.escape(word) + rb"\s*[\"'`]") for word in (b"import(", b"require(")}
# Most of what is imported or handed on is written like this. Such a list is soon split; asking its nodes is slow.
LISTS = frozenset({"import_statement", "export_statement"})
PLAIN = re.compile(
    rb"(?:im|ex)port\s+(?:type\s+)?(?:\{([\w$\s,]*+)\}|\*)\s*from\s*(?:\"([^\"\\\n]*)\"|'([^'\\\n]*)')\s*;?"
)
TYPED = frozenset({2, 4})
FUNCTIONS = frozenset({"function_declaration", "generator_function_declaration", "function_signature"})
CLASSES = frozenset({"class_declaration", "abstract_class_declaration", "class"})
LAMBDAS = frozenset({"arrow_function", "function_expression", "generator_function"})
VARIABLES = frozenset({"lexical_declaration", "variable_declaration"})
TYPES: dict[str, Kind] = {
    "interface_declaration": "interface",
    "type_alias_declaration": "type",
    "enum_declaration": "enum",
    "internal_module": "const",
    "module": "const",
}
# A name of the module, what it is exported as, and the line.
Listed = tuple[str, str, int]
METHODS = frozenset({"method_definition", "method_signature", "abstract_method_signature"})


def walk(root: "Node", sheet: Sheet) -> None:
    kinds: dict[str, Kind] = {}
    listed: list[Listed] = []
    for node in root.named_children:
        kind = node.type
        if kind in LISTS and _plain(node, sheet, None if kind == "import_statement" else listed):
            continue
        if kind == "import_statement":
            _import(node, sheet)
        elif kind == "export_statement":
            _export(node, sheet, kinds, listed)
        elif kind == "expression_statement":
            _common_js(node, sheet, listed)
        elif kind != "comment":
            kinds |= dict(_declared(node, sheet))
    _dynamic(root, sheet)
    sheet.exports += [
        (name, "default" if name == "default" else kinds.get(own, "const"), line) for own, name, line in listed
    ]


def _plain(node: "Node", sheet: Sheet, listed: list[Listed] | None) -> bool:
    """Whether it was a plain list of names from a module; they are noted then."""
    found = PLAIN.fullmatch(sheet.source, node.start_byte, node.end_byte)
    if found is None:
        return False
    parts = [part.split() for part in (found[1] or b"").decode().split(",")]
    # `type` may stand before a name, and be one.
    words = [part[1:] if part[0] == "type" and len(part) in TYPED else part for part in parts if part]
    names = tuple(part[0] for part in words)
    if listed is not None:
        names = names or ("*",)
        listed += [(part[0], part[-1], sheet.line(node)) for part in words]
    sheet.include((found[2] or found[3] or b"").decode("utf-8", "replace"), names, node)
    return True


def _declared(node: "Node", sheet: Sheet) -> list[tuple[str, Kind]]:
    """Note what the statement declares; the names and what they are."""
    kind = node.type
    if kind == "ambient_declaration" and node.named_children:
        return _declared(node.named_children[0], sheet)
    name = sheet.text(node.child_by_field_name("name"))
    if kind in FUNCTIONS:
        _function(node, node, name, sheet)
        return [(name, "function")]
    if kind in CLASSES:
        _class(node, name, sheet)
        return [(name, "class")]
    if kind in VARIABLES:
        return [declared for child in node.named_children for declared in _variable(child, sheet)]
    if kind == "interface_declaration":
        _class(node, name, sheet)
    return [(name, TYPES[kind])] if kind in TYPES else []


def _function(node: "Node", place: "Node", name: str, sheet: Sheet) -> None:
    listed = node.child_by_field_name("parameters")
    single = node.child_by_field_name("parameter")
    params = [_param(child, sheet) for child in listed.named_children if child.type != "comment"] if listed else []
    returns = sheet.phrase(node.child_by_field_name("return_type")).removeprefix(":").strip()
    sheet.function(node, name, tuple(params) or ((sheet.text(single),) if single else ()), returns, sheet.line(place))


def _param(node: "Node", sheet: Sheet) -> str:
    inner = node.child_by_field_name("pattern") or node.child_by_field_name("left") or node
    return sheet.phrase(inner)


def _variable(node: "Node", sheet: Sheet) -> list[tuple[str, Kind]]:
    if node.type != "variable_declarator":
        return []
    target, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if target is None or target.type != "identifier":
        return []
    name = sheet.text(target)
    if value is not None and value.type in LAMBDAS:
        _function(value, node, name, sheet)
        return [(name, "function")]
    if value is not None and value.type == "class":
        _class(value, name, sheet)
        return [(name, "class")]
    return [(name, "const")]


def _class(node: "Node", name: str, sheet: Sheet) -> None:
    sheet.owned(node, name, _extends(node, sheet))
    body = node.child_by_field_name("body")
    for child in body.named_children if body else ():
        if child.type in METHODS:
            sheet.method(child, name, sheet.text(child.child_by_field_name("name")))
        elif child.type in {"field_definition", "public_field_definition"}:
            value = child.child_by_field_name("value")
            target = child.child_by_field_name("name") or child.child_by_field_name("property")
            if value is not None and value.type in LAMBDAS:
                sheet.method(value, name, sheet.text(target))


def _extends(node: "Node", sheet: Sheet) -> str:
    for child in node.named_children:
        if child.type in {"class_heritage", "extends_type_clause"}:
            said = sheet.phrase(child)
            return said.removeprefix("extends ").partition(" implements ")[0] if said.startswith("extends ") else ""
    return ""


def _export(node: "Node", sheet: Sheet, kinds: dict[str, Kind], listed: list[Listed]) -> None:
    source = node.child_by_field_name("source")
    declaration = node.child_by_field_name("declaration")
    clause = None
    if declaration is None:
        clause = next((child for child in node.named_children if child.type == "export_clause"), None)
    names = [(sheet.text(s.child_by_field_name("name")), sheet.text(s.child_by_field_name("alias")))
             for s in (clause.named_children if clause else ()) if s.type == "export_specifier"]  # fmt: skip
    if source is not None:
        sheet.include(_bare(sheet.text(source)), tuple(name for name, _ in names) or ("*",), node)
    listed += [(name, alias or name, sheet.line(node)) for name, alias in names]
    # The word is looked for first: most nodes lack it, and listing their children is slow.
    said = sheet.source.find(b"default", node.start_byte, node.end_byte) >= 0
    default = said and any(child.type == "default" for child in node.children[:3])
    declared = _declared(declaration, sheet) if declaration is not None else []
    kinds |= dict(declared)
    if default:
        value = node.child_by_field_name("value")
        named = declared[0][0] if declared else sheet.text(value) if value and value.type == "identifier" else ""
        sheet.export(named or "default", "default", node)
        return
    for name, kind in declared:
        sheet.export(name, kind, node)


def _import(node: "Node", sheet: Sheet) -> None:
    names: list[str] = []
    for clause in node.named_children:
        if clause.type != "import_clause":
            continue
        for child in clause.named_children:
            if child.type == "identifier":
                names.append("default")
            elif child.type == "namespace_import":
                names.append("*")
            else:
                names += [sheet.text(s.child_by_field_name("name")) for s in child.named_children]
    required = next((child for child in node.named_children if child.type == "import_require_clause"), None)
    source = (required or node).child_by_field_name("source")
    sheet.include(_bare(sheet.text(source)), tuple(filter(None, names)), node)


def _dynamic(root: "Node", sheet: Sheet) -> None:
    # Looking for the bare word first is ten times as fast, and most files have neither.
    patterns = [pattern for word, pattern in DYNAMIC.items() if word in sheet.source]
    for match in islice((match for pattern in patterns for match in pattern.finditer(sheet.source)), MOST_LOOKS):
        node = root.descendant_for_byte_range(match.start(), match.start() + 1)
        call = node.parent if node else None
        if call is not None and call.type == "import":
            call = call.parent
        if call is None or call.type != "call_expression":
            continue
        given = call.child_by_field_name("arguments")
        source = given.named_children[0] if given and given.named_children else None
        if source is not None and source.type in {"string", "template_string"}:
            sheet.include(_bare(sheet.text(source)), ("*",), call)


def _common_js(node: "Node", sheet: Sheet, listed: list[Listed]) -> None:
    assignment = node.named_children[0] if node.named_children else None
    if assignment is None or assignment.type != "assignment_expression":
        return
    left, right = assignment.child_by_field_name("left"), assignment.child_by_field_name("right")
    said = sheet.text(left)
    if right is None or not said.startswith(("module.exports", "exports.")):
        return
    name = said.removeprefix("module.").removeprefix("exports").removeprefix(".")
    if name:
        if right.type in LAMBDAS:
            _function(right, node, name, sheet)
        sheet.export(name, "function" if right.type in LAMBDAS else "const", node)
    elif right.type == "object":
        for child in right.named_children:
            key = child.child_by_field_name("key") or child.child_by_field_name("name") or child
            if key.type in {"property_identifier", "shorthand_property_identifier"}:
                value = child.child_by_field_name("value") or key
                listed.append((sheet.text(value), sheet.text(key), sheet.line(child)))
    else:
        sheet.export(sheet.text(right) if right.type == "identifier" else "default", "default", node)


def _bare(text: str) -> str:
    return text[1:-1]
