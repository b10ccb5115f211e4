"""A phase's lines: steps, tasks, gates, and claims beside facts."""

from typing import Any

import msgspec
import pytest

from autopilot.domain.answers import (
    DivergenceOpinion,
    FixClaim,
    JudgeOpinion,
    PlanOpinion,
    RateOpinion,
    Recommendation,
    ResearchClaim,
    VerifyOpinion,
)
from autopilot.domain.events import AgentAnswered, Event, PhaseStarted
from autopilot.domain.evidence import Usage
from autopilot.domain.results import (
    Compared,
    Debugged,
    Judged,
    Lowered,
    PlanChecked,
    Planned,
    Preflighted,
    Rated,
    Researched,
    Triaged,
    Unanswered,
    Verified,
)
from autopilot.domain.settings import Commands
from autopilot.domain.verdict import Advance, AskHuman, Retry, Stop, Verdict
from autopilot.gates.after_verify import VerifyFacts, VerifyOpinions, give_up
from autopilot.gates.rules import Claims
from autopilot.policy.deferral import REJECTED
from unit.views.samples import (
    PLAN,
    RUN,
    began,
    brief,
    executed,
    finished,
    fixed,
    lines,
    ran,
    reviewed,
    run_started,
    work,
)

STREAM = f"{RUN}/2"
GO_ON = Advance()
PREFLIGHTED = Preflighted(spec_hash_match=True, working_tree_clean=True, dependencies_met=True)
CHECKED = PlanChecked(plan=PLAN, opinion=PlanOpinion(passed=True, confidence=9))
FAILING = Verified(commit="c", tree="t", checks=(ran(exit_code=1, output="Traceback\nFAILED (failures=1)\n"),))
SILENT = Unanswered(role="plan", outcome="timeout", detail="an hour")


def told(*events: Event, commands: Commands = Commands(compile="make", lint="ruff"), **more: Any) -> list[str]:  # noqa: B008 - frozen
    """With the run and the phase started and the plan accepted."""
    before = (run_started(commands=commands, **more), PhaseStarted(brief=brief()))
    return lines(STREAM, finished("plan_check", CHECKED, GO_ON), *events, before=before, start=1)[1:]


def judged(word: Recommendation) -> Judged:
    return Judged(opinion=JudgeOpinion(recommendation=word, concerns=("short",)))


def rated(score: float) -> Rated:
    return Rated(opinion=RateOpinion(alignment_score=score, scorecard=()), score=score)


def exhausted() -> Verdict:
    facts = VerifyFacts(checks=1, failing=("x",), unproven=(), fresh=True, debugs=3, debugs_left=0)
    return give_up(facts, VerifyOpinions(), Claims())


