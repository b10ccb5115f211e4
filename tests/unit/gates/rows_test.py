"""A row of a table, a row of the test: for each rule one case that makes exactly it decide, and what follows."""

from typing import Any

import pytest

from autopilot.domain.answers import (
    CriterionResult,
    Deferral,
    JudgeOpinion,
    PlanIssue,
    PlanOpinion,
    TaskOpinion,
    VerifyOpinion,
)
from autopilot.domain.verdict import ALREADY_SATISFIED, END, Advance, AskHuman, Retry, Stop, Verdict
from autopilot.gates import after_divergence as divergence
from autopilot.gates import after_judge
from autopilot.gates import after_phase as phase
from autopilot.gates.after_audit import AuditFacts, AuditOpinions
from autopilot.gates.after_divergence import NOT_COMPARED, DivergenceFacts, DivergenceOpinions
from autopilot.gates.after_gap_fix import GapClaims, GapFacts
from autopilot.gates.after_integration import IntegrationFacts, IntegrationOpinions
from autopilot.gates.after_judge import JudgeFacts, JudgeOpinions
from autopilot.gates.after_mini_verify import MiniFacts, MiniOpinions
from autopilot.gates.after_no_answer import SilenceFacts
from autopilot.gates.after_plan import PlanFacts
from autopilot.gates.after_plan_check import PlanCheckFacts, PlanCheckOpinions
from autopilot.gates.after_preflight import PreflightFacts
from autopilot.gates.after_rate import UNBUILT, UNGUARDED, UNSHOWN, RateFacts, RateOpinions
from autopilot.gates.after_task import TaskClaims, TaskFacts
from autopilot.gates.after_triage import TriageFacts
from autopilot.gates.after_verify import VerifyFacts, VerifyOpinions
from autopilot.gates.after_version import VersionFacts
from autopilot.gates.rules import Claims, Facts, Opinions
from autopilot.policy.answer_check import UNJUSTIFIED
from autopilot.policy.deferral import no_reason
from autopilot.policy.outcomes import NOTHING_BUILT
from support.gates import AnyGate, all_gates

GATES = all_gates()
NOBODY, SILENCE = Opinions(), Claims()


def plan_check(**more: Any) -> PlanCheckFacts:
    return PlanCheckFacts(**{"tasks": 1, "blockers": (), "tries": 1, "limit": 3, **more})


def checker(**more: Any) -> PlanCheckOpinions:
    return PlanCheckOpinions(checker=PlanOpinion(**{"passed": True, "confidence": 7, **more}))


def task(**more: Any) -> TaskFacts:
    clean: dict[str, Any] = {
        "checks": 1, "failing": (), "broken_gates": (), "findings": (), "changed": True, "proves_something": True,
        "must_change": True, "fixes": 0, "limit": 2, "next_stop": "verify", **more,
    }  # fmt: skip
    return TaskFacts(**clean)


def mini(**more: Any) -> MiniFacts:
    return MiniFacts(**{"reviews": 1, "fixes": 0, "limit": 2, "next_stop": "execute", **more})


def reviewer(*commands: str, passed: bool = True) -> MiniOpinions:
    return MiniOpinions(reviewer=TaskOpinion(passed=passed, commands_run=commands, concerns=("thin",)))


def checked(**more: Any) -> VerifyFacts:
    clean: dict[str, Any] = {
        "checks": 2, "failing": (), "unproven": (), "fresh": True, "debugs": 0, "debugs_left": 3, **more,
    }  # fmt: skip
    return VerifyFacts(**clean)


def verifier(*commands: str, passed: bool = True) -> VerifyOpinions:
    return VerifyOpinions(verifier=VerifyOpinion(passed=passed, commands_run=commands))


def judge(word: Any, *concerns: str, evidence: tuple[str, ...] = ("a.py:1",)) -> JudgeOpinions:
    return JudgeOpinions(judge=JudgeOpinion(recommendation=word, concerns=concerns, independent_evidence=evidence))


def rate(**more: Any) -> RateFacts:
    return RateFacts(**{"verification": checked(), "for_a_person": (), "replans": 0, "limit": 1, **more})


