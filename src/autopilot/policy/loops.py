"""How often work was tried, and whether the tries lead anywhere: counted from the journal, never from memory. Pure."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from autopilot.domain.events import RunFinished, RunResumed, RunStopped
from autopilot.domain.value import Value
from autopilot.history.digest import MACHINERY, SILENCE, WORKING, PassDigest, Trial
from autopilot.history.record import RunRecord
from autopilot.history.totals import Tally, tallied
from autopilot.text.error_shape import shape

CAP, BREAKER = 20, 21
OVERLOADS, INTERRUPTIONS = "overload_tries", "interruptions"
"""The brakes for an overloaded service and for calls killed from outside. No try failed, so the count goes on."""


class Tries(Value, frozen=True, kw_only=True):
    """
    `no_progress` and `same_error` are in a row up to now, `alternating` is how long two errors have taken turns.

    `growing` counts repairs in a row that were each bigger than the try before, `retries` all that was done again in
    the run. `half_open`: a breaker stopped the run, it was resumed, and nothing has passed a check since; `relapsed`:
    the first try after that failed as the last one before it did.
    """

    no_progress: int = 0
    same_error: int = 0
    alternating: int = 0
    growing: int = 0
    retries: int = 0
    last_error: str = ""
    half_open: bool = False
    relapsed: bool = False


@dataclass(frozen=True, slots=True)
class Try:
    """One finished step. `moved`: it brought something new; `passed`: a check that never held before."""

    trial: Trial
    phase: str
    moved: bool
    passed: bool
    grew: bool


def tries(run: RunRecord, passes: Iterable[PassDigest], phase: str | None = None) -> Tries:
    """
    Where several phases are at work at a time, what counts in a row is that of `phase`, after all that is over.

    None for all of them in one row. `retries` are always the whole run's.
    """
    every = tallied(passes)
    figures = every.whole.figures
    at, begin = _beginning(run)
    elsewhere = {brief.phase.id for brief in run.open_passes} - {phase} if phase is not None else set[str]()
    since, before = _since(every, begin, elsewhere)
    errors = _errors(since)
    half_open = _follows_breaker(run, at) and not any(t.passed for t in since)
    idle = _idle(since)
    first = next((t.trial.shape for t in since if t.trial.error is not None), None)
    return Tries(
        no_progress=idle,
        same_error=max((_repeats(told) for told in errors.values()), default=0),
        alternating=max((_turns(told) for told in errors.values()), default=0),
        growing=_growing(since),
        retries=(_retries(every, begin) if begin else figures.retries) + _respawns(run, at),
        last_error=figures.error,
        half_open=half_open,
        relapsed=half_open and (idle > 0 or (first is not None and first == shape(before))),
    )


def _since(passes: Tally, begin: int, elsewhere: AbstractSet[str]) -> tuple[tuple[Try, ...], str]:
    """
    The tries that can still count, and the last error before the count began.

    What lies before the newest pass in which a check passed for the first time has no bearing on what is in a row now.
    """
    if begin or elsewhere:
        # In the order of their passes, which is that of time as long as no two of these are open at once.
        told = tuple(_told(passes))
        told = tuple(sorted(told, key=lambda one: one.trial.at)) if elsewhere else told
        return tuple(t for t in told[begin:] if t.phase not in elsewhere), _last_error(told[:begin])
    window: tuple[Try, ...] = ()
    told_of: dict[str, list[Try]] = {}
    for digest in reversed(passes):
        if digest.phase not in told_of:
            told_of[digest.phase] = list(_told(passes.whole.by_phase[digest.phase]))
        left = told_of[digest.phase]
        first = len(left) - len(digest.trials)
        own, left[first:] = tuple(left[first:]), []
        window = (*own, *window)
        if any(one.passed for one in own):
            break
    return window, ""


def _retries(passes: Iterable[PassDigest], begin: int) -> int:
    count = 0
    for digest in passes:
        if begin >= len(digest.trials):
            begin -= len(digest.trials)
        else:
            count += digest.retries - sum(trial.retry for trial in digest.trials[:begin])
            begin = 0
    return count


def finished_steps(passes: Iterable[PassDigest]) -> int:
    return tallied(passes).whole.figures.steps


def starts_anew(run: RunRecord) -> bool:
    """Whether a run resumed now counts its tries anew: it had come to an end, or a breaker had stopped it."""
    match run.end:
        case RunStopped() as stopped:
            return is_breaker(stopped)
        case RunFinished(exit_code=code):
            return code != CAP
    return False


def _beginning(run: RunRecord) -> tuple[int, int]:
    """Where the count begins: the run's entry, and the number of steps finished before it."""
    for at in reversed(run.places(RunResumed)):
        event = run.entries[at].event
        if isinstance(event, RunResumed) and event.anew is not None:
            return at, event.anew
    return 0, 0


