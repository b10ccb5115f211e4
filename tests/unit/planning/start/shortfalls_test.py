"""What a phase's own papers say it lacks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.rework import Deficiency
from autopilot.planning.start.shortfalls import found, has_scorecard

CARD = """# Scorecard: Phase 1

| Criterion | Score | Evidence | Test Results | Justification |
|---|---|---|---|---|
| greets | 9.0 | src/greet.py:3 | PASS | no name in it |
| ends | 8.0 | src/end.py | PASS | stops short |
| is there | 9.9 | a.py | PASS | fine |

**Alignment Score: 8.9/10**
"""
DIAGNOSTIC = """# Phase 1 Confidence Diagnostic

## Judge Concerns
- thin

## {heading}
1. src/end.py: stops short (+0.50, resolves ends)
2. docs/use.md: says nothing of it (up to +0.50, resolves a concern of the judge)
"""
JUDGE = """## Concerns
- too short
### Missed by the verifier
- src/a.py leaves the file open
"""
VERIFICATION = """## Acceptance Criteria Verification
- greets: FAILED -- no greeting in letter.txt
- ends: VERIFIED -- there
## Failures
- none named
"""


def said(papers: dict[str, str], target: float = 9.5) -> list[tuple[str, str]]:
    return [(one.criterion, one.source) for one in found(papers, "dir", target)]


def test_gaps_04_each_row_below_the_target_is_one_shortcoming_the_biggest_first() -> None:
    """GAPS-04, GAPS-07, GAPS-08."""
    first, second = found({"SCORECARD.md": CARD}, "dir", 9.5)

    assert first == Deficiency(
        criterion="ends", current_score=8.0, target_score=9.5, deficiency="stops short", target_file="src/end.py",
        expected_impact="+0.50", source="scorecard",
    )  # fmt: skip
    assert (second.criterion, second.target_file) == ("greets", "src/greet.py:3")


@pytest.mark.parametrize("heading", ["Path to 9.0/10", "Path to 9/10"], ids=["AMB-09 ours", "AMB-09 the other"])
def test_gaps_05_the_diagnostic_adds_what_the_scorecard_does_not_name(heading: str) -> None:
    papers = {"SCORECARD.md": CARD, "confidence.md": DIAGNOSTIC.format(heading=heading)}

    assert said(papers) == [
        ("ends", "scorecard"), ("greets", "scorecard"), ("a concern of the judge", "diagnostic"),
        ("a concern of the judge", "diagnostic"),
    ]  # fmt: skip


def test_gaps_06_without_a_scorecard_verifier_judge_and_issues_are_asked_in_this_order() -> None:
    papers = {"JUDGE-REPORT.md": JUDGE, "VERIFICATION.md": VERIFICATION}

    assert not has_scorecard(papers)
    assert [(d.criterion, d.expected_impact) for d in found(papers, "dir", 9.5, ["slow"])] == [
        ("greets", "high"), ("what the verifier missed", "high"), ("a concern of the judge", "medium"),
        ("an issue the run noted", "low"),
    ]  # fmt: skip


def test_with_a_scorecard_the_reviewers_are_not_asked() -> None:
    assert ("greets", "verification") not in said({"SCORECARD.md": CARD, "VERIFICATION.md": VERIFICATION})


@given(st.dictionaries(st.sampled_from(["SCORECARD.md", "JUDGE-REPORT.md", "confidence.md"]), st.text()))
def test_no_paper_is_too_odd_to_be_read(papers: dict[str, str]) -> None:
    shortfalls = [one.shortfall for one in found(papers, "dir", 9.5)]

    assert shortfalls == sorted(shortfalls, reverse=True)