UNSURE = VerifyOpinion(
    passed=True,
    commands_run=("ls",),
    deferral_evidence=(
        Deferral(criterion="c", methods_attempted=("m",), why_insufficient="a card is charged for real"),
    ),
)


def content(**more: Any) -> RateOpinions:
    agreed: dict[str, Any] = {
        "verifier": VerifyOpinion(passed=True, commands_run=("ls",)), "first": "proceed", "second": "proceed",
        "score": 9.0, **more,
    }  # fmt: skip
    return RateOpinions(**agreed)


def ended(**more: Any) -> phase.PhaseFacts:
    usual: dict[str, Any] = {
        "status": "completed", "reason": "why", "cycles_left": 2, "completed_before": False, "threshold": 9.0, **more,
    }  # fmt: skip
    return phase.PhaseFacts(**usual)


def triage(**more: Any) -> TriageFacts:
    usual = {"remediation": False, "verify_only": False, "has_plan": False, "skip_research": False, **more}
    return TriageFacts(**usual)


def silent(tries: int) -> SilenceFacts:
    return SilenceFacts(step="plan", outcome="bad_output", detail="prose", tries=tries, limit=2)


def scored(score: float | None, stood: float | None = None) -> phase.PhaseOpinions:
    return phase.PhaseOpinions(score=score, stood=stood)


def agreeing(*, independent: bool = True) -> DivergenceOpinions:
    return DivergenceOpinions(first="proceed", second="proceed", independent=independent)


def gap(**more: Any) -> GapFacts:
    return GapFacts(**{"runs": 1, "broken": (), "findings": (), "changed": True, "outgrown": False, **more})


def audited(rounds: int = 0, asked: int = 1) -> AuditFacts:
    return AuditFacts(asked=asked, rounds=rounds, limit=2)


FOUND = AuditOpinions(gaps=("A-1: not there",), mendable=1)


Case = tuple[Facts, Opinions, Claims, Verdict | type[Verdict]]
FAILED = Advance(to="verify", because="task FAILED: a")

