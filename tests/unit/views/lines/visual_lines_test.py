"""What the progress of a run says of pages."""

import pytest

from autopilot.domain.results import Verified
from autopilot.domain.visual import VisualIssue, VisualResults, skipped
from autopilot.views.lines.task_lines import counted, of_pages

WIDE = VisualIssue(route="home", type="layout", severity="major", description="too wide\x1b[31m")


def told(results: VisualResults, *, called_fixed: bool = False) -> list[str]:
    return list(of_pages(Verified(commit="c", tree="t", visual_test_results=results), called_fixed=called_fixed))


@pytest.mark.parametrize(
    ("results", "lines"),
    [
        (VisualResults(routes_tested=2, routes_passed=2), ["VERIFY: 2/2 pages look right"]),
        (skipped("Visual testing skipped: x."), ["VERIFY: Visual testing skipped: x."]),
        (VisualResults(issues_found=(WIDE,)), ["VERIFY FAIL -- major layout issue on home: too wide"]),
        (
            VisualResults(issues_found=(WIDE,) * 5),
            [*["VERIFY FAIL -- major layout issue on home: too wide"] * 3, "VERIFY FAIL -- and 2 more"],
        ),
    ],
    ids=["fine", "skipped", "wrong", "much wrong"],
)
def test_pages_are_told_in_a_few_clean_lines(results: VisualResults, lines: list[str]) -> None:
    assert told(results) == lines


def test_a_debugger_that_called_it_fixed_is_put_beside_what_is_seen() -> None:
    seen = told(VisualResults(issues_found=(WIDE,)), called_fixed=True)

    assert seen[-1].startswith("VERIFY: the debugging agent reported it fixed; the browser shows a major layout issue")


def test_where_nobody_looked_nothing_is_told() -> None:
    unseen = Verified(commit="c", tree="t")

    assert (list(of_pages(unseen, called_fixed=True)), counted(unseen)) == ([], "")
