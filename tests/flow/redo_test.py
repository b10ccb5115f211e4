"""Phases worked on again: `--force`, `--quality` and `--gaps`, each after an earlier run, with the scripted agent."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from autopilot.app.earlier_work import NO_SCORECARD
from autopilot.app.prepare import foresee
from autopilot.domain.attempt import Brief
from autopilot.domain.errors import UsageInvalid
from autopilot.domain.events import PhaseStarted, StepFinished
from autopilot.domain.request import RunEnd, RunRequest
from autopilot.domain.results import Triaged
from autopilot.domain.settings import Modes
from autopilot.views.lines.run_lines import Narrator
from support.adoption import adopted
from support.project import plan_answer, rate_answer, reviews, work_answer
from support.repos import git
from support.runs import Drive, driven

PLAN = plan_answer("1", [("letter1.txt", "done")])
GOOD = work_answer("1", "01-01", "letter1.txt", "done 1\n")
FORCE, QUALITY, GAPS = Modes(force=""), Modes(quality=""), Modes(gaps="")


class PowerCut(BaseException):
    """The process is gone: nothing after the last entry has happened."""


def mend(cycle: int, text: str) -> dict[str, Any]:
    return work_answer("1", f"1-R{cycle}", "letter1.txt", text)


def mends(count: int) -> list[dict[str, Any]]:
    return [mend(n, f"done 1, mended {n}\n") for n in range(1, count + 1)]


def rates(*scores: float) -> list[dict[str, Any]]:
    """The first tries are rated in turn; the last score goes for all after them too."""
    return [*(rate_answer(s, attempt=n) for n, s in enumerate(scores, start=1)), rate_answer(scores[-1])]


def script(*scores: float) -> list[dict[str, Any]]:
    return [*(r for r in reviews() if r["role"] != "rate"), *rates(*scores), PLAN, GOOD, *mends(8)]


def condemned(word: str) -> dict[str, Any]:
    result = {"recommendation": word, "concerns": ["wrong"], "independent_evidence": ["a:1"]}
    return {"role": "judge", "result": result}


def completed(place: Path, score: float) -> Drive:
    """A project whose only phase an earlier run completed."""
    drive = driven(place, script(score))
    assert drive.run().exit == 0
    drive.entries.clear()
    return drive


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Such a project at 9.2, made once; every test works on a copy."""
    folder = tmp_path_factory.mktemp("finished")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOPILOT_CACHE", str(folder / "cache"))
        return completed(folder, 9.2).root


@pytest.fixture
def drive(place: Path, finished: Path) -> Drive:
    shutil.copytree(finished, place / finished.name, symlinks=True)
    return Drive(adopted(place / finished.name))


def again(drive: Drive, modes: Modes, *scores: float, phases: str = "", **more: Any) -> RunEnd:
    drive.rewrite(script(*scores))
    return drive.run(phases, modes=modes, **more)


def briefs(drive: Drive) -> list[Brief]:
    return [started.brief for started in drive.of(PhaseStarted)]


def state(drive: Drive) -> dict[str, Any]:
    run = drive.entries[-1][0].partition("/")[0]
    told: dict[str, Any] = json.loads(drive.reads(f".autopilot/archive/{run}.json"))
    return told


def phase_state(drive: Drive) -> dict[str, Any]:
    told: dict[str, Any] = state(drive)["phases"]["1"]
    return told


def events(drive: Drive) -> list[str]:
    wanted = ("force_", "quality_", "gaps_", "remediation_")
    return [line["event"] for line in state(drive)["event_log"] if line["event"].startswith(wanted)]


def test_force_does_a_completed_phase_anew_on_top_of_what_is_there(drive: Drive) -> None:
    """FORC-03, FORC-04, FORC-05, FORC-06."""
    before = git(drive.root, "rev-parse", "HEAD").strip()
    drive.rewrite([*script(9.7), work_answer("1", "01-01", "letter1.txt", "done 1, anew\n", attempt=1)])

    end = drive.run("", modes=Modes(force="1"))

    (brief,) = briefs(drive)
    assert (end.exit, end.phases["1"].score, drive.reads("letter1.txt")) == (0, 9.7, "done 1, anew\n")
    assert (brief.mode, brief.plan, brief.skip_research, brief.pass_threshold) == ("force", None, False, 9.0)
    assert [step for step in ("research", "plan", "execute") if step in drive.steps] == ["research", "plan", "execute"]
    assert git(drive.root, "merge-base", "--is-ancestor", before, "HEAD") == ""