# Gate, rule: a case, and the verdict, or its kind where only the words vary.
CASES: dict[tuple[str, str], Case] = {
    ("after_preflight", "something blocks the start"): (PreflightFacts(issues=("spec",)), NOBODY, SILENCE, Stop),
    ("after_preflight", "otherwise"): (PreflightFacts(issues=()), NOBODY, SILENCE, Advance()),
    ("after_triage", "this pass mends an earlier one"): (
        triage(remediation=True, verify_only=True), NOBODY, SILENCE, Advance(to="execute", because="remediation")),
    ("after_triage", "an earlier pass had the plan accepted"): (
        triage(accepted=True, verify_only=True, has_plan=True), NOBODY, SILENCE,
        Advance(to="execute", because="the plan was accepted before")),
    ("after_triage", "the user reported a problem that no check shows"): (
        triage(debugging=True, checks=1, pass_ratio=1.0), NOBODY, SILENCE,
        Stop(because="every check passes already, so none shows the problem; name one that fails with --check"),
    ),
    ("after_triage", "the user reported a problem"): (
        triage(debugging=True, checks=2, pass_ratio=0.5), NOBODY, SILENCE,
        Advance(to="verify", because="debugging what the user reported"),
    ),
    ("after_triage", "the criteria already hold"): (
        triage(verify_only=True, has_plan=True, pass_ratio=0.9), NOBODY, SILENCE,
        Advance(to="verify", because="90% of the criteria already hold")),
    ("after_triage", "the user brought a plan"): (
        triage(has_plan=True, skip_research=True), NOBODY, SILENCE, Advance(to="plan_check", because="existing plan")),
    ("after_triage", "research is switched off"): (
        triage(skip_research=True), NOBODY, SILENCE, Advance(to="plan", because="research is switched off")),
    ("after_triage", "the user brought research"): (
        triage(researched=True), NOBODY, SILENCE, Advance(to="plan", because="existing research")),
    ("after_triage", "otherwise"): (triage(), NOBODY, SILENCE, Advance()),
    ("after_research", "always"): (Facts(), NOBODY, SILENCE, Advance()),
    ("after_plan", "the plan has tasks"): (
        PlanFacts(tasks=1, problem="", tries=3, limit=3), NOBODY, SILENCE, Advance()),
    ("after_plan", "tries remain"): (
        PlanFacts(tasks=0, problem="torn", tries=2, limit=3), NOBODY, SILENCE,
        Retry(step="plan", because="REVISION REQUIRED. torn")),
    ("after_plan", "otherwise"): (PlanFacts(tasks=0, problem="torn", tries=3, limit=3), NOBODY, SILENCE, Stop),
    ("after_plan_check", "our checks find no blocker and the checker approves"): (
        plan_check(tries=3), checker(), SILENCE, Advance()),
    ("after_plan_check", "tries remain"): (
        plan_check(tries=2, blockers=("01-01: stub",)), checker(), SILENCE,
        Retry(step="plan", because="REVISION REQUIRED. 01-01: stub")),
    ("after_plan_check", "otherwise"): (plan_check(tries=3), checker(confidence=6.9), SILENCE, Stop),
    ("after_task", "a check failed, fixes remain"): (
        task(failing=("a",), fixes=1), NOBODY, TaskClaims(), Retry(step="fix", because="a")),
    ("after_task", "a check failed"): (task(failing=("a",), fixes=2), NOBODY, TaskClaims(), FAILED),
    ("after_task", "the agent itself admits a failure, fixes remain"): (
        task(fixes=1), NOBODY, TaskClaims(admits="a"), Retry(step="fix", because="a")),
    ("after_task", "the agent itself admits a failure"): (task(fixes=2), NOBODY, TaskClaims(admits="a"), FAILED),
    ("after_task", "otherwise"): (task(fixes=2), NOBODY, TaskClaims(), Advance(to="mini_verify")),
    ("after_mini_verify", "the reviewer ran something and is content"): (
        mini(), reviewer("ls"), SILENCE, Advance(to="execute")),
    ("after_mini_verify", "the reviewer ran nothing, first time"): (mini(), reviewer(), SILENCE, Retry),
    ("after_mini_verify", "fixes remain"): (
        mini(fixes=1), reviewer("ls", passed=False), SILENCE, Retry(step="fix", because="thin")),
    ("after_mini_verify", "otherwise"): (
        mini(reviews=2, fixes=2), reviewer(), SILENCE,
        Advance(to="execute", because="task FAILED: the reviewer ran nothing")),
    ("after_verify", "only a person can do what is left"): (
        checked(person_only=True), verifier("ls"), SILENCE, AskHuman),
    ("after_verify", "the facts hold and the verifier agrees"): (
        checked(debugs_left=0), verifier("ls"), SILENCE, Advance()),
    ("after_verify", "only the verifier ran or showed too little, nothing was rejected before"): (
        checked(), verifier(), SILENCE, Retry),
    ("after_verify", "only the verifier ran or showed too little"): (
        checked(rejected=1), verifier(), SILENCE, Stop),
    ("after_verify", "nobody has worked on it yet"): (
        checked(full_route="plan", failing=("x",)), verifier("ls"), SILENCE,
        Retry(step="plan", because="not there already: x")),
    ("after_verify", "debug attempts remain"): (
        checked(failing=("a",), debugs_left=1), verifier("ls"), SILENCE, Retry(step="debug", because="a")),
    ("after_verify", "otherwise"): (
        checked(failing=("a",), debugs_left=0), verifier("ls"), SILENCE,
        Stop(because="max retries exceeded: a", rollback=True)),
    ("after_judge", "the judge objects, and nobody has worked on it yet"): (
        JudgeFacts(full_route="research"), judge("halt", "thin"), SILENCE,
        Retry(step="research", because="not there already: thin")),
    ("after_judge", "the judge wants a rollback or a halt"): (
        JudgeFacts(), judge("rollback", "wrong"), SILENCE,
        Stop(because="judge recommends rollback: wrong", rollback=True)),
    ("after_judge", "the judge has a concern and its own evidence"): (
        JudgeFacts(rejected=1), judge("debug", "thin"), SILENCE, Advance()),
    ("after_judge", "nothing was rejected before"): (JudgeFacts(), judge("proceed"), SILENCE, Retry),
    ("after_judge", "otherwise"): (JudgeFacts(rejected=1), judge("proceed", "thin", evidence=()), SILENCE, Stop),
    ("after_divergence", "it compares nothing, nothing was rejected before"): (
        DivergenceFacts(debugs_left=1), DivergenceOpinions(first="proceed", independent=True), SILENCE,
        Retry(step="judge_divergence", because=NOT_COMPARED, rejects="JUDG-05")),
    ("after_divergence", "it compares nothing"): (
        DivergenceFacts(debugs_left=1, rejected=1), DivergenceOpinions(first="proceed", independent=True), SILENCE,
        Stop(because=NOT_COMPARED, rollback=True)),
    ("after_divergence", "it shows no analysis of its own, nothing was rejected before"): (
        DivergenceFacts(debugs_left=0), agreeing(independent=False), SILENCE,
        Retry(step="judge", because=divergence.RUBBER_STAMP, rejects="VRFY-02")),
    ("after_divergence", "it shows no analysis of its own"): (
        DivergenceFacts(debugs_left=0, rejected=1), agreeing(independent=False), SILENCE,
        Stop(because=divergence.RUBBER_STAMP, rollback=True)),
    ("after_divergence", "both words are proceed, and nobody had to work on it"): (
        DivergenceFacts(debugs_left=0, full_route="plan"),
        DivergenceOpinions(first="proceed", second="proceed", independent=True), SILENCE,
        Advance(to=END, because=NOTHING_BUILT)),
    ("after_divergence", "nobody has worked on it yet"): (
        DivergenceFacts(debugs_left=1, full_route="plan"),
        DivergenceOpinions(first="debug", second="proceed", concerns=("thin",)), SILENCE,
        Retry(step="plan", because="not there already: thin")),
    ("after_divergence", "both words are proceed"): (
        DivergenceFacts(debugs_left=0), agreeing(), SILENCE, Advance()),
    ("after_divergence", "one says debug, attempts remain"): (
        DivergenceFacts(debugs_left=1), DivergenceOpinions(first="debug", second="proceed"), SILENCE, Retry),
    ("after_divergence", "otherwise"): (
        DivergenceFacts(debugs_left=1), DivergenceOpinions(first="debug", second="halt"), SILENCE,
        Stop(because="judge recommends halt: ", rollback=True)),
    ("after_rate", "the facts are stale"): (
        rate(verification=checked(fresh=False)), content(), SILENCE,
        Retry(step="verify", because="the tree moved since the facts were made")),
    ("after_rate", "a fact fails, or verifier or judge object"): (
        rate(verification=checked(failing=("a",))), content(), SILENCE, Stop(because="a", rollback=True)),
    ("after_rate", "the score is below 7, a re-plan remains"): (
        rate(), content(score=6.9, deductions=("d",), lowest=("c",)), SILENCE,
        Retry(step="research", because="Previous attempt scored 6.9/10. Issues: d. Focus on: c")),
    ("after_rate", "the score is below 7"): (
        rate(replans=1), content(score=6.9), SILENCE,
        Stop(because="alignment too low (6.9) after 1 re-plan(s)", rollback=True)),
    ("after_rate", "a task is left to a person without a reason, nothing was rejected before"): (
        rate(for_a_person=("01-02 pay",)), content(), SILENCE,
        Retry(step="verify", because=f"{UNJUSTIFIED} {no_reason(6)}", rejects="STAT-02")),
    ("after_rate", "a task is left to a person without a reason"): (
        rate(for_a_person=("01-02 pay",), verification=checked(rejected=1)), content(), SILENCE,
        Stop(because=f"max retries exceeded: {UNJUSTIFIED}", rollback=True)),
    ("after_rate", "a task is left to a person"): (
        rate(for_a_person=("01-02 pay",), verification=checked(rejected=1)), content(verifier=UNSURE), SILENCE,
        AskHuman(question="needs a person: 01-02 pay")),
    ("after_rate", "nothing was built"): (
        rate(nothing_built=True), content(score=10.0), SILENCE, AskHuman(question=UNBUILT)),
    ("after_rate", "nothing shows that something new was built"): (
        rate(nothing_new=True), content(score=10.0), SILENCE, AskHuman(question=UNSHOWN)),
    ("after_rate", "otherwise"): (rate(), content(score=7.0), SILENCE, Advance()),
    ("after_debug", "always"): (Facts(), NOBODY, SILENCE, Advance(to="verify")),
    ("unanswered", "the executor ran out of context"): (
        SilenceFacts(step="execute", outcome="context_exhausted", detail="", tries=1, limit=2), NOBODY, SILENCE,
        Stop(because="context_exhaustion: partial progress saved to HANDOFF.md")),
    ("unanswered", "tries remain"): (silent(1), NOBODY, SILENCE, Retry),
    ("unanswered", "otherwise"): (silent(2), NOBODY, SILENCE, Stop),
    ("after_phase", "the judge wants it undone"): (
        ended(status="failed", proceed=False, rollback=True), scored(None), SILENCE,
        Stop(because="why", rollback=True)),
    ("after_phase", "at the quality target, gaps are to be closed too"): (
        ended(loop="quality", threshold=9.5, gaps_open=1), scored(9.5), SILENCE,
        Retry(step="gaps", because="quality target reached")),
    ("after_phase", "a quality cycle brought no improvement"): (
        ended(loop="quality", turn=1, threshold=9.5, completed_before=True), scored(8.0, 8.0), SILENCE,
        Advance(because="quality_exhausted")),
    ("after_phase", "below the quality target, cycles used up"): (
        ended(loop="quality", turn=3, threshold=9.5, cycles_left=0, completed_before=True), scored(9.4, 9.0), SILENCE,
        Advance(because="quality_exhausted")),
    ("after_phase", "gaps remain, iterations or shortcomings used up"): (
        ended(loop="gaps", turn=5, threshold=9.5, cycles_left=0, completed_before=True), scored(8.0, 9.0), SILENCE,
        Advance(because="gaps_exhausted")),
    ("after_phase", "it waits for a person"): (
        ended(status="needs_human_verification"), scored(9.9), SILENCE, AskHuman(question="why")),
    ("after_phase", "nothing was built: its criteria held before"): (
        ended(satisfied=True), scored(None), SILENCE, Advance(because=ALREADY_SATISFIED)),
    ("after_phase", "it is too big for one pass"): (
        ended(status="split_request"), scored(None), SILENCE, Retry(step="split", because="why")),
    ("after_phase", "completed at or above the threshold"): (ended(cycles_left=0), scored(9.0), SILENCE, Advance()),
    ("after_phase", "below the threshold, a cycle remains"): (
        ended(), scored(8.9), SILENCE, Retry(step="remediate", because="score 8.9 below threshold 9.0")),
    ("after_phase", "below the threshold, cycles used up"): (
        ended(status="failed", completed_before=True, cycles_left=0), scored(None, 8.0), SILENCE,
        Advance(because="force_incomplete")),
    ("after_integration", "a criterion or gate no longer holds"): (
        IntegrationFacts(runs=2, broken=("`ls` exited 1",)), IntegrationOpinions(passed=True), SILENCE,
        Stop(because="`ls` exited 1")),
    ("after_integration", "nothing was run on the finished tree"): (
        IntegrationFacts(runs=0, broken=()), IntegrationOpinions(passed=True), SILENCE, Stop),
    ("after_integration", "the reviewer finds something broken"): (
        IntegrationFacts(runs=2, broken=()), IntegrationOpinions(passed=True, complaints=("a.py:1",)), SILENCE,
        Stop(because="a.py:1")),
    ("after_integration", "otherwise"): (
        IntegrationFacts(runs=2, broken=()), IntegrationOpinions(passed=True), SILENCE, Advance()),
    ("after_audit", "gaps can be mended, a try is left"): (
        audited(1), FOUND, SILENCE, Retry(step="gap_fix", because="A-1: not there")),
    ("after_audit", "gaps remain"): (audited(2), FOUND, SILENCE, Stop(because="A-1: not there")),
    ("after_audit", "nothing was asked for"): (audited(asked=0), AuditOpinions(), SILENCE, Stop),
    ("after_audit", "otherwise"): (audited(), AuditOpinions(), SILENCE, Advance()),
    ("after_gap_fix", "it breaks something, changes nothing or cannot be checked"): (
        gap(runs=0), NOBODY, GapClaims(), Stop),
    ("after_gap_fix", "the agent itself admits a failure"): (
        gap(), NOBODY, GapClaims(admits="half done"), Stop(because="half done")),
    ("after_gap_fix", "otherwise"): (gap(), NOBODY, GapClaims(), Advance()),
    ("after_version", "there is nothing to bump"): (
        VersionFacts(changed=False, note="no file", broken=()), NOBODY, SILENCE, Stop(because="no file")),
    ("after_version", "a gate goes red over it"): (
        VersionFacts(changed=True, note="", broken=("`make` exited 2",)), NOBODY, SILENCE,
        Stop(because="`make` exited 2")),
    ("after_version", "otherwise"): (VersionFacts(changed=True, note="", broken=()), NOBODY, SILENCE, Advance()),
    ("after_phase", "otherwise"): (ended(status="failed"), scored(9.9), SILENCE, Stop(because="why")),
}  # fmt: skip


