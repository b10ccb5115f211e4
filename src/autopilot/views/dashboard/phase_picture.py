"""One phase as the dashboard shows it, told entry by entry: its row, and the steps and calls of the pass at work."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from autopilot.domain.digest import tokens_of
from autopilot.domain.events import (
    AgentAnswered,
    AgentStarted,
    Entry,
    Noted,
    PhaseFinished,
    PhaseLanded,
    PhaseSkipped,
    PhaseStarted,
    StepFinished,
    StepStarted,
    VerdictGiven,
)
from autopilot.domain.phase import Phase
from autopilot.domain.record import ruled
from autopilot.domain.redo import Before
from autopilot.domain.value import Value
from autopilot.domain.verdict import AskHuman, Verdict
from autopilot.journal.timeline import History, Turn
from autopilot.views.duration import seconds_between
from autopilot.views.text import clean

LONGEST, STEPS_SHOWN = 300, 20
LIMITED = frozenset({"usage_limited", "rate_limited"})


class CallRow(Value, frozen=True, kw_only=True):
    """One call of an agent; `entry` is its number in the pass's stream. Without `seconds` it is going on."""

    entry: int
    role: str
    at: str
    seconds: float | None = None
    outcome: str = ""
    tokens: int | None = None
    usd: float | None = None
    resets_at: str | None = None


class StepRow(Value, frozen=True, kw_only=True):
    """Without `seconds` it is going on; `usual` is what such steps have taken in this run."""

    step: str
    at: str
    n: int = 0
    task: str | None = None
    seconds: float | None = None
    verdict: str = ""
    because: str = ""
    usual: float | None = None
    calls: tuple[CallRow, ...] = ()


class PhaseRow(Value, frozen=True, kw_only=True):
    """`question` is what a person is asked, while the phase waits for one."""

    id: str
    name: str
    status: str
    needs: tuple[str, ...] = ()
    score: float | None = None
    reason: str = ""
    question: str = ""
    marks: tuple[str, ...] = ()
    passes: int = 0
    started: str | None = None
    seconds: float = 0.0
    tokens: int | None = None
    usd: float | None = None


class OpenPass(Value, frozen=True, kw_only=True):
    """The pass at work, with what it is about."""

    id: str
    name: str
    number: int
    cycle: int
    mode: str
    at: str
    steps: tuple[StepRow, ...]


@dataclass(slots=True)
class PassSteps:
    """The steps of one pass, told entry by entry."""

    steps: list[StepRow] = field(default_factory=list)

    def hear(self, entry: Entry) -> None:
        match entry.event:
            case StepStarted() as begun:
                self.steps.append(StepRow(step=begun.step, at=entry.at, n=begun.n, task=begun.task))
            case AgentStarted() as asked:
                self._call(CallRow(entry=entry.number, role=asked.role, at=entry.at))
            case AgentAnswered() as answer:
                self._answered(entry, answer)
            case StepFinished() as done:
                self._finished(entry, done)

    def _call(self, call: CallRow) -> None:
        if self.steps:
            last = self.steps[-1]
            self.steps[-1] = replace(last, calls=(*last.calls, call))

    def _answered(self, entry: Entry, answer: AgentAnswered) -> None:
        if not self.steps:
            return
        calls = list(self.steps[-1].calls)
        begun = calls.pop() if calls and calls[-1].seconds is None else None
        calls.append(
            CallRow(
                entry=entry.number,
                role=answer.role,
                at=begun.at if begun else entry.at,
                seconds=round(answer.seconds, 1),
                outcome=answer.outcome,
                tokens=tokens_of(answer.usage),
                usd=answer.usage.cost_usd,
                resets_at=answer.resets_at if answer.outcome in LIMITED else None,
            )
        )
        self.steps[-1] = replace(self.steps[-1], calls=tuple(calls))

    def _finished(self, entry: Entry, done: StepFinished) -> None:
        open_step = self.steps.pop() if self.steps and self.steps[-1].seconds is None else None
        begun = open_step or StepRow(step=done.step, at=entry.at, n=done.n)
        self.steps.append(
            replace(
                begun,
                seconds=round(done.seconds or seconds_between(begun.at, entry.at), 1),
                verdict=type(done.verdict).__name__,
                because=clean(reason_of(done.verdict), LONGEST),
            )
        )

    def limited(self) -> str | None:
        """Until when the newest call was told to wait, if nothing came of it since."""
        calls = self.steps[-1].calls if self.steps and self.steps[-1].seconds is None else ()
        return calls[-1].resets_at if calls else None


