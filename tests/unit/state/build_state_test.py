"""state.json says what the journal says, field by field."""

from hashlib import sha256

import msgspec
import pytest

from autopilot.domain.answers import Categorised, FixClaim, RateOpinion, TaskOpinion, VerifyOpinion
from autopilot.domain.attempt import Spec, StepDigest
from autopilot.domain.events import (
    LandingStarted,
    Noted,
    PhaseSkipped,
    RunFinished,
    RunResumed,
    RunStopped,
    VerdictGiven,
)
from autopilot.domain.results import Debugged, Executed, MiniVerified, Planned, Rated, Unanswered, Verified
from autopilot.domain.verdict import Advance, AskHuman, Retry, Stop, Verdict
from autopilot.state.build_state import EVENTS_KEPT, state_of, state_text
from unit.journal.run_examples import (
    BASE,
    RUN,
    Tape,
    accept,
    execute,
    fix,
    outcome,
    plan_phase,
    review_phase,
    whole_phase,
    work,
)


def events(tape: Tape) -> list[str]:
    return [line["event"] for line in state_of(tape.run, tape.passes)["event_log"]]


def details(tape: Tape, event: str) -> list[dict[str, object]]:
    return [line["details"] for line in state_of(tape.run, tape.passes)["event_log"] if line["event"] == event]


def test_a_run_just_started_has_every_phase_ahead_of_it() -> None:
    """STATE-01, STATE-02, STATE-08: what is in the file from the first entry on."""
    tape = Tape()
    state = state_of(tape.run, {})

    assert state["_meta"] == {
        "version": "1.0",
        "run_id": RUN,
        "started_at": "2026-01-01T00:00:00.000Z",
        "last_checkpoint": "2026-01-01T00:00:00.000Z",
        "status": "running",
        "total_phases": 2,
        "current_phase": "1",
        "current_step": None,
        "orchestrator_context_pct": 0,
        "human_deferred_count": 0,
        "total_phases_processed": 0,
        "pass_threshold": 9.0,
        "deferral_history": [],
        "autonomous_resolution_rate": None,
        "deferral_threshold": 6,
    }
    assert state["spec"] == {
        "path": ".planning/ROADMAP.md",
        "hash": f"sha256:{'5' * 64}",
        "locked_at": "2026-01-01T00:00:00.000Z",
    }
    assert {id_: phase["status"] for id_, phase in state["phases"].items()} == {"1": "not_started", "2": "not_started"}
    assert set(state["metrics"].values()) == {0}
    assert state["circuit_breaker"]["state"] == "closed"
    assert state["last_checkpoint_sha"] == BASE


def test_a_completed_phase_carries_what_its_steps_found() -> None:
    """STATE-03, STATE-04, STATE-14: the record of a phase and of its steps."""
    tape = Tape()
    whole_phase(tape)
    state = state_of(tape.run, tape.passes)
    phase = state["phases"]["1"]

    assert phase["steps"] == {
        "preflight": {"status": "pass", "timestamp": "2026-01-01T00:00:03.000Z"},
        "triage": {"status": "full_pipeline", "routing": "full_pipeline", "pass_ratio": 0.0},
        "research": {
            "status": "completed",
            "output": ".planning/phases/01/RESEARCH.md",
            "hash": f"sha256:{sha256(b'found').hexdigest()}",
        },
        "plan": {
            "status": "completed",
            "output": ".planning/phases/01/PLAN.md",
            "hash": f"sha256:{'b' * 64}",
            "validation_rounds": 1,
        },
        "plan_check": {"status": "pass", "confidence": 8.5},
        "execute": {
            "status": "completed",
            "tasks": {
                "01-01": {"status": "completed", "commit": "c" * 40, "retries": 0},
                "01-02": {"status": "completed", "commit": "d" * 40, "retries": 0},
                "01-03": {"status": "pending", "commit": None, "retries": 0},
            },
        },
        "verify": {
            "status": "pass",
            "automated": {"compile": True, "tests": False, "lint": "n/a"},
            "scope_creep": ["extra.py"],
        },
        "judge": {"status": "pass", "recommendation": "debug", "concerns": ["thin tests", "none left"]},
        "rate": {"status": "pass", "alignment_score": 9.4, "score_band": "good"},
    }
    assert {key: value for key, value in phase.items() if key != "steps"} == {
        "name": "phase 1",
        "phase_type": "mixed",
        "status": "completed",
        "started_at": "2026-01-01T00:00:01.000Z",
        "completed_at": "2026-01-01T00:00:29.000Z",
        "debug_attempts": 0,
        "replan_attempts": 0,
        "tokens_used": 1001,
        "estimated_tokens": 186_000,
        "human_verify_justification": None,
        "human_verdict": None,
        "outcome": None,
        "force_incomplete": False,
        "diagnostic_path": None,
        "remediation_cycles": 0,
        "alignment_score": 9.4,
        "commit_shas": ["c" * 40, "d" * 40],
        "checkpoint_sha": "d" * 40,
        "automated_checks": {},
        "score_history": [{"score": 9.4, "timestamp": "2026-01-01T00:00:29.000Z", "flag": "initial", "cycle": 0}],
        "quality_exhausted": False,
        "gaps_exhausted": False,
        "split": False,
        "sub_phases": [],
        "rubber_stamp_suspect": False,
        "unanchored": False,
        "caveats": [],
        "reason": "",
        "blocking_phase": None,
        "issues": [],
    }
    assert state["_meta"]["current_phase"] == "2"
    assert state["last_checkpoint_sha"] == "d" * 40