def test_every_heading_has_its_number_and_its_last_word() -> None:
    """PIPE-01, TRGE-02, PVRF-01d, PGAT-01."""
    compared = Compared(opinion=DivergenceOpinion(recommendation="proceed"))
    shown = lines(
        STREAM,
        began("preflight"), finished("preflight", PREFLIGHTED, GO_ON),
        began("triage"), finished("triage", Triaged(routing="full_pipeline", source="none"), GO_ON),
        began("research"), finished("research", Researched(claim=ResearchClaim()), GO_ON),
        began("plan"), finished("plan", Planned(plan=PLAN), GO_ON),
        began("plan_check"), finished("plan_check", CHECKED, GO_ON),
        began("execute"), finished("execute", executed(work(ran())), Advance(to="mini_verify")),
        began("mini_verify"), finished("mini_verify", reviewed(), Advance(to="execute")),
        began("execute"), finished("execute", executed(work(ran(), task="02-02")), Advance(to="mini_verify")),
        began("mini_verify"), finished("mini_verify", reviewed(task="02-02"), Advance(to="verify")),
        began("verify"), finished("verify", Verified(commit="c", tree="t", checks=(ran(),)), GO_ON),
        began("judge"), finished("judge", judged("proceed"), GO_ON),
        began("judge_divergence"), finished("judge_divergence", compared, GO_ON),
        began("rate"), finished("rate", rated(9.4), GO_ON),
        before=(run_started(), PhaseStarted(brief=brief())),
    )  # fmt: skip

    assert shown == [
        "[Phase 2] Step: PREFLIGHT (1/9)",
        "[Phase 2] Step: PREFLIGHT complete.",
        "[Phase 2] Step: TRIAGE (2/9)",
        "No verifiable criteria for triage -- routing to full pipeline.",
        "[Phase 2] Step: TRIAGE complete. Routing: full_pipeline",
        "[Phase 2] Step: RESEARCH (3/9)",
        "[Phase 2] Step: RESEARCH complete.",
        "[Phase 2] Step: PLAN (4/9)",
        "[Phase 2] Step: PLAN complete.",
        "[Phase 2] Step: PLAN-CHECK (5/9)",
        "[Phase 2] Step: PLAN-CHECK complete. Confidence: 9/10",
        "[Phase 2] Step: EXECUTE (6/9) -- 2 tasks",
        "Compile/lint command not configured -- gate skipped.",
        "[Phase 2] Task 02-01 (1/2): Say goodbye",
        "[Phase 2] Task 02-01: modifying hello.py",
        "[Phase 2] Task 02-01 (1/2): VERIFIED",
        "Task 02-01 VERIFIED. Proceeding to next task.",
        "[Phase 2] Task 02-02 (2/2): Wave",
        "[Phase 2] Task 02-02: modifying hello.py",
        "[Phase 2] Task 02-02 (2/2): VERIFIED",
        "[Phase 2] Step: EXECUTE complete. 2/2 tasks.",
        "[Phase 2] Step: VERIFY (7/9)",
        "[Phase 2] Step: VERIFY complete. Result: pass",
        "[Phase 2] Step: JUDGE (8/9)",
        "[Phase 2] Step: JUDGE complete. Recommendation: proceed",
        "[Phase 2] Step: RATE (9/9)",
        "[Phase 2] Step: RATE complete. Score: 9.4/10",
        "Phase 2 PASSED. Proceeding.",
        "Phase 2 complete. Alignment: 9.4/10.",
    ]


def test_a_claim_that_a_command_contradicts_is_put_beside_it() -> None:
    bad = executed(work(ran(exit_code=1)))
    shown = told(began("execute"), finished("execute", bad, Retry(step="fix", because="it fails")), began("fix"))

    assert shown[-3:] == [
        "[Phase 2] Task 02-01 (1/2): FAILED -- `python -m unittest` exited 1",
        "[Phase 2] Task 02-01: the agent reported success; `python -m unittest` exited 1",
        "[Phase 2] Task 02-01 (1/2): fix attempt 1/2",
    ]


def test_an_agent_that_admits_a_failure_is_not_accused_of_a_lie() -> None:
    bad = executed(work(ran(exit_code=1)), completed="0/1", failed="1/1")
    shown = told(began("execute"), finished("execute", bad, Retry(step="fix", because="it fails")))

    assert shown[-1] == "[Phase 2] Task 02-01 (1/2): FAILED -- `python -m unittest` exited 1"


def test_a_fix_called_done_is_checked_like_any_other_work() -> None:
    still = fixed(work(ran(exit_code=None), ran("make", 2)))
    verdict = Advance(to="execute", because="task FAILED: it was cut off")

    assert told(began("fix"), finished("fix", still, verdict))[-2:] == [
        "[Phase 2] Task 02-01 (1/2): FAILED -- `python -m unittest` was cut off (and 1 more)",
        "[Phase 2] Task 02-01: the agent reported success; `python -m unittest` was cut off (and 1 more)",
    ]


def test_gates_are_told_with_pass_and_fail() -> None:
    gates = (ran("make", check="compile"), ran("ruff", 1, "lint", "hello.py:1: E501\n"))
    done = finished("execute", executed(work(ran(), gates=gates)), Advance(to="mini_verify"))

    assert told(began("execute"), done)[-2:] == [
        "[Phase 2] Task 02-01: compile PASS",
        "[Phase 2] Task 02-01: lint FAIL -- `ruff` exited 1: hello.py:1: E501",
    ]


