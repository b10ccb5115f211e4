"""Spans from records: a parent for each, times in order, and the same ones every time."""

import pytest

from autopilot.domain.answers import ResearchClaim
from autopilot.domain.events import Entry, Event, PhaseStarted, RunStopped
from autopilot.domain.evidence import Usage
from autopilot.domain.results import Researched
from autopilot.domain.verdict import Stop
from autopilot.history.record import RunRecord
from autopilot.views.export.spans import Span, pass_spans, run_span
from support.records import Story, brief, passed, started


def run_of(*events: Event) -> RunRecord:
    told = enumerate((started(model="model-x"), *events))
    return RunRecord(entries=tuple(Entry(number=n, at=f"2026-01-01T11:0{n}:00.000Z", event=e) for n, e in told))


def spans(story: Story, run: RunRecord) -> dict[str, Span]:
    return {span.name: span for span in (run_span(run), *pass_spans(run, story.brief, story.entries))}


def test_each_span_hangs_below_the_one_it_is_part_of() -> None:
    story = Story().begin("research").answer("c1", usage=Usage(input_tokens=5, cost_usd=0.5))
    story.step("research", Researched(claim=ResearchClaim()))
    found = spans(story, run_of(PhaseStarted(brief=brief()), passed("1")))

    run, phase, step, call = (
        found[n] for n in ("invoke_workflow autopilot", "phase 1", "step research", "invoke_agent plan")
    )
    assert (phase.parent, step.parent, call.parent) == (run.id, phase.id, step.id)
    assert (run.parent, {s.trace for s in found.values()}) == ("", {run.trace})
    assert call.attributes["gen_ai.usage.input_tokens"] == 5
    assert call.attributes["gen_ai.request.model"] == "model-x"
    assert "gen_ai.usage.output_tokens" not in call.attributes
    assert phase.attributes["gen_ai.evaluation.score.value"] == 9.4


def test_what_had_not_ended_is_marked_open() -> None:
    found = spans(Story().begin("plan"), run_of(PhaseStarted(brief=brief())))

    assert {span.open for span in found.values()} == {True}


def test_a_step_that_was_begun_again_is_two_spans() -> None:
    story = Story().begin("plan").begin("plan")
    run = run_of(PhaseStarted(brief=brief()))
    found = [span for span in pass_spans(run, story.brief, story.entries) if span.name == "step plan"]

    assert len({span.id for span in found}) == 2


@pytest.mark.parametrize("outcome", ["timeout", "crashed"])
def test_what_went_wrong_is_an_error(outcome: str) -> None:
    story = Story().begin("plan").answer("c", outcome=outcome)
    lost = passed("1")
    failed = type(lost)(cycle=0, outcome=lost.outcome, verdict=Stop(because="it does not hold"))
    found = spans(story, run_of(PhaseStarted(brief=brief()), failed, RunStopped(exit_code=21, reason="stuck")))

    assert found["invoke_agent plan"].attributes["error.type"] == outcome
    assert (found["phase 1"].error, found["invoke_workflow autopilot"].error) == ("it does not hold", "stuck")
