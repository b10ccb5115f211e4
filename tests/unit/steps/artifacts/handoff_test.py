"""What is handed over when an executor runs out of context (CTXE-01w, CTXE-01x, CTXE-01r)."""

import msgspec
import pytest

from autopilot.domain.events import Entry, Event, PhaseStarted
from autopilot.domain.results import Unanswered
from autopilot.domain.verdict import Stop
from autopilot.engine.close.outcome import outcome_of
from autopilot.engine.decide.continue_attempt import continuation, promised_plan
from autopilot.engine.decide.next_move import Spawn
from autopilot.engine.decide.next_step import Finish, Run, next_move
from autopilot.gates import after_no_answer as unanswered
from autopilot.history.record import PhaseRecord, RunRecord, kept_entries
from autopilot.pipeline import artifacts, stage_named
from autopilot.policy.task_progress import SAVED, handed_over, task_states, waiting_task
from support.records import BASE, Story, brief, phase, plan, started, task

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


def ran_by(*records: PhaseRecord) -> RunRecord:
    events: list[Event] = [
        msgspec.structs.replace(started(), base=BASE),
        *(PhaseStarted(brief=record.brief) for record in records),
    ]
    entries = (Entry(number=n, at="2026-01-01T12:00:00.000Z", event=event) for n, event in enumerate(events))
    return RunRecord(entries=tuple(entries))


def after(first: PhaseRecord) -> Story:
    """The pass that the next one is."""
    found = continuation(Spawn(phase(), 0, BASE), ran_by(first), (first,))
    assert found is not None
    given = msgspec.structs.replace(first.brief, number=1, continues=found)
    return Story(given, kept=kept_entries(given, first))


def test_ctxe_01r_the_next_pass_carries_out_the_tasks_that_are_left() -> None:
    second = after(exhausted())

    assert (second.record.plan, second.record.commit) == (exhausted().plan, "c1")
    assert task_states(second.record) == {"01-01": "verified"}
    assert next_move(second.record) == Run(stage_named("execute"), 1)
    assert waiting_task(second.record).id == "01-02"
    assert outcome_of(second.executed("01-02", "c2").record, Finish("failed", "x")).tasks_completed == "2/2"


def test_ctxe_01r_work_is_not_continued_once_the_line_has_moved_but_its_plan_is_kept() -> None:
    first = exhausted()
    moved = Spawn(phase(), 0, "moved")

    assert continuation(moved, ran_by(first), (first,)) is None
    assert promised_plan(moved, ran_by(first), (first,)) == first.plan
    assert promised_plan(Spawn(phase(), 1, BASE), ran_by(first), (first,)) is None
    assert continuation(Spawn(phase(), 1, BASE), ran_by(first), (first,)) is None


def test_ctxe_01r_what_was_handed_over_twice_is_still_done() -> None:
    first = exhausted()
    second = after(first).executed("01-02", "c2").step("fix", DRY, Stop(because=SAVED)).record

    found = continuation(Spawn(phase(), 0, BASE), ran_by(first, second), (first, second))
    assert found is not None
    assert (found.number, found.done, found.step) == (1, ("01-01", "01-02"), "fix")
    assert "| 01-01 | COMPLETED | c1 | letter.txt |" in artifacts(second)["HANDOFF.md"]


def test_tasks_done_under_one_plan_do_not_hide_those_of_another() -> None:
    """As older versions wrote it: the brief names the tasks that were done."""
    old, new = plan(task("01-01"), task("01-02")), msgspec.structs.replace(plan(task("01-01")), sha256="q" * 64)
    given = brief(done=("01-01",), plan=old)

    assert [t.id for t in Story(given).record.tasks] == ["01-02"]
    assert [t.id for t in Story(given).planned(new).record.tasks] == ["01-01"]
