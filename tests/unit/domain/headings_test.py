"""The nine headings a phase is shown under."""

import pytest

from autopilot.domain.results import HEADINGS, heading_of, number_of, skipped_between
from autopilot.pipeline import PIPELINE


def test_the_pipeline_runs_under_the_headings_in_order() -> None:
    shown = [heading for stage in PIPELINE if stage.name != "fix" and (heading := heading_of(stage.name))]

    assert tuple(dict.fromkeys(shown)) == HEADINGS


@pytest.mark.parametrize(
    ("step", "heading"),
    [("plan_check", "PLAN-CHECK"), ("fix", "EXECUTE"), ("judge_divergence", "JUDGE"), ("debug", None)],
)
def test_a_step_has_its_heading(step: str, heading: str | None) -> None:
    assert heading_of(step) == heading


@pytest.mark.parametrize(
    ("done", "target", "skipped"),
    [(None, "TRIAGE", ("PREFLIGHT",)), ("TRIAGE", "PLAN-CHECK", ("RESEARCH", "PLAN")), ("VERIFY", "JUDGE", ())],
)
def test_what_is_passed_over_is_named(done: str | None, target: str, skipped: tuple[str, ...]) -> None:
    assert skipped_between(done, target) == skipped
    assert number_of("RATE") == 9
