"""Events survive the way to text and back, also from older formats."""

from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autopilot.domain.errors import StorageFailed
from autopilot.domain.events import Event, RunFinished, RunStopped
from autopilot.journal.codec import UPGRADES, decode, encode
from unit.journal.event_examples import KINDS, samples, values


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_any_event_round_trips(kind: type[Event], data: st.DataObject) -> None:
    event = data.draw(values(kind))

    assert decode(encode(event), len(UPGRADES)) == event


def test_an_event_is_one_line_naming_its_kind() -> None:
    text = encode(RunStopped(exit_code=130, reason="interrupted\nby a person"))

    assert "\n" not in text
    assert msgspec.json.decode(text)["kind"] == "RunStopped"


def renamed_field(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "reason": row.pop("why")}


def renamed_kind(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "kind": "RunFinished"} if row["kind"] == "RunOver" else row


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ('{"kind":"RunOver","status":"completed","exit_code":0,"why":"done"}', 0),
        ('{"kind":"RunOver","status":"completed","exit_code":0,"reason":"done"}', 1),
        ('{"kind":"RunFinished","status":"completed","exit_code":0,"reason":"done"}', 2),
    ],
    ids=["two formats old", "one format old", "of today"],
)
def test_rows_of_older_formats_are_lifted(text: str, version: int) -> None:
    event = decode(text, version, upgrades=(renamed_field, renamed_kind))

    assert event == RunFinished(status="completed", exit_code=0, reason="done")


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("", 0),
        ("{", 0),
        ("[]", 0),
        ('{"kind":"Unheard"}', 0),
        ('{"kind":"RunStopped","exit_code":"x","reason":""}', 0),
        ("[" * 100_000, 0),
        ('{"kind":"RunStopped","exit_code":1,"reason":""}', 99),
        ('{"kind":"RunStopped","exit_code":1,"reason":""}', -1),
    ],
    ids=["empty", "cut off", "no object", "unknown kind", "wrong type", "too deep", "newer format", "no format"],
)
def test_what_cannot_be_understood_names_its_place(text: str, version: int) -> None:
    with pytest.raises(StorageFailed, match="entry 3 of 'run-1'") as caught:
        decode(text, version, "entry 3 of 'run-1'")
    assert caught.value.why
    assert caught.value.do


def test_fields_added_later_do_not_stop_an_older_reader() -> None:
    text = encode(samples()[1]).replace("{", '{"added_later":1,', 1)

    assert decode(text, len(UPGRADES)) == samples()[1]