def deciding(gate: AnyGate, facts: Facts, opinions: Opinions, claims: Claims) -> str:
    return next(rule.name for rule in gate.rules if rule.applies(facts, opinions, claims))


@pytest.mark.parametrize(("row", "case"), CASES.items(), ids=[f"{gate}: {rule}" for gate, rule in CASES])
def test_each_row_decides_its_case(row: tuple[str, str], case: Case) -> None:
    gate, (facts, opinions, claims, wanted) = GATES[row[0]], case

    assert deciding(gate, facts, opinions, claims) == row[1]
    verdict = gate.judge(facts, opinions, claims)
    assert isinstance(verdict, wanted) if isinstance(wanted, type) else verdict == wanted


def test_every_row_of_every_table_has_a_case() -> None:
    assert CASES.keys() == {(gate.name, rule.name) for gate in GATES.values() for rule in gate.rules}


@pytest.mark.parametrize("gate", GATES.values(), ids=GATES)
def test_no_table_has_two_rows_of_one_name(gate: AnyGate) -> None:
    assert len({rule.name for rule in gate.rules}) == len(gate.rules)


@pytest.mark.parametrize(
    "opinions",
    [
        checker(passed=False),
        checker(confidence=6.9),
        checker(issues=(PlanIssue(severity="blocker"),)),
        PlanCheckOpinions(),
    ],
    ids=["says no", "is not confident", "names a blocker all the same", "was not asked"],
)
def test_a_plan_is_accepted_only_by_a_checker_without_reserve(opinions: PlanCheckOpinions) -> None:
    """PCHK-12."""
    assert isinstance(GATES["after_plan_check"].judge(plan_check(), opinions, SILENCE), Retry)


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        (task(changed=False), "nothing was changed"),
        (task(checks=0), "nothing was checked"),
        (task(proves_something=False), "no criterion that failed before passes now"),
        (task(broken_gates=("test",)), "test"),
        (task(findings=("hook",)), "hook"),
    ],
    ids=["idle", "unchecked", "hollow", "breaks a gate", "tampering"],
)
def test_a_task_is_sent_back_with_what_is_wrong_with_it(facts: TaskFacts, said: str) -> None:
    assert GATES["after_task"].judge(facts, NOBODY, TaskClaims()) == Retry(step="fix", because=said)


