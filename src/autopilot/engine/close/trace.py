"""TRACE.jsonl and one trace a step, computed from the journal: every call, command and decision (OBSV-01, OBSV-02)."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from autopilot.domain.events import AgentAnswered, Entry, StepFinished
from autopilot.domain.results import Rated
from autopilot.domain.value import tag_of
from autopilot.domain.verdict import Advance
from autopilot.engine.close.postmortem import Span, runs_of
from autopilot.engine.decide.next_step import Finish, next_move
from autopilot.history.record import PhaseRecord
from autopilot.pipeline import PIPELINE
from autopilot.text.redact import redact

SUMMARY = 200
# Enough to see a secret as a whole that begins within the summary.
LOOKED_AT = 20_000
RUNNER = "phase_runner"
TRACED = ("research", "plan", "plan_check", "execute", "verify", "judge", "debug")
PART_OF = {"mini_verify": "execute", "fix": "execute", "judge_divergence": "judge"}


def trace_files(passes: Sequence[PhaseRecord]) -> dict[str, str]:
    """OBSV-01a, OBSV-02a: the whole trace of a phase, and that of each step that ran in one of its passes."""
    spans = [span for record in passes for span in spans_of(record)]
    own: dict[str, list[Span]] = {step: [] for step in TRACED}
    for span in spans:
        own.get(PART_OF.get(span.step, span.step), []).append(span)
    ran = {step: found for step, found in own.items() if any(span.status != "skipped" for span in found)}
    return {"TRACE.jsonl": _lines(spans)} | {f"{step}-trace.jsonl": _lines(found) for step, found in ran.items()}


def trace_of(passes: Iterable[PhaseRecord]) -> str:
    """The phase's passes one after the other, a span a line."""
    return _lines(span for record in passes for span in spans_of(record))


def _lines(spans: Iterable[Span]) -> str:
    return "".join(msgspec.json.encode(span).decode() + "\n" for span in spans)


def spans_of(record: PhaseRecord) -> Iterator[Span]:
    for entry in record.entries:
        match entry.event:
            case AgentAnswered() as answer:
                yield from agent_spans(record, entry, answer)
            case StepFinished() as done:
                yield from step_spans(record, entry, done)
                yield runner_span(record, entry, done)
            case _:
                pass
    end = next_move(record)
    if isinstance(end, Finish):
        yield last_span(record, end)


def agent_spans(record: PhaseRecord, entry: Entry, answer: AgentAnswered) -> Iterator[Span]:
    """The call, and the planning files that were taken from it."""
    asked = Span(
        timestamp=entry.at,
        phase_id=record.phase.id,
        step=answer.call.split("/")[-2] if "/" in answer.call else answer.role,
        action="agent_spawn",
        input_summary=_cut(f"{answer.role} {answer.task or ''}".strip()),
        output_summary=_cut(answer.answer or answer.text),
        duration_ms=_ms(answer.seconds),
        status="success" if answer.outcome == "ok" else "failure",
    )
    yield asked
    for path, text in sorted(answer.wrote.items()):
        size = f"{len(text.splitlines())} lines"
        yield msgspec.structs.replace(
            asked, action="file_write", input_summary=_cut(path), output_summary=size, duration_ms=0, status="success"
        )


def runner_span(record: PhaseRecord, entry: Entry, done: StepFinished) -> Span:
    """OBSV-02a: a step as whoever sent it off sees it."""
    call = f"{record.start.run}/{record.phase.id}/{done.step}/{done.n}"
    return Span(
        timestamp=entry.at,
        phase_id=record.phase.id,
        step=RUNNER,
        action="decision" if record.answered(call) is None else "agent_spawn",
        input_summary=_cut(f"{done.step} {done.n}"),
        output_summary=_cut(f"{done.step} complete, commit {done.commit}"),
        duration_ms=_ms(done.seconds),
        status="success" if isinstance(done.verdict, Advance) else "failure",
    )


def step_spans(record: PhaseRecord, entry: Entry, done: StepFinished) -> Iterator[Span]:
    """The step's commands, its decision, and the steps that decision leaves out."""
    decided = Span(
        timestamp=entry.at,
        phase_id=record.phase.id,
        step=done.step,
        action="decision",
        input_summary=tag_of(done.result),
        output_summary=_cut(f"{tag_of(done.verdict)} {getattr(done.verdict, 'because', '')}".strip()),
        duration_ms=_ms(done.seconds),
        status="success" if isinstance(done.verdict, Advance) else "failure",
    )
    for run in runs_of(done):
        yield msgspec.structs.replace(
            decided,
            action="command_run",
            input_summary=_cut(run.command),
            output_summary=_cut(run.output),
            duration_ms=_ms(run.seconds),
            status="success" if run.passed else "failure",
        )
    yield decided
    for step in skipped(done):
        why = f"left out: {getattr(done.verdict, 'because', '')}"
        yield msgspec.structs.replace(
            decided, step=step, input_summary=_cut(why), output_summary="", duration_ms=0, status="skipped"
        )


def skipped(done: StepFinished) -> tuple[str, ...]:
    """The steps between this one and the one its verdict goes ahead to, where that is a way of leaving them out."""
    order = [stage.name for stage in PIPELINE]
    target = done.verdict.to if isinstance(done.verdict, Advance) else None
    if target is None or done.step != "triage":
        return ()
    return tuple(order[order.index(done.step) + 1 : order.index(target)])


def last_span(record: PhaseRecord, end: Finish) -> Span:
    """OBSV-02c."""
    rated = record.find(Rated)
    score = "none" if rated is None else f"{rated.score}"
    return Span(
        timestamp=record.entries[-1].at if record.entries else "",
        phase_id=record.phase.id,
        step=RUNNER,
        action="decision",
        input_summary="Phase pipeline complete",
        output_summary=_cut(f"status {end.status}, score {score}: {end.reason}"),
        duration_ms=_ms(sum(step.seconds for step in record.finished)),
        status="success" if end.status == "completed" else "failure",
    )


def _cut(text: str) -> str:
    return redact(text.strip()[:LOOKED_AT])[:SUMMARY]


def _ms(seconds: float) -> int:
    return round(seconds * 1000)