def test_the_log_tells_a_phase_in_the_names_of_the_rules() -> None:
    """STATE-06: a line has time, phase, step, event and details."""
    tape = Tape()
    whole_phase(tape)
    tape.tell(LandingStarted(phase="1", commit="d" * 40))
    told = events(tape)

    assert told[:4] == ["run_started", "phase_started", "step_started", "step_completed"]
    assert told[-1] == "phase_completed"
    assert [told.count(name) for name in ("task_completed", "checkpoint_written", "step_failed")] == [2, 2, 0]
    assert details(tape, "task_completed")[0] == {"task": "01-01", "commit": "c" * 40}
    assert details(tape, "checkpoint_written") == [{"sha": "c" * 40}, {"sha": "d" * 40}]


def test_a_phase_at_work_shows_the_step_and_the_task_it_is_at() -> None:
    tape = Tape()
    tape.begin("1")
    plan_phase(tape)
    execute(tape, "01-01", "c" * 40)
    tape.open("mini_verify", task="01-01")
    state = state_of(tape.run, tape.passes)

    assert state["_meta"]["current_phase"] == "1"
    assert state["_meta"]["current_step"] == "mini_verify"
    assert state["last_checkpoint_sha"] == "c" * 40
    assert state["phases"]["1"]["status"] == "in_progress"
    assert state["phases"]["1"]["completed_at"] is None
    assert state["phases"]["1"]["steps"]["execute"]["status"] == "in_progress"
    assert state["phases"]["1"]["steps"]["execute"]["tasks"]["01-01"]["status"] == "in_progress"
    accept(tape, "01-01")
    state = state_of(tape.run, tape.passes)
    assert state["_meta"]["current_step"] == "mini_verify"
    assert state["phases"]["1"]["steps"]["execute"]["status"] == "in_progress"


def test_a_task_set_aside_is_failed_and_its_fixes_are_retries() -> None:
    tape = Tape()
    tape.begin("1")
    plan_phase(tape)
    tape.step("execute", Executed(work=work("01-01", "c" * 40)), Retry(step="fix", because="red"), "c" * 40)
    fix(tape, "01-01", "d" * 40, Retry(step="fix", because="red"))
    fix(tape, "01-01", "e" * 40, Advance(to="execute", because="task FAILED: red"))
    execute(tape, "01-02", "f" * 40)
    poor = MiniVerified(task="01-02", opinion=TaskOpinion(passed=False))
    tape.step("mini_verify", poor, Advance(to="verify", because="task FAILED: poor"))
    phase = state_of(tape.run, tape.passes)["phases"]["1"]

    assert phase["steps"]["execute"]["tasks"]["01-01"] == {"status": "failed", "commit": None, "retries": 2}
    assert phase["steps"]["execute"]["tasks"]["01-02"] == {"status": "failed", "commit": None, "retries": 0}
    assert phase["steps"]["execute"]["status"] == "partial"
    assert details(tape, "task_retried") == [{"task": "01-01"}, {"task": "01-01"}]
    assert [told["because"] for told in details(tape, "task_failed")] == ["task FAILED: red", "task FAILED: poor"]


@pytest.mark.parametrize(
    ("verdict", "status", "event"),
    [
        (Advance(), "completed", "phase_completed"),
        (AskHuman(question="look"), "needs_human_verification", "phase_completed"),
        (Stop(because="red"), "failed", "phase_failed"),
        (Retry(step="remediate", because="low"), "in_progress", None),
    ],
    ids=["advance", "ask", "stop", "retry"],
)
def test_the_runs_verdict_decides_what_a_phase_counts_as(verdict: Verdict, status: str, event: str | None) -> None:
    tape = Tape()
    tape.begin("1")
    tape.end(outcome(), verdict)
    state = state_of(tape.run, tape.passes)

    assert state["phases"]["1"]["status"] == status
    assert [e for e in events(tape) if e in {"phase_completed", "phase_failed"}] == ([event] if event else [])
    assert state["_meta"]["total_phases_processed"] == (0 if event is None else 1)
    assert state["metrics"]["phases_completed"] == (status == "completed")
    assert state["metrics"]["phases_failed"] == (status == "failed")
    assert state["_meta"]["current_phase"] == ("2" if event else "1")


