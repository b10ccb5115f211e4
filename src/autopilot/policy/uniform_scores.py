"""Scores that are too much alike, phase after phase: three tiers of doubt about who gave them (INTG-05). Pure."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from autopilot.domain.events import Event, PhaseFinished
from autopilot.domain.value import Value
from autopilot.domain.verdict import Advance
from autopilot.history.record import RunRecord

TENTHS_APART = 2
WARNED, ENHANCED, CRITICAL = 3, 5, 7
CRITICAL_TIER = 3
EVENTS = {1: "rubber_stamp_warning", 2: "rubber_stamp_enhanced", 3: "rubber_stamp_critical"}


class Completion(Value, frozen=True, kw_only=True):
    """A phase that the run counts as passed, and its score."""

    phase: str
    score: float


class Alert(Value, frozen=True, kw_only=True):
    """What the newest completion makes of those before it; `phases` are those whose scores are alike, it included."""

    tier: Literal[1, 2, 3]
    phases: tuple[str, ...]
    lowest: float
    highest: float

    @property
    def event(self) -> str:
        return EVENTS[self.tier]

    @property
    def message(self) -> str:
        count, spread = len(self.phases), f"{self.lowest:.1f}-{self.highest:.1f}/10"
        told = f"Uniform alignment scores detected ({spread} x {count} phases). Possible rubber-stamping."
        match self.tier:
            case 1:
                return told
            case 2:
                return f"{told} The next phase gets a harder look."
            case 3:
                alike = f"CRITICAL: {count} consecutive uniform alignment scores ({spread})."
                return f"{alike} Phases {', '.join(self.phases)} are suspect; those that remain get a harder look."


def completed(events: Iterable[Event]) -> tuple[Completion, ...]:
    """In the order of time. A phase that failed or waits for a person is no completion, and breaks no row of them."""
    scores: dict[str, float] = {}
    found = list[Completion]()
    for event in events:
        if not isinstance(event, PhaseFinished):
            continue
        outcome = event.outcome
        if outcome.status == "completed" and outcome.alignment_score is not None:
            scores[outcome.phase] = outcome.alignment_score
        if isinstance(event.verdict, Advance) and outcome.phase in scores:
            found.append(Completion(phase=outcome.phase, score=scores[outcome.phase]))
    return tuple(found)


def uniform(done: Sequence[Completion]) -> tuple[Completion, ...]:
    """The longest row at the end whose scores are all within 0.2 of each other."""
    low, high, length = 100, 0, 0
    for one in reversed(done):
        tenths = round(one.score * 10)
        low, high = min(low, tenths), max(high, tenths)
        if high - low > TENTHS_APART:
            break
        length += 1
    return tuple(done[len(done) - length :])


def alert(done: Sequence[Completion]) -> Alert | None:
    """Told when a row grows to three and to five, and for each completion from seven on."""
    row = uniform(done)
    tier: Literal[1, 2, 3]
    if len(row) >= CRITICAL:
        tier = 3
    elif len(row) == ENHANCED:
        tier = 2
    elif len(row) == WARNED:
        tier = 1
    else:
        return None
    scores = [c.score for c in row]
    return Alert(tier=tier, phases=tuple(c.phase for c in row), lowest=min(scores), highest=max(scores))


def alerts(done: Sequence[Completion]) -> Iterator[Alert]:
    """Every alert there has been, in order."""
    found = (alert(done[:length]) for length in range(1, len(done) + 1))
    return (one for one in found if one)


def suspects(run: RunRecord) -> frozenset[str]:
    """INTG-05c: every phase of a row that became critical."""
    return frozenset(one.phase for one in _in_critical_rows(completed(run.of(PhaseFinished))))


def _in_critical_rows(done: Sequence[Completion]) -> Iterator[Completion]:
    """Each once: a row is followed as far as it goes, and the next begins where the scores are alike again."""
    low, high, start, told = 100, 0, 0, 0
    for end, one in enumerate(done, start=1):
        tenths = round(one.score * 10)
        low, high = min(low, tenths), max(high, tenths)
        if high - low > TENTHS_APART:
            row = uniform(done[start:end])
            start, scores = end - len(row), [round(other.score * 10) for other in row]
            low, high = min(scores), max(scores)
        if end - start >= CRITICAL:
            yield from done[max(start, told) : end]
            told = end


def enhanced(run: RunRecord) -> bool:
    """INTG-05b, INTG-05c: whether the phase to come gets a harder look; after a critical row all that remain do."""
    done = completed(run.of(PhaseFinished))
    return len(uniform(done)) >= ENHANCED or any(True for _ in _in_critical_rows(done))
