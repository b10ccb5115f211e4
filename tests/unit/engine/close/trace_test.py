"""The trace of a phase: computed from the journal, so whatever the journal holds has one."""

import json
from typing import get_args, get_type_hints

import msgspec
import pytest

from autopilot.domain.events import StepFinished
from autopilot.domain.results import Fixed, Triaged, Unanswered
from autopilot.domain.verdict import Advance, Retry, Stop
from autopilot.engine.close.postmortem import Span
from autopilot.engine.close.trace import RUNNER, SUMMARY, TRACED, spans_of, trace_files, trace_of
from support.records import DONE, RUN, Story, ran, whole, work

FIELDS = [
    "timestamp", "phase_id", "step", "action", "input_summary", "output_summary", "duration_ms", "status",
]  # fmt: skip


def test_obsv_01_every_line_is_a_span_with_its_fields() -> None:
    lines = [json.loads(line) for line in trace_of((whole(),)).splitlines()]

    assert all(list(line) == FIELDS for line in lines)
    assert {line["action"] for line in lines} == {"command_run", "decision"}
    assert {line["phase_id"] for line in lines} == {"1"}


def test_obsv_01b_summaries_are_cut() -> None:
    wordy = ran("SC-1", command="x" * 900, output="y" * 900)
    told = Story().answer("r/1/plan/1", text="z" * 900, answer=None, outcome="crashed")
    told.step("triage", Triaged(routing="full_pipeline", source="plan", checks=(wordy,)), Stop(because="w" * 900))

    spans = list(spans_of(told.record))

    long = [s for s in spans if s.input_summary != "triage 1"]
    assert {max(len(s.input_summary), len(s.output_summary)) for s in long} == {SUMMARY}
    assert [s.status for s in long] == ["failure", "success", "failure", "failure"]


def test_obsv_01b_action_and_status_come_from_a_fixed_list() -> None:
    known = get_type_hints(Span)

    assert set(get_args(known["status"])) == {"success", "failure", "skipped"}
    assert set(get_args(known["action"])) == {
        "file_read", "file_write", "command_run", "tool_call", "agent_spawn", "decision",
    }  # fmt: skip


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


def test_obsv_02c_the_last_span_has_the_time_of_all_steps() -> None:
    told = whole()
    slow = tuple(
        msgspec.structs.replace(e, event=msgspec.structs.replace(e.event, seconds=0.25))
        for e in told.entries
        if isinstance(e.event, StepFinished)
    )
    *_, last = spans_of(msgspec.structs.replace(told, entries=slow))

    assert last.duration_ms == 250 * len(slow)


def test_obsv_02_the_passes_of_a_phase_follow_each_other() -> None:
    lines = trace_of((whole(), whole())).splitlines()

    assert lines[: len(lines) // 2] == lines[len(lines) // 2 :]


def asked() -> Story:
    """A pass whose steps were put to agents; the first task was mended once."""
    told = Story().begin("plan").answer(f"{RUN}/1/plan/1", wrote={"d/PLAN.md": "a\nb\n"}, seconds=2.0)
    told.planned().executed().step("fix", Fixed(work=work()), Advance(to="mini_verify")).verified().judged().rated()
    return told.answer(f"{RUN}/1/fix/1", role="debug", task="01-01")


@pytest.mark.parametrize("step", TRACED)
def test_obsv_01a_a_step_that_ran_has_a_trace_of_its_own_and_another_has_none(step: str) -> None:
    """DIR-01: the trace of a step is there when, and only when, the step ran."""
    files = trace_files((asked().record,))

    assert (f"{step}-trace.jsonl" in files) == (step != "debug")
    lines = [json.loads(line) for line in files.get(f"{step}-trace.jsonl", "").splitlines()]
    parts = {"execute": {"execute", "mini_verify", "fix"}, "judge": {"judge", "judge_divergence"}}
    assert {line["step"] for line in lines} == (parts.get(step, {step}) if lines else set())
    assert all(list(line) == FIELDS for line in lines)


def test_obsv_01a_every_line_of_a_step_s_trace_is_in_the_whole_one() -> None:
    files = trace_files((asked().record, asked().record))
    whole_trace = files.pop("TRACE.jsonl").splitlines()

    assert files
    assert {line for text in files.values() for line in text.splitlines()} <= set(whole_trace)


def test_obsv_01a_a_step_that_was_left_out_has_no_trace_of_its_own() -> None:
    known = Triaged(routing="verify_only", source="roadmap", checks=(ran("SC-1"),))
    told = Story().step("triage", known, Advance(to="verify", because="they hold")).verified()

    assert trace_files((told.record,)).keys() == {"TRACE.jsonl", "verify-trace.jsonl"}


def test_obsv_02a_each_step_has_a_span_of_the_phase_runner() -> None:
    spans = [s for s in spans_of(asked().record) if s.step == RUNNER]

    assert [s.input_summary for s in spans[:4]] == ["preflight 1", "triage 1", "research 1", "plan 1"]
    assert {s.input_summary: s.action for s in spans}["plan 1"] == "agent_spawn"
    assert spans[0].action == "decision"


def test_obsv_01b_a_planning_file_an_agent_wrote_is_a_span() -> None:
    span = next(s for s in spans_of(asked().record) if s.action == "file_write")

    assert (span.step, span.input_summary, span.output_summary, span.status) == (
        "plan", "d/PLAN.md", "2 lines", "success",
    )  # fmt: skip


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
