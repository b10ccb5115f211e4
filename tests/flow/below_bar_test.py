"""Whole runs that end below the bar: a status of its own everywhere, exit code 12, named in the last line."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from autopilot.app import prepare as app
from autopilot.cli.verbs import status
from autopilot.domain.events import Entry, PhaseStarted
from autopilot.domain.request import RunEnd
from autopilot.domain.settings import Modes
from autopilot.policy.notification_rules import notice_of
from autopilot.state.picture import Picture
from autopilot.state.picture_run import after
from autopilot.views.lines.announcement import announcement
from autopilot.views.lines.run_lines import Narrator
from autopilot.views.terminal.frame import frame, text_of
from autopilot.views.terminal.screen import Screen
from support.project import plan_answer, rate_answer, reviews, work_answer
from support.repos import write
from support.runs import Drive, driven, playground

WORDS = "passed below the bar, 8.1 of 9.0"
PLAN = plan_answer("1", [("letter1.txt", "done")])
WORK = work_answer("1", "01-01", "letter1.txt", "done\n")
MENDED = [work_answer("1", f"1-R{n}", "letter1.txt", f"done, mended {n}\n") for n in (1, 2)]


@pytest.fixture(scope="module")
def ended() -> Iterator[tuple[Drive, RunEnd]]:
    """Two remediation cycles, and 8.1 is all it comes to."""
    with playground() as place:
        project = driven(place, [*reviews(8.1), PLAN, WORK, *MENDED])
        yield project, project.run()


def said(project: Drive, end: RunEnd) -> list[str]:
    narrator = Narrator()
    for stream, entry in project.entries:
        list(narrator.tell(stream, entry))
    return list(announcement(end, narrator))


def test_the_run_ends_with_12_and_its_last_line_names_the_phase(ended: tuple[Drive, RunEnd]) -> None:
    """CENF-03a, COMP-03."""
    project, end = ended
    told = end.phases["1"]

    assert (end.exit, end.reason) == (12, f"phase 1: {WORDS}")
    assert (told.status, told.outcome, told.score, told.reason) == ("completed", "below_bar", 8.1, WORDS)
    lines = said(project, end)
    assert "Phases: 0/1 succeeded | 0 failed | 0 skipped | 1 below the bar" in lines
    assert lines[-2:] == ["To raise phase 1: autopilot --quality 1", f"Phase 1: {WORDS}"]
    assert project.resume().exit == 12


def test_every_view_has_a_word_for_it(ended: tuple[Drive, RunEnd]) -> None:
    project, _ = ended
    state = project.state()["phases"]["1"]

    assert (state["status"], state["outcome"], state["reason"]) == ("completed", "below_bar", WORDS)
    assert any("Passed below the bar, 8.1 of 9.0" in line for line in project.told())
    assert "below the bar    8.1  Letter 1: 8.1 of 9.0" in status.show(as_json=False, folder=str(project.root))
    (report,) = (project.root / ".autopilot").glob("completion-*.md")
    text = report.read_text(encoding="utf-8")
    assert "| 1 | Letter 1 | passed below the bar | 8.1/10 |" in text
    assert "- Phases: 0 of 1 succeeded" in text
    page = Path(app.reports(str(project.root)).page(None, None)).read_text(encoding="utf-8")
    assert ("0 of 1 phases passed" in page, WORDS in page, "s-below_bar" in page) == (True, True, True)


def test_live_view_dashboard_and_notification_say_so_too(ended: tuple[Drive, RunEnd]) -> None:
    project, _ = ended
    picture = Picture()
    for stream, entry in project.entries:
        picture = after(picture, stream, entry)

    row = picture.phases["1"]
    assert (row.state, row.score) == ("below_bar", 8.1)
    drawn = text_of(frame(picture, Screen(width=100, height=30, now=picture.last)))
    assert "below the bar: 8.1 of 9.0" in drawn
    assert "0/1 phases completed, 1 below the bar" in drawn
    last: tuple[str, Entry] = project.entries[-1]
    notice = notice_of(*last, project="letters")
    assert notice is not None
    assert (WORDS in notice.text, notice.title) == (True, "letters: the run is finished; look at its end")


def test_the_receipt_says_so_and_keeps_red_to_green(ended: tuple[Drive, RunEnd]) -> None:
    """What ran before the work is on the phase's first base, not on work that a remediation found."""
    project, _ = ended
    predicate = json.loads(project.reads(".planning/phases/01-letter-1/RECEIPT.json"))["predicate"]
    proof, base = predicate["autopilot"], project.of(PhaseStarted)[0].brief.base

    assert (predicate["result"], proof["outcome"], proof["reason"]) == ("WARNED", "below_bar", WORDS)
    assert proof["base"] == base
    before = [run for run in proof["runs"] if run["when"] == "before"]
    assert {run["commit"] for run in before} == {base}
    red = {run["command"] for run in before if not run["passed"]}
    green = {run["command"] for run in proof["runs"] if run["passed"] and run["commit"] == proof["commit"]}
    assert "grep -q done letter1.txt" in red & green
    check = app.check_receipt(str(project.root), "1", None, "none", project.warnings.append)
    assert check.same, check.differences


