"""`--from`, `--to` and `--only`: which phases they leave."""

from typing import Any

import pytest

from autopilot.domain.errors import RoadmapInvalid, UsageInvalid
from autopilot.domain.phase import Phase, Roadmap
from autopilot.domain.request import RunRequest
from autopilot.planning.roadmap.selection import wanted

PHASES = (
    Phase(id="1", name="A", status="completed"),
    Phase(id="2", name="B"),
    Phase(id="2.9", name="C"),
    Phase(id="2.10", name="D"),
    Phase(id="3", name="E", status="deferred"),
    Phase(id="10", name="F"),
    Phase(id="CK-1", name="G"),
)
ROADMAP = Roadmap(path="ROADMAP.md", phases=PHASES)


def chosen(phases: str = "", **bounds: Any) -> list[str]:
    return [phase.id for phase in wanted(RunRequest(folder="/p", phases=phases, **bounds), ROADMAP, {"2"})]


@pytest.mark.parametrize(
    ("phases", "bounds", "left"),
    [
        ("", {}, []),
        ("", {"first": "2.9"}, ["2.9", "2.10", "10"]),
        ("", {"last": "2.10"}, ["2.9", "2.10"]),
        ("", {"first": "02", "last": "3"}, ["2.9", "2.10"]),
        ("", {"only": "10,2.9"}, ["2.9", "10"]),
        ("", {"only": "2"}, ["2"]),
        ("1-3", {"first": "2"}, ["2", "2.9", "2.10", "3"]),
        ("1-3", {"only": "2,10"}, ["2"]),
        ("all", {"last": "2.9"}, ["2.9"]),
        ("", {"first": "10", "only": "2,10"}, ["10"]),
        ("", {"first": "CK-1"}, ["CK-1"]),
        ("", {"first": "3", "last": "3"}, []),
    ],
    ids=str,
)
def test_bounds_cut_what_is_named_and_without_a_name_what_is_outstanding(
    phases: str, bounds: dict[str, str], left: list[str]
) -> None:
    assert chosen(phases, **bounds) == left


@pytest.mark.parametrize(
    "bounds", [{"first": "9"}, {"last": "9"}, {"only": "9"}, {"first": "1", "last": "2.1"}], ids=str
)
def test_an_unknown_phase_is_refused(bounds: dict[str, str]) -> None:
    with pytest.raises(RoadmapInvalid, match="not found in roadmap"):
        chosen(**bounds)


@pytest.mark.parametrize(
    ("phases", "bounds", "what"),
    [
        ("", {"first": "10", "last": "2"}, "--from 10 --to 2 runs backwards."),
        ("1-2", {"first": "3"}, "No phase fits all of '1-2 --from 3'."),
        ("1", {"only": "2"}, "No phase fits all of '1 --only 2'."),
    ],
    ids=str,
)
def test_bounds_that_leave_nothing_are_a_mistake(phases: str, bounds: dict[str, str], what: str) -> None:
    with pytest.raises(UsageInvalid) as caught:
        chosen(phases, **bounds)

    assert caught.value.what == what
