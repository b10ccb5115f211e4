"""What the gates read out of a record: facts as they are, whatever the record's agents said."""

import pytest

from autopilot.domain.answers import DivergenceOpinion, FixClaim, JudgeOpinion, VerifyOpinion, WorkClaim
from autopilot.domain.evidence import Finding
from autopilot.domain.results import (
    Compared,
    Debugged,
    Executed,
    Fixed,
    Judged,
    PlanChecked,
    Planned,
    Unanswered,
    Verified,
)
from autopilot.domain.verdict import Advance, Retry, Stop
from autopilot.gates import after_divergence, after_rate, after_task, after_verify
from autopilot.gates import after_no_answer as unanswered
from autopilot.gates.rules import joined
from support.records import BASE, Story, brief, criterion, plan, ran, task, whole, work


def test_a_whole_pass_of_good_work_goes_through_every_gate() -> None:
    """PGAT-01."""
    record = whole()

    assert after_rate.GATE.decide(record) == Advance()
    assert after_verify.facts_hold(after_verify.facts_of(record))


@pytest.mark.parametrize(
    ("said", "admits"),
    [("", False), ("0/3", False), ("0", False), ("none", False), ("1/3", True), ("01-02", True), ("two", True)],
)
def test_an_executor_is_believed_only_against_itself(said: str, admits: bool) -> None:
    result = Executed(work=work(), claim=WorkClaim(tasks_failed=said, tasks_completed="100/1", confidence=10))
    record = Story().planned().step("execute", result).record

    verdict = after_task.GATE.decide(record)
    assert isinstance(verdict, Retry) == admits


@pytest.mark.parametrize(
    "claim", [FixClaim(fixed=False), FixClaim(fixed=True, remaining_issues=("half",))], ids=["not fixed", "issues left"]
)
def test_a_debugger_is_believed_only_against_itself(claim: FixClaim) -> None:
    told = Story().planned()
    told.step("execute", Executed(work=work(passed=False)), Retry(step="fix", because="x"), "c1")
    told.step("fix", Fixed(work=work(commit="c2"), claim=claim), commit="c2")

    assert isinstance(after_task.GATE.decide(told.record), Retry)


def test_an_old_failure_of_a_gate_does_not_block_and_a_new_one_does() -> None:
    old = (ran("lint", passed=False), ran("test"))
    tried = work(gates_before=old, gates_after=(ran("lint", passed=False), ran("test", passed=False, command="make t")))
    facts = after_task.gather(Story().planned().step("execute", Executed(work=tried)).record).facts

    assert facts.broken_gates == ("`make t` exited 1 (text of test)",)


def test_only_a_finding_that_blocks_counts_against_a_task() -> None:
    findings = (Finding(rule="r", where="a", what="bad"), Finding(rule="r", where="b", what="odd", severity="warning"))
    record = Story().planned().step("execute", Executed(work=work(findings=findings))).record

    assert after_task.gather(record).facts.findings == ("a: bad",)


def test_a_command_cut_off_is_told_as_such() -> None:
    assert "was cut off" in after_task.described(ran(passed=False, exit_code=None))


def test_a_criterion_shared_with_the_roadmap_proves_its_task() -> None:
    """It is run once, under the roadmap's name."""
    assert after_verify.facts_of(whole()).unproven == ()


def test_a_task_whose_criteria_held_before_it_is_not_proven() -> None:
    told = Story().planned()
    hollow = work(before=(ran(passed=True),))
    told.step("execute", Executed(work=hollow), Advance(to="mini_verify"), "c1").verified()

    assert after_verify.facts_of(told.record).unproven == ("01-01",)
    assert not after_task.proves(hollow, told.record)


def test_what_an_earlier_plan_proved_proves_nothing_for_the_next() -> None:
    told = Story().planned().executed().verified().judged().rated(6.0, Retry(step="research", because="low"))
    made = plan(task("01-01", criterion("01-01.1")))
    told.step("plan", Planned(plan=made)).step("plan_check", PlanChecked(plan=made))
    again = work(before=(ran(passed=True),), base="c1", commit="c2")
    told.step("execute", Executed(work=again), commit="c2")

    assert not after_task.proves(again, told.record)


