"""The run's own decisions: made from summaries alone, for any number of phases."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.events import Entry, Event, PhaseFinished, PhaseLanded, PhaseStarted
from autopilot.domain.verdict import Advance, Retry, Stop
from autopilot.engine.decide.next_move import Spawn, next_phase
from autopilot.history.record import RunRecord
from autopilot.state.build_state import state_of
from support.records import brief, passed, phase, plan, started

VERDICTS = st.sampled_from([Advance(), Retry(step="remediate", because="8.1"), Stop(because="no")])


def run_of(*events: Event, count: int = 3) -> RunRecord:
    told = (started(*(phase(str(n)) for n in range(1, count + 1))), *events)
    return RunRecord(entries=tuple(Entry(number=n, at="2026-01-01T12:00:00Z", event=e) for n, e in enumerate(told)))


def landed(name: str) -> PhaseLanded:
    return PhaseLanded(phase=name, commit=f"c{name}", landed=True)


@given(VERDICTS, st.text(max_size=20), st.lists(st.text(max_size=9), max_size=3))
def test_ctx_01_no_plan_report_or_issue_moves_a_run(verdict: Any, said: str, issues: list[str]) -> None:
    """What a phase was planned, wrote or complained of is not read where phases are chosen."""

    def told(text: str, more: list[str]) -> RunRecord:
        made = brief(plan=msgspec.structs.replace(plan(), text=text), feedback=tuple(more))
        end = msgspec.structs.replace(passed("1", issues=tuple(more), summary=text), verdict=verdict)
        return run_of(PhaseStarted(brief=made), end)

    assert next_phase(told(said, issues)) == next_phase(told("", []))


@pytest.mark.parametrize("count", [3, 60, 240])
def test_ctx_02_no_number_of_phases_ends_a_run(count: int) -> None:
    done = [event for n in range(1, count) for event in (passed(str(n), issues=("i" * 4000,)), landed(str(n)))]
    move = next_phase(run_of(*done, count=count))

    assert isinstance(move, Spawn)
    assert move.phase.id == str(count)


def test_ctx_02_the_share_of_a_context_is_told_and_decides_nothing() -> None:
    full = run_of(passed("1", issues=("i" * 900_000,)), landed("1"))
    state = state_of(full, {})

    assert state["_meta"]["orchestrator_context_pct"] == 100
    assert isinstance(next_phase(full), Spawn)
    assert sum(isinstance(e.event, PhaseFinished) for e in full.entries) == 1
