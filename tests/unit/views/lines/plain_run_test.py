"""The run's own lines: start, resume, phases, skips, landings, stops."""

import io
import os
from pathlib import Path

import msgspec
import pytest

from autopilot.domain.events import (
    AgentStarted,
    Event,
    LandingStarted,
    Noted,
    PhaseFinished,
    PhaseLanded,
    PhaseSkipped,
    PhaseStarted,
    RunFinished,
    RunResumed,
    RunStopped,
)
from autopilot.domain.phase import Plan, Task
from autopilot.domain.verdict import Advance, AskHuman, Retry, Stop
from autopilot.views.lines.plain import PlainView
from autopilot.views.lines.run_lines import phase_range
from unit.views.samples import RUN, SPEC, brief, lines, outcome, run_started, tell

COMPROMISED = "Agent independence may be compromised."

COMMIT = "c0ffee1234567890"


@pytest.mark.parametrize(
    ("event", "shown"),
    [
        pytest.param(
            run_started(),
            ["Autopilot: Phases 1-3 | Spec: .planning/ROADMAP.md (a1b2c3d4) | Model: sonnet", "Starting phase 1..."],
            id="RunStarted",
        ),
        pytest.param(
            RunResumed(pid=7, spec=SPEC, retry=("2", "3")),
            [
                "Autopilot: Run run-2026-02-09-143052 resumed | Spec: .planning/ROADMAP.md (a1b2c3d4)",
                "Continuing where it was left...",
                "Trying again: phase 2 3",
            ],
            id="RunResumed",
        ),
        pytest.param(PhaseStarted(brief=brief()), ["--- [PHASE 2/3] Farewell ---"], id="PhaseStarted"),
        pytest.param(
            PhaseStarted(brief=brief(cycle=1)),
            ["Phase 2: Remediation cycle 1/2.", "--- [PHASE 2/3] Farewell ---"],
            id="PhaseStarted, remediation of a pass never seen",
        ),
        pytest.param(
            PhaseSkipped(phase="3", reason="blocked_by_phase_2", blocking_phase="2"),
            ["Phase 3: blocked by Phase 2 failure, skipping."],
            id="PhaseSkipped, blocked",
        ),
        pytest.param(
            PhaseSkipped(phase="1", reason="already_completed", original_run_timestamp="2026-02-08"),
            ["Phase 1: already completed at 2026-02-08, skipping."],
            id="PhaseSkipped, done",
        ),
        pytest.param(LandingStarted(phase="2", commit=COMMIT), [], id="LandingStarted"),
        pytest.param(
            PhaseLanded(phase="2", commit=COMMIT, landed=True),
            ["Phase 2: landed on your branch as c0ffee12."],
            id="PhaseLanded",
        ),
        pytest.param(
            PhaseLanded(phase="2", commit=COMMIT, landed=False, note="hello.py is dirty; git merge autopilot/run"),
            ["Phase 2: your branch was left alone: hello.py is dirty; git merge autopilot/run"],
            id="PhaseLanded, not landed",
        ),
        pytest.param(RunStopped(exit_code=130, reason="interrupted"), ["Run stopped: interrupted"], id="RunStopped"),
        pytest.param(RunFinished(status="completed", exit_code=0, reason="all passed"), [], id="RunFinished"),
        pytest.param(
            Noted(event="rollback_completed", phase="2", details={"reason": "judge\x1b[1m asked"}),
            ["[Phase 2] Rollback completed: judge asked"],
            id="Noted",
        ),
        pytest.param(
            Noted(
                event="cross_contamination_warning",
                phase="2",
                details={"file": "SCORECARD.md", "pattern": "judge noted", "line": 7},
            ),
            [f"Cross-contamination detected in SCORECARD.md: pattern 'judge noted' found. {COMPROMISED}"],
            id="VRFY-06",
        ),
        pytest.param(AgentStarted(call="c", role="plan", pid=1, birth="0"), [], id="AgentStarted"),
    ],
)
def test_each_event_of_a_run_has_its_lines(event: Event, shown: list[str]) -> None:
    assert lines(RUN, event) == shown


COMPROMISED = "Agent independence may be compromised."