def test_a_task_nobody_tried_is_not_proven() -> None:
    record = Story().planned(plan(task("01-01"), task("01-02"))).executed().verified().record

    assert after_verify.facts_of(record).unproven == ("01-02",)


def test_a_remediation_needs_no_new_proof() -> None:
    record = Story(brief(cycle=1, plan=plan())).verified().record

    assert after_verify.facts_of(record).unproven == ()


def test_a_remediation_is_not_planned_anew() -> None:
    told = Story(brief(cycle=1, plan=plan())).verified().judged().rated(6.0)

    assert after_rate.gather(told.record).facts.limit == 0
    assert isinstance(after_rate.GATE.decide(told.record), Stop)


def test_facts_about_another_commit_are_stale() -> None:
    told = Story().planned().executed().verified()
    told.step("debug", Debugged(work=work("1-debug", "c1", "c2")), commit="c2")

    assert not after_verify.facts_of(told.record).fresh


def test_a_gate_that_failed_before_the_phase_does_not_fail_it_now() -> None:
    gates = (ran("lint", passed=False), ran("test", passed=False, command="make t"))
    seen = Verified(commit=BASE, tree="t", checks=(ran(),), gates=gates, old_failures=("lint",))

    assert after_verify.facts_of(Story().step("verify", seen).record).failing == ("`make t` exited 1 (text of test)",)


def test_silence_is_counted_in_a_row_and_per_step() -> None:
    quiet = Unanswered(role="plan", outcome="bad_output", detail="prose")
    told = Story().step("plan", quiet).step("research", quiet).step("plan", quiet).step("plan", quiet)

    assert unanswered.gather(told.record).facts.tries == 2


def test_a_person_is_asked_about_tasks_that_are_not_the_agents() -> None:
    record = whole()
    made = plan(task("01-01"), task("01-02", type="checkpoint:human-verify"))
    told = Story().planned(made).executed().verified().judged().rated()

    assert after_rate.gather(record).facts.for_a_person == ()
    assert after_rate.gather(told.record).facts.for_a_person == ("01-02 title of 01-02",)


def test_a_long_list_is_cut_with_a_count() -> None:
    assert joined(("a",) * 7, most=2) == "a; a and 5 more"


@pytest.mark.parametrize(
    ("observed", "seconds", "shallow"),
    [(0, 5.0, True), (None, 5.0, False), (0, 130.0, True), (1, 5.0, False)],
)
def test_vrfy_03a_what_was_seen_of_the_verifier_reaches_the_gate(
    observed: int | None, seconds: float, shallow: bool
) -> None:
    opinion = VerifyOpinion(passed=True, commands_run=("ls",))
    seen = Verified(commit=BASE, tree="t", checks=(ran(),), opinion=opinion, observed=observed, seconds=seconds)

    assert after_verify.shallow(after_verify.facts_of(Story().step("verify", seen).record)) == shallow


@pytest.mark.parametrize(
    ("evidence", "missed", "independent"),
    [((), (), False), (("a:1",), (), True), ((), ("a gap",), True)],
    ids=["nothing", "evidence", "a difference"],
)
def test_vrfy_02_a_judge_shows_its_own_analysis_by_evidence_or_difference(
    evidence: tuple[str, ...], missed: tuple[str, ...], independent: bool
) -> None:
    judge = JudgeOpinion(recommendation="proceed", independent_evidence=evidence)
    second = DivergenceOpinion(recommendation="proceed", verifier_missed=missed)
    told = Story().step("judge", Judged(opinion=judge)).step("judge_divergence", Compared(opinion=second))

    assert after_divergence.gather(told.record).opinions.independent == independent
    assert isinstance(after_divergence.GATE.decide(told.record), Advance if independent else Retry)