def test_force_shows_in_state_log_and_triage(drive: Drive) -> None:
    """AMB-10, HIST-01 and the event of a forced phase."""
    drive.rewrite([*script(9.7), work_answer("1", "01-01", "letter1.txt", "done 1, anew\n", attempt=1)])
    drive.run("", modes=FORCE)

    told = next(s.result for s in drive.of(StepFinished) if isinstance(s.result, Triaged))
    assert (told.routing, told.note) == ("full_pipeline", "override: force")
    assert [(s["score"], s["flag"], s["cycle"]) for s in phase_state(drive)["score_history"]] == [
        (9.2, "initial", 0), (9.7, "force", 0),
    ]  # fmt: skip
    assert events(drive) == ["force_reexecution_started"]
    assert phase_state(drive)["alignment_score"] == 9.7


def test_quality_reaches_its_target(drive: Drive) -> None:
    """CENF-01g, QUAL-08: the plan there is, no research, and what to mend."""
    end = again(drive, Modes(quality="1"), 9.6)

    (brief,) = briefs(drive)
    assert (end.exit, end.phases["1"].score, brief.mode, brief.turn, brief.cycle) == (0, 9.6, "quality", 1, 1)
    assert drive.steps[:3] == ["preflight", "triage", "execute"]
    assert brief.feedback[0] == "letter1.txt: as asked (+0.30, resolves the letter is there)"
    assert events(drive) == ["quality_remediation_started", "quality_remediation_completed"]


def told(drive: Drive) -> list[str]:
    narrator = Narrator()
    return [line for stream, entry in drive.entries for line in narrator.tell(stream, entry)]


def test_quality_stops_at_a_cycle_without_improvement(drive: Drive) -> None:
    """QUAL-05, QUAL-09, QUAL-10."""
    end = again(drive, QUALITY, 9.2)

    assert (end.exit, end.phases["1"].status, end.phases["1"].reason) == (0, "completed", "quality_exhausted")
    assert [line for line in told(drive) if "uality" in line and "diagnostic " not in line] == [
        "Phase 1: quality remediation cycle 1/3. Current: 9.2/10, target: 9.5/10.",
        "Phase 1: no improvement (9.2 -> 9.2). Stopping quality remediation.",
        "Phase 1: quality remediation exhausted (1 cycles). Final score: 9.2/10.",
    ]
    assert (
        "Quality target 9.5/10 not reached after 1 cycles. Current: 9.2/10. See diagnostic file for remaining gaps."
        in told(drive)
    )


def test_quality_used_up_is_told_in_state_and_diagnostic_and_fails_nothing(place: Path) -> None:
    """QUAL-07, QUAL-10, CENF-03b, AMB-09."""
    drive = completed(place, 9.0)

    end = again(drive, QUALITY, 9.1, 9.2, 9.3)

    seen = phase_state(drive)
    assert (end.exit, [b.turn for b in briefs(drive)], drive.reads("letter1.txt")) == (
        0,
        [1, 2, 3],
        "done 1, mended 3\n",
    )
    assert (seen["quality_exhausted"], seen["force_incomplete"], seen["gaps_exhausted"]) == (True, False, False)
    assert (seen["remediation_cycles"], seen["alignment_score"], seen["status"]) == (3, 9.3, "completed")
    assert [(s["score"], s["flag"], s["cycle"]) for s in seen["score_history"]] == [
        (9.0, "initial", 0), (9.1, "quality", 1), (9.2, "quality", 2), (9.3, "quality", 3),
    ]  # fmt: skip
    paper = drive.reads(seen["diagnostic_path"])
    assert "**Status:** quality_exhausted" in paper
    assert "1. letter1.txt: as asked (+0.20, resolves the letter is there)" in paper
    assert events(drive)[-1] == "quality_exhausted"