def test_a_remediation_that_failed_leaves_the_result_before_it() -> None:
    tape = Tape()
    tape.begin("1")
    plan_phase(tape)
    tape.end(outcome(score=8.0, commit="c" * 40), Retry(step="remediate", because="low"))
    tape.begin("1", cycle=1)
    tape.end(outcome(score=None, status="failed", debug_attempts=2), Advance(because="force_incomplete"), cycle=1)
    phase = state_of(tape.run, tape.passes)["phases"]["1"]

    assert (phase["status"], phase["alignment_score"], phase["checkpoint_sha"]) == ("completed", 8.0, "c" * 40)
    assert (phase["force_incomplete"], phase["remediation_cycles"], phase["debug_attempts"]) == (True, 1, 2)
    assert [entry["cycle"] for entry in phase["score_history"]] == [0]
    assert [e for e in events(tape) if e.startswith(("phase", "remediation"))] == [
        "phase_started",
        "remediation_started",
        "remediation_completed",
        "phase_completed",
    ]


def test_a_second_chance_adds_to_the_debug_rounds_and_re_plans_of_the_first_try() -> None:
    tape = Tape()
    for tries in (2, 1):
        tape.begin("1")
        tape.end(outcome(status="failed", debug_attempts=tries, replan_attempts=1), Stop(because="red"))
    phase = state_of(tape.run, tape.passes)["phases"]["1"]

    assert (phase["debug_attempts"], phase["replan_attempts"]) == (3, 2)


def test_every_score_is_in_the_history_and_the_newest_counts() -> None:
    tape = Tape()
    tape.begin("1")
    tape.end(outcome(score=8.0), Retry(step="remediate", because="low"))
    tape.begin("1", cycle=1)
    review_phase(tape, 9.1)
    tape.end(outcome(score=9.1), Advance(), cycle=1)
    phase = state_of(tape.run, tape.passes)["phases"]["1"]

    assert [(entry["score"], entry["cycle"]) for entry in phase["score_history"]] == [(8.0, 0), (9.1, 1)]
    assert phase["alignment_score"] == 9.1
    assert phase["steps"]["execute"]["tasks"]["1-R1"]["status"] == "pending"


def test_a_phase_waiting_for_a_person_says_for_what() -> None:
    tape = Tape()
    tape.begin("1")
    plan_phase(tape)
    rated = Rated(opinion=RateOpinion(alignment_score=9.5, scorecard=()), score=9.5)
    tape.step("rate", rated, AskHuman(question="does it look right?"))
    asked = outcome(status="needs_human_verification", tasks_completed="2/2", reason="does it look right?")
    tape.end(asked, AskHuman(question="does it look right?"))
    tape.tell(VerdictGiven(id="a", phase="1", verdict="pass"))
    state = state_of(tape.run, tape.passes)

    assert state["phases"]["1"]["human_verify_justification"] == {
        "checkpoint_task_id": "01-03",
        "task_description": "look at it",
        "question": "does it look right?",
        "auto_tasks_passed": 2,
        "auto_tasks_total": 2,
    }
    assert state["phases"]["1"]["human_verdict"] == {
        "verdict": "pass",
        "timestamp": tape.run.entries[-1].at,
        "issues": [],
    }
    assert (state["phases"]["1"]["status"], state["phases"]["1"]["reason"]) == ("completed", "accepted by a person")
    assert state["_meta"]["human_deferred_count"] == 1
    assert state["_meta"]["autonomous_resolution_rate"] == 0.0
    assert state["last_checkpoint_sha"] == "e" * 40
    assert details(tape, "step_completed")[-1]["because"] == "does it look right?"


def test_a_question_without_a_plan_stands_for_itself() -> None:
    tape = Tape()
    tape.begin("1")
    tape.end(outcome(status="needs_human_verification", tasks_completed="?"), AskHuman(question="which?"))
    justification = state_of(tape.run, tape.passes)["phases"]["1"]["human_verify_justification"]

    assert justification["checkpoint_task_id"] == ""
    assert justification["task_description"] == "which?"
    assert justification["auto_tasks_total"] == 0