@pytest.mark.parametrize(
    ("passed", "verdict", "shown"),
    [
        (False, Retry(step="fix", because="greets nobody"), "FAILED -- greets nobody"),
        (True, Retry(step="mini_verify", because="ran nothing"), "review rejected, asking again -- ran nothing"),
        (True, Advance(to="verify", because="task FAILED: ran nothing"), "FAILED -- ran nothing"),
    ],
    ids=["rejected", "idle review", "set aside"],
)
def test_a_review_can_only_hold_a_task_back(passed: bool, verdict: Verdict, shown: str) -> None:
    told_lines = told(began("execute"), finished("mini_verify", reviewed(passed=passed), verdict))

    assert f"[Phase 2] Task 02-01 (1/2): {shown}" in told_lines
    assert not any("VERIFIED" in line for line in told_lines)


@pytest.mark.parametrize(
    ("commands", "shown"),
    [
        (Commands(lint="ruff"), "Compile command not configured -- compile gate skipped."),
        (Commands(compile="make"), "Lint command not configured -- lint gate skipped."),
        (Commands(test="pytest"), "Compile/lint command not configured -- gate skipped."),
    ],
    ids=["no compile", "no lint", "neither"],
)
def test_a_gate_without_a_command_is_named(commands: Commands, shown: str) -> None:
    """EXEC-C0."""
    assert shown in told(began("execute"), commands=commands)


@pytest.mark.parametrize(
    ("unused", "shown"),
    [
        (("lint",), ["Compile command not configured -- compile gate skipped.", "Lint command does not run here -- lint gate absent."]),
        (("compile", "lint"), ["Compile/lint command does not run here -- gate absent."]),
    ],
    ids=["one", "both"],
)  # fmt: skip
def test_a_gate_whose_command_does_not_run_here_is_not_called_unconfigured(
    unused: tuple[str, ...], shown: list[str]
) -> None:
    seen = told(began("execute"), commands=Commands(test="pytest"), unused=dict.fromkeys(unused, "ruff: not found"))

    assert [line for line in seen if "gate" in line] == shown


def test_headings_passed_over_are_told_with_the_reason() -> None:
    routed = Triaged(routing="verify_only", source="roadmap")
    done = finished("triage", routed, Advance(to="verify", because="all hold"))

    assert lines(STREAM, began("triage"), done, start=2)[1:] == [
        "[Phase 2] Step: TRIAGE complete. Routing: verify_only",
        "[Phase 2] Step: RESEARCH skipped (all hold).",
        "[Phase 2] Step: PLAN skipped (all hold).",
        "[Phase 2] Step: PLAN-CHECK skipped (all hold).",
        "[Phase 2] Step: EXECUTE skipped (all hold).",
    ]


def test_debugging_is_counted_and_its_word_is_checked() -> None:
    """PGAT-03."""
    failed = finished("verify", FAILING, Retry(step="debug", because="tests fail"))
    debugged = finished("debug", Debugged(work=work(), claim=FixClaim(fixed=True)), Advance(to="verify"))
    shown = lines(STREAM, began("verify"), failed, began("debug", n=2), debugged, began("verify"), failed, start=9)

    assert shown == [
        "[Phase 2] Step: VERIFY (7/9)",
        "[Phase 2] VERIFY FAIL -- `python -m unittest` exited 1: FAILED (failures=1)",
        "[Phase 2] Step: VERIFY complete. Result: fail",
        "Phase 2 has failing checks. Entering debug loop.",
        "[Phase 2] Debug attempt 2/3: tests fail",
        "[Phase 2] Step: VERIFY (7/9)",
        "[Phase 2] VERIFY FAIL -- `python -m unittest` exited 1: FAILED (failures=1)",
        "[Phase 2] VERIFY: the debugging agent reported it fixed; `python -m unittest` exited 1",
        "[Phase 2] Step: VERIFY complete. Result: fail",
        "Phase 2 has failing checks. Entering debug loop.",
    ]


def test_a_verifier_who_objects_is_heard() -> None:
    opinion = VerifyOpinion(passed=False, failures=("no tests",))
    unhappy = Verified(commit="c", tree="t", checks=(ran(),), opinion=opinion)
    shown = told(began("verify"), finished("verify", unhappy, Retry(step="debug", because="no tests")))

    assert "[Phase 2] VERIFY: the verifier does not accept the phase: no tests" in shown


