"""
A run as spans: run, pass of a phase, step, call. Pure: computed from the journal, and always the same for the same one.

Names and attributes are those of OpenTelemetry's conventions for generative AI; what was said is left out.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Literal

from autopilot.domain.attempt import Brief
from autopilot.domain.events import (
    AgentAnswered,
    AgentStarted,
    CompletionFinished,
    CompletionStarted,
    Entry,
    PhaseFinished,
    PhaseStarted,
    RunFinished,
    RunStopped,
    StepFinished,
    StepStarted,
    stream_of,
)
from autopilot.domain.results import COMPLETION
from autopilot.domain.value import Value, tag_of
from autopilot.domain.verdict import Stop
from autopilot.history.record import RunRecord
from autopilot.text.clean import clean

Attribute = str | int | float | bool
LONGEST = 300
_PASSED = frozenset({0, 12})


class Span(Value, frozen=True, kw_only=True):
    """
    `id`, `parent` and `trace` are hexadecimal; times are UTC, ISO 8601. `error` says what went wrong, if something did.

    `open` is one that had not ended: its `end` is the newest time known.
    """

    trace: str
    id: str
    parent: str = ""
    name: str
    kind: Literal["internal", "client"] = "internal"
    start: str
    end: str
    attributes: dict[str, Attribute] = {}
    error: str = ""
    open: bool = False


def trace_id(run: RunRecord) -> str:
    """The same whenever the run is exported; another project's run of the same second has another."""
    return _hex(f"{run.start.run} {run.start.spec.sha256} {run.start.base} {run.start.root}", 32)


def run_span(run: RunRecord) -> Span:
    end = run.end
    failed = isinstance(end, RunFinished | RunStopped) and end.exit_code not in _PASSED
    more: dict[str, Attribute] = (
        {"autopilot.exit_code": end.exit_code} if isinstance(end, RunFinished | RunStopped) else {}
    )
    return Span(
        trace=trace_id(run),
        id=_span_id(run, run.start.run),
        name="invoke_workflow autopilot",
        start=run.entries[0].at,
        end=run.entries[-1].at,
        attributes={
            "gen_ai.operation.name": "invoke_workflow",
            "gen_ai.workflow.name": "autopilot",
            "gen_ai.conversation.id": run.start.run,
            "autopilot.run": run.start.run,
            "autopilot.phases": len(run.start.targets),
            **more,
        },
        error=clean(end.reason, LONGEST) if failed and isinstance(end, RunFinished | RunStopped) else "",
        open=end is None,
    )


def pass_spans(run: RunRecord, brief: Brief, entries: Sequence[Entry]) -> Iterator[Span]:
    """The pass, its steps and their calls. `entries` are those of the pass's own stream."""
    begun = next(e.at for e in run.entries if _begins(e, brief))
    done = _finish(run, brief)
    stream = stream_of(run.start.run, brief.phase.id, brief.number)
    whole = Span(
        trace=trace_id(run),
        id=_span_id(run, stream),
        parent=_span_id(run, run.start.run),
        name=COMPLETION if brief.phase.id == COMPLETION else f"phase {brief.phase.id}",
        start=begun,
        end=done.at if done else entries[-1].at if entries else begun,
        attributes=_of_pass(brief, done),
        error=_why(done),
        open=done is None,
    )
    yield whole
    yield from _step_spans(run, whole, entries)


def _begins(entry: Entry, brief: Brief) -> bool:
    return isinstance(entry.event, PhaseStarted | CompletionStarted) and entry.event.brief == brief


def _finish(run: RunRecord, brief: Brief) -> Entry | None:
    """The entry that ended the pass: the first of its phase behind its start."""
    behind = False
    for entry in run.entries:
        behind = behind or _begins(entry, brief)
        match entry.event:
            case PhaseFinished(outcome=outcome) if behind and outcome.phase == brief.phase.id:
                return entry
            case CompletionFinished() if behind and brief.phase.id == COMPLETION:
                return entry
    return None


