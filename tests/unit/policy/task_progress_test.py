"""How far a pass has come, told by its entries."""

import pytest

from autopilot.domain.answers import TaskOpinion
from autopilot.domain.evidence import Change, CommandRun, Counts, FileChange
from autopilot.domain.phase import Kind
from autopilot.domain.results import Debugged, Executed, Fixed, MiniVerified, PlanChecked, Planned
from autopilot.domain.settings import Commands, Honesty
from autopilot.domain.verdict import Advance, Retry
from autopilot.policy.task_progress import (
    command_runs,
    current_task,
    debugs_left,
    exempt,
    failed_tasks,
    fixes_of,
    new_failures,
    next_stop,
    plan_rounds,
    replans,
    reviews_of,
    task_base,
    task_states,
    unproven,
    waiting_task,
)
from support.records import BASE, DONE, Story, brief, phase, plan, ran, started, task, work

AGAIN = Retry(step="fix", because="x")
ASIDE = Advance(to="execute", because="task FAILED: x")
LOW = Retry(step="research", because="low")


def two_tasks() -> Story:
    return Story().planned(plan(task("01-01"), task("01-02"), task("01-03", type="checkpoint:decision")))


def debugged(told: Story, times: int) -> Story:
    for _ in range(times):
        told.step("debug", Debugged(work=work("1-debug")), Advance(to="verify"))
    return told


def test_tasks_wait_in_order_and_those_of_a_person_are_left_out() -> None:
    told = two_tasks()
    assert (waiting_task(told.record).id, next_stop(told.record, after="01-01")) == ("01-01", "execute")

    told.executed("01-01", then="execute")
    assert (waiting_task(told.record).id, next_stop(told.record, after="01-02")) == ("01-02", "verify")


def test_a_task_is_verified_or_failed_once_it_is_over() -> None:
    told = two_tasks().executed("01-01", then="execute")
    told.step("execute", Executed(work=work("01-02", "c1", "c2", passed=False)), AGAIN, "c2")
    assert task_states(told.record) == {"01-01": "verified"}

    told.step("fix", Fixed(work=work("01-02", "c1", "c3", passed=False)), ASIDE, "c1")
    assert failed_tasks(told.record) == ("01-02",)


def test_a_task_its_reviewer_gave_up_has_failed() -> None:
    told = two_tasks().step("execute", Executed(work=work()), Advance(to="mini_verify"), "c1")
    told.step("mini_verify", MiniVerified(task="01-01", opinion=TaskOpinion(passed=False)), ASIDE, BASE)

    assert task_states(told.record) == {"01-01": "failed"}


def test_fixes_and_reviews_are_counted_for_the_task_as_it_stands() -> None:
    told = two_tasks().executed("01-01", then="execute")
    told.step("fix", Fixed(work=work("01-01", BASE, "c2")), Advance(to="mini_verify"), "c2")

    assert (fixes_of(told.record, "01-01"), fixes_of(told.record, "01-02")) == (1, 0)
    assert reviews_of(told.record, "01-01") == 0
    assert (current_task(told.record).id, task_base(told.record, "01-01")) == ("01-01", BASE)


def test_a_task_nobody_touched_starts_where_the_work_stands() -> None:
    assert task_base(two_tasks().executed("01-01").record, "01-02") == "c1"


def test_before_any_work_there_is_no_current_task() -> None:
    with pytest.raises(LookupError, match="no task worked on yet"):
        current_task(two_tasks().record)


@pytest.mark.parametrize(
    ("before", "after", "left"),
    [(0, None, 3), (2, None, 1), (3, None, 0), (0, 0, 1), (0, 1, 0), (3, 0, 0)],
    ids=["none", "two", "three", "re-planned", "re-planned and debugged", "used up before"],
)
def test_three_debug_attempts_in_all_and_one_after_a_new_plan(before: int, after: int | None, left: int) -> None:
    """PGAT-07, DBG-04."""
    told = debugged(two_tasks(), before)
    if after is not None:
        debugged(told.rated(6.0, LOW), after)

    assert debugs_left(told.record) == left


