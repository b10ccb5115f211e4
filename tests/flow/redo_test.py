"""Phases worked on again: `--force`, `--quality` and `--gaps`, each after an earlier run, with the scripted agent."""

import json
from pathlib import Path
from typing import Any

import pytest

from autopilot.domain.errors import UsageInvalid
from autopilot.domain.events import Brief, PhaseFinished, PhaseStarted, StepFinished
from autopilot.domain.modes import Modes
from autopilot.domain.request import RunEnd
from autopilot.domain.results import Triaged
from support.project import plan_answer, rate_answer, reviews, work_answer
from support.repos import git
from support.runs import Drive, driven

PLAN = plan_answer("1", [("letter1.txt", "done")])
GOOD = work_answer("1", "01-01", "letter1.txt", "done 1\n")
FORCE, QUALITY, GAPS = Modes(force=""), Modes(quality=""), Modes(gaps="")


def mend(cycle: int, text: str) -> dict[str, Any]:
    return work_answer("1", f"1-R{cycle}", "letter1.txt", text)


def mends(count: int) -> list[dict[str, Any]]:
    return [mend(n, f"done 1, mended {n}\n") for n in range(1, count + 1)]


def rates(*scores: float) -> list[dict[str, Any]]:
    """The first tries are rated in turn; the last score goes for all after them too."""
    return [*(rate_answer(s, attempt=n) for n, s in enumerate(scores, start=1)), rate_answer(scores[-1])]


def script(*scores: float) -> list[dict[str, Any]]:
    return [*(r for r in reviews() if r["role"] != "rate"), *rates(*scores), PLAN, GOOD, *mends(8)]


def completed(place: Path, score: float = 9.2, **more: Any) -> Drive:
    """A project whose only phase an earlier run completed."""
    drive = driven(place, script(score))
    assert drive.run(**more).exit == 0
    drive.entries.clear()
    return drive


def again(drive: Drive, modes: Modes, *scores: float, phases: str = "", **more: Any) -> RunEnd:
    drive.rewrite(script(*scores))
    return drive.run(phases, modes=modes, **more)


def briefs(drive: Drive) -> list[Brief]:
    return [started.brief for started in drive.of(PhaseStarted)]


def state(drive: Drive) -> dict[str, Any]:
    newest = sorted((drive.root / ".autopilot" / "archive").glob("run-*.json"))[-1]
    told: dict[str, Any] = json.loads(newest.read_text(encoding="utf-8"))
    return told


def phase_state(drive: Drive) -> dict[str, Any]:
    told: dict[str, Any] = state(drive)["phases"]["1"]
    return told


def events(drive: Drive) -> list[str]:
    wanted = ("force_", "quality_", "gaps_", "remediation_")
    return [line["event"] for line in state(drive)["event_log"] if line["event"].startswith(wanted)]


def test_force_does_a_completed_phase_anew_on_top_of_what_is_there(place: Path) -> None:
    """FORC-03, FORC-04, FORC-05, FORC-06."""
    drive = completed(place)
    before = git(drive.root, "rev-parse", "HEAD").strip()
    drive.rewrite([*script(9.7), work_answer("1", "01-01", "letter1.txt", "done 1, anew\n", attempt=1)])

    end = drive.run("", modes=Modes(force="1"))

    (brief,) = briefs(drive)
    assert (end.exit, end.phases["1"].score, drive.reads("letter1.txt")) == (0, 9.7, "done 1, anew\n")
    assert (brief.mode, brief.plan, brief.skip_research, brief.pass_threshold) == ("force", None, False, 9.0)
    assert [step for step in ("research", "plan", "execute") if step in drive.steps] == ["research", "plan", "execute"]
    assert git(drive.root, "merge-base", "--is-ancestor", before, "HEAD") == ""


def test_force_shows_in_state_log_and_triage(place: Path) -> None:
    """AMB-10, HIST-01 and the event of a forced phase."""
    drive = completed(place)
    drive.rewrite([*script(9.7), work_answer("1", "01-01", "letter1.txt", "done 1, anew\n", attempt=1)])
    drive.run("", modes=FORCE)

    told = next(s.result for s in drive.of(StepFinished) if isinstance(s.result, Triaged))
    assert (told.routing, told.note) == ("full_pipeline", "override: force")
    assert [(s["score"], s["flag"], s["cycle"]) for s in phase_state(drive)["score_history"]] == [
        (9.2, "initial", 0), (9.7, "force", 0),
    ]  # fmt: skip
    assert events(drive) == ["force_reexecution_started"]
    assert phase_state(drive)["alignment_score"] == 9.7


def test_quality_reaches_its_target(place: Path) -> None:
    drive = completed(place)

    end = again(drive, Modes(quality="1"), 9.6)

    (brief,) = briefs(drive)
    assert (end.exit, end.phases["1"].score, brief.mode, brief.turn, brief.cycle) == (0, 9.6, "quality", 1, 1)
    assert drive.steps[:3] == ["preflight", "triage", "execute"]
    assert brief.feedback[0] == "letter:1: as asked (+0.30, resolves the letter is there)"
    assert events(drive) == ["quality_remediation_started", "quality_remediation_completed"]
