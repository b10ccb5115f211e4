"""Makes a schema the narrow kind that OpenAI's service enforces, and takes its padding out of answers. Pure."""

from typing import Any

import msgspec

from autopilot.agents.json_fields import record

KEPT = frozenset({"type", "description", "enum", "const", "$ref", "items", "anyOf"})
NESTED = ("anyOf", "oneOf", "allOf")


class Inexpressible(Exception):
    """The schema allows objects whose names are not known beforehand."""


def strict(schema: dict[str, Any]) -> dict[str, Any] | None:
    """Every field is required there, so those that may be missing may be null; None where that cannot be said."""
    try:
        tight = _tight({key: value for key, value in schema.items() if key != "$defs"})
        definitions = {name: _tight(record(value)) for name, value in record(schema.get("$defs")).items()}
    except Inexpressible:
        return None
    return tight | ({"$defs": definitions} if definitions else {})


def _tight(schema: dict[str, Any]) -> dict[str, Any]:
    if schema.get("type") == "object" or "properties" in schema:
        return _tight_object(schema)
    choices = next((schema[key] for key in NESTED if key in schema), None)
    if choices is not None:
        return {"anyOf": [_tight(record(choice)) for choice in choices]}
    if not schema.keys() & {"type", "enum", "const", "$ref"}:
        raise Inexpressible
    if "$ref" in schema:
        return {"$ref": schema["$ref"]}
    kept = {key: value for key, value in schema.items() if key in KEPT}
    if schema.get("type") == "array":
        kept["items"] = _tight(record(schema.get("items")))
    return kept


def _tight_object(schema: dict[str, Any]) -> dict[str, Any]:
    fields = record(schema.get("properties"))
    if not fields or schema.get("additionalProperties"):
        raise Inexpressible
    required = set(schema.get("required") or ())
    tight = {name: _tight(record(field)) for name, field in fields.items()}
    return {
        "type": "object",
        "properties": {name: field if name in required else _or_null(field) for name, field in tight.items()},
        "required": list(fields),
        "additionalProperties": False,
    }


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    choices = schema.get("anyOf") or [schema]
    return {"anyOf": [*choices, *([] if {"type": "null"} in choices else [{"type": "null"}])]}


def unpadded(answer: str) -> str:
    """The answer without fields that are null: they stand for those that were left out."""
    try:
        given = msgspec.json.decode(answer)
        kept = _without_nulls(given)
    except (msgspec.DecodeError, RecursionError):
        return answer
    return answer if kept == given else msgspec.json.encode(kept).decode()


def _without_nulls(value: Any) -> Any:
    match value:
        case dict():
            return {key: _without_nulls(item) for key, item in value.items() if item is not None}
        case list():
            return [_without_nulls(item) for item in value]
    return value
