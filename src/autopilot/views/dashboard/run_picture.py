"""One run as the dashboard shows it, told entry by entry; only the parts an entry touches are drawn anew."""

from collections import deque
from collections.abc import Iterator
from datetime import datetime, timedelta
from statistics import median
from typing import Any

from msgspec.structs import replace

from autopilot.domain.completion import COMPLETION
from autopilot.domain.events import (
    AgentAnswered,
    CompletionFinished,
    CompletionStarted,
    Entry,
    MergeRefused,
    Noted,
    PhaseFinished,
    PhaseLanded,
    PhaseSkipped,
    PhaseStarted,
    RunFinished,
    RunResumed,
    RunStarted,
    RunStopped,
    StepFinished,
    VerdictGiven,
    WaitEnded,
    WaitStarted,
)
from autopilot.domain.phase import Phase
from autopilot.domain.record import RunRecord
from autopilot.domain.run_caps import capped
from autopilot.domain.settings import Limits
from autopilot.domain.tries import BREAKER
from autopilot.domain.value import Value
from autopilot.domain.verdict import Advance
from autopilot.journal.clock import iso
from autopilot.journal.projection import run_status
from autopilot.views.dashboard.phase_picture import LONGEST, PhasePicture, PhaseRow
from autopilot.views.duration import seconds_between
from autopilot.views.narration import Narrator
from autopilot.views.text import clean
from autopilot.views.wait_words import told

LOG_LINES, WARNINGS, KEPT_TIMES = 300, 50, 20
USAGE_LIMIT = 22
_MINUTE = 60


class LogLine(Value, frozen=True, kw_only=True):
    at: str
    phase: str
    text: str


class Spend(Value, frozen=True, kw_only=True):
    """`used` is None where no agent told."""

    unit: str
    used: float | None
    cap: float


class Waiting(Value, frozen=True, kw_only=True):
    """What the run waits for: a person, a usage limit, or a breaker to cool down."""

    kind: str
    why: str
    until: str | None = None
    phases: tuple[str, ...] = ()


class RunHead(Value, frozen=True, kw_only=True):
    """The run in a few words. `status` is what the journal says; whether somebody works on it the lock knows."""

    run: str
    status: str
    started: str
    last: str
    branch: str | None
    agent: str
    threshold: float
    counts: dict[str, int]
    total: int
    spend: tuple[Spend, ...]
    waiting: Waiting | None = None
    reason: str = ""
    do: str = ""
    exit: int | None = None


