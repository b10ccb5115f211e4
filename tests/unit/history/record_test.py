"""What a record tells: nothing but its entries."""

import pytest

from autopilot.domain.attempt import Spec
from autopilot.domain.events import Entry, PhaseStarted, RunFinished, RunResumed
from autopilot.domain.results import PlanChecked, Planned, Rated, Triaged
from autopilot.domain.verdict import Retry
from autopilot.history.record import PhaseRecord, RunRecord
from support.records import BASE, Story, brief, plan, ran, started, task, whole


def test_the_work_stands_where_the_last_step_left_it() -> None:
    assert Story().record.commit == BASE
    assert whole().commit == "c1"


def test_a_step_is_open_until_it_has_finished() -> None:
    told = Story().begin("plan")
    opened = told.record.open_step
    assert opened is not None
    assert opened.step == "plan"

    assert told.step("plan", Planned(plan=plan())).record.open_step is None


def test_a_missing_result_is_a_bug_in_the_order() -> None:
    with pytest.raises(LookupError, match="no Rated yet in phase '1'"):
        Story().record.latest(Rated)


def test_only_a_gate_that_sent_work_back_complains() -> None:
    told = Story().step("plan", Planned(plan=None), Retry(step="plan", because="torn"))

    assert (told.record.complaint(), whole().complaint(), Story().record.complaint()) == ("torn", None, None)


VERIFY_ONLY = Triaged(routing="verify_only", source="plan", checks=(ran(),))
GIVEN = plan(existed_before=True)


@pytest.mark.parametrize(
    ("record", "wanted"),
    [
        (Story().step("plan_check", PlanChecked(plan=plan()), Retry(step="plan", because="x")).record, None),
        (Story().planned().record, plan()),
        (Story(brief(plan=GIVEN)).record, None),
        (Story(brief(plan=GIVEN, cycle=1)).record, GIVEN),
        (Story(brief(plan=GIVEN)).step("triage", VERIFY_ONLY).record, GIVEN),
        (Story(brief(plan=GIVEN)).step("triage", VERIFY_ONLY).planned().record, plan()),
    ],
    ids=["rejected", "accepted", "not looked at", "remediation", "only verified", "replaced"],
)
def test_the_plan_in_force_is_the_newest_accepted(record: PhaseRecord, wanted: object) -> None:
    assert record.plan == wanted


def test_a_remediation_has_one_task_that_keeps_every_criterion() -> None:
    """REMD-01."""
    given = brief(cycle=2, plan=plan(task("01-01"), task("01-02")), feedback=("a", "b"))
    (only,) = Story(given).record.tasks

    assert (only.id, only.action, len(only.criteria)) == ("1-R2", "- a\n- b", 2)


def run_of(*events: object) -> RunRecord:
    entries = (Entry(number=n, at="", event=e) for n, e in enumerate((started(), *events)))  # type: ignore[arg-type]  # events
    return RunRecord(entries=tuple(entries))


def test_the_specification_is_the_one_locked_last() -> None:
    anew = Spec(path="SPEC.md", sha256="6" * 64)

    assert run_of().spec == run_of().start.spec
    assert run_of(RunResumed(pid=1, spec=anew)).spec == anew


def test_a_run_is_over_only_while_nothing_follows_its_end() -> None:
    over = RunFinished(status="failed", exit_code=10, reason="")

    assert run_of(over).end == over
    assert run_of(over, RunResumed(pid=1, spec=started().spec)).end is None
    assert RunRecord().end is None


def test_a_pass_is_open_from_its_start() -> None:
    assert run_of().open_phase is None
    assert run_of(PhaseStarted(brief=brief())).open_phase == brief()