def test_a_remediation_that_reaches_the_bar_is_a_plain_pass_with_red_to_green(place: Path) -> None:
    low, high = rate_answer(8.1, attempt=1), rate_answer(9.3)
    project = driven(place, [low, *reviews(9.3), high, PLAN, WORK, *MENDED])

    end = project.run()

    assert (end.exit, end.phases["1"].outcome, end.phases["1"].score) == (0, None, 9.3)
    proof = json.loads(project.reads(".planning/phases/01-letter-1/RECEIPT.json"))["predicate"]["autopilot"]
    before = [run for run in proof["runs"] if run["when"] == "before"]
    assert {run["commit"] for run in before} == {project.of(PhaseStarted)[0].brief.base}
    assert any(not run["passed"] for run in before)


def test_after_a_failure_nothing_is_called_complete(place: Path) -> None:
    """COMP-03, GATE-09: and a phase below the bar is named beside it, with exit code 10."""
    answers = [*reviews(8.1), PLAN, WORK, *MENDED, plan_answer("2", [("letter2.txt", "done")])]
    project = driven(place, answers, "1", "2")

    end = project.run()

    assert end.exit == 10
    lines = said(project, end)
    assert lines[1] == "Autopilot Failed"
    assert not any("Complete" in line or "/clear" in line for line in lines)
    assert "To retry the failed phase: autopilot retry 2" in lines
    assert lines[-1] == f"Phase 1: {WORDS}"


def test_a_batch_counts_it_apart(place: Path) -> None:
    """CMPL-04b, CMPL-04f."""
    project = driven(place, [*reviews(8.1), PLAN, WORK, *MENDED])
    write(project.root, {".planning/config.json": "{}"})

    assert project.run("", modes=Modes(complete=True)).exit == 12

    report = project.reads(".autopilot/completion-report.md")
    assert "- Succeeded: 0\n- Passed below the bar: 1\n" in report
    assert "| 1 | completed | 8.1/10 |" in report
    assert WORDS in report
    assert "All phases complete; below the bar: 1." in report
    assert "/clear" not in report


def test_a_better_rating_of_the_same_work_does_not_raise_the_score(place: Path) -> None:
    idle = [work_answer("1", f"1-R{n}", "letter1.txt", "done\n") for n in (1, 2)]
    low, high = rate_answer(8.1, attempt=1), rate_answer(9.8)
    project = driven(place, [*(a for a in reviews(8.1) if a.get("role") != "rate"), low, high, PLAN, WORK, *idle])

    end = project.run()

    assert (end.exit, end.phases["1"].outcome, end.phases["1"].score) == (12, "below_bar", 8.1)
    assert any("a rating of 9.8 does not count" in str(issue) for issue in project.state()["phases"]["1"]["issues"])