def test_a_cycle_that_makes_it_worse_takes_nothing_away_from_an_earlier_run(drive: Drive) -> None:
    """AMB-37."""
    head = git(drive.root, "rev-parse", "HEAD:letter1.txt")

    end = again(drive, QUALITY, 9.0)

    assert (end.exit, end.phases["1"].score, phase_state(drive)["alignment_score"]) == (0, 9.2, 9.2)
    assert git(drive.root, "rev-parse", "HEAD:letter1.txt") == head
    assert "**Score:** 9.2/10" in drive.reads(phase_state(drive)["diagnostic_path"])


def test_a_cycle_that_fails_takes_nothing_away_either(drive: Drive) -> None:
    """AMB-37, GATE-08: what stood before is neither failed nor rolled back with it."""
    drive.rewrite([condemned("rollback"), *script(9.6)])

    end = drive.run("1", modes=QUALITY)

    assert (end.exit, end.phases["1"].status, end.phases["1"].score) == (0, "completed", 9.2)
    assert drive.reads("letter1.txt") == "done 1\n"


def test_qual_03_an_incomplete_phase_is_run_first_and_then_refined(place: Path) -> None:
    """CENF-01c, FLAG-07: the bar is kept with the run, and lenient does not lower it."""
    drive = driven(place, script(9.1, 9.6))

    end = drive.run("1", modes=QUALITY, lenient=True)

    assert (end.exit, end.phases["1"].score) == (0, 9.6)
    assert [(b.mode, b.turn, b.pass_threshold) for b in briefs(drive)] == [("initial", 0, 9.5), ("quality", 1, 9.5)]
    assert state(drive)["_meta"]["pass_threshold"] == 9.5


def two_rows(*pairs: tuple[float, float]) -> list[dict[str, Any]]:
    """A scorecard of two criteria; each pair is what one try is rated."""
    answers = []
    for attempt, scores in enumerate(pairs, start=1):
        rows = [
            {"criterion": name, "score": score, "evidence": "letter1.txt:1", "justification": f"{name} is thin"}
            for name, score in zip(("greeting", "ending"), scores, strict=True)
        ]
        result = {"alignment_score": 10.0, "scorecard": rows, "commands_run": ["grep -> found"]}
        answers.append({"role": "rate", "result": result, "attempt": attempt})
    return answers


def gapped(drive: Drive, modes: Modes, *pairs: tuple[float, float], **more: Any) -> RunEnd:
    drive.rewrite([*(a for a in script(9.0) if a["role"] != "rate"), *two_rows(*pairs)])
    return drive.run("1", modes=modes, **more)


@pytest.mark.parametrize("lenient", [False, True], ids=["strict", "lenient"])
def test_gaps_close_one_shortcoming_at_a_time_the_biggest_first(place: Path, lenient: bool) -> None:
    """GAPS-04, GAPS-08, GAPS-09, GAPS-10, FLAG-08."""
    drive = driven(place, [*(a for a in script(9.0) if a["role"] != "rate"), *two_rows((9.2, 8.8))])
    assert drive.run().exit == 0
    drive.entries.clear()

    end = gapped(drive, GAPS, (9.2, 8.7), (9.6, 9.6), lenient=lenient)

    assert (end.exit, end.phases["1"].score) == (0, 9.6)
    assert [b.deficiency.criterion for b in briefs(drive) if b.deficiency] == ["ending", "a concern of the judge"]
    assert [line for line in told(drive) if "gap" in line] == [
        "Phase 1: gap fix iteration 1/5. Targeting: ending (8.8/10).",
        "Phase 1: no improvement from gap fix (9.0 -> 8.9). Trying next deficiency.",
        "Phase 1: gap fix iteration 2/5. Targeting: a concern of the judge (9.0/10).",
        "Phase 1: gap target reached. Score: 9.6/10.",
    ]


