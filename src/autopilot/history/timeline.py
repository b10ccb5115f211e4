"""Sorts the entries of a run by phase, once."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import msgspec

from autopilot.domain.events import Entry, Noted, PhaseFinished, PhaseSkipped, PhaseStarted, VerdictGiven
from autopilot.domain.rework import Before, Scored
from autopilot.domain.verdict import Advance, AskHuman, Retry, Stop, Verdict
from autopilot.history.best_attempt import counted, kept, outcome_kept
from autopilot.history.record import PhaseRecord, RunRecord
from autopilot.history.run_index import ruled

Turn = PhaseStarted | PhaseFinished | PhaseSkipped


@dataclass(frozen=True, slots=True)
class History:
    """
    What the run knows of one phase: its turns with their times, what was noted of it, its passes, and its past.

    A pass that a person has spoken on stands there with their verdict; `words` is what they said, with the time.
    """

    turns: tuple[tuple[str, Turn], ...] = ()
    notes: tuple[Noted, ...] = ()
    passes: tuple[PhaseRecord, ...] = ()
    before: Before | None = None
    words: tuple[tuple[str, VerdictGiven], ...] = ()

    @property
    def started(self) -> tuple[tuple[str, PhaseStarted], ...]:
        return tuple((at, turn) for at, turn in self.turns if isinstance(turn, PhaseStarted))

    @property
    def finished(self) -> tuple[tuple[str, PhaseFinished], ...]:
        return tuple((at, turn) for at, turn in self.turns if isinstance(turn, PhaseFinished))

    @property
    def skipped(self) -> PhaseSkipped | None:
        last = self.turns[-1][1] if self.turns else None
        return last if isinstance(last, PhaseSkipped) else None

    @property
    def status(self) -> str:
        match self.turns[-1][1] if self.turns else None:
            case None:
                return "not_started"
            case PhaseStarted():
                return "in_progress"
            case PhaseSkipped():
                return "skipped"
            case PhaseFinished(verdict=verdict):
                return settled(verdict)

    @property
    def counted(self) -> tuple[str, PhaseFinished] | None:
        """AMB-37: the best pass that came out whole and was kept, else the newest that ended."""
        ended = self.finished
        if not ended or not isinstance(ended[-1][1].verdict, Advance):
            return ended[-1] if ended else None
        passes = [turn for _, turn in ended if not turn.outcome.rollback]
        if self.before is not None and kept(passes, self.before):
            at, last = ended[-1]
            outcome = outcome_kept(last.outcome.phase, self.before, self.started[0][1].brief.base)
            return at, msgspec.structs.replace(last, outcome=outcome)
        best = counted(passes)
        return next(((at, turn) for at, turn in ended if turn is best), ended[-1])


@dataclass(slots=True)
class _Gathered:
    turns: list[tuple[str, Turn]] = field(default_factory=list)
    notes: list[Noted] = field(default_factory=list)
    words: list[tuple[str, VerdictGiven]] = field(default_factory=list)

    def take(self, entry: Entry) -> None:
        match entry.event:
            case PhaseStarted() | PhaseFinished() | PhaseSkipped() as turn:
                self.turns.append((entry.at, turn))
            case Noted() as note:
                self.notes.append(note)
            case VerdictGiven() as word:
                self.heed(entry.at, word)
            case _:
                pass

    def history(self, before: Before | None) -> History:
        return History(turns=tuple(self.turns), notes=tuple(self.notes), before=before, words=tuple(self.words))

    def heed(self, at: str, word: VerdictGiven) -> None:
        self.words.append((at, word))
        last = self.turns[-1][1] if self.turns else None
        if isinstance(last, PhaseFinished):
            self.turns[-1] = (self.turns[-1][0], ruled(last, word))


def settled(verdict: Verdict) -> str:
    """What the run's verdict on a pass makes of the phase."""
    match verdict:
        case Advance():
            return "completed"
        case Retry():
            return "in_progress"
        case AskHuman():
            return "needs_human_verification"
        case Stop():
            return "failed"


class Timeline:
    """One history a target phase, in the order of the targets; then any other phase the run touched. No passes yet."""

    def __init__(self) -> None:
        self._read, self._gathered, self._known = 0, dict[str, _Gathered](), dict[str, History]()

    def take(self, run: RunRecord) -> dict[str, History]:
        """Told of a run again and again it takes in what is new; what is known of the other phases stays the same."""
        if not self._known:
            self._gathered = {phase: _Gathered() for phase in run.start.targets}
        told = dict.fromkeys(self._gathered) if not self._known else dict[str, None]()
        for entry in run.entries[self._read :]:
            phase = phase_of(entry)
            if phase is not None:
                self._gathered.setdefault(phase, _Gathered()).take(entry)
                told[phase] = None
        self._read = len(run.entries)
        for phase in told:
            self._known[phase] = self._gathered[phase].history(run.start.before.get(phase))
        return dict(self._known)


def histories(run: RunRecord) -> dict[str, History]:
    return Timeline().take(run)


def phase_of(entry: Entry) -> str | None:
    match entry.event:
        case PhaseStarted(brief=brief):
            return brief.phase.id
        case PhaseFinished(outcome=outcome):
            return outcome.phase
        case PhaseSkipped(phase=phase) | Noted(phase=phase) | VerdictGiven(phase=phase):
            return phase
    return None


def in_order(run: RunRecord, phases: Mapping[str, tuple[PhaseRecord, ...]]) -> tuple[PhaseRecord, ...]:
    """The passes of all phases as they were started."""
    held = {(id_, record.brief.number): record for id_, passes in phases.items() for record in passes}
    begun = ((started.brief.phase.id, started.brief.number) for started in run.of(PhaseStarted))
    return tuple(held[key] for key in dict.fromkeys(begun) if key in held)


def scored_at(at: str, finished: PhaseFinished) -> Scored | None:
    """HIST-01: a pass's line of the score history; None for one without a score."""
    score = finished.outcome.alignment_score
    if score is None:
        return None
    return Scored(score=score, timestamp=at, flag=finished.mode, cycle=finished.turn or finished.cycle)


def merged(before: Iterable[Scored], then: Iterable[Scored]) -> tuple[Scored, ...]:
    """By time; what both tell is told once."""
    return tuple(sorted(dict.fromkeys((*before, *then)), key=lambda scored: scored.timestamp))
