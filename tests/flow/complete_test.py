"""`--complete`: everything outstanding, whatever fails on the way; alone and with the flags it may stand beside."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from autopilot.domain.events import PhaseSkipped, PhaseStarted, RunStopped
from autopilot.domain.settings import Modes
from support.deferring import CONDEMNED, Told, letters, script
from support.project import rate_answer, reviews
from support.runs import Drive, driven, playground

COMPLETE = Modes(complete=True)
# 2 fails; 3 needs it, 4 needs 3; 5 and 6 stand apart.
DIAMOND = ("1", "2>1", "3>2", "4>3", "5>1", "6")


def middle_fails() -> list[dict[str, object]]:
    return [CONDEMNED | {"phase": "2"}, *reviews(), *letters(*"123456")]


@pytest.fixture(scope="module")
def completed() -> Iterator[Drive]:
    """A run of the diamond in which phase 2 failed; looked at by several tests."""
    with playground() as place:
        project = driven(place, middle_fails(), *DIAMOND)
        assert project.run("", modes=COMPLETE).exit == 10
        yield project


def begun(project: Drive) -> list[str]:
    return [started.brief.phase.id for started in project.of(PhaseStarted)]


def test_a_failure_in_the_middle_skips_what_needs_it_and_the_rest_goes_on(completed: Drive) -> None:
    """CMPL-03a..e, CMPL-01e: in these very words."""
    project, told = completed, completed.told()
    assert begun(project) == ["1", "2", "5", "6"]
    assert told[0] == "Batch completion: 6 outstanding phases identified. Execution order: 1, 2, 3, 4, 5, 6."
    at = told.index("Phase 2 failed. Checking dependency impact.")
    wanted = [
        "Phase 3: blocked by Phase 2 failure, skipping.",
        "Phase 4: blocked by Phase 2 failure, skipping.",
        "2 independent phases remain. Continuing execution.",
    ]
    assert [line for line in told[at:] if line in wanted] == wanted
    skips = [(s.phase, s.reason, s.blocking_phase) for s in project.of(PhaseSkipped)]
    assert skips == [("3", "blocked_by_phase_2", "2"), ("4", "blocked_by_phase_2", "2")]


def test_a_failure_that_leaves_nothing_to_run_is_told(place: Path) -> None:
    """CMPL-03d."""
    project = driven(place, [CONDEMNED | {"phase": "1"}, *reviews(), *letters("1", "2")], "1", "2>1")

    assert project.run("", modes=COMPLETE).exit == 10
    assert project.told()[-1] == "No executable independent phases remain. Halting."


def test_gate_06_without_complete_the_same_failure_halts(place: Path) -> None:
    project = driven(place, middle_fails(), *DIAMOND)

    assert project.run("all").exit == 10
    assert begun(project) == ["1", "2"]


def test_the_report_of_the_batch_has_every_section(completed: Drive) -> None:
    """CMPL-04a..f: before and beside the report of the run."""
    project = completed
    report = project.reads(".autopilot/completion-report.md")

    headings = [line for line in report.splitlines() if line.startswith("#")]
    assert headings == [
        "# Batch Completion Report", "## Phases Attempted", "## Phases Skipped", "## Dependency Gaps", "## Summary",
        "## Next Steps",
    ]  # fmt: skip
    assert "**Project completion:** 50% (3/6 phases)" in report
    assert "- Phase 2 failed -> blocked: Phase 3, Phase 4\n" in report
    assert "| 2 | failed | " in report
    assert "judge" in next(line for line in report.splitlines() if line.startswith("| 2 |"))
    assert "- Skipped (already done): 0\n- Skipped (blocked): 2\n" in report
    assert "To continue: `autopilot 2 3 4`\n" in report
    (other,) = (project.root / ".autopilot").glob("completion-2*.md")
    assert (project.root / ".autopilot/completion-report.md").stat().st_mtime_ns <= other.stat().st_mtime_ns


def test_cmpl_04g_the_log_has_the_figures_of_the_batch(completed: Drive) -> None:
    (told,) = [line["details"] for line in completed.state()["event_log"] if line["event"] == "batch_completion_report"]

    assert told == {
        "phases_attempted": 4,
        "phases_succeeded": 3,
        "phases_failed": 1,
        "phases_skipped": 2,
        "completion_percentage": 50.0,
        "report_path": ".autopilot/completion-report.md",
    }


def test_what_is_completed_is_told_and_never_run_again(place: Path) -> None:
    """CMPL-02a..c, AMB-06: the run that completed it and when, from the archive as well."""
    project = driven(place, [*reviews(), *letters("1", "2")], "1", "2>1")
    assert project.run("1").exit == 0
    project.entries.clear()

    assert project.run("", modes=COMPLETE).exit == 0
    (skip,) = project.of(PhaseSkipped)
    assert (begun(project), skip.phase, skip.reason) == (["2"], "1", "already_completed")
    line = f"Phase 1: completed in run {skip.original_run} at {skip.original_run_timestamp}, skipping."
    assert line in project.told()
    assert skip.original_run in [path.stem for path in (project.root / ".autopilot/archive").glob("run-*.json")]
    report = project.reads(".autopilot/completion-report.md")
    assert "All phases complete. Project is done." in report
    assert "**Project completion:** 100% (2/2 phases)" in report


def test_nothing_outstanding_is_nothing_to_do(place: Path) -> None:
    project = driven(place, [*reviews(), *letters("1")], "1")
    assert project.run("", modes=COMPLETE).exit == 0

    assert project.run("", modes=COMPLETE).reason == "All phases complete. Project is done."


def test_complete_with_lenient_passes_at_seven_without_remediation(place: Path) -> None:
    """FLAG-13."""
    project = driven(place, [rate_answer(7.2), *reviews(), *letters("1", "2")], "1", "2>1")

    assert project.run("", modes=COMPLETE, lenient=True).exit == 0
    assert [started.brief.cycle for started in project.of(PhaseStarted)] == [0, 0]


def test_complete_and_sequential_is_the_order_it_has_anyway(place: Path) -> None:
    """FLAG-11."""
    project = driven(place, [*reviews(), *letters("1", "2")], "1", "2")

    assert project.run("", modes=Modes(complete=True, sequential=True)).exit == 0
    assert begun(project) == ["1", "2"]


def test_a_run_pauses_after_every_so_many_phases_and_counts_on_when_resumed(place: Path) -> None:
    """FLAG-12: without a terminal it stops, resumably."""
    project = driven(place, [*reviews(), *letters("1", "2", "3")], "1", "2>1", "3>2")

    ends = [project.run("", modes=Modes(complete=True, checkpoint_every=1))]
    assert (ends[0].exit, ends[0].do, begun(project)) == (11, "autopilot resume", ["1"])
    assert ends[0].reason == "checkpoint after 1 finished phase: look at phase 1"
    assert project.state()["_meta"]["status"] == "paused"
    assert project.reads("letter1.txt") == "done\n"

    ends += [project.resume(), project.resume()]
    assert [end.exit for end in ends] == [11, 11, 0]
    assert [stop.checkpoint for stop in project.of(RunStopped)] == [1, 2]


def test_at_a_terminal_a_pause_asks_and_goes_on_or_stops(place: Path) -> None:
    """FLAG-12, INV-16."""
    project = driven(place, [*reviews(), *letters("1", "2", "3")], "1", "2", "3")
    project.person = person = Told(going_on=iter((True, False)))

    end = project.run("all", modes=Modes(checkpoint_every=1), lenient=True)

    assert (end.exit, begun(project), len(person.paused)) == (11, ["1", "2"], 2)


def test_a_deferred_phase_blocks_nothing(place: Path) -> None:
    """AMB-40, CMPL-04b: what needs it runs all the same; the report says who waits."""
    project = driven(place, script("2"), "1", "2>1", "3>2")

    assert project.run("", modes=COMPLETE).exit == 11
    assert begun(project) == ["1", "2", "3"]
    report = project.reads(".autopilot/completion-report.md")
    assert "- Deferred to human: 1" in report
    assert "Phase 2 waits for a person: `autopilot verdict 2 pass`" in report