def test_gaps_used_up_are_told_and_fail_nothing(drive: Drive) -> None:
    """GAPS-11."""
    end = again(drive, GAPS, 9.2)

    seen = phase_state(drive)
    assert (end.exit, seen["gaps_exhausted"], seen["force_incomplete"], seen["status"]) == (0, True, False, "completed")
    assert "Phase 1: gap remediation exhausted (2 iterations). Final score: 9.2/10." in told(drive)
    assert "Gap target 9.5+/10 not reached after 2 iterations. Current: 9.2/10. 0 deficiencies remain." in told(drive)
    assert events(drive) == ["gaps_iteration_started", "gaps_iteration_completed"] * 2 + ["gaps_exhausted"]


def test_flag_05_quality_comes_first_and_gaps_go_on_to_where_they_are_negligible(drive: Drive) -> None:
    """FLAG-05, AMB-05."""
    end = again(drive, Modes(quality="", gaps="1"), 9.6, 9.8)

    assert (end.exit, end.phases["1"].score) == (0, 9.8)
    assert [(b.mode, b.turn, b.cycle, b.pass_threshold) for b in briefs(drive)] == [
        ("quality", 1, 1, 9.5), ("gaps", 1, 2, 9.8),
    ]  # fmt: skip


def test_flag_09_force_with_lenient_is_content_with_a_seven(drive: Drive) -> None:
    drive.rewrite([*script(7.4), work_answer("1", "01-01", "letter1.txt", "done 1, anew\n", attempt=1)])

    end = drive.run("1", modes=FORCE, lenient=True)

    assert (end.exit, end.phases["1"].score, len(briefs(drive))) == (0, 7.4, 1)


def test_flag_10_quality_with_complete_refines_what_is_outstanding(place: Path) -> None:
    letter = [plan_answer("2", [("letter2.txt", "done")]), work_answer("2", "02-01", "letter2.txt", "done 2\n")]
    drive = driven(place, [*script(9.0), *letter], "1", "2")
    drive.run("1")
    drive.entries.clear()
    drive.rewrite([*script(9.6), *letter])

    end = drive.run("", modes=Modes(quality="", complete=True))

    assert (end.exit, [(b.phase.id, b.pass_threshold) for b in briefs(drive)]) == (0, [("2", 9.5)])


def test_a_redo_cut_off_in_the_middle_goes_on_where_it_was(place: Path) -> None:
    drive = completed(place, 9.0)
    drive.rewrite(script(9.1, 9.6))

    def cut(_: object) -> None:
        if len(drive.entries) == 30:
            raise PowerCut

    drive.meanwhile = cut
    with pytest.raises(PowerCut):
        drive.run("1", modes=QUALITY)
    drive.meanwhile = lambda _: None
    end = drive.resume()

    assert (end.exit, end.phases["1"].score) == (0, 9.6)
    assert [(b.mode, b.turn) for b in briefs(drive)] == [("quality", 1), ("quality", 2)]
    assert drive.steps.count("rate") == 2


def test_force_that_failed_is_tried_again_by_the_same_words(drive: Drive) -> None:
    """AMB-01: what an earlier run completed is still what is meant."""
    anew = work_answer("1", "01-01", "letter1.txt", "done 1, anew\n", attempt=1)
    drive.rewrite([condemned("halt"), anew, *script(9.7)])
    assert drive.run("1", modes=FORCE).exit == 10
    assert drive.reads("letter1.txt") == "done 1\n"

    drive.rewrite([work_answer("1", "01-01", "letter1.txt", "done 1, anew\n"), *script(9.7)])
    end = drive.run("1", modes=FORCE)

    assert (end.exit, [b.mode for b in briefs(drive)]) == (0, ["force", "force"])


@pytest.mark.parametrize(
    ("modes", "score", "reason"),
    [
        (QUALITY, 9.5, "Phase 1: already at 9.5/10 (>= 9.5 target). Skipping."),
        (GAPS, 9.8, "Phase 1: already at 9.8/10 (>= 9.8). Negligible gap remaining. Skipping."),
    ],
    ids=["QUAL-01", "GAPS-03"],
)
def test_a_phase_that_is_good_enough_is_left_alone(place: Path, modes: Modes, score: float, reason: str) -> None:
    drive = completed(place, score)

    assert drive.run("1", modes=modes) == RunEnd(run="", exit=0, reason=reason)


