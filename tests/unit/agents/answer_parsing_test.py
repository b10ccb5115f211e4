"""Finding the answer in messy text."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.agents.answer_parsing import extract, last_object
from autopilot.domain.evidence import Usage

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=5)
objects = st.dictionaries(st.text(max_size=8), values, max_size=4)
prose = st.text(st.characters(exclude_characters='{"', exclude_categories=["Cs"]), max_size=20)


@given(objects, prose, prose, st.sampled_from([None, 2]), st.booleans())
def test_an_object_between_any_prose_is_found_as_it_was_printed(
    answer: dict[str, Any], before: str, after: str, indent: int | None, ascii_only: bool
) -> None:
    printed = json.dumps(answer, indent=indent, ensure_ascii=ascii_only)

    assert last_object(before + printed + after) == printed


@given(objects, objects, prose)
def test_of_several_objects_the_last_one_counts(first: dict[str, Any], second: dict[str, Any], between: str) -> None:
    """RET-09."""
    assert last_object(json.dumps(first) + between + json.dumps(second)) == json.dumps(second)


@given(objects, objects.filter(bool), st.data())
def test_half_an_object_at_the_end_hides_nothing_and_is_nothing(
    whole: dict[str, Any], half: dict[str, Any], data: st.DataObject
) -> None:
    printed = json.dumps(half)
    cut = data.draw(st.integers(min_value=1, max_value=len(printed) - 1))

    assert last_object(json.dumps(whole) + "\n" + printed[:cut]) == json.dumps(whole)


@given(st.text(alphabet='{}[]:,"\\ \n0aetrufalsn1.-'))
def test_whatever_is_found_is_a_json_object_of_the_text(text: str) -> None:
    found = last_object(text)

    assert found is None or (found in text and isinstance(json.loads(found), dict))


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('Done.\n```json\n{"a": 1}\n```\nBye }', '{"a": 1}'),
        ('{"a": "}{ \\" }"}', '{"a": "}{ \\" }"}'),
        ('I use {name} and { x } here: {"a": {"b": [1, {}]}}', '{"a": {"b": [1, {}]}}'),
        ('{"a": 1,}', None),
        ('{"a": 01}', None),
        ('{"a": NaN}', None),
        ('{"a": 1} {"b": {"c": 2}', '{"a": 1}'),
        ('{"a": {"inner": 1}, oops} tail', None),
        ('startswith(\'{"\') then {"a": 1}', '{"a": 1}'),
        ('{"a": "cut off {} ', None),
        ('[{"a": 1}, {"b": 2}]', '{"b": 2}'),
        ("{}", "{}"),
        ('"{}" is not json here, {"a": 1}', '{"a": 1}'),
        ("", None),
        ("no object", None),
    ],
)
def test_messy_text(text: str, answer: str | None) -> None:
    assert extract(text).answer == answer


def test_nine_and_nine_point_zero_stay_apart() -> None:
    assert extract('{"score": 9}').answer == '{"score": 9}'
    assert extract('{"autopilot": 1, "result": {"score": 9.0, "n": 1e2}}').answer == '{"score": 9.0, "n": 1e2}'


def test_an_envelope_is_opened() -> None:
    found = extract(
        '{"autopilot": 1, "result": {"ok": true}, "usage": {"input_tokens": 12, "output_tokens": 3, "cost_usd": 1},'
        ' "commands": ["pytest -q", 5], "rate_limit": {"resets_at": "2026-01-01T00:00:00Z"}}'
    )

    assert found.answer == '{"ok": true}'
    assert found.usage == Usage(input_tokens=12, output_tokens=3, cost_usd=1.0)
    assert found.commands == ("pytest -q",)
    assert found.resets_at == "2026-01-01T00:00:00Z"


@pytest.mark.parametrize("version", ["2", "1.0", "true", '"1"', "null"])
def test_another_version_is_an_answer_like_any_other(version: str) -> None:
    text = f'{{"autopilot": {version}, "result": {{}}}}'

    assert extract(text).answer == text


@pytest.mark.parametrize("result", ["", ', "result": null', ', "result": "{}"', ', "result": [1]'])
def test_an_envelope_without_a_result_object_has_no_answer(result: str) -> None:
    assert extract(f'{{"autopilot": 1{result}, "commands": ["a"]}}').answer is None


@given(values, values, values)
def test_nonsense_in_an_envelope_is_unknown_and_never_an_error(usage: Any, commands: Any, limit: Any) -> None:
    envelope = {"autopilot": 1, "result": {}, "usage": usage, "commands": commands, "rate_limit": limit}

    assert extract(json.dumps(envelope)).answer == "{}"


@pytest.mark.parametrize("wrong", [-1, True, "5", 1e400, 10**30, 10**400, None], ids=lambda w: str(w)[:40])
def test_a_cost_that_cannot_be_is_unknown(wrong: Any) -> None:
    text = json.dumps({"autopilot": 1, "result": {}, "usage": {"input_tokens": wrong, "cost_usd": wrong}})

    assert extract(text.replace("Infinity", "1e400")).usage == Usage()


@pytest.mark.parametrize("piece", ["{", '{"', '{"a":', '{"a":x', '{"":[', '{"\\', "[{", '{"a":1,'])
def test_garbage_takes_time_in_proportion_to_its_length(piece: str) -> None:
    begun = time.process_time()
    extract(piece * (500_000 // len(piece)))

    assert time.process_time() - begun < 2
