"""Which phases people are asked about, and whether a run follows."""

import pytest

from autopilot.domain.request import RunRequest
from autopilot.domain.settings import Modes
from autopilot.planning.start.consulted import aimed, foreseen, only_maps


def asked(phases: str, modes: Modes) -> RunRequest:
    return RunRequest(folder=".", phases=phases, modes=modes)


@pytest.mark.parametrize(
    ("phases", "modes", "runs"),
    [
        ("", Modes(discuss="3-7"), "3-7"),
        ("", Modes(discuss=""), "all"),
        ("4", Modes(discuss="3-7"), "4"),
        ("", Modes(discuss="", force="3"), ""),
        ("", Modes(discuss="", complete=True), ""),
        ("", Modes(map="3"), ""),
    ],
    ids=["FLAG-17", "FLAG-18", "a range beside it", "FLAG-19", "FLAG-21", "FLAG-15"],
)
def test_what_is_discussed_is_run_unless_something_else_says_what_is(phases: str, modes: Modes, runs: str) -> None:
    assert aimed(asked(phases, modes)).phases == runs


@pytest.mark.parametrize(
    ("phases", "modes", "only"),
    [
        ("", Modes(map=""), True),
        ("", Modes(map="3-7"), True),
        ("3", Modes(map=""), False),
        ("", Modes(map="", complete=True), False),
        ("", Modes(map="", quality="3"), False),
        ("", Modes(map="", discuss="3"), False),
        ("", Modes(), False),
    ],
)
def test_flag_15_a_mapping_runs_nothing_unless_something_says_what(phases: str, modes: Modes, only: bool) -> None:
    assert only_maps(asked(phases, modes)) == only


def test_a_look_ahead_shows_the_phases_that_would_be_asked_about() -> None:
    told = [foreseen(asked("", modes)).phases for modes in (Modes(map="3"), Modes(map=""), Modes(discuss="4"))]

    assert told == ["3", "all", "4"]
