"""How often a run leaves phases to a person: counters, warnings, and the threshold that verdicts move."""

import json
from pathlib import Path

from autopilot.domain.events import Noted, PhaseStarted, RunStarted
from autopilot.domain.people import HumanWord
from support.deferring import Told, deferred, script
from support.runs import Drive, driven

FOUR = ("1", "2", "3", "4")


def notes(project: Drive, event: str) -> list[str]:
    return [note.details["message"] for note in project.of(Noted) if note.event == event]


def judged(place: Path, *words: HumanWord) -> Drive:
    """Three phases left to a person, who says this of them at the end."""
    project = driven(place, script("1", "2", "3"), "1", "2", "3", "4")
    project.person = Told(
        words={phase: (word, ("wrong",) * (word != "pass")) for phase, word in zip("123", words, strict=True)}
    )
    project.run("1-3")
    return project


def test_too_many_deferrals_are_warned_about(place: Path) -> None:
    """STAT-04a, STAT-04b, STAT-04e: from the second phase on, with the count."""
    project = driven(place, script("2"), "1", "2", "3")
    project.run()

    target = "Pipeline may be avoiding autonomous completion. Target: below 5%."
    wanted = [f"High human-defer rate (1/2). {target}", f"High human-defer rate (1/3). {target}"]
    assert notes(project, "high_defer_rate_warning") == wanted
    assert set(wanted) <= set(project.told())
    meta = project.state()["_meta"]
    assert (meta["human_deferred_count"], meta["total_phases_processed"]) == (1, 3)
    assert meta["autonomous_resolution_rate"] == 0.667


def test_a_sure_verifier_makes_a_person_needless(place: Path) -> None:
    """STAT-04c."""
    project = driven(place, [*deferred("1", confidence=7), *script(phases="1")], "1")

    assert project.run().exit == 0
    line = "Phase 1: autonomous resolution succeeded (confidence: 7/10). Human deferral avoided."
    assert notes(project, "autonomous_resolution_success") == [line]
    assert line in project.told()


def test_counters_and_history_survive_a_pause_and_a_verdict(place: Path) -> None:
    """STAT-04a, STAT-04d."""
    project = driven(place, script("1", "3"), "1", "2", "3")
    project.person = Told(words={"1": ("pass", ())})
    project.run()
    meta = project.state()["_meta"]

    assert (meta["human_deferred_count"], meta["total_phases_processed"]) == (2, 3)
    rows = [
        (r["phase_id"], r["reason"], r["autonomous_confidence"], r["human_verdict"]) for r in meta["deferral_history"]
    ]
    assert rows == [("1", "deferred", 4, "pass"), ("2", "completed", 9, None), ("3", "deferred", 4, None)]


def test_stat_06c_the_report_of_a_run_has_every_figure_of_its_deferrals(place: Path) -> None:
    """Three phases, one of which waits."""
    project = driven(place, script("2"), "1", "2", "3")
    project.run()

    (report,) = (project.root / ".autopilot").glob("completion-2*.md")
    section = report.read_text(encoding="utf-8").partition("## Human Deferral\n\n")[2].partition("\n\n")[0]
    assert section.splitlines() == [
        "- Total phases processed: 3",
        "- Phases deferred to human: 1 (33%)",
        "- Autonomous resolutions: 2",
        "- Autonomous resolution rate: 67%",
        "- Current deferral confidence threshold: 6",
    ]


def test_verdicts_that_all_pass_lower_the_threshold_and_the_next_run_goes_by_it(place: Path) -> None:
    """STAT-06a..c, AMB-12: a confidence that was left to a person before is enough now."""
    project = judged(place, "pass", "pass", "pass")

    said = (
        "Deferral threshold auto-adjusted: confidence threshold lowered from 6 to 5.5. "
        "Reason: 100% of deferred phases passed human review."
    )
    assert notes(project, "deferral_threshold_adjusted") == [said]
    assert said in project.told()
    assert project.state()["_meta"]["deferral_threshold"] == 5.5
    (report,) = (project.root / ".autopilot").glob("completion-2*.md")
    assert "- Current deferral confidence threshold: 5.5" in report.read_text(encoding="utf-8")

    project.rewrite([*deferred("4", confidence=5.5), *script(phases="4")])
    project.person = Told()
    assert project.run("4").exit == 0
    assert project.of(RunStarted)[-1].settings.deferral_threshold == 5.5


def test_verdicts_that_find_issues_raise_it(place: Path) -> None:
    """STAT-06a."""
    project = judged(place, "pass", "fail", "issues_found")

    assert notes(project, "deferral_threshold_adjusted")[0] == (
        "Deferral threshold auto-adjusted: confidence threshold raised from 6 to 6.5. "
        "Reason: only 33% of deferred phases passed human review."
    )
    kept = json.loads(project.reads(".autopilot/calibration.json"))
    assert (kept["deferral_threshold"], [row["counted"] for row in kept["history"]]) == (6.5, [True] * 3)


def test_verdicts_of_several_runs_count_together_and_once(place: Path) -> None:
    """AMB-12."""
    project = driven(place, script("1", "2", "3", phases="1234"), *FOUR)
    for phase in "123":
        project.person = Told(words={phase: ("pass", ())})
        project.run(phase)
    project.run("4")

    assert len(notes(project, "deferral_threshold_adjusted")) == 1
    assert json.loads(project.reads(".autopilot/calibration.json"))["deferral_threshold"] == 5.5
    assert [started.brief.phase.id for started in project.of(PhaseStarted)] == list("1234")
