"""What is handed over when an executor runs out of context (CTXE-01w, CTXE-01x, CTXE-01r)."""

import pytest

from autopilot.domain.handoff import SAVED, handed_over, tasks_done
from autopilot.domain.record import PhaseRecord
from autopilot.domain.results import Unanswered
from autopilot.domain.verdict import Stop
from autopilot.engine.briefs import carried_on
from autopilot.engine.decide import Finish
from autopilot.engine.orchestrate import Spawn
from autopilot.engine.outcome import outcome_of
from autopilot.gates import unanswered
from autopilot.pipeline import artifacts
from support.records import BASE, Story, brief, phase, plan, task

DRY = Unanswered(role="execute", outcome="context_exhausted", detail="")


def exhausted(**more: object) -> PhaseRecord:
    """Two tasks; the first is done, in the second the executor runs dry."""
    story = Story(brief(**more)).planned(plan(task("01-01"), task("01-02", complexity="complex")))
    return story.executed("01-01", "c1", then="execute").step("execute", DRY, Stop(because=SAVED)).record


def test_ctxe_01w_the_handoff_names_what_is_done_and_what_is_left() -> None:
    text = artifacts(exhausted())["HANDOFF.md"]

    for line in (
        "- **phase_id:** 1", "- **reason:** context_exhaustion", "- **timestamp:** 2026-", "- **last_checkpoint_sha:** c1",
        "| 01-01 | COMPLETED | c1 | letter.txt |", "| 01-02 | title of 01-02 | complex |",
        "## Files Modified\n- letter.txt", "## Partial State\n",
    ):  # fmt: skip
        assert line in text


def test_ctxe_01x_the_pass_fails_with_what_was_saved() -> None:
    record = exhausted()
    ended = outcome_of(record, Finish("failed", SAVED))

    assert unanswered.GATE.decide(record) == Stop(because=SAVED)
    assert (ended.recommendation, ended.issues) == ("halt", (SAVED,))


@pytest.mark.parametrize("step", ["verify", "plan", "debug"])
def test_only_an_executor_hands_over(step: str) -> None:
    story = Story().planned().executed().step(step, DRY, Stop(because="x"))

    assert not handed_over(story.record)
    assert "HANDOFF.md" not in artifacts(story.record)


def test_ctxe_01r_the_next_pass_starts_with_the_remaining_tasks() -> None:
    first = exhausted()
    assert carried_on(Spawn(phase(), 0, BASE), (first,)) == first

    second = Story(brief(done=tasks_done(first), plan=first.plan)).planned(first.plan).record
    assert [t.id for t in second.tasks] == ["01-02"]
    assert [t.id for t in second.plan.tasks] == ["01-01", "01-02"] if second.plan else False


def test_ctxe_01r_work_is_not_carried_on_once_the_line_has_moved() -> None:
    assert carried_on(Spawn(phase(), 0, "moved"), (exhausted(),)) is None
    assert carried_on(Spawn(phase(), 1, BASE), (exhausted(),)) is None
    assert carried_on(Spawn(phase(), 0, BASE), (Story().planned().record,)) is None


def test_ctxe_01r_what_was_handed_over_twice_is_still_done() -> None:
    first, second = exhausted(), exhausted(done=("01-00",), base="c1")

    assert tasks_done(second) == ("01-00", "01-01")
    assert carried_on(Spawn(phase(), 0, BASE), (first, second)) == second
    assert "| 01-00 | COMPLETED | in an earlier pass |  |" in artifacts(second)["HANDOFF.md"]
    assert "EXECUTION-LOG-H0.md" in artifacts(second)
