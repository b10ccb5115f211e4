"""`autopilot verdict` and `autopilot trends`: what they print."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from autopilot.cli import parser as arguments
from autopilot.cli.verbs import trends, verdict
from autopilot.domain.request import VerdictEnd

RUN = {"run_id": "run-a", "success_rate": 1.0, "avg_alignment_score": 9.0, "total_estimated_tokens": 1000}


class Judge:
    """Says of every word the same."""

    def __init__(self, **more: Any) -> None:
        self.more = more

    def verdict(
        self, folder: str, phase: str, word: str, issues: tuple[str, ...], warn: Callable[[str], None]
    ) -> VerdictEnd:
        fields: dict[str, Any] = {"taken": True, **self.more}
        return VerdictEnd(run="run-a", phase=phase, verdict=f"{word}{len(issues)}", **fields)


class Counted:
    def __init__(self, *runs: dict[str, Any]) -> None:
        self.runs = runs

    def trends(self, folder: str) -> tuple[dict[str, Any], ...]:
        return self.runs


def printed(capsys: pytest.CaptureFixture[str], judge: Judge, *words: str) -> str:
    assert verdict.perform(arguments.parse("verdict", ["2", *words]), judge) == 0
    return capsys.readouterr().out


def test_a_verdict_tells_what_landed_and_what_to_type_next(capsys: pytest.CaptureFixture[str]) -> None:
    told = printed(capsys, Judge(landed=("2", "3"), notes=("phase 4: moved on",), do="autopilot resume"), "pass")

    assert told == (
        "Phase 2: human verdict recorded: pass0.\nLanded on your branch: phase 2 3\n"
        "Not on your branch yet: phase 4: moved on\nTo mend it: autopilot resume\n"
    )


def test_a_refusal_names_what_stands_on_it(capsys: pytest.CaptureFixture[str]) -> None:
    told = printed(capsys, Judge(behind=("3",)), "issues", "no date", "no name")

    assert "recorded: issues2." in told
    assert "Built upon it, and landed when it is mended: phase 3" in told


def test_a_word_left_to_a_run_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert "takes it in at its next step" in printed(capsys, Judge(taken=False), "pass")


def test_a_verdict_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    told = json.loads(printed(capsys, Judge(), "pass", "--json"))

    assert (told["phase"], told["taken"], told["landed"]) == ("2", True, [])


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        ((), "No run has ended here yet."),
        ((RUN,), "First run recorded. Trend analysis available after 2+ runs."),
        ((RUN, {**RUN, "run_id": "run-b", "success_rate": 0.5}), "Warning: Success rate decreased from 100% to 50%."),
    ],
    ids=["none", "one", "two"],
)
def test_trends_shows_how_runs_compare(
    capsys: pytest.CaptureFixture[str], runs: tuple[dict[str, Any], ...], said: str
) -> None:
    """MTRC-03a, MTRC-03d."""
    assert trends.show(".", Counted(*runs), as_json=False) == 0

    assert said in capsys.readouterr().out


def test_mtrc_03b_trends_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    trends.show(".", Counted(RUN, RUN), as_json=True)
    told = json.loads(capsys.readouterr().out)

    assert (len(told["runs"]), told["trend"]["success_rate_delta"]) == (2, 0.0)
