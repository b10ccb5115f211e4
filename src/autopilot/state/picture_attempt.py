"""How the entries of one pass change the picture: its steps, tasks and calls, what they cost and what went wrong."""

from collections.abc import Callable, Iterable
from typing import TypeVar

import msgspec

from autopilot.domain.attempt import Brief
from autopilot.domain.events import AgentAnswered, AgentStarted, Entry, StepFinished, StepStarted
from autopilot.domain.phase import Plan
from autopilot.domain.results import COMPLETION, Executed, Fixed, MiniVerified, PlanChecked, Rated, Unanswered
from autopilot.domain.verdict import Advance, AskHuman, Retry, Stop, Verdict
from autopilot.history.digest import tokens_of
from autopilot.history.record import remediation_task
from autopilot.policy.task_progress import task_order
from autopilot.state.picture import (
    AgentCall,
    CallRow,
    Caution,
    Happened,
    OpenPass,
    Picture,
    Scorecard,
    StepEnd,
    StepRow,
    Tally,
    TaskRow,
    TaskState,
    Used,
    Wait,
)
from autopilot.state.wait_words import interrupted_line
from autopilot.text.clean import clean
from autopilot.text.times import elapsed, seconds_between, short

MOST_ROWS, MOST_RECENT = 12, 60
STEPS_KEPT, CALLS_KEPT = 20, 20
_AT_WORK: dict[str, TaskState] = {"execute": "working", "fix": "fixing", "mini_verify": "reviewing"}
_LIMITED = frozenset({"usage_limited", "rate_limited"})
_ENDS: dict[StepEnd, str] = {
    "": "under way", "done": "done", "back": "sent back", "stopped": "given up", "person": "left to a person",
}  # fmt: skip
N = TypeVar("N", int, float)
Drawn = tuple[Picture, tuple[Caution, ...]]


def opened(brief: Brief, at: str) -> OpenPass:
    tasks = (_task(remediation_task(brief)),) if brief.cycle else ()
    return OpenPass(
        phase=brief.phase.id,
        name=clean(brief.phase.name, 80),
        began=at,
        number=brief.number,
        cycle=brief.cycle,
        mode=brief.mode,
        tasks=tasks,
    )


def after_step(picture: Picture, stream: str, entry: Entry) -> Drawn:
    """The picture with an entry of a pass in it, and what there is to worry about."""
    known = picture.passes.get(stream) or _joined(stream, entry.at)
    match entry.event:
        case StepStarted() as event:
            return _with(picture, stream, _started(known, event, entry.at)), ()
        case AgentStarted() as event:
            return _called(_with(picture, stream, _asked(known, event, entry)), stream, event, entry.at), ()
        case AgentAnswered() as event:
            drawn = _with(picture, stream, _told(known, event, entry))
            return _answered(drawn, stream, event), _heard(known, event, entry.at)
        case StepFinished() as event:
            return _finished(picture, stream, known, event, entry.at), _troubles(known, event, entry.at)
    return picture, ()


def kept_short(picture: Picture, stream: str) -> Picture:
    """
    The picture without the steps and calls of the pass that nothing shows any more.

    So an entry costs the same however many came before it. What comes later does not depend on what is left out: the
    picture is the same whether it is kept short after every entry or once at the end.
    """
    known = picture.passes.get(stream)
    if known is None or not known.steps:
        return picture
    steps, last = known.steps, known.steps[-1]
    if len(last.calls) > CALLS_KEPT:
        steps = (*steps[:-1], msgspec.structs.replace(last, calls=_newest_calls(last.calls)))
    if len(steps) > STEPS_KEPT:
        steps = _newest_steps(steps)
    return picture if steps is known.steps else _with(picture, stream, msgspec.structs.replace(known, steps=steps))


def _newest_calls(calls: tuple[CallRow, ...]) -> tuple[CallRow, ...]:
    """Those without an answer stay: it is put in their place."""
    return (*(row for row in calls[:-CALLS_KEPT] if row.seconds is None), *calls[-CALLS_KEPT:])


def _newest_steps(steps: tuple[StepRow, ...]) -> tuple[StepRow, ...]:
    """The newest of each name stays as well: how it ended is shown."""
    newest = {row.step: number for number, row in enumerate(steps)}
    first = len(steps) - STEPS_KEPT
    return tuple(
        row for number, row in enumerate(steps) if number >= first or row.seconds is None or newest[row.step] == number
    )


def steps_of(stream: str, entries: Iterable[Entry]) -> tuple[StepRow, ...]:
    """All steps of one pass, for those who look into it."""
    picture = Picture()
    for entry in entries:
        picture, _ = after_step(picture, stream, entry)
    return picture.passes[stream].steps if stream in picture.passes else ()


def phase_of(stream: str) -> str:
    return stream.partition("/")[2].partition("~")[0]


def _joined(stream: str, at: str) -> OpenPass:
    """A pass whose beginning was not seen."""
    return OpenPass(phase=phase_of(stream), name="", began=at)


def _with(picture: Picture, stream: str, known: OpenPass, **fields: object) -> Picture:
    return msgspec.structs.replace(picture, passes={**picture.passes, stream: known}, **fields)


