"""What a pass starts from, put together from the run's record and the user's planning files."""

import hashlib
from pathlib import Path

import pytest

from autopilot.domain.attempt import PhaseOutcome
from autopilot.domain.events import Entry, Event, PhaseFinished
from autopilot.domain.verdict import Advance, Retry, Stop
from autopilot.engine.close.confidence import feedback
from autopilot.engine.decide.next_move import Spawn
from autopilot.engine.run.briefs import brief_for, counted, existing_plan, phase_files, unmet
from autopilot.history.record import RunRecord
from autopilot.policy.facts.held_out import held_out
from support.engine import Engine, Told, make_engine
from support.project import plan_text
from support.records import DIR, Story, brief, criterion, phase, plan, started, whole
from support.repos import write
from support.workspaces import open_workspace

DEPENDENT = phase("2", "1")


def run_of(*events: Event, completed: tuple[str, ...] = ()) -> RunRecord:
    start = started(phase("1"), DEPENDENT, completed=completed, folders={"1": DIR})
    return RunRecord(entries=tuple(Entry(number=n, at="", event=e) for n, e in enumerate((start, *events))))


def passed(name: str) -> PhaseFinished:
    outcome = PhaseOutcome(phase=name, status="completed", reason="", commit="c")
    return PhaseFinished(cycle=0, outcome=outcome, verdict=Advance())


def lost(name: str) -> PhaseFinished:
    outcome = PhaseOutcome(phase=name, status="failed", reason="", commit="c")
    return PhaseFinished(cycle=1, outcome=outcome, verdict=Retry(step="remediate", because="low"))


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return make_engine(tmp_path)


def with_files(engine: Engine, files: dict[str, str]) -> Engine:
    """A run that started with these planning files."""
    write(engine.bench.root, files)
    engine.bench = open_workspace(engine.bench.root, "run-2")
    engine.bench.workspace.snapshot_planning()
    return engine


@pytest.mark.parametrize(
    ("run", "wanted"),
    [(run_of(), ("1",)), (run_of(passed("1")), ()), (run_of(completed=("1",)), ())],
    ids=["not yet", "in this run", "before it"],
)
def test_a_dependency_is_met_by_this_run_or_an_earlier_one(run: RunRecord, wanted: tuple[str, ...]) -> None:
    assert unmet(DEPENDENT, run) == wanted


def test_a_dependency_the_roadmap_does_not_know_is_not_waited_for() -> None:
    assert unmet(phase("2", "9"), run_of()) == ()


def test_a_first_pass_starts_from_the_line(engine: Engine) -> None:
    made = brief_for(Spawn(phase("1"), 0, "tip"), run_of(), (), engine.hands(Told()))

    assert (made.base, made.dir, made.position, made.total, made.number, made.cycle) == ("tip", DIR, 1, 2, 0, 0)
    assert (made.plan, made.feedback, made.earlier) == (None, (), {})


def test_pgat_08_without_a_set_threshold_it_is_nine(engine: Engine) -> None:
    made = brief_for(Spawn(phase("1"), 0, "tip"), run_of(), (), engine.hands(Told()))

    assert made.pass_threshold == 9.0


def test_a_remediation_gets_the_plan_in_force_and_what_to_mend(engine: Engine) -> None:
    made = brief_for(Spawn(phase("1"), 1, "c1"), run_of(passed("1")), (whole(),), engine.hands(Told()))

    assert (made.number, made.cycle, made.plan, made.feedback) == (1, 1, plan(), feedback(whole(), 9.0))
    assert made.earlier["rate"] == 1


def test_what_the_first_pass_held_out_is_held_out_in_every_later_one(engine: Engine) -> None:
    wanted = phase(criteria=tuple(criterion(f"SC-{n}", f"run {n} | grep ok") for n in range(4)))
    first = Story(brief(phase=wanted), started(wanted)).planned().record

    made = brief_for(Spawn(wanted, 0, "tip"), run_of(), (first,), engine.hands(Told()))

    assert made.held == tuple(c.id for c in held_out(first))
    assert len(made.held) == 1


def test_a_remediation_after_a_failed_one_mends_what_stood_before(engine: Engine) -> None:
    failed = Story().verified(Stop(because="broken"), passed=False).record

    run = run_of(passed("1"), lost("1"))
    made = brief_for(Spawn(phase("1"), 2, "c1"), run, (whole(), failed), engine.hands(Told()))

    assert (made.number, made.feedback, made.plan) == (2, feedback(whole(), 9.0), plan())


def test_a_plan_of_the_user_s_is_taken_with_its_tests(engine: Engine) -> None:
    text = plan_text("1", [("letter1.txt", "done")])
    hands = with_files(engine, {f"{DIR}/PLAN.md": text, f"{DIR}/tests/task-01-01.sh": "true\n"}).hands(Told())

    found = existing_plan(phase_files(DIR, "1", hands), ())

    assert found is not None
    assert (found.existed_before, len(found.tasks), found.tests[0].path) == (True, 1, "tests/task-01-01.sh")


def test_a_plan_agents_left_behind_is_not_the_user_s(engine: Engine) -> None:
    text = plan_text("1", [("letter1.txt", "done")])
    hands = with_files(engine, {f"{DIR}/PLAN.md": text}).hands(Told())

    found = existing_plan(phase_files(DIR, "1", hands), (hashlib.sha256(text.encode()).hexdigest(),))

    assert found is not None
    assert not found.existed_before


@pytest.mark.parametrize("files", [{}, {f"{DIR}/PLAN.md": "only prose\n"}], ids=["none", "unreadable"])
def test_without_a_readable_plan_there_is_none(engine: Engine, files: dict[str, str]) -> None:
    assert existing_plan(phase_files(DIR, "1", with_files(engine, files).hands(Told())), ()) is None


def test_calls_and_steps_are_counted_over_passes() -> None:
    one = (
        Story().answer("r/1/verify/1", role="verify").verified().answer("r/1/fix/1", role="debug", task="01-01").record
    )

    assert counted((one, one)) == {"verify": 2, "verify@": 1, "debug@01-01": 1}


def test_a_call_put_again_after_a_crash_is_counted_once() -> None:
    told = Story().answer("r/1/verify/1", role="verify").answer("r/1/verify/1", role="verify")
    told.answer("r/1/verify/1.2", role="verify").answer("r/1/verify/2", role="verify")

    assert counted((told.record,)) == {"verify@": 2}