FAILED_ALL_THE_SAME = (CriterionResult(criterion="a", status="FAILED", evidence="b"),)


def test_a_verifier_who_lists_a_failed_criterion_does_not_agree() -> None:
    opinion = VerifyOpinion(passed=True, commands_run=("ls",), criteria_results=FAILED_ALL_THE_SAME)
    verdict = GATES["after_verify"].judge(checked(), VerifyOpinions(verifier=opinion), SILENCE)

    assert verdict == Retry(step="debug", because="a: b")


def test_a_reviewer_who_lists_a_failed_criterion_is_not_content() -> None:
    opinion = TaskOpinion(passed=True, commands_run=("ls",), criteria_results=FAILED_ALL_THE_SAME)
    verdict = GATES["after_mini_verify"].judge(mini(), MiniOpinions(reviewer=opinion), SILENCE)

    assert verdict == Retry(step="fix", because="a: b")


def test_a_task_of_the_users_own_plan_may_find_its_work_done() -> None:
    facts = task(must_change=False, changed=False, proves_something=False)

    assert GATES["after_task"].judge(facts, NOBODY, TaskClaims()) == Advance(to="mini_verify")


@pytest.mark.parametrize("gap", [{"checks": 0}, {"unproven": ("01-01",)}, {"failing": ("a",)}], ids=str)
def test_no_verifier_helps_where_facts_are_missing(gap: dict[str, Any]) -> None:
    verdict = GATES["after_verify"].judge(checked(debugs_left=0, **gap), verifier("ls"), SILENCE)

    assert isinstance(verdict, Stop)


