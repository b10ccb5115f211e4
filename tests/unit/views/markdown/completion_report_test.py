"""The report of a run's end, and how it compares with runs before it."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.events import CompletionFinished, Entry, Event, RunFinished
from autopilot.domain.results import FixedGap, Gap, RemainingGap, SelfAudit
from autopilot.history.record import RunRecord
from autopilot.views.lines import trend_lines as trends
from autopilot.views.markdown.completion_report import Ended, report
from support.records import RUN, passed, phase, started

GOLDEN = Path(__file__).parents[3] / "data" / "completion" / "report.md"
AUDIT = SelfAudit(
    total_requirements_checked=3, passed_on_first_check=1, gaps_found=2, gaps_fixed=1, gaps_remaining=1, audit_cycles=2,
    remaining_gap_details=(RemainingGap(requirement_id="B-2", description="no stamp"),),
    found=(
        Gap(requirement_id="A-1", phase_id="1", gap_description="not signed", fix_complexity="small"),
        Gap(requirement_id="B-2", phase_id="1", gap_description="no stamp"),
    ),
    fixed=(FixedGap(requirement_id="A-1", phase_id="1", fix_commits=("0123abcdef",)),),
)  # fmt: skip
DONE = CompletionFinished(commit="c", integration="pass", self_audit=AUDIT, version="1.5.0")
ALIKE = tuple(passed(str(n), 9.3 + n % 2 / 10) for n in range(1, 8))
FINISHED = RunFinished(
    status="completed", exit_code=12, reason="every target phase passed, but self-audit gaps remain: B-2"
)


def summary(name: str, **more: Any) -> dict[str, Any]:
    blank = {"status": "not_started", "alignment_score": None, "estimated_tokens": None, "duration_minutes": None}
    return {"phase_id": name, **blank, "tokens_used": 0, **more}


METRICS: dict[str, Any] = {
    "run_id": RUN, "timestamp": "2026-01-01T12:03:00.000Z", "phases_attempted": 1, "phases_succeeded": 1,
    "phases_failed": 0, "phases_human_deferred": 0, "failure_taxonomy_histogram": {"lint_failure": 2},
    "avg_alignment_score": 9.4, "total_duration_minutes": 3.0, "total_estimated_tokens": 78_000,
    "total_tokens_used": 1200, "total_debug_loops": 1, "total_replan_attempts": 0, "success_rate": 1.0,
    "per_phase_summary": [
        summary("1", status="completed", alignment_score=9.4, estimated_tokens=78_000, tokens_used=1200,
                duration_minutes=2.5),
        summary("2"),
    ],
}  # fmt: skip


def run_of(*events: Event) -> RunRecord:
    begun = started(phase("1"), phase("2"), targets=("1",))
    told = (begun, *events, FINISHED)
    return RunRecord(entries=tuple(Entry(number=n, at="", event=event) for n, event in enumerate(told)))


def ended(*events: Event) -> Ended:
    account = f"Run {RUN}: 1 of 1 phases passed.\n"
    return Ended(run=run_of(*events), finished=FINISHED, metrics=METRICS, account=account, left=("2",))


def ran(name: str, rate: float, score: float | None, tokens: int, *failures: str) -> dict[str, Any]:
    return {
        "run_id": f"run-{name}", "success_rate": rate, "avg_alignment_score": score, "total_estimated_tokens": tokens,
        "failure_taxonomy_histogram": dict.fromkeys(failures, 1),
    }  # fmt: skip


RUNS = [
    ran("a", 1.0, 8.0, 70_000, "scope_creep"),
    ran("b", 1.0, 8.6, 80_000, "lint_failure", "scope_creep"),
    ran("c", 0.5, 9.0, 60_000, "lint_failure"),
]


def test_the_whole_report_is_as_it_was_written_by_hand() -> None:
    """RPT-01, COMP-06, MTRC-03c, MTRC-03d, INV-17."""
    assert report(ended(*ALIKE, DONE), RUNS) == GOLDEN.read_text(encoding="utf-8")


def test_comp_06_without_an_alert_there_is_no_section_for_one() -> None:
    text = report(ended(*ALIKE[:6], DONE))

    assert "Rubber-Stamp" not in text
    assert "Trend Analysis" not in text


def test_rpt_01_a_run_without_such_an_end_says_so() -> None:
    text = report(ended())

    assert "integration: not run" in text
    assert "## Self-Audit Results\n\nSelf-audit: not run." in text


def test_mtrc_03b_the_newest_run_beside_the_one_before_and_all() -> None:
    assert trends.trend(RUNS) == {
        "success_rate_delta": -0.5,
        "avg_alignment_delta": 0.4,
        "estimated_cost_delta": -20_000,
        "recurring_failures": ["lint_failure"],
        "historical": {
            "total_runs": 3,
            "success_rate": {"min": 0.5, "max": 1.0, "avg": 0.833},
            "avg_alignment": {"min": 8.0, "max": 9.0, "avg": 8.5},
            "total_cost": {"min": 60_000, "max": 80_000, "avg": 70_000.0},
        },
    }


@pytest.mark.parametrize(
    ("runs", "told"),
    [
        pytest.param(RUNS[:1], (trends.FIRST,), id="MTRC-03a the first run"),
        pytest.param(RUNS[:2], (), id="as good as before"),
        pytest.param(RUNS, (trends.warning(RUNS),), id="MTRC-03d worse than before"),
    ],
)
def test_a_run_says_what_there_is_to_say_of_the_trend(runs: list[dict[str, Any]], told: tuple[str, ...]) -> None:
    assert trends.notes(runs) == told


@given(st.lists(st.sampled_from([*RUNS, ran('x"y\n]', 0.0, None, 0)]), min_size=2, max_size=30))
def test_every_chart_has_as_many_bars_as_names(runs: list[dict[str, Any]]) -> None:
    text = "\n".join(trends.charts(runs))

    names = re.findall(r"x-axis \[(.*)\]", text)
    bars = re.findall(r"bar \[(.*)\]", text)
    wanted = min(len(runs), trends.MOST_BARS)
    assert [row.count('"') // 2 for row in names] == [len(row.split(",")) for row in bars] == [wanted] * 3


def test_inv_17_a_report_says_what_to_type_in_the_shell() -> None:
    text = report(ended(DONE), RUNS)

    assert text.count("To continue: `autopilot ") == 1
    assert ("/clear" in text, "/autopilot " in text) == (False, False)
