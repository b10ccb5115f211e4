"""The last words of a run."""

import io
from typing import Any

import pytest
from msgspec.structs import replace

from autopilot.domain.events import Event, PhaseLanded, RunFinished
from autopilot.domain.phase import Phase
from autopilot.domain.request import Ending, PhaseEnd, RunEnd
from autopilot.views.lines.plain import PlainView
from autopilot.views.markdown.handover import handover
from unit.views.samples import RUN, run_started, tell

DONE = PhaseEnd(status="completed", score=9.4, reason="every gate passed")
FAILED = PhaseEnd(status="failed", reason="`make` exited 2")
WAITING = PhaseEnd(status="not_started")


def announced(end: RunEnd, *events: Event) -> list[str]:
    out = io.StringIO()
    view = PlainView(out)
    tell(view, RUN, *events)
    seen = len(out.getvalue())
    view.announce(end)
    return out.getvalue()[seen:].splitlines()


def test_a_run_that_passed_says_that_the_project_is_done() -> None:
    """COMP-03."""
    end = RunEnd(run=RUN, exit=0, reason="all", phases={"1": DONE, "2": DONE, "3": DONE}, usd=1.5, tokens=1200)
    finish = RunFinished(status="completed", exit_code=0, reason="all")

    assert announced(end, run_started(), finish) == [
        "",
        "Autopilot Complete",
        "",
        "Phases: 3/3 succeeded | 0 failed | 0 skipped",
        "Avg alignment: 9.4/10",
        "Duration: 1s",
        "Cost: $1.50, 1200 tokens",
        "Report: .autopilot/completion-2026-02-09-143052.md",
        "",
        "All phases complete. Project is done.",
    ]


def test_comp_03_open_ends_of_a_run_that_passed_are_named_with_a_way_on() -> None:
    """COMP-01 with AMB-24: `integration: fail` is announced."""
    ending = Ending(integration="fail", gaps=("A-1",), version="1.5.0", notes=("First run recorded.",))
    end = RunEnd(run=RUN, exit=12, reason="every target phase passed, but", phases={"1": DONE}, ending=ending)

    assert announced(end)[-8:] == [
        "integration: fail",
        "Self-audit gaps remaining: A-1",
        "Version: 1.5.0",
        "Report: .autopilot/completion-2026-02-09-143052.md",
        "First run recorded.",
        "",
        "every target phase passed, but",
        "To close what is left, make it a phase with `autopilot phases add`, then: autopilot next",
    ]


@pytest.mark.parametrize(
    ("more", "advice"),
    [
        ({"unaudited": ("A-1", "A-2"), "uncovered": ("1",)}, "To have A-1 A-2 audited: autopilot resume"),
        ({"unaudited": ("A-1", "A-2"), "covered": ("1",)}, "The reviewer left out A-1 A-2: check that it is done."),
        ({"unaudited": ("A-1",)}, "To close what is left, make it a phase with `autopilot phases add`, then: autopilot next"),
        ({"unaudited": ("A-1", "A-2"), "integration": "fail"}, "To close what is left, make it a phase with `autopilot phases add`, then: autopilot next"),
    ],
    ids=["no answer", "left out", "a gap as well", "parts that do not fit"],
)  # fmt: skip
def test_what_no_one_audited_is_no_work_that_is_left(more: dict[str, Any], advice: str) -> None:
    ending = Ending(gaps=("A-1", "A-2"), **more)
    end = RunEnd(run=RUN, exit=12, reason="every target phase passed, but", phases={"1": DONE}, ending=ending)

    assert announced(end)[-1] == advice


def test_gate_09_a_failed_phase_comes_with_the_ways_to_go_on_without_those_it_blocks() -> None:
    phases = {"1": FAILED, "2": WAITING, "3": WAITING}
    start = run_started()
    start = replace(start, phases=(*start.phases, Phase(id="4", name="Aside")))
    end = RunEnd(run=RUN, exit=10, reason="failed: 1", phases=phases)

    assert announced(end, start)[-5:] == [
        "",
        "Phase 1 failed. To continue from where you left off, run:",
        "  autopilot 4",
        "To retry the failed phase: autopilot retry 1",
        "To retry it and go on with what depends on it: autopilot resume",
    ]


DRY = PhaseEnd(status="failed", reason="context_exhaustion: partial progress saved to HANDOFF.md")