@dataclass(slots=True)
class PhasePicture:
    """What is kept of a phase: its turns, sums, and the steps of the newest pass."""

    phase: Phase
    before: Before | None = None
    turns: list[tuple[str, Turn]] = field(default_factory=list)
    notes: list[Noted] = field(default_factory=list)
    pass_: PassSteps = field(default_factory=PassSteps)
    begun: PhaseStarted | None = None
    tokens: int | None = None
    usd: float | None = None
    seconds: float = 0.0
    unlanded: str = ""
    landed: bool = False

    def turn(self, entry: Entry, event: PhaseStarted | PhaseFinished | PhaseSkipped) -> None:
        if isinstance(event, PhaseStarted):
            self.begun, self.pass_ = event, PassSteps()
        elif isinstance(event, PhaseFinished) and self.turns:
            self.seconds += seconds_between(self.turns[-1][0], entry.at)
        self.turns.append((entry.at, event))

    def heed(self, word: VerdictGiven) -> None:
        """A person's word is what the pass they spoke on comes to."""
        at, last = self.turns[-1] if self.turns else ("", None)
        if isinstance(last, PhaseFinished):
            self.turns[-1] = (at, ruled(last, word))

    def hear(self, entry: Entry) -> None:
        """An entry of the pass's own stream."""
        self.pass_.hear(entry)
        if isinstance(entry.event, AgentAnswered):
            told, usd = tokens_of(entry.event.usage), entry.event.usage.cost_usd
            self.tokens = self.tokens if told is None else (self.tokens or 0) + told
            self.usd = self.usd if usd is None else (self.usd or 0.0) + usd

    def land(self, event: PhaseLanded) -> None:
        self.landed, self.unlanded = event.landed, "" if event.landed else clean(event.note, LONGEST)

    @property
    def passes(self) -> int:
        """How many have been started."""
        return self.begun.brief.number + 1 if self.begun else 0

    @property
    def open(self) -> bool:
        return bool(self.turns) and isinstance(self.turns[-1][1], PhaseStarted)

    def row(self) -> PhaseRow:
        history = History(turns=tuple(self.turns), notes=tuple(self.notes), before=self.before)
        outcome = history.counted[1].outcome if history.counted else None
        started = [at for at, turn in self.turns if isinstance(turn, PhaseStarted)]
        skipped = history.skipped
        marks = (
            *(("unanchored",) if outcome and outcome.unanchored else ()),
            *(("not landed",) if self.unlanded else ()),
        )
        return PhaseRow(
            id=self.phase.id,
            name=clean(self.phase.name, LONGEST),
            status="blocked" if skipped and skipped.blocking_phase else history.status,
            needs=self.phase.depends_on,
            score=outcome.alignment_score if outcome else None,
            reason=self._reason(),
            question=self._question(),
            marks=marks,
            passes=self.passes,
            started=started[-1] if self.open else (started[0] if started else None),
            seconds=round(self.seconds, 1),
            tokens=self.tokens,
            usd=None if self.usd is None else round(self.usd, 4),
        )

    def _reason(self) -> str:
        match self.turns[-1][1] if self.turns else None:
            case PhaseFinished(verdict=verdict):
                told = reason_of(verdict)
            case PhaseSkipped(reason=reason, blocking_phase=blocking):
                told = f"{reason} (phase {blocking})" if blocking else reason
            case _:
                return ""
        return clean(told.replace("_", " "), LONGEST)

    def _question(self) -> str:
        last = self.turns[-1][1] if self.turns else None
        waits = isinstance(last, PhaseFinished) and isinstance(last.verdict, AskHuman)
        return clean(reason_of(last.verdict), LONGEST) if waits and isinstance(last, PhaseFinished) else ""

    def open_pass(self, usual: Mapping[str, float]) -> OpenPass | None:
        if not self.open or self.begun is None:
            return None
        brief = self.begun.brief
        return OpenPass(
            id=self.phase.id,
            name=clean(self.phase.name, LONGEST),
            number=brief.number,
            cycle=brief.cycle,
            mode=brief.mode,
            at=self.turns[-1][0],
            steps=tuple(_expected(step, usual) for step in self.pass_.steps[-STEPS_SHOWN:]),
        )


def steps_of(entries: Sequence[Entry]) -> tuple[StepRow, ...]:
    """All steps of a pass, for those who look into it."""
    heard = PassSteps()
    for entry in entries:
        heard.hear(entry)
    return tuple(heard.steps)


def reason_of(verdict: Verdict) -> str:
    return verdict.question if isinstance(verdict, AskHuman) else verdict.because


def _expected(step: StepRow, usual: Mapping[str, float]) -> StepRow:
    return replace(step, usual=usual.get(step.step)) if step.seconds is None else step