@pytest.mark.parametrize(
    ("event", "shown"),
    [
        pytest.param(
            finished("rate", rated(8.1), GO_ON),
            [
                "Phase 2 completed at 8.1/10 (threshold: 9). Returning to orchestrator for remediation decision.",
                "Phase 2 complete. Alignment: 8.1/10.",
            ],
            id="middling score",
        ),
        pytest.param(
            finished("rate", rated(5.5), Retry(step="research", because="low")),
            ["Phase 2 alignment too low (5.5). Re-planning."],
            id="low score",
        ),
        pytest.param(
            finished("rate", rated(9.4), Retry(step="verify", because=f"{REJECTED} Say why.")),
            [REJECTED],
            id="STAT-03 a deferral just to look",
        ),
        pytest.param(
            finished("judge", judged("rollback"), Stop(because="wrong way", rollback=True)),
            ["Phase 2 rollback recommended by judge. Reason: wrong way"],
            id="rollback",
        ),
        pytest.param(
            finished("judge", judged("halt"), Stop(because="danger", rollback=True)),
            ["Phase 2 HALTED by judge. Reason: danger"],
            id="halt",
        ),
        pytest.param(
            finished("verify", FAILING, exhausted()),
            ["Phase 2 max retries exceeded. Rolling back.", "[Phase 2] Reason: x"],
            id="no retries left",
        ),
        pytest.param(
            finished("preflight", PREFLIGHTED, Stop(because="Preflight failed: spec")),
            ["Phase 2 stopped. Reason: Preflight failed: spec"],
            id="preflight",
        ),
        pytest.param(
            finished("rate", rated(9.5), AskHuman(question="look at it")),
            ["Phase 2 waits for a person: look at it"],
            id="a person",
        ),
        pytest.param(
            finished("plan_check", CHECKED, Retry(step="plan", because="REVISION REQUIRED. vague")),
            ["[Phase 2] Back to PLAN: REVISION REQUIRED. vague"],
            id="plan rejected",
        ),
        pytest.param(
            finished("plan", SILENT, Retry(step="plan", because="?")),
            [
                "[Phase 2] Step: PLAN failed -- the plan agent gave no usable answer (timeout): an hour",
                "[Phase 2] Back to PLAN: ?",
            ],
            id="no answer",
        ),
    ],
)
def test_what_a_gate_decided_is_the_last_word(event: Event, shown: list[str]) -> None:
    """PGAT-02, PGAT-04..07."""
    assert told(event)[-len(shown) :] == shown


def test_an_agent_that_did_not_end_well_is_reported_without_its_control_characters() -> None:
    answer = AgentAnswered(
        call="c",
        role="plan",
        outcome="crashed",
        answer=None,
        text="\x1b[31mboom\x07",
        usage=Usage(),
        commands=(),
        seconds=1,
    )

    assert lines(STREAM, answer) == ["[Phase 2] The plan agent ended with crashed: boom"]


def test_a_pass_joined_in_the_middle_is_told_as_far_as_it_is_known() -> None:
    done = finished("execute", executed(work(ran())), Advance(to="mini_verify"))
    accepted = finished("mini_verify", reviewed(), Advance(to="verify"))

    assert lines(STREAM, done, began("mini_verify"), accepted, start=9) == [
        "[Phase 2] Task 02-01: modifying hello.py",
        "[Phase 2] Task 02-01: VERIFIED",
        "[Phase 2] Step: EXECUTE complete.",
    ]


def test_a_score_that_was_held_down_says_by_which_rule() -> None:
    low = Lowered(criterion="the letter is there", said=9.4, counted=6.9, because=("no file:line evidence",))
    held = msgspec.structs.replace(rated(6.9), lowered=(low,))

    shown = told(began("rate"), finished("rate", held, Retry(step="research", because="low")))
    assert "[Phase 2] RATE: 'the letter is there' counts as 6.9 instead of 9.4: no file:line evidence" in shown


def test_many_rows_that_were_held_down_are_counted() -> None:
    rows = tuple(Lowered(criterion=f"c{n}", said=9.0, counted=6.9, because=("x",)) for n in range(7))
    held = msgspec.structs.replace(rated(6.9), lowered=rows)

    shown = [line for line in told(began("rate"), finished("rate", held, GO_ON)) if "RATE: " in line]
    assert (len(shown), shown[-1]) == (6, "[Phase 2] RATE: and 2 more criteria held down")