def _follows_breaker(run: RunRecord, at: int) -> bool:
    before = run.entries[at - 1].event if at else None
    return isinstance(before, RunStopped) and is_breaker(before)


def is_breaker(stopped: RunStopped) -> bool:
    """Whether work that led nowhere stopped the run."""
    return stopped.exit_code == BREAKER and stopped.brake not in {OVERLOADS, INTERRUPTIONS}


def _respawns(run: RunRecord, at: int) -> int:
    """Passes of a phase after its first."""
    again = run.chronicle.again
    return len(again) - bisect_left(again, at)


@dataclass(slots=True)
class _Seen:
    """What a phase has had before, in any of its passes."""

    trees: set[str] = field(default_factory=set)
    papers: set[str] = field(default_factory=set)
    passing: set[str] = field(default_factory=set)
    gates: set[str] = field(default_factory=set)
    size: int = 0


def _told(passes: Iterable[PassDigest]) -> Iterator[Try]:
    phases: dict[str, _Seen] = {}
    for digest in passes:
        seen = phases.setdefault(digest.phase, _Seen())
        for trial in digest.trials:
            yield _try(trial, digest.phase, seen)


def _try(trial: Trial, phase: str, seen: _Seen) -> Try:
    """Judge the step by what was there before it, and remember it."""
    seen.trees.update(trial.looked_at)
    more = not seen.passing.issuperset(trial.holding) and trial.step != "triage"
    seen.passing.update(trial.holding)
    passed = more or _is_new(trial.gate, seen.gates)
    moved = passed or _is_new(trial.tree, seen.trees) or _is_new(trial.paper, seen.papers)
    grew = trial.repairs and not more and (trial.size or 0) > seen.size > 0
    seen.size = seen.size if trial.size is None else trial.size
    return Try(trial, phase, moved=moved and not trial.unanswered, passed=passed, grew=grew)


def _is_new(what: str, seen: set[str]) -> bool:
    """Whether there is something that was never there before; it is remembered."""
    if not what or what in seen:
        return False
    seen.add(what)
    return True


def _idle(told: Iterable[Try]) -> int:
    """
    AMB-22: tries in a row that changed neither the work nor a paper nor what passes. Reviews are no tries.

    A task or a pass that was given up has had its end, and the next one starts at nothing; but an agent that gives no
    answer is the same agent in the next pass.
    """
    idle = silent = 0
    for one in told:
        trial = one.trial
        if trial.first or one.moved:
            idle = 0
        if trial.unanswered or (trial.step in WORKING and not one.moved):
            idle = 0 if trial.given_up else idle + 1
        if trial.step not in MACHINERY:
            silent = silent + 1 if trial.unanswered else 0
    return max(idle, silent)


def _growing(told: Iterable[Try]) -> int:
    count = 0
    for one in told:
        if one.grew:
            count += 1
        elif one.trial.size is not None or one.passed:
            count = 0
    return count


def _errors(told: Iterable[Try]) -> dict[str, list[str]]:
    """The shapes of what went wrong, by kind of step, since such a step went well or anything new passed."""
    found: dict[str, list[str]] = {}
    for one in told:
        trial = one.trial
        if one.passed:
            found.clear()
        if trial.error is not None:
            found.setdefault(SILENCE if trial.unanswered else trial.kind, []).append(trial.shape)
        elif trial.step not in MACHINERY:
            found.pop(trial.kind, None)
        if trial.step not in MACHINERY and not trial.unanswered:
            found.pop(SILENCE, None)
    return found


def _last_error(told: Sequence[Try]) -> str:
    return next((one.trial.error for one in reversed(told) if one.trial.error), "")


def _repeats(errors: list[str]) -> int:
    count = 0
    for error in reversed(errors):
        if error != errors[-1]:
            break
        count += 1
    return count


def _turns(errors: list[str]) -> int:
    """How many of the last errors took turns: A, B, A, B is four; A, A is none."""
    if len(errors) < 2 or errors[-1] == errors[-2]:  # noqa: PLR2004 - it takes two to take turns
        return 0
    count = 0
    for number, error in enumerate(reversed(errors)):
        if error != errors[-1 - number % 2]:
            break
        count += 1
    return count