def _of_pass(brief: Brief, done: Entry | None) -> dict[str, Attribute]:
    told: dict[str, Attribute] = {
        "autopilot.phase": brief.phase.id,
        "autopilot.phase.name": clean(brief.phase.name, LONGEST),
        "autopilot.pass": brief.number + 1,
        "autopilot.mode": brief.mode,
    }
    if done is not None and isinstance(done.event, PhaseFinished):
        told |= {"autopilot.verdict": tag_of(done.event.verdict), "autopilot.status": done.event.outcome.status}
        score = done.event.outcome.alignment_score
        told |= {} if score is None else {"gen_ai.evaluation.score.value": score, "gen_ai.evaluation.name": "alignment"}
    return told


def _why(done: Entry | None) -> str:
    """Only a phase that was given up went wrong: one that is mended or asks a person goes on."""
    event = done.event if done else None
    gave_up = event.verdict if isinstance(event, PhaseFinished) and isinstance(event.verdict, Stop) else None
    return clean(gave_up.because, LONGEST) if gave_up else ""


def _step_spans(run: RunRecord, whole: Span, entries: Sequence[Entry]) -> Iterator[Span]:
    begun: Entry | None = None
    held = list[Entry]()
    for entry in entries:
        if isinstance(entry.event, StepStarted):
            if begun is not None:
                yield from _one_step(run, whole, begun, held)  # It was cut off and is begun again.
            begun, held = entry, []
        elif begun is not None:
            held.append(entry)
            if isinstance(entry.event, StepFinished):
                yield from _one_step(run, whole, begun, held)
                begun = None
    if begun is not None:
        yield from _one_step(run, whole, begun, held)


def _one_step(run: RunRecord, whole: Span, begun: Entry, held: Sequence[Entry]) -> Iterator[Span]:
    start = begun.event
    assert isinstance(start, StepStarted)
    done = held[-1].event if held and isinstance(held[-1].event, StepFinished) else None
    told: dict[str, Attribute] = {"autopilot.step": start.step, "autopilot.try": start.n}
    told |= {"autopilot.task": start.task} if start.task else {}
    told |= {"autopilot.verdict": tag_of(done.verdict)} if done else {}
    step = Span(
        trace=whole.trace,
        id=_span_id(run, f"{whole.id} {begun.number}"),
        parent=whole.id,
        name=f"step {start.step}",
        start=begun.at,
        end=held[-1].at if held else begun.at,
        attributes=told,
        open=done is None,
    )
    yield step
    yield from _call_spans(run, step, held)


def _call_spans(run: RunRecord, step: Span, held: Sequence[Entry]) -> Iterator[Span]:
    started: dict[str, str] = {}
    for entry in held:
        match entry.event:
            case AgentStarted(call=call):
                started[call] = entry.at
            case AgentAnswered() as answer:
                begun = started.pop(answer.call, step.start)
                yield _call(run, step, answer, (begun, entry))


def _call(run: RunRecord, step: Span, answer: AgentAnswered, times: tuple[str, Entry]) -> Span:
    begun, entry = times
    settings, usage = run.start.settings, answer.usage
    known = {
        "gen_ai.request.model": settings.model,
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "autopilot.cost_usd": usage.cost_usd,
        "autopilot.task": answer.task,
        "error.type": None if answer.outcome == "ok" else answer.outcome,
    }
    return Span(
        trace=step.trace,
        id=_span_id(run, f"{step.id} {entry.number}"),
        parent=step.id,
        name=f"invoke_agent {answer.role}",
        kind="client",
        start=begun,
        end=entry.at,
        attributes={
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.provider.name": clean(settings.agent.partition(":")[0], 40),
            "gen_ai.agent.name": answer.role,
            "gen_ai.conversation.id": run.start.run,
            "autopilot.call": answer.call,
            **{name: value for name, value in known.items() if value is not None},
        },
        error="" if answer.outcome == "ok" else answer.outcome,
    )


def _span_id(run: RunRecord, place: str) -> str:
    return _hex(f"{trace_id(run)} {place}", 16)


def _hex(text: str, letters: int) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:letters]
