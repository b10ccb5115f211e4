"""Schemas for a service that wants every field named, and answers without what that adds."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.agents.strict_schema import strict, unpadded
from autopilot.domain import answers
from autopilot.domain.agent_call import schema_of


def test_fields_that_may_be_missing_may_be_null() -> None:
    schema = {
        "type": "object",
        "title": "T",
        "properties": {"a": {"type": "boolean"}, "b": {"type": "array", "items": {"$ref": "#/$defs/B"}, "default": []}},
        "required": ["a"],
        "$defs": {"B": {"type": "object", "properties": {"c": {"type": "string"}}}},
    }
    nullable = {"anyOf": [{"type": "string"}, {"type": "null"}]}

    assert strict(schema) == {
        "type": "object",
        "properties": {
            "a": {"type": "boolean"},
            "b": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/B"}}, {"type": "null"}]},
        },
        "required": ["a", "b"],
        "additionalProperties": False,
        "$defs": {
            "B": {"type": "object", "properties": {"c": nullable}, "required": ["c"], "additionalProperties": False}
        },
    }


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object"},
        {"type": "object", "properties": {"a": {}}},
        {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": {"type": "string"}},
    ],
    ids=["anything", "any object", "any value", "any names"],
)
def test_what_cannot_be_said_strictly_is_not_said(schema: dict[str, Any]) -> None:
    assert strict(schema) is None


def test_the_answers_of_the_pipeline_are_narrowed_or_left_to_the_prompt() -> None:
    kinds = [kind for kind in vars(answers).values() if isinstance(kind, type) and kind.__module__ == answers.__name__]
    narrowed = [strict(schema_of(kind)) for kind in kinds]

    assert any(narrowed)
    assert all(schema is None or "additionalProperties" in str(schema) or "$ref" in schema for schema in narrowed)


def test_padding_is_taken_out_and_all_else_stays_to_the_letter() -> None:
    assert unpadded('{"score": 9.0, "x": null, "y": [{"z": null, "w": 1}]}') == '{"score":9.0,"y":[{"w":1}]}'
    assert unpadded('{"score":  9.0}') == '{"score":  9.0}'
    assert unpadded("no object") == "no object"


@given(
    st.dictionaries(st.text(max_size=5), st.none() | st.integers() | st.lists(st.none() | st.booleans(), max_size=3))
)
def test_no_field_is_null_afterwards(answer: dict[str, Any]) -> None:
    assert None not in json.loads(unpadded(json.dumps(answer))).values()