def test_asking_for_fresh_facts_is_no_new_plan() -> None:
    told = two_tasks().rated(9.0, Retry(step="verify", because="stale"))

    assert replans(told.record) == 0


def test_every_plan_looked_at_counts_since_the_last_one_in_force() -> None:
    told = Story().step("plan", Planned(plan=None, problem="torn"))
    told.step("plan", Planned(plan=plan())).step(
        "plan_check", PlanChecked(plan=plan()), Retry(step="plan", because="x")
    )
    assert plan_rounds(told.record) == 2

    assert plan_rounds(told.rated(6.0, LOW).record) == 0


def test_what_happened_under_an_earlier_plan_is_forgotten() -> None:
    told = Story().planned().executed().rated(6.0, LOW)
    told.step("plan_check", PlanChecked(plan=plan()))

    assert task_states(told.record) == {}
    assert waiting_task(told.record).id == "01-01"


def test_a_task_is_proven_by_a_command_that_failed_before_and_passes_now() -> None:
    record = two_tasks().executed("01-01").record

    assert unproven(record, [DONE]) == ("01-02",)
    assert unproven(record, ["another command"]) == ("01-01", "01-02")


def test_a_plan_the_user_brought_needs_no_proof_of_change() -> None:
    assert unproven(Story().planned(plan(existed_before=True)).record, []) == ()


def test_only_a_gate_that_did_not_fail_before_is_newly_broken() -> None:
    before = (ran("lint", passed=False), ran("test"))
    after = (ran("lint", passed=False), ran("test", passed=False), ran("build", passed=False))

    assert [run.check for run in new_failures(before, after)] == ["test", "build"]


def test_limits_come_from_the_settings() -> None:
    assert debugs_left(Story(brief(), started(debug_attempts=1)).record) == 1


def red_run(*failing: str, executed: int | None = 3) -> CommandRun:
    counts = Counts(passed=None if executed is None else executed - len(failing), failed=len(failing), failing=failing)
    return ran("test", passed=False, tests=counts)


@pytest.mark.parametrize(
    ("before", "after", "new"),
    [
        (red_run("a"), red_run("a"), False),
        (red_run("a", "b"), red_run("a"), False),
        (red_run("a"), red_run("b"), True),
        (red_run("a"), red_run("a", "b"), True),
        (red_run("a"), red_run(executed=None), True),
        (red_run(executed=0), red_run("a"), True),
        (red_run(executed=None), red_run("a"), False),
        (ran("test", passed=False), red_run("a"), False),
    ],
    ids=[
        "the same",
        "one less",
        "another",
        "one more",
        "no longer told",
        "there were none",
        "not told",
        "never counted",
    ],
)
def test_under_a_gate_that_was_red_a_new_failure_is_known_by_its_name(
    before: CommandRun, after: CommandRun, new: bool
) -> None:
    assert bool(new_failures((before,), (after,))) == new


@pytest.mark.parametrize(
    ("kind", "test", "path", "excused"),
    [
        ("refactor", "make t", "a.py", True),
        ("refactor", None, "a.py", False),
        ("docs", None, "README.md", True),
        ("docs", None, "a.py", False),
        ("feature", "make t", "README.md", False),
    ],
)
@pytest.mark.parametrize("by", ["task", "phase", "config"])
def test_only_declared_work_of_its_kind_needs_no_proof(
    by: str, kind: Kind, test: str | None, path: str, excused: bool
) -> None:
    given = phase(kind=kind) if by == "phase" else phase()
    honesty = Honesty(kinds={"1": kind} if by == "config" else {})
    record = Story(brief(phase=given), started(commands=Commands(test=test), honesty=honesty)).record
    change = Change(base=BASE, commit="c1", tree="t", files=(FileChange(path=path, status="M"),))

    assert exempt(record, task(kind=kind if by == "task" else "feature"), change) == excused


def test_every_command_of_a_record_is_recalled() -> None:
    record = Story().planned().executed().verified().record

    assert [run.check for run in command_runs(record)] == ["SC-1", "01-01.1", "01-01.1", "SC-1"]