def test_ctxe_01x_after_a_phase_that_ran_out_of_context_resume_is_the_way_on() -> None:
    end = RunEnd(run=RUN, exit=10, reason="failed: 2", phases={"1": DONE, "2": DRY, "3": WAITING})

    assert announced(end, run_started())[-2:] == [
        "Context getting full. 1 phases completed so far. To continue, run:",
        "  autopilot resume",
    ]


def test_ctx_04_the_run_s_handoff_names_scores_and_what_is_left() -> None:
    """CTX-06: a phase is a line."""
    end = RunEnd(run=RUN, exit=10, reason="failed: 2", phases={"1": DONE, "2": DRY, "3": WAITING})

    text = handover(end)

    assert "- Phase 1: completed (9.4/10)\n- Phase 2: failed\n- Phase 3: not_started\n" in text
    assert "- **Next phase:** 2\n- **Remaining phases:** 2 3\n" in text


def test_phases_outside_the_run_remain() -> None:
    end = RunEnd(run=RUN, exit=0, reason="all", phases={"1": DONE})

    assert announced(end, run_started(("1",)))[-2:] == ["Remaining phases: 2 3", "To continue: autopilot 2 3"]


def test_work_that_did_not_land_is_named_with_its_note() -> None:
    end = RunEnd(run=RUN, exit=0, reason="all", phases={"1": DONE})
    left = PhaseLanded(phase="1", commit="c", landed=False, note="run: git merge autopilot/run")

    assert "Phase 1: not on your branch yet: run: git merge autopilot/run" in announced(end, left)


def test_what_did_not_land_is_the_last_line_unless_it_landed_later() -> None:
    end = RunEnd(run=RUN, exit=12, reason="all", phases={"1": DONE})
    left = PhaseLanded(phase="1", commit="c", landed=False, note="run: git merge autopilot/run")

    assert announced(end, left)[-1] == "Not on your branch yet: phase 1. To try again: autopilot resume"
    later = PhaseLanded(phase="2", commit="d", landed=True)
    assert not [line for line in announced(end, left, later) if "our branch yet" in line]


def test_blocked_phases_are_named_with_what_blocks_them() -> None:
    phases = {"1": FAILED, "2": PhaseEnd(status="skipped", reason="blocked_by_phase_1"), "3": WAITING}
    told = announced(RunEnd(run=RUN, exit=10, reason="failed: 1", phases=phases), run_started())

    assert "Phases: 0/1 succeeded | 1 failed | 1 skipped | blocked by phase 1: 2 3" in told
    assert "Phase 2: blocked by phase 1" in told


def test_the_branch_of_a_failed_phase_is_named_with_the_command_that_shows_it() -> None:
    phases = {"1": replace(FAILED, branch="autopilot-diagnostic-phase-1"), "2": DONE}

    assert (
        "Phase 1: its work is kept on the branch autopilot-diagnostic-phase-1. "
        "To see it: git log -p HEAD..autopilot-diagnostic-phase-1"
    ) in announced(RunEnd(run=RUN, exit=10, reason="failed: 1", phases=phases), run_started())


def test_a_stopped_run_says_why_and_how_to_resume() -> None:
    end = RunEnd(run=RUN, exit=20, reason="money cap reached", phases={"1": DONE, "2": WAITING})
    told = announced(end)

    assert told[1] == "Autopilot Stopped"
    assert told[-2:] == ["Stopped: money cap reached", "To continue: autopilot resume"]


def test_a_run_with_nothing_to_do_says_only_that() -> None:
    assert announced(RunEnd(run="", exit=0, reason="Already finished.")) == ["Already finished."]


def test_amb_31_the_average_is_floored() -> None:
    scores = {str(n): replace(DONE, score=score) for n, score in enumerate((9.4, 9.4, 9.3))}

    assert "Avg alignment: 9.3/10" in announced(RunEnd(run=RUN, exit=0, reason="all", phases=scores))


def test_what_the_end_covered_is_named_and_what_it_did_not_with_the_reason() -> None:
    ending = Ending(integration="pass", covered=("1", "3"), uncovered=("2",), uncovered_because="nobody answered")
    lines = announced(RunEnd(run=RUN, exit=10, reason="x", phases={"1": DONE, "2": FAILED}, ending=ending))

    assert "Audited: phase 1 3" in lines
    assert "Not audited: phase 2: nobody answered" in lines