def _task(task: object) -> TaskRow:
    return TaskRow(id=clean(getattr(task, "id", ""), 40), title=clean(getattr(task, "title", ""), 80))


def _started(known: OpenPass, event: StepStarted, at: str) -> OpenPass:
    row = StepRow(step=event.step, began=at, task=clean(event.task or "", 40))
    state = _AT_WORK.get(event.step)
    tasks = _marked(known.tasks, row.task, state) if state and row.task else known.tasks
    return msgspec.structs.replace(known, steps=(*known.steps, row), tasks=tasks)


def _marked(tasks: tuple[TaskRow, ...], task: str, state: TaskState) -> tuple[TaskRow, ...]:
    return tuple(msgspec.structs.replace(row, state=state) if row.id == task else row for row in tasks)


def _asked(known: OpenPass, event: AgentStarted, entry: Entry) -> OpenPass:
    """The call under way; it takes the place of one that a process before this one made and nobody answered."""
    call = CallRow(call=event.call, entry=entry.number, role=event.role, began=entry.at)

    def asked(calls: tuple[CallRow, ...]) -> tuple[CallRow, ...]:
        return (*(row for row in calls if row.call != event.call or row.seconds is not None), call)

    return _of_newest(known, asked)


def _told(known: OpenPass, event: AgentAnswered, entry: Entry) -> OpenPass:
    """The call with its answer; one whose beginning was not seen is put behind the others."""

    def answered(calls: tuple[CallRow, ...]) -> tuple[CallRow, ...]:
        begun = next((row for row in calls if row.call == event.call and row.seconds is None), None)
        row = CallRow(
            call=event.call,
            entry=entry.number,
            role=event.role,
            began=begun.began if begun else entry.at,
            seconds=round(event.seconds, 1),
            outcome=event.outcome,
            tokens=tokens_of(event.usage),
            usd=event.usage.cost_usd,
        )
        return tuple(row if one is begun else one for one in calls) if begun else (*calls, row)

    return _of_newest(known, answered)


def _of_newest(known: OpenPass, change: Callable[[tuple[CallRow, ...]], tuple[CallRow, ...]]) -> OpenPass:
    """The pass with the calls of its newest step changed."""
    if not known.steps:
        return known
    last = msgspec.structs.replace(known.steps[-1], calls=change(known.steps[-1].calls))
    return msgspec.structs.replace(known, steps=(*known.steps[:-1], last))


def _called(picture: Picture, stream: str, event: AgentStarted, at: str) -> Picture:
    known = picture.passes[stream]
    call = AgentCall(
        call=event.call,
        stream=stream,
        role=event.role,
        phase=known.phase,
        task=known.step.task if known.step else "",
        began=at,
        pid=event.pid,
        birth=event.birth,
    )
    waits = tuple(wait for wait in picture.waits if wait.stream != stream)
    return msgspec.structs.replace(picture, calls={**picture.calls, event.call: call}, waits=waits)


def _answered(picture: Picture, stream: str, event: AgentAnswered) -> Picture:
    calls = {key: call for key, call in picture.calls.items() if key != event.call}
    waits = tuple(wait for wait in picture.waits if wait.stream != stream)
    if event.outcome in _LIMITED:
        waits = (*waits, Wait(what=f"{event.role}: usage limit", stream=stream, until=_moment(event.resets_at)))
    drawn = _billed(picture, phase_of(stream), event)
    return msgspec.structs.replace(drawn, calls=calls, waits=waits, used=_paid(picture.used, event))


def _billed(picture: Picture, phase: str, event: AgentAnswered) -> Picture:
    """With what the call cost in its phase's row."""
    row = picture.row(phase)
    tokens, usd = tokens_of(event.usage), event.usage.cost_usd
    if row is None or (tokens is None and usd is None):
        return picture
    paid = msgspec.structs.replace(row, tokens=_sum(row.tokens, tokens), usd=_sum(row.usd, usd))
    if phase == COMPLETION:
        return msgspec.structs.replace(picture, end=paid)
    return msgspec.structs.replace(picture, phases={**picture.phases, phase: paid})


def _sum(known: N | None, more: N | None) -> N | None:
    """What was told of both; None where neither was."""
    if more is None:
        return known
    return more if known is None else known + more


def _moment(told: str | None) -> str:
    """A time an agent told, in the journal's own form; empty when it is not one."""
    text = clean(told or "", 40)
    try:
        elapsed(text, text)
    except (ValueError, IndexError):
        return ""
    return text if text.endswith("Z") else ""


def _paid(used: Used, event: AgentAnswered) -> Used:
    tokens, usd = tokens_of(event.usage), event.usage.cost_usd
    return Used(
        calls=used.calls + 1,
        tokens=_sum(used.tokens, tokens),
        usd=_sum(used.usd, usd),
        untold=used.untold + (usd is None),
    )


