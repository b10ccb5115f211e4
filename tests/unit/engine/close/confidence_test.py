"""The confidence diagnostic: what keeps a completed phase from 9.0, with a file and a worth to every item."""

from typing import Any

import pytest

from autopilot.domain.answers import CriterionResult, CriterionScore, JudgeOpinion, RateOpinion, VerifyOpinion
from autopilot.domain.attempt import PhaseOutcome
from autopilot.domain.events import Entry, PhaseFinished, PhaseStarted
from autopilot.domain.results import Judged, Lowered, Rated, Verified
from autopilot.domain.verdict import Advance, Retry, Verdict
from autopilot.engine.close.confidence import VAGUE, confidence_paper, feedback, path_items
from autopilot.engine.close.diagnostics import write_confidence
from autopilot.history.record import PhaseRecord, RunRecord
from support.papers import Shelf
from support.records import Story, brief, ran, started

RATING = RateOpinion(alignment_score=8.4, scorecard=(CriterionScore(criterion="the letter", score=8.4),))


def rated(*rows: CriterionScore, concerns: tuple[str, ...] = ("thin",), score: float = 8.4, **more: Any) -> PhaseRecord:
    judge = JudgeOpinion(recommendation="proceed", concerns=concerns, independent_evidence=("a:1",))
    opinion = RateOpinion(alignment_score=score, scorecard=rows or (row(),), commands_run=("ls",))
    told = Story(brief(**more)).planned().executed().verified().step("judge", Judged(opinion=judge))
    return told.step("rate", Rated(opinion=opinion, score=score)).record


def row(**more: Any) -> CriterionScore:
    usual = {"criterion": "the letter", "score": 8.4, "evidence": "src/letter.py:7", "justification": "no greeting"}
    return CriterionScore(**{**usual, **more})


def ended(verdict: Verdict | None = None, cycle: int = 0, score: float | None = 8.4, **more: Any) -> PhaseFinished:
    fields: dict[str, Any] = {"phase": "1", "status": "completed", "reason": "why", "commit": "c1", **more}
    return PhaseFinished(
        cycle=cycle, outcome=PhaseOutcome(alignment_score=score, **fields), verdict=verdict or Advance()
    )


def test_cenf_02b_the_paper_has_every_section() -> None:
    text = confidence_paper(rated(), ended(), ())

    assert text.startswith("# Phase 1 Confidence Diagnostic\n\n**Score:** 8.4/10\n**Threshold:** 9.0/10\n")
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## Judge Concerns", "## Acceptance Criteria Status", "## Automated Check Results", "## Path to 9.0/10",
    ]  # fmt: skip
    assert "| the letter | partial | src/letter.py:7 | no greeting |" in text
    assert "| Check | Result | Details |\n|---|---|---|\n| compile | n/a | not configured |\n" in text


def test_cenf_02b_criteria_are_the_verifiers_and_checks_are_ours() -> None:
    results = (
        CriterionResult(criterion="it greets", status="fail", evidence="a.py:3", command_output="no greeting"),
        CriterionResult(criterion="it ends", status="verified", evidence="a.py:9"),
    )
    gates = (ran("lint", passed=False, command="make lint"), ran("build", command="make"))
    seen = Verified(commit="c", tree="t", gates=gates, opinion=VerifyOpinion(passed=True, criteria_results=results))
    record = Story().step("verify", seen).step("rate", Rated(opinion=RATING, score=8.4)).record
    text = confidence_paper(record, ended(automated_checks={"lint": False, "build": True}), ())

    assert "| it greets | failed | a.py:3 | no greeting |\n| it ends | verified | a.py:9 | - |\n" in text
    assert "| compile | n/a | not configured |\n| lint | fail | `make lint` exited 1 |\n" in text
    assert "| build | pass | `make` exited 0 |\n" in text


def test_a_phase_beyond_the_bar_has_no_path_to_it_and_no_remaining_issue() -> None:
    text = confidence_paper(rated(row(score=9.3), score=9.3), ended(cycle=1, score=9.3), (ended(),))

    assert "## Path to" not in text
    assert "| 1 | 9.3 | none | none |" in text
    assert "## Path to 9.5/10\n1. src/letter.py:7: no greeting" in confidence_paper(
        rated(row(score=9.3), score=9.3, pass_threshold=9.5), ended(cycle=1, score=9.3), (ended(),)
    )


@pytest.mark.parametrize(
    ("finished", "status"),
    [
        (ended(), "passed"),
        (ended(Advance(because="force_incomplete"), 2), "force_incomplete"),
        (ended(cycle=1), "remediated_to_8.4"),
        (ended(Retry(step="remediate", because="low")), "remediation_pending"),
    ],
    ids=["passed", "used up", "remediated", "to be remediated"],
)
def test_cenf_02b_the_status_is_that_of_the_phase(finished: PhaseFinished, status: str) -> None:
    assert f"**Status:** {status}\n" in confidence_paper(rated(), finished, ())