def test_what_is_known_before_a_phase_is_told_before_its_header() -> None:
    """PRE-02, MTRC-02d."""
    known = msgspec.structs.replace(brief(), stale_verification=True, estimated_tokens=450_000)

    assert lines(RUN, PhaseStarted(brief=known)) == [
        "Phase 2 has stale verification from prior run -- re-running.",
        "Phase 2 cost estimate: 450000 tokens (2 tasks: 0 simple, 2 medium, 0 complex)",
        "--- [PHASE 2/3] Farewell ---",
    ]


def test_ctx_03_a_run_that_has_told_much_says_so_once() -> None:
    wordy = msgspec.structs.replace(outcome(), issues=("i" * 530_000,))
    done = PhaseFinished(cycle=0, outcome=wordy, verdict=Advance())
    told = lines(RUN, done, before=(PhaseStarted(brief=brief()),))

    assert [line for line in told if line.startswith("Context at")] == [
        "Context at ~70%. If approaching limits, verify orchestrator is not reading detailed files directly."
    ]


@pytest.mark.parametrize(("tasks", "shown"), [("1/1", False), ("2/2", True)], ids=["one task", "two tasks"])
def test_intg_03_a_fast_completion_is_told_only_of_several_tasks(tasks: str, shown: bool) -> None:
    done = PhaseFinished(cycle=0, outcome=msgspec.structs.replace(outcome(), tasks_completed=tasks), verdict=Advance())

    told = lines(RUN, done, before=(PhaseStarted(brief=brief()),))
    assert ("Fast completion (0s). Checking pipeline_steps." in told) == shown


@pytest.mark.parametrize(
    ("agent", "model", "shown"),
    [
        ("claude", "sonnet", "sonnet"),
        ("exec:./agent.py", "sonnet", "exec:./agent.py"),
        ("exec:./agent.py", "my-model", "my-model"),
        ("codex", "opus", "codex"),
        ("acp:gemini --acp", "balanced", "acp:gemini --acp"),
        ("claude", None, "claude"),
    ],
)
def test_an_agent_is_not_said_to_run_a_model_it_does_not_have(agent: str, model: str | None, shown: str) -> None:
    start = run_started()
    settings = msgspec.structs.replace(start.settings, agent=agent, model=model)

    (first, _) = lines(RUN, msgspec.structs.replace(start, settings=settings))
    assert first.endswith(f" | Model: {shown}")


def test_a_finished_phase_is_summed_up_step_by_step() -> None:
    """INTG-03: two tasks in no time, so the steps are named as those to check."""
    done = PhaseFinished(cycle=0, outcome=outcome(), verdict=Advance())

    assert lines(RUN, done, before=(PhaseStarted(brief=brief()),)) == [
        "Fast completion (0s). Checking pipeline_steps.",
        "  Step: PREFLIGHT ... pass",
        "  Step: TRIAGE ... full_pipeline",
        "  Step: RESEARCH ... skipped (existing plan)",
        "  Step: PLAN ... skipped",
        "  Step: PLAN-CHECK ... pass",
        "  Step: EXECUTE ... 2/2 tasks",
        "  Step: VERIFY ... pass",
        "  Step: JUDGE ... proceed",
        "  Step: RATE ... 9.4/10",
        "--- [PHASE 2/3] Complete: 9.4/10 | 0s ---",
    ]


def test_gate_05_a_failed_phase_names_its_post_mortem_what_it_blocks_and_what_goes_on() -> None:
    failed = PhaseFinished(cycle=0, outcome=outcome("failed", None, "1", "tests fail"), verdict=Stop(because="x"))
    blocked = PhaseSkipped(phase="2", reason="", blocking_phase="1")
    before = (run_started(), PhaseStarted(brief=brief("1")))

    assert lines(RUN, failed, blocked, PhaseStarted(brief=brief("3")), before=before)[-6:] == [
        "--- [PHASE 1/3] Failed: tests fail | 0s ---",
        "Phase 1 failed. Checking dependency impact.",
        "Phase 1: see .autopilot/diagnostics/phase-1-postmortem.json for what went wrong.",
        "Phase 2: blocked by Phase 1 failure, skipping.",
        "1 independent phases remain. Continuing execution.",
        "--- [PHASE 3/3] Manners ---",
    ]


def test_a_run_halts_aloud_when_nothing_independent_remains() -> None:
    failed = PhaseFinished(cycle=0, outcome=outcome("failed", None, "1"), verdict=Stop(because="x"))
    blocked = PhaseSkipped(phase="2", reason="blocked_by_phase_1")
    end = RunFinished(status="failed", exit_code=10, reason="failed")

    assert lines(RUN, failed, blocked, end)[-1] == "No executable independent phases remain. Halting."