@pytest.mark.parametrize(
    "gap", [{"verifier": None}, {"first": None}, {"second": "debug"}, {"first": "rollback"}], ids=str
)
def test_no_score_helps_against_an_objection(gap: dict[str, Any]) -> None:
    assert isinstance(GATES["after_rate"].judge(rate(), content(**{"score": 10.0, **gap}), SILENCE), Stop)


def test_the_users_word_lets_a_refactoring_pass_only_with_green_tests() -> None:
    judge = GATES["after_rate"].judge
    red = rate(nothing_new=True, preserving=True, tests_failed=True)

    assert judge(rate(nothing_new=True, preserving=True), content(score=7.0), SILENCE) == Advance()
    assert judge(red, content(score=10.0), SILENCE) == AskHuman(question=UNGUARDED)


@pytest.mark.parametrize(("replans", "kind"), [(0, Retry), (1, Stop)], ids=["once more", "no more"])
def test_a_phase_nobody_rated_does_not_pass(replans: int, kind: type[Verdict]) -> None:
    assert isinstance(GATES["after_rate"].judge(rate(replans=replans), content(score=None), SILENCE), kind)


@pytest.mark.parametrize(
    ("watch", "accepted"),
    [
        ({"seconds": 3.4, "observed": 1}, False),
        ({"seconds": 3.4, "observed": 2}, True),
        ({"seconds": 120.0, "observed": 1}, True),
        ({"seconds": 3.4, "observed": None}, True),
    ],
    ids=["quick and idle", "quick but thorough", "slow", "not to be watched"],
)
def test_vrfy_03a_a_verifier_too_quick_to_have_looked_is_asked_again(watch: dict[str, Any], accepted: bool) -> None:
    facts = checked(least_seconds=120.0, **watch)
    said = "Verifier completed in 3 seconds -- below 2-minute minimum. Possible rubber-stamp."

    verdict = GATES["after_verify"].judge(facts, verifier("ls"), SILENCE)

    assert verdict == (Advance() if accepted else Retry(step="verify", because=said, rejects="VRFY-03a"))