class RunPicture:
    """`take` gives the parts that changed since it was last called; `log` lines are handed out once."""

    def __init__(self, run: str) -> None:
        self.run, self.first_at, self.last_at, self.shown = run, "", "", False
        self.phases: dict[str, PhasePicture] = {}
        self._start: RunStarted | None = None
        self._limits, self._end = Limits(), Entry(number=0, at="", event=Noted(event=""))
        self._narrator, self._seconds = Narrator(), 0.0
        self._statuses: dict[str, str] = {}
        self._times: dict[str, deque[float]] = {}
        self._warnings: deque[LogLine] = deque(maxlen=WARNINGS)
        self._limit_until: str | None = None
        self._waits: dict[str, WaitStarted] = {}
        self._dirty, self._log = set[str](), list[LogLine]()

    def hear(self, stream: str, entry: Entry) -> None:
        if self.last_at and not isinstance(entry.event, RunResumed) and not self._lies_still():
            self._seconds += seconds_between(self.last_at, entry.at)
        self.first_at, self.last_at = self.first_at or entry.at, entry.at
        phase = stream.partition("/")[2].partition("~")[0]
        if phase:
            self._hear_pass(phase, entry)
        else:
            self._hear_run(entry)
        told = self._narrator.tell(stream, entry)
        self._log += [LogLine(at=entry.at, phase=phase, text=line) for line in told if line.strip()]
        del self._log[:-LOG_LINES]
        self._dirty.add("run")

    def take(self) -> tuple[dict[str, Any], list[LogLine]]:
        """The changed parts by name, None for one that is gone, and the lines that are new."""
        dirty, self._dirty = self._dirty, set()
        log, self._log = self._log, []
        parts = dict[str, Any]()
        usual = self.usual() if any(name.startswith("open/") for name in dirty) else {}
        for name in sorted(dirty):
            kind, _, phase = name.partition("/")
            if kind == "phase":
                row = self._row(phase)
                parts[name], self._statuses[phase] = row, row.status
            elif kind == "open":
                parts[name] = self.phases[phase].open_pass(usual)
            elif kind == "warnings":
                parts[name] = tuple(self._warnings)
        if "run" in dirty:
            parts["run"] = self.head()
        return parts, log

    def _row(self, phase: str) -> PhaseRow:
        """The steps behind the last phase are no phase, so nobody decides about them: they are open or over."""
        row = self.phases[phase].row()
        over = "in_progress" if self.phases[phase].open else "completed"
        return replace(row, status=over) if phase == COMPLETION else row

    def usual(self) -> dict[str, float]:
        """How long each step has taken so far: the middle of the last few."""
        return {step: median(times) for step, times in self._times.items()}

    def head(self) -> RunHead:
        end = self._end.event
        over = end if isinstance(end, RunStopped | RunFinished) else None
        counts = dict[str, int]()
        targets = self._start.targets if self._start else ()
        for phase in targets:
            status = self._statuses.get(phase, "not_started")
            counts[status] = counts.get(status, 0) + 1
        return RunHead(
            run=self.run,
            status=run_status(RunRecord(entries=(self._end,))),
            started=self.first_at,
            last=self.last_at,
            branch=self._start.branch if self._start else None,
            agent=clean(self._start.settings.agent, 80) if self._start else "",
            threshold=self._start.settings.pass_threshold if self._start else 0.0,
            counts=counts,
            total=len(targets),
            spend=self._spend(),
            waiting=self._waiting(over),
            reason=clean(over.reason, LONGEST) if over else "",
            do=clean(over.do, LONGEST) if over else "",
            exit=over.exit_code if over else None,
        )

    def _spend(self) -> tuple[Spend, ...]:
        tokens = [p.tokens for p in self.phases.values() if p.tokens is not None]
        usd = [p.usd for p in self.phases.values() if p.usd is not None]
        return (
            Spend(unit="usd", used=round(sum(usd), 4) if usd else None, cap=self._limits.usd_per_run),
            Spend(unit="tokens", used=sum(tokens) if tokens else None, cap=self._limits.tokens_per_run),
            Spend(unit="minutes", used=round(self._seconds / _MINUTE, 2), cap=self._limits.minutes_per_run),
        )

    def _waiting(self, over: RunStopped | RunFinished | None) -> Waiting | None:
        asked = tuple(phase for phase, status in self._statuses.items() if status == "needs_human_verification")
        if asked:
            return Waiting(kind="person", why=f"phase {' '.join(asked)} waits for your verdict", phases=asked)
        if over and over.exit_code == USAGE_LIMIT:
            return Waiting(kind="limit", why="the agent's usage window is used up", until=self._limit_until)
        if isinstance(over, RunStopped) and over.exit_code == BREAKER:
            until = datetime.fromisoformat(self._end.at) + timedelta(seconds=self._limits.cooldown_seconds)
            return Waiting(kind="breaker", why="a circuit breaker cools down", until=iso(until))
        first = min(self._waits.values(), key=lambda wait: wait.until, default=None) if not over else None
        if first is None:
            return None
        phases = tuple(dict.fromkeys(wait.phase for wait in self._waits.values()))
        why = f"phase {' '.join(phases)} waits: {told(first)}"
        return Waiting(kind="limit", why=clean(why, LONGEST), until=first.until, phases=phases)

    def _lies_still(self) -> bool:
        """Whether all that is open waits for an agent: then no time passes for the run."""
        waiting = {wait.phase for wait in self._waits.values()}
        return bool(waiting) and {name for name, phase in self.phases.items() if phase.open} <= waiting

    def _hear_pass(self, phase: str, entry: Entry) -> None:
        picture = self._phase(phase)
        picture.hear(entry)
        self._dirty |= {f"phase/{phase}", f"open/{phase}"}
        match entry.event:
            case StepFinished(step=step):
                times = self._times.setdefault(step, deque(maxlen=KEPT_TIMES))
                times.append(picture.pass_.steps[-1].seconds or 0.0)
            case AgentAnswered(resets_at=str(until)):
                self._limit_until = until

    def _hear_run(self, entry: Entry) -> None:
        if not isinstance(entry.event, Noted):
            self._end = entry
        self._hear_wait(entry)
        match entry.event:
            case RunStarted() as start:
                self._begin(start)
            case RunResumed(caps=caps):
                self._limits = capped(self._limits, caps)
            case CompletionStarted(brief=brief):
                self._turn(COMPLETION, entry, PhaseStarted(brief=brief))
            case CompletionFinished():
                self.phases[COMPLETION].turns.clear()
                self._dirty |= {f"phase/{COMPLETION}", f"open/{COMPLETION}"}
            case _:
                self._hear_phase(entry)
        for line in _warned(entry):
            self._warnings.append(line)
            self._dirty.add("warnings")

    def _hear_wait(self, entry: Entry) -> None:
        match entry.event:
            case WaitStarted(call=call) as wait:
                self._waits[call] = wait
            case WaitEnded(call=call):
                self._waits.pop(call, None)

    def _hear_phase(self, entry: Entry) -> None:
        match entry.event:
            case PhaseStarted(brief=brief) as event:
                self._turn(brief.phase.id, entry, event, brief.phase)
            case PhaseFinished(outcome=outcome) as event:
                self._turn(outcome.phase, entry, event)
            case PhaseSkipped(phase=phase) as event:
                self._turn(phase, entry, event)
            case VerdictGiven(phase=phase) as event:
                self._phase(phase).heed(event)
                self._dirty.add(f"phase/{phase}")
            case PhaseLanded(phase=phase) as event:
                self._phase(phase).land(event)
                self._dirty.add(f"phase/{phase}")
            case Noted(phase=str(phase)) as event:
                self._phase(phase).notes.append(event)
                self._dirty.add(f"phase/{phase}")

    def _begin(self, start: RunStarted) -> None:
        self._start, self._limits = start, start.settings.limits
        known = {phase.id: phase for phase in start.phases}
        for target in start.targets:
            phase = known.get(target, Phase(id=target, name=""))
            self.phases[target] = PhasePicture(phase=phase, before=start.before.get(target))
            self._dirty.add(f"phase/{target}")

    def _turn(
        self,
        phase: str,
        entry: Entry,
        event: PhaseStarted | PhaseFinished | PhaseSkipped,
        described: Phase | None = None,
    ) -> None:
        self._phase(phase, described).turn(entry, event)
        self._dirty |= {f"phase/{phase}", f"open/{phase}"}

    def _phase(self, phase: str, described: Phase | None = None) -> PhasePicture:
        if phase not in self.phases:
            name = "Completion" if phase == COMPLETION else ""
            self.phases[phase] = PhasePicture(phase=described or Phase(id=phase, name=name))
        return self.phases[phase]


def _warned(entry: Entry) -> Iterator[LogLine]:
    """What a person should look at though nothing stopped because of it."""
    for phase, text in _told(entry):
        yield LogLine(at=entry.at, phase=phase, text=clean(text, LONGEST))


def _told(entry: Entry) -> Iterator[tuple[str, str]]:
    match entry.event:
        case PhaseFinished(outcome=outcome, verdict=Advance()):
            yield from ((outcome.phase, issue) for issue in outcome.issues)
        case PhaseLanded(landed=False, phase=phase, note=note):
            yield phase, f"not landed: {note}"
        case MergeRefused(phase=phase, because=because):
            yield phase, f"does not go with the line: {because}"
        case Noted(phase=told, details={"message": str(message)}):
            yield told or "", message
        case Noted(event=event, phase=told) if event.endswith("_warning"):
            yield told or "", event.replace("_", " ")
        case RunStopped(brake=brake, reason=reason) if brake:
            yield "", f"{brake}: {reason}"
