"""Which criteria are worth running again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.evidence import CommandRun
from autopilot.domain.phase import Criterion
from autopilot.domain.results import Verified
from autopilot.domain.settings import Limits
from autopilot.steps.checks.probes import MOST, SHARE, repeats, runs_something, steadied
from support.records import TREE, Story, brief, criterion, phase, ran
from support.tools import SaidFacts, tools


@dataclass(slots=True)
class Repeating(SaidFacts):
    """Keeps what is to be run again, and how often."""

    asked_again: list[tuple[tuple[str, ...], int]] = field(default_factory=list)

    def repeated(
        self, commit: str, criteria: Sequence[Criterion], files: Mapping[str, str], times: int
    ) -> tuple[CommandRun, ...]:
        self.asked_again.append((tuple(one.id for one in criteria), times))
        return ()


@pytest.mark.parametrize(
    "command", ["make -s verify", "python3 -m till 2x25.00 | grep -x 45.00", "bash check.sh", 'test "$(bin/a)" = 5']
)
def test_a_command_that_starts_a_program_is_run_again(command: str) -> None:
    assert runs_something(criterion("SC-1", command))


@pytest.mark.parametrize("command", ["test -f a.txt", "grep -q done a.txt && ! grep -q x b.txt", "diff a b | wc -l"])
def test_a_look_at_files_says_the_same_each_time(command: str) -> None:
    assert not runs_something(criterion("SC-1", command))


CAPPED = Limits(minutes_per_phase=120.0, command_seconds=60)


@pytest.mark.parametrize(("criteria", "times"), [(1, 5), (2, 5), (3, 4), (4, 3), (6, 2), (7, 1), (12, 1), (100, 1)])
def test_how_often_is_a_matter_of_the_limits_and_of_how_many_there_are(criteria: int, times: int) -> None:
    assert repeats(criteria, CAPPED) == times


@given(criteria=st.integers(1, 50), minutes=st.floats(0.1, 10_000), seconds=st.integers(1, 3600))
def test_each_is_run_again_and_all_of_them_take_no_more_than_their_share(
    criteria: int, minutes: float, seconds: int
) -> None:
    times = repeats(criteria, Limits(minutes_per_phase=minutes, command_seconds=seconds))

    assert 1 <= times <= MOST
    assert times == 1 or times * criteria * seconds <= SHARE * minutes * 60


@pytest.mark.parametrize("seconds", [0.01, 59.0])
def test_how_long_a_criterion_took_decides_nothing(seconds: float) -> None:
    """A slow machine looks as closely as a fast one at what passes by chance."""
    record = Story(brief(phase=phase(criteria=(criterion("SC-1", "make -s verify"),)))).record
    facts, checks = Repeating(), (ran("SC-1", command="make -s verify", seconds=seconds),)
    steadied(record, tools(facts=facts), Verified(commit="c", tree=TREE, checks=checks), "c")

    assert facts.asked_again == [(("SC-1",), 5)]