def _finished(picture: Picture, stream: str, known: OpenPass, event: StepFinished, at: str) -> Picture:
    began = next((s.began for s in reversed(known.steps) if s.seconds is None and s.step == event.step), at)
    seconds = event.seconds or seconds_between(began, at)
    under_way = known.step if known.step and known.step.seconds is None and known.step.step == event.step else None
    row = StepRow(
        step=event.step,
        began=began,
        task=_task_of(event) or (under_way.task if under_way else ""),
        seconds=seconds,
        ended=_end(event.verdict),
        because=clean(reason_of(event.verdict), 300),
        calls=under_way.calls if under_way else (),
    )
    before = known.steps[:-1] if under_way else known.steps
    took = known.took | {event.step: known.took.get(event.step, 0.0) + seconds}
    done = msgspec.structs.replace(known, steps=(*before, row), took=took, tasks=_tasks(known, event))
    tally = picture.tallies.get(event.step, Tally())
    tallies = picture.tallies | {event.step: Tally(count=tally.count + 1, seconds=tally.seconds + seconds)}
    calls = {key: call for key, call in picture.calls.items() if call.stream != stream}
    rated = event.result if isinstance(event.result, Rated) else None
    card = _scorecard(known.phase, rated) if rated else picture.scorecard
    drawn = _with(picture, stream, done, tallies=tallies, calls=calls, scorecard=card)
    return happened(drawn, at, f"{_place(known)}: {_ended(row)}")


def happened(picture: Picture, at: str, text: str) -> Picture:
    recent = (*picture.recent, Happened(at=at, text=text))[-MOST_RECENT:]
    return msgspec.structs.replace(picture, recent=recent)


def _ended(row: StepRow) -> str:
    """`verify done, 1m 07s`."""
    name = f"{row.step.replace('_', ' ')} {row.task}".strip()
    return f"{name} {_ENDS[row.ended]}, {short(row.seconds or 0.0)}"


def _end(verdict: Verdict) -> StepEnd:
    match verdict:
        case Advance():
            return "done"
        case Retry():
            return "back"
        case AskHuman():
            return "person"
        case Stop():
            return "stopped"


def reason_of(verdict: Verdict) -> str:
    return verdict.question if isinstance(verdict, AskHuman) else verdict.because


def _task_of(event: StepFinished) -> str:
    match event.result:
        case Executed(work=work) | Fixed(work=work):
            return clean(work.task, 40)
        case MiniVerified(task=task):
            return clean(task, 40)
    return ""


def _tasks(known: OpenPass, event: StepFinished) -> tuple[TaskRow, ...]:
    """How the tasks stand behind the step: a plan that was accepted brings new ones."""
    advances = isinstance(event.verdict, Advance)
    match event.result:
        case PlanChecked(plan=plan) if advances:
            return _planned(plan)
        case Executed(work=work) | Fixed(work=work) if isinstance(event.verdict, Advance):
            state: TaskState = "working" if event.verdict.to == "mini_verify" else "failed"
            return _marked(known.tasks, clean(work.task, 40), state)
        case MiniVerified(task=task) if isinstance(event.verdict, Advance):
            return _marked(known.tasks, clean(task, 40), "failed" if event.verdict.because else "verified")
    return known.tasks


def _planned(plan: Plan) -> tuple[TaskRow, ...]:
    return tuple(_task(task) for task in task_order(plan.tasks) if task.type == "auto")


def _scorecard(phase: str, rated: Rated) -> Scorecard:
    rows = tuple((clean(row.criterion, 120), row.score) for row in rated.opinion.scorecard[:MOST_ROWS])
    return Scorecard(phase=phase, score=rated.score, rows=rows)


def _heard(known: OpenPass, event: AgentAnswered, at: str) -> tuple[Caution, ...]:
    place = _place(known)
    told = [f"{place}: {clean(issue)}" for issue in event.issues]
    if event.outcome == "cancelled":
        line = interrupted_line(event)
        told.insert(0, f"{place}: {line[0].lower()}{line[1:]}")
    elif event.outcome != "ok":
        said = f": {clean(event.text, 120)}" if event.text.strip() else ""
        told.insert(0, f"{place}: the {event.role} agent ended with {event.outcome.replace('_', ' ')}{said}")
    return tuple(Caution(at=at, phase=known.phase, text=text) for text in told)


def _troubles(known: OpenPass, event: StepFinished, at: str) -> tuple[Caution, ...]:
    """What a gate did not let through, and an agent without a usable answer."""
    verdict, step = event.verdict, event.step.replace("_", " ")
    told = ""
    if isinstance(event.result, Unanswered):
        told = f"no usable answer in {step}: {clean(event.result.detail)}"
    elif isinstance(verdict, Retry):
        told = f"{step} sent back to {verdict.step.replace('_', ' ')}: {clean(verdict.because)}"
    elif isinstance(verdict, Stop):
        told = f"given up in {step}: {clean(verdict.because)}"
    elif isinstance(verdict, AskHuman):
        told = f"waits for a person: {clean(verdict.question)}"
    elif verdict.because and _task_of(event):
        told = clean(verdict.because)
    return (Caution(at=at, phase=known.phase, text=f"{_place(known)}: {told}"),) if told else ()


def _place(known: OpenPass) -> str:
    return "The run's end" if known.phase == COMPLETION else f"Phase {known.phase}"
