"""Carry out a session's waves: gate, isolate, hand out disjoint work, judge what came back, carry the rest over."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from msgspec.structs import replace

from autopilot.domain.value import Value
from autopilot.sessions import wave_gate
from autopilot.sessions.pool import run_pool
from autopilot.sessions.resources import Reading
from autopilot.sessions.scopes import Share, dealt, overlaps, shares
from autopilot.sessions.session_modes import TURNS, Executed
from autopilot.sessions.spirals import AgentReport, Judged, judged
from autopilot.sessions.wave_gate import Decision, Isolation
from autopilot.sessions.waves import SessionPlan, Wave, WaveTask

BATCH = 4


class Dispatch(Value, frozen=True, kw_only=True):
    """Work handed out at once: a share each agent. `narrow` are tasks that went in circles and get one file only."""

    wave: int
    role: str
    mode: Executed
    shares: tuple[Share, ...]
    isolation: Isolation
    turns: int
    agents: int
    narrow: tuple[str, ...] = ()


class WaveOutcome(Value, frozen=True, kw_only=True):
    """One wave as it went. `agents` is how many it really had."""

    wave: int
    role: str
    agents: int
    decision: Decision
    isolation: Isolation
    judged: tuple[Judged, ...]


class SessionOutcome(Value, frozen=True, kw_only=True):
    """All waves, how every task stands at the end, and what was done otherwise than planned."""

    waves: tuple[WaveOutcome, ...] = ()
    standing: dict[str, Judged] = {}
    spirals: int = 0
    deviations: tuple[str, ...] = ()
    untouched: tuple[str, ...] = ()

    @property
    def carried(self) -> tuple[str, ...]:
        """The tasks that are not done; each once."""
        return (*(name for name, end in self.standing.items() if end.status != "done"), *self.untouched)

    @property
    def summary(self) -> dict[str, int]:
        """A failure that a later wave made good is none; a spiral counts although it was recovered."""
        ends = [end.status for end in self.standing.values()]
        counts = {"complete": ends.count("done"), "partial": ends.count("partial"), "failed": ends.count("failed")}
        return {**counts, "spiral": self.spirals}


@dataclass(frozen=True, slots=True, kw_only=True)
class Workshop:
    """
    What the executor is given. `work` does what it is handed and reports on each task; `reading` None: unknown.

    `recoveries` is how often a task that did not succeed is handed out again in a later wave.
    """

    work: Callable[[Dispatch], Iterable[AgentReport]]
    now: Callable[[], str]
    reading: Callable[[], Reading | None] = lambda: None
    ceiling: int | None = None
    recoveries: int = 1
    progress: Callable[[WaveOutcome], None] = lambda _: None


def execute(plan: SessionPlan, shop: Workshop) -> SessionOutcome:
    """Wave after wave. What failed is mended in the next one; what fails again ends the session."""
    done, left = SessionOutcome(), list(plan.waves)
    tries: dict[str, int] = {}
    while left:
        wave = left.pop(0)
        outcome, note = _wave(plan.mode, wave, shop, done)
        for end in outcome.judged:
            tries[end.task] = tries.get(end.task, 0) + 1
        done = _with(done, outcome, note)
        shop.progress(outcome)
        again = [task for task in wave.tasks if _unfinished(done, task)]
        spent = [task for task in again if tries.get(task.id, 0) > shop.recoveries]
        if spent:
            waiting = tuple(task.id for later in left for task in later.tasks if task.id not in done.standing)
            return replace(done, untouched=waiting)
        left = _carried_into(left, again, wave)
    return done


def _wave(mode: Executed, wave: Wave, shop: Workshop, before: SessionOutcome) -> tuple[WaveOutcome, str | None]:
    gated = wave_gate.gate(wave.agents, shop.reading(), shop.ceiling) if wave.agents else _alone()
    creates = any(task.creates for task in wave.tasks)
    apart = wave_gate.isolation(gated.agents, mode, creates=creates)
    found = dealt(shares(wave.tasks), gated.agents)
    assert not overlaps(found), "two agents of a wave would write the same file"
    narrow = tuple(name for name, end in before.standing.items() if end.status == "spiral")
    base = Dispatch(
        wave=wave.number,
        role=wave.role,
        mode=mode,
        shares=found,
        isolation=apart,
        turns=TURNS[mode],
        agents=gated.agents,
        narrow=narrow,
    )
    outcome = WaveOutcome(
        wave=wave.number,
        role=wave.role,
        agents=gated.agents,
        decision=gated.decision,
        isolation=apart,
        judged=_handed_out(base, shop.work),
    )
    lowered = gated.decision != "proceed" and wave.agents
    note = f"{shop.now()} wave {wave.number}: {gated.decision} to {gated.agents} agents ({'; '.join(gated.reasons)})"
    return outcome, note if lowered else None


def pooled(one: Callable[[Dispatch, Share], Sequence[AgentReport]]) -> Callable[[Dispatch], Sequence[AgentReport]]:
    """Work for `Workshop.work` from what one agent does with its share: as many at once as the dispatch allows."""

    def work(dispatch: Dispatch) -> tuple[AgentReport, ...]:
        tasks = [(share.tasks[0].id, partial(one, dispatch, share)) for share in dispatch.shares]
        done = run_pool(tasks, max(1, dispatch.agents))
        return tuple(report for reports in done.results.values() for report in reports)

    return work


def _alone() -> wave_gate.Gated:
    return wave_gate.Gated(decision="coordinator-direct", agents=0, reasons=("planned without agents",))


def _handed_out(base: Dispatch, work: Callable[[Dispatch], Iterable[AgentReport]]) -> tuple[Judged, ...]:
    """In batches; what no report came back for is handed out once more, and then has failed."""
    reports = {report.task: report for batch in _batches(base.shares) for report in work(replace(base, shares=batch))}
    wanted = [task.id for share in base.shares for task in share.tasks]
    missing = tuple(_missing(base.shares, reports))
    for batch in _batches(missing):
        reports |= {report.task: report for report in work(replace(base, shares=batch))}
    lost = Judged(task="", status="failed", why="no report came back")
    return tuple(judged(reports[name]) if name in reports else replace(lost, task=name) for name in wanted)


def _missing(found: Sequence[Share], reports: dict[str, AgentReport]) -> Iterable[Share]:
    for share in found:
        tasks = tuple(task for task in share.tasks if task.id not in reports)
        if tasks:
            yield replace(share, tasks=tasks)


def _batches(found: Sequence[Share]) -> Iterable[tuple[Share, ...]]:
    """Those that go alone first, each by itself; the rest by fours."""
    alone = [share for share in found if share.alone]
    rest = [share for share in found if not share.alone]
    yield from ((share,) for share in alone)
    yield from (tuple(rest[at : at + BATCH]) for at in range(0, len(rest), BATCH))


def _with(done: SessionOutcome, outcome: WaveOutcome, note: str | None) -> SessionOutcome:
    return replace(
        done,
        waves=(*done.waves, outcome),
        standing={**done.standing, **{end.task: end for end in outcome.judged}},
        spirals=done.spirals + sum(end.status == "spiral" for end in outcome.judged),
        deviations=(*done.deviations, note) if note else done.deviations,
    )


def _unfinished(done: SessionOutcome, task: WaveTask) -> bool:
    end = done.standing.get(task.id)
    return end is not None and end.status != "done"


def _carried_into(left: list[Wave], again: list[WaveTask], wave: Wave) -> list[Wave]:
    if not again:
        return left
    if not left:
        return [replace(wave, number=wave.number + 1, tasks=tuple(again))]
    first = left[0]
    return [replace(first, tasks=(*again, *first.tasks)), *left[1:]]