@pytest.mark.parametrize(
    ("skip", "told"),
    [
        (
            PhaseSkipped(phase="2", reason="already_completed", original_run_timestamp="2025-12-31T10:00:00Z"),
            {"phase_id": "2", "reason": "already_completed", "original_run_timestamp": "2025-12-31T10:00:00Z"},
        ),
        (
            PhaseSkipped(phase="2", reason="blocked_by_phase_1", blocking_phase="1"),
            {"phase_id": "2", "reason": "blocked_by_phase_1", "blocking_phase": "1"},
        ),
    ],
    ids=["already completed", "blocked"],
)
def test_a_skipped_phase_says_why(skip: PhaseSkipped, told: dict[str, str]) -> None:
    tape = Tape()
    tape.tell(skip)
    phase = state_of(tape.run, {})["phases"]["2"]

    assert (phase["status"], phase["reason"], phase["blocking_phase"]) == ("skipped", skip.reason, skip.blocking_phase)
    assert details(tape, "phase_skipped") == [told]


def finished(status: str, code: int) -> RunFinished:
    return RunFinished(status=status, exit_code=code, reason="")


@pytest.mark.parametrize(
    ("end", "status", "event"),
    [
        (finished("completed", 0), "completed", "run_completed"),
        (finished("failed", 10), "failed", "run_halted"),
        (finished("paused", 11), "paused", "run_halted"),
        (finished("needs_human_verification", 11), "paused", "run_halted"),
        (finished("blocked", 10), "failed", "run_halted"),
        (RunStopped(exit_code=130, reason="interrupted"), "paused", "run_halted"),
        (RunResumed(pid=1, spec=Tape().start.spec), "running", "run_resumed"),
    ],
)
def test_the_runs_end_decides_its_status(end: RunFinished | RunStopped | RunResumed, status: str, event: str) -> None:
    """STATE-13, RSM-04: how a run was left."""
    tape = Tape()
    tape.tell(end)
    tape.tell(Noted(event="self_audit_completed"))

    assert state_of(tape.run, {})["_meta"]["status"] == status
    assert events(tape) == ["run_started", event, "self_audit_completed"]


def test_time_spent_stopped_is_not_spent_working() -> None:
    tape = Tape()
    for event in (
        RunStopped(exit_code=130, reason=""),
        RunResumed(pid=1, spec=tape.start.spec),
        Noted(event="batch_completion_report"),
    ):
        for _ in range(29):
            tape.journal._clock.now()
        tape.tell(event)

    assert state_of(tape.run, {})["metrics"]["total_duration_minutes"] == 1.0


def test_a_resumed_run_locks_a_changed_specification_again() -> None:
    """RSM-06, AMB-23: it is told once, and the run goes on."""
    tape = Tape()
    tape.tell(RunResumed(pid=1, spec=tape.start.spec))
    assert state_of(tape.run, {})["spec"]["locked_at"] == "2026-01-01T00:00:00.000Z"
    tape.tell(RunResumed(pid=1, spec=Spec(path="REQUIREMENTS.md", sha256="6" * 64)))

    assert state_of(tape.run, {})["spec"] == {
        "path": "REQUIREMENTS.md",
        "hash": f"sha256:{'6' * 64}",
        "locked_at": "2026-01-01T00:00:02.000Z",
    }
    relocked = {
        "path": "REQUIREMENTS.md",
        "old_hash": f"sha256:{'5' * 64}",
        "new_hash": f"sha256:{'6' * 64}",
    }
    assert details(tape, "spec_relocked") == [relocked]


def test_debugging_and_planning_again_are_counted_and_told() -> None:
    """STATE-07: the metrics count them."""
    tape = Tape()
    tape.begin("1")
    plan_phase(tape)
    categories = (Categorised(failure="test red", category="acceptance_criteria_unmet"),)
    failing = VerifyOpinion(passed=False, failure_categories=categories)
    red = Verified(commit="c", tree="t", opinion=failing)
    tape.step("verify", red, Retry(step="debug", because="red"))
    debugged = Debugged(work=work("1", "c" * 40), claim=FixClaim(changes=("a.py",), failure_categories=categories))
    tape.step("debug", debugged, Advance(to="verify"))
    rated = Rated(opinion=RateOpinion(alignment_score=5.0, scorecard=()), score=5.0)
    tape.step("rate", rated, Retry(step="research", because="too low"))
    state = state_of(tape.run, tape.passes)

    assert (state["metrics"]["debug_loops_total"], state["metrics"]["replan_count"]) == (1, 1)
    counted = [{"failure": "test red", "category": "acceptance_criteria_unmet"}]
    assert details(tape, "debug_attempt") == [{"changes": ["a.py"], "failure_categories": counted}]
    assert details(tape, "replan_attempt") == [{"score": 5.0, "because": "too low"}]
    assert details(tape, "step_failed")[0]["failure_categories"] == counted
    assert state["phases"]["1"]["steps"]["verify"]["status"] == "fail"


