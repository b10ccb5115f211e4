"""The trace of a phase: computed from the journal, so whatever the journal holds has one."""

import json

import pytest

from autopilot.domain.results import Triaged, Unanswered
from autopilot.domain.verdict import Advance, Retry, Stop
from autopilot.engine.trace import SUMMARY, spans_of, trace_of
from support.records import DONE, Story, ran, whole

FIELDS = [
    "timestamp", "phase_id", "step", "action", "input_summary", "output_summary", "duration_ms", "status",
]  # fmt: skip


def test_obsv_01_every_line_is_a_span_with_its_fields() -> None:
    lines = [json.loads(line) for line in trace_of((whole(),)).splitlines()]

    assert all(list(line) == FIELDS for line in lines)
    assert {line["action"] for line in lines} == {"command_run", "decision"}
    assert {line["phase_id"] for line in lines} == {"1"}


def test_obsv_01b_summaries_are_cut() -> None:
    long = ran("SC-1", command="x" * 900, output="y" * 900)
    told = Story().answer("r/1/plan/1", text="z" * 900, answer=None, outcome="crashed")
    told.step("triage", Triaged(routing="full_pipeline", source="plan", checks=(long,)), Stop(because="w" * 900))

    spans = list(spans_of(told.record))

    assert {max(len(s.input_summary), len(s.output_summary)) for s in spans} == {SUMMARY}
    assert [s.status for s in spans] == ["failure", "success", "failure", "failure"]


def test_obsv_01_an_agent_call_is_told_with_its_step_and_time() -> None:
    told = Story().answer("run/1/execute/1.2", role="execute", task="01-01", seconds=1.5, answer='{"a": 1}')

    (span, *_) = spans_of(told.record)

    assert (span.step, span.action, span.input_summary) == ("execute", "agent_spawn", "execute 01-01")
    assert (span.output_summary, span.duration_ms, span.status) == ('{"a": 1}', 1500, "success")


def test_obsv_01_steps_that_are_left_out_are_told_as_skipped() -> None:
    known = Triaged(routing="verify_only", source="roadmap", checks=(ran("SC-1"),))
    told = Story().step("triage", known, Advance(to="verify", because="they hold"))

    spans = list(spans_of(told.record))

    assert [s.step for s in spans if s.status == "skipped"] == [
        "research", "plan", "plan_check", "execute", "mini_verify",
    ]  # fmt: skip
    assert spans[0].input_summary == DONE


def test_obsv_02c_the_end_of_a_pass_is_its_last_span() -> None:
    *_, last = spans_of(whole())

    assert (last.step, last.action, last.status) == ("phase_runner", "decision", "success")
    assert (last.input_summary, last.output_summary) == (
        "Phase pipeline complete", "status completed, score 9.4: every gate passed",
    )  # fmt: skip


def test_obsv_02_the_passes_of_a_phase_follow_each_other() -> None:
    lines = trace_of((whole(), whole())).splitlines()

    assert lines[: len(lines) // 2] == lines[len(lines) // 2 :]


QUIET = Unanswered(role="plan", outcome="timeout", detail="")


@pytest.mark.parametrize(
    "story",
    [Story(), Story().begin("plan"), Story().answer("odd", text=""), Story().step("plan", QUIET, Retry(step="plan", because=""))],
    ids=["nothing", "cut off", "an odd call", "no answer"],
)  # fmt: skip
def test_obsv_02b_no_record_keeps_a_trace_from_being_made(story: Story) -> None:
    assert all(json.loads(line) for line in trace_of((story.record,)).splitlines())


def test_a_secret_across_the_end_of_a_summary_is_not_cut_in_half() -> None:
    secret = "ghp_" + "a1B2" * 9
    told = Story().answer("r/1/plan/1", text="z" * (SUMMARY - 10) + f" {secret}", answer=None, outcome="crashed")

    assert "ghp_" not in trace_of((told.record,))
