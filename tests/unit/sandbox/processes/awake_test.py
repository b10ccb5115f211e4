"""The machine stays awake while a run goes on, and a run goes on where that cannot be had."""

import pytest

from autopilot.sandbox.processes.awake import kept_awake


def entered(environment: dict[str, str], *, wanted: bool) -> list[str]:
    """What was noted while it was held."""
    notes: list[str] = []
    with kept_awake(environment, notes.append, wanted=wanted):
        notes.append("inside")
    return notes


@pytest.fixture
def no_bus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")
    monkeypatch.delenv("WAKEPY_FAKE_SUCCESS", raising=False)


def test_what_cannot_be_had_is_noted_and_stops_nothing(no_bus: None) -> None:
    note, inside = entered({"DISPLAY": ":0"}, wanted=True)

    assert note.startswith("The machine may go to sleep while the run goes on: ")
    assert inside == "inside"


def test_a_machine_without_a_desktop_is_told_nothing(no_bus: None) -> None:
    assert entered({}, wanted=True) == ["inside"]


def test_who_does_not_want_it_is_left_alone(no_bus: None) -> None:
    assert entered({"DISPLAY": ":0"}, wanted=False) == ["inside"]


def test_where_it_works_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wakepy")
    monkeypatch.setenv("WAKEPY_FAKE_SUCCESS", "1")

    assert entered({"DISPLAY": ":0"}, wanted=True) == ["inside"]