def test_vrfy_03a_a_verifier_too_quick_twice_does_not_pass() -> None:
    facts = checked(least_seconds=60.0, seconds=3.0, observed=1, rejected=1, debugs_left=3)

    verdict = GATES["after_verify"].judge(facts, verifier("ls"), SILENCE)

    said = "Verifier completed in 3 seconds -- below 60-second minimum. Possible rubber-stamp."
    assert verdict == Stop(because=f"max retries exceeded: {said}", rollback=True)
    assert isinstance(GATES["after_rate"].judge(rate(verification=facts), content(), SILENCE), Stop)


@pytest.mark.parametrize(
    ("facts", "said"),
    [(checked(), ()), (checked(observed=0, seconds=300.0), ("ls",))],
    ids=["lists none", "was seen idle"],
)
def test_vrfy_03b_a_verifier_without_commands_is_told_so(facts: VerifyFacts, said: tuple[str, ...]) -> None:
    text = "Verifier reported empty commands_run. Verification without command execution is not accepted."

    assert GATES["after_verify"].judge(facts, verifier(*said), SILENCE) == Retry(
        step="verify", because=text, rejects="VRFY-03b"
    )


@pytest.mark.parametrize(("rejected", "kind"), [(0, Retry), (1, Stop)], ids=["once more", "no more"])
def test_vrfy_04_a_judge_that_only_agrees_is_rejected(rejected: int, kind: type[Verdict]) -> None:
    echo = JudgeOpinion(recommendation="proceed", concerns=("thin",), verifier_agreement=True)

    verdict = GATES["after_judge"].judge(JudgeFacts(rejected=rejected), JudgeOpinions(judge=echo), SILENCE)

    assert isinstance(verdict, kind)
    assert getattr(verdict, "because", "").startswith(after_judge.ECHO)