def test_cenf_02b_the_cycles_are_told_from_the_first_pass_on() -> None:
    text = confidence_paper(rated(), ended(cycle=1, score=8.6, commit_shas=("c2",)), (ended(),))

    assert "## Remediation History\n| Cycle | Score | Changes Made | Remaining Issues |" in text
    assert "| 0 | 8.4 | none | none |\n| 1 | 8.6 | c2 | none |" in text


def test_cenf_05_each_item_has_file_deficiency_and_worth() -> None:
    items = path_items(rated(row(), row(criterion="the stamp", score=9.2), concerns=("tests/letter.sh is slow",)))

    assert items == (
        "src/letter.py:7: no greeting (+0.30, resolves the letter)",
        "tests/letter.sh: tests/letter.sh is slow (up to +0.60, resolves a concern of the judge)",
    )


@pytest.mark.parametrize("vague", [*VAGUE, ""])
def test_cenf_05_what_says_nothing_is_replaced(vague: str) -> None:
    made = row(justification=vague.capitalize(), evidence="", verification_command="ls", command_output="x")

    (item,) = path_items(rated(made, concerns=()))

    assert item == (
        "letter.txt: 'the letter' is met only in part (8.4/10; `ls` shows 'x') (+0.60, resolves the letter)"
    )


def test_cenf_02c_a_concern_the_scorecard_names_is_told_once() -> None:
    assert len(path_items(rated(concerns=("No greeting",)))) == 1


def run_of(*events: Any) -> RunRecord:
    entries = tuple(Entry(number=n, at="t", event=e) for n, e in enumerate((started(), *events)))
    return RunRecord(entries=entries)


@pytest.mark.parametrize(
    ("record", "finished", "written"),
    [
        (rated(), ended(), True),
        (rated(score=9.4), ended(score=9.4), False),
        (rated(score=9.4), ended(score=9.4, cycle=1), True),
        (Story().record, ended(status="failed", score=None), False),
        (rated(pass_threshold=7.0), ended(), True),
    ],
    ids=["below", "high enough", "after a remediation", "never completed", "lenient"],
)
def test_cenf_02a_it_is_written_for_a_completion_below_nine(
    record: PhaseRecord, finished: PhaseFinished, written: bool
) -> None:
    shelf = Shelf()

    note, problems = write_confidence((record,), run_of(), finished, shelf)

    assert (list(shelf.files), problems) == (["phase-1-confidence.md"] * written, ())
    assert (note is not None) == written


def test_cenf_02d_the_event_names_the_paper_and_is_told_once_a_pass() -> None:
    record = rated()
    begun = PhaseStarted(brief=record.brief)
    note, _ = write_confidence((record,), run_of(begun), ended(), Shelf())

    assert note is not None
    assert note.details == {
        "phase_id": "1", "alignment_score": 8.4, "pass_threshold": 9.0,
        "diagnostic_path": ".autopilot/diagnostics/phase-1-confidence.md", "path_to_9_items": 2,
    }  # fmt: skip
    assert write_confidence((record,), run_of(begun, note), ended(), Shelf()) == (None, ())
    assert write_confidence((record,), run_of(begun, note, begun), ended(), Shelf())[0] == note


def test_obsv_05_a_paper_that_cannot_be_written_is_an_issue_and_no_event() -> None:
    note, problems = write_confidence((rated(),), run_of(), ended(), Shelf(full=True))

    assert (note, problems) == (None, ("confidence diagnostic could not be written: the disk is full",))


def test_cenf_01f_feedback_names_a_file_for_each_deduction_concern_and_failure() -> None:
    said = VerifyOpinion(passed=True, failures=("docs/letter.md says nothing of it",))
    told = (
        Story().planned().executed().step("verify", Verified(commit="c1", tree="t", opinion=said)).judged().rated(8.0)
    )

    assert feedback(told.record, 9.0) == (
        "letter.txt:1: as asked (+1.00, resolves the letter)",
        "letter.txt: thin (up to +1.00, resolves a concern of the judge)",
        "docs/letter.md: docs/letter.md says nothing of it (named by the verifier)",
    )
    assert feedback(Story().record, 9.0) == ()


def test_cenf_01f_a_row_that_was_brought_down_says_why() -> None:
    low = Lowered(criterion="the letter", said=9.5, counted=6.9, because=("no file:line evidence",))
    opinion = RateOpinion(alignment_score=9.5, scorecard=(row(score=6.9, evidence="", justification="fine"),))
    told = Story().planned().executed().step("rate", Rated(opinion=opinion, score=6.9, lowered=(low,)))

    assert feedback(told.record, 9.0) == (
        "letter.txt: fine; held at 6.9: no file:line evidence (+2.10, resolves the letter)",
    )