@pytest.mark.parametrize(
    ("score", "verdict", "shown"),
    [
        pytest.param(
            9.2, Advance(), "Phase 2: remediation successful. Score improved 8.1 -> 9.2.", id="CENF-01i better"
        ),
        pytest.param(
            8.4,
            Advance(because="force_incomplete"),
            "Phase 2: remediation exhausted (2 cycles). Passing with force_incomplete.",
            id="used up",
        ),
    ],
)
def test_a_remediation_says_how_it_came_out(score: float, verdict: Advance, shown: str) -> None:
    first = PhaseFinished(cycle=0, outcome=outcome(score=8.1), verdict=Retry(step="remediate", because="low"))
    again = PhaseFinished(cycle=2, outcome=outcome(score=score), verdict=verdict)
    told = lines(RUN, first, PhaseStarted(brief=brief(cycle=2)), again, before=(PhaseStarted(brief=brief()),))

    assert "Phase 2: score 8.1/10 below threshold 9. Remediation cycle 2/2." in told
    assert shown in told


def test_ctxe_01r_a_pass_that_carries_on_says_how_far_the_last_one_came() -> None:
    tasks = tuple(Task(id=name, title=name) for name in ("02-01", "02-02", "02-03"))
    carried = msgspec.structs.replace(brief(), done=("02-01",), plan=Plan(text="", tasks=tasks))
    told = lines(RUN, PhaseStarted(brief=carried))

    assert told[0] == "Phase 2: HANDOFF.md detected. Resuming from partial progress (1/3 tasks completed)."


def test_issues_of_a_pass_are_shown_once_and_not_without_end() -> None:
    many = msgspec.structs.replace(
        outcome("failed", None, reason="no good"), issues=("no good", *(f"issue {n}" for n in range(12)))
    )
    told = lines(RUN, PhaseFinished(cycle=0, outcome=many, verdict=Stop(because="no good")))

    shown = [line for line in told if line.startswith("  Issue: ")]
    assert shown[0] == "  Issue: issue 0"
    assert shown[10:] == ["  Issue: and 2 more: autopilot status --json"]


def test_a_phase_that_waits_for_a_person_is_not_called_failed() -> None:
    waiting = outcome("needs_human_verification", None, reason="look at the colours")
    told = lines(RUN, PhaseFinished(cycle=0, outcome=waiting, verdict=AskHuman(question="look at the colours")))

    assert told[-1] == "--- [PHASE 2] Needs human verification: look at the colours ---"


def test_a_run_resumed_in_the_same_process_shows_its_two_status_lines_again() -> None:
    done = PhaseFinished(cycle=0, outcome=outcome(phase="1"), verdict=Advance())
    told = lines(RUN, RunResumed(pid=7, spec=SPEC), before=(run_started(), done))

    assert told == [
        "Autopilot: Phases 2-3 | Spec: .planning/ROADMAP.md (a1b2c3d4) | Model: sonnet",
        "Starting phase 2...",
    ]


@pytest.mark.parametrize(
    ("targets", "shown"),
    [(("1", "2", "3"), "1-3"), (("1", "3"), "1,3"), (("2",), "2"), (("3", "1"), "3,1")],
    ids=["neighbours", "gap", "one", "other order"],
)
def test_neighbouring_phases_are_shown_as_a_range(targets: tuple[str, ...], shown: str) -> None:
    assert phase_range(targets, ("1", "2", "3")) == shown


def test_a_reader_that_went_away_silences_the_view_and_not_the_run() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    out = os.fdopen(writing, "w", encoding="utf-8")
    view = PlainView(out)
    tell(view, RUN, run_started(), PhaseStarted(brief=brief()))

    assert view.broken
    with pytest.raises(BrokenPipeError):
        out.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_silences_the_view_and_not_the_run() -> None:
    out = Path("/dev/full").open("w", encoding="utf-8")  # noqa: SIM115 - closing it is part of the test
    view = PlainView(out)
    tell(view, RUN, run_started(), PhaseStarted(brief=brief()))

    assert view.broken
    with pytest.raises(OSError, match="No space left"):
        out.close()


def test_a_closed_stream_silences_the_view_and_not_the_run() -> None:
    out = io.StringIO()
    out.close()
    view = PlainView(out)
    tell(view, RUN, run_started())

    assert view.broken