def test_a_phase_without_a_record_is_looked_at_first(place: Path) -> None:
    """AMB-06: the roadmap's mark is no score."""
    drive = driven(place, script(9.6))
    roadmap = drive.reads(".planning/ROADMAP.md")
    done = "# Roadmap: Letters\n\n- [x] **Phase 1: Letter 1** - written\n\n" + roadmap.split("\n", 1)[1]
    (drive.root / ".planning/ROADMAP.md").write_text(done, encoding="utf-8")

    with pytest.raises(UsageInvalid, match="is not a valid phase number"):
        drive.run("", modes=Modes(quality="first"))
    drive.run("", modes=Modes(quality="1"))

    assert briefs(drive)[0].mode == "initial"


def test_phases_are_refined_several_at_a_time(place: Path) -> None:
    """One is bettered, the other keeps what an earlier run left: both are merged and land."""
    letter = [plan_answer("2", [("letter2.txt", "done")]), work_answer("2", "02-01", "letter2.txt", "done 2\n")]
    drive = driven(place, [*script(9.2), *letter], "1", "2")
    assert drive.run().exit == 0
    better = work_answer("2", "2-R1", "letter2.txt", "done 2, mended\n")
    drive.rewrite([rate_answer(9.0, phase="1"), rate_answer(9.6, phase="2"), *script(9.2), better])

    end = drive.run("", modes=Modes(quality="", jobs=2))

    assert (end.exit, [p.score for p in end.phases.values()]) == (0, [9.2, 9.6])
    assert drive.reads("letter1.txt") + drive.reads("letter2.txt") == "done 1\ndone 2, mended\n"


def test_gaps_06_without_a_journal_the_papers_of_the_phase_are_read(drive: Drive) -> None:
    for name in ("journal.db", "journal.head"):
        (drive.root / ".autopilot" / name).unlink()
    (drive.root / ".planning/phases/01-letter-1/SCORECARD.md").unlink()

    assert again(drive, GAPS, 9.6).phases["1"].score == 9.6

    (brief,) = briefs(drive)
    assert brief.deficiency is not None
    assert (brief.mode, brief.deficiency.source, brief.deficiency.deficiency) == ("gaps", "judge_report", "short")
    assert NO_SCORECARD.format(phase="1") in told(drive)


def test_a_dry_run_tells_what_would_be_mended_and_what_is_left_alone(drive: Drive) -> None:
    mended = foresee(RunRequest(folder=str(drive.root), agent=f"scripted:{drive.script}", modes=QUALITY))
    anew = foresee(RunRequest(folder=str(drive.root), agent=f"scripted:{drive.script}", modes=FORCE))

    assert [(p.id, p.skipped) for p in mended.phases] == [
        ("1", "research, plan and plan-check, since --quality mends what is there")
    ]
    assert [(p.plan, p.skipped) for p in anew.phases] == [(False, "")]


def test_a_completed_phase_that_failed_when_it_was_done_again_is_open(drive: Drive) -> None:
    """AMB-06: the newest record decides, though the SUMMARY.md of the earlier pass is still there."""
    drive.rewrite([{"role": "judge", "result": {"recommendation": "halt", "concerns": ["wrong"]}}, *script(9.6)])
    assert drive.run("", modes=FORCE).exit == 10
    assert (drive.root / ".planning/phases/01-letter-1/SUMMARY.md").exists()
    drive.entries.clear()
    drive.rewrite([*script(9.6), work_answer("1", "01-01", "letter1.txt", "done 1, again\n")])

    drive.run("all")

    assert [brief.phase.id for brief in briefs(drive)] == ["1"]


def test_quality_that_was_stopped_goes_on_by_the_same_words(place: Path) -> None:
    """AMB-01: though one of its phases has become good enough since."""
    letter = [plan_answer("2", [("letter2.txt", "done")]), work_answer("2", "02-01", "letter2.txt", "done 2\n")]
    halt = {**condemned("halt"), "phase": "2"}
    drive = driven(place, [*script(9.6), *letter, halt], "1", "2")
    assert drive.run("", modes=QUALITY).exit == 10

    drive.rewrite([*script(9.6), *letter])
    end = drive.run("", modes=QUALITY)

    assert (end.exit, [b.phase.id for b in briefs(drive)]) == (0, ["1", "2", "2"])