def test_an_agent_that_gave_no_answer_fails_its_step() -> None:
    tape = Tape()
    tape.begin("1")
    unanswered = Unanswered(role="plan", outcome="timeout", detail="")
    tape.step("plan", unanswered, Retry(step="plan", because="no answer"))

    assert state_of(tape.run, tape.passes)["phases"]["1"]["steps"]["plan"]["status"] == "skipped"
    told = details(tape, "step_failed")[0]
    assert (told["role"], told["outcome"], told["because"]) == ("plan", "timeout", "no answer")


def test_a_plan_that_could_not_be_read_leaves_no_hash() -> None:
    tape = Tape()
    tape.begin("1")
    tape.step("plan", Planned(plan=None, problem="no tasks"), Retry(step="plan", because="no tasks"))

    step = state_of(tape.run, tape.passes)["phases"]["1"]["steps"]["plan"]
    assert step == {"status": "skipped", "output": None, "hash": None, "validation_rounds": 0}


def test_steps_that_were_passed_over_are_marked_from_the_outcome() -> None:
    tape = Tape()
    tape.begin("1")
    digests = {"research": StepDigest(status="skipped"), "unheard": StepDigest(status="skipped")}
    tape.end(outcome(pipeline_steps=digests), Advance())
    steps = state_of(tape.run, tape.passes)["phases"]["1"]["steps"]

    assert steps["research"]["status"] == "skipped"
    assert "unheard" not in steps


def test_what_is_noted_of_a_phase_shows_in_it() -> None:
    tape = Tape()
    tape.begin("1")
    tape.tell(Noted(event="confidence_diagnostic_written", phase="1", details={"diagnostic_path": "d.md"}))
    tape.tell(Noted(event="force_incomplete_marked", phase="1", step="rate"))
    state = state_of(tape.run, tape.passes)
    phase = state["phases"]["1"]

    assert (phase["diagnostic_path"], phase["force_incomplete"]) == ("d.md", True)
    assert state["event_log"][-1]["phase"] == "1"
    assert state["event_log"][-1]["step"] == "rate"


def test_a_phase_outside_the_targets_is_shown_too() -> None:
    tape = Tape(phases=1)
    tape.begin("7.1")

    assert list(state_of(tape.run, tape.passes)["phases"]) == ["1", "7.1"]


def test_the_file_keeps_the_newest_events_and_the_archive_all() -> None:
    tape = Tape()
    for number in range(EVENTS_KEPT + 50):
        tape.tell(Noted(event="rubber_stamp_warning", details={"n": number}))

    assert len(state_of(tape.run, {})["event_log"]) == EVENTS_KEPT
    assert state_of(tape.run, {})["event_log"][-1]["details"] == {"n": EVENTS_KEPT + 49}
    assert len(state_of(tape.run, {}, events=None)["event_log"]) == EVENTS_KEPT + 51


def test_a_heartbeat_moves_the_checkpoint_on_and_never_back() -> None:
    """A time given beside the entries counts only where it is later than theirs."""
    tape = Tape()

    assert state_of(tape.run, {}, now="2026-01-01T00:10:00.000Z")["_meta"]["last_checkpoint"] > "2026-01-01T00:09"
    assert state_of(tape.run, {}, now="2020")["_meta"]["last_checkpoint"] == "2026-01-01T00:00:00.000Z"


def test_the_state_is_text_that_reads_back_equal() -> None:
    tape = Tape()
    whole_phase(tape)
    state = state_of(tape.run, tape.passes)

    assert msgspec.json.decode(state_text(state)) == state
    assert state_text(state).endswith(b"\n}\n")


def test_a_rollback_is_told_when_it_begins_and_when_it_is_done() -> None:
    """EVT-01: from where to where, and where the work is kept."""
    tape = Tape()
    tape.begin("1")
    undone = msgspec.structs.replace(
        outcome("1"), status="failed", rollback=True, rollback_from="c1", rollback_to=BASE, diagnostic_branch="kept"
    )
    tape.end(undone, Stop(because="harm"))

    assert events(tape)[-3:] == ["rollback_initiated", "rollback_completed", "phase_failed"]
    assert details(tape, "rollback_completed") == [
        {"phase_id": "1", "from": "c1", "to": BASE, "diagnostic_branch": "kept"}
    ]
