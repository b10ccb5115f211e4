"""How often work was tried, and whether the tries lead anywhere: counted from the journal, never from memory. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from autopilot.domain.error_shape import shape
from autopilot.domain.events import Entry, PhaseStarted, RunFinished, RunResumed, RunStopped, StepFinished
from autopilot.domain.evidence import CommandRun, Work
from autopilot.domain.record import PhaseRecord, RunRecord
from autopilot.domain.results import Debugged, Executed, Fixed, Planned, Researched, Triaged, Unanswered, Verified
from autopilot.domain.value import Value
from autopilot.domain.verdict import Advance, Retry, Stop

WORKING = frozenset({"plan", "execute", "fix", "debug"})
MACHINERY = frozenset({"preflight", "triage"})
CAP, BREAKER = 20, 21
_SILENCE = "no answer"


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
    """
    One finished step. `moved`: it brought something new; `passed`: a check that never held before.

    `first`: the pass began with it. `at` and `phase` tell when and where.
    """

    at: str
    phase: str
    step: StepFinished
    moved: bool
    passed: bool
    grew: bool
    first: bool


def tries(run: RunRecord, passes: Iterable[PhaseRecord], phase: str | None = None) -> Tries:
    """
    Where several phases are at work at a time, what counts in a row is that of `phase`, after all that is over.

    None for all of them in one row. `retries` are always the whole run's.
    """
    told = tuple(_told(passes))
    elsewhere = {brief.phase.id for brief in run.open_passes} - {phase} if phase is not None else set[str]()
    at, begin = _beginning(run)
    # In the order of their passes, which is that of time as long as no two of these are open at once.
    every = tuple(sorted(told, key=lambda one: one.at)) if elsewhere else told
    again = sum(isinstance(t.step.verdict, Retry) for t in every[begin:])
    since = tuple(t for t in every[begin:] if t.phase not in elsewhere)
    errors = _errors(since)
    half_open = _follows_breaker(run, at) and not any(t.passed for t in since)
    idle = _idle(since)
    first, before = next(filter(None, map(_error, since)), None), _last_error(every[:begin])
    return Tries(
        no_progress=idle,
        same_error=max((_repeats(told) for told in errors.values()), default=0),
        alternating=max((_turns(told) for told in errors.values()), default=0),
        growing=_growing(since),
        retries=again + _respawns(run, at),
        last_error=_last_error(every),
        half_open=half_open,
        relapsed=half_open and (idle > 0 or (first is not None and shape(first[1]) == shape(before))),
    )


def finished_steps(passes: Iterable[PhaseRecord]) -> int:
    return sum(len(record.finished) for record in passes)


def starts_anew(run: RunRecord) -> bool:
    """Whether a run resumed now counts its tries anew: it had come to an end, or a breaker had stopped it."""
    match run.end:
        case RunStopped(exit_code=code):
            return code == BREAKER
        case RunFinished(exit_code=code):
            return code != CAP
    return False


def _beginning(run: RunRecord) -> tuple[int, int]:
    """Where the count begins: the run's entry, and the number of steps finished before it."""
    for at in range(len(run.entries) - 1, 0, -1):
        event = run.entries[at].event
        if isinstance(event, RunResumed) and event.anew is not None:
            return at, event.anew
    return 0, 0


def _follows_breaker(run: RunRecord, at: int) -> bool:
    before = run.entries[at - 1].event if at else None
    return isinstance(before, RunStopped) and before.exit_code == BREAKER


def _respawns(run: RunRecord, at: int) -> int:
    """Passes of a phase after its first."""
    since = (entry.event for entry in run.entries[at:])
    return sum(isinstance(event, PhaseStarted) and event.brief.number > 0 for event in since)


@dataclass(slots=True)
class _Seen:
    """What a phase has had before, in any of its passes."""

    trees: set[str] = field(default_factory=set)
    papers: set[str] = field(default_factory=set)
    passing: set[str] = field(default_factory=set)
    gates: set[tuple[str, str]] = field(default_factory=set)
    size: int = 0


def _told(passes: Iterable[PhaseRecord]) -> Iterator[Try]:
    phases: dict[str, _Seen] = {}
    for record in passes:
        seen = phases.setdefault(record.phase.id, _Seen())
        ends = (entry for entry in record.entries if isinstance(entry.event, StepFinished))
        for number, entry in enumerate(ends):
            yield _try(entry, record, seen, first=number == 0)


def _try(entry: Entry, record: PhaseRecord, seen: _Seen, *, first: bool) -> Try:
    """Judge the step by what was there before it, and remember it."""
    step = entry.event
    assert isinstance(step, StepFinished)
    work = _work(step)
    first_checks = _first_checks(step)
    seen.trees |= {run.tree for run in first_checks}
    holding = {run.check for run in _checks(step) if run.passed}
    more = bool(holding - seen.passing) and not isinstance(step.result, Triaged)
    seen.passing |= holding
    passed = more or _newly_through(step, work, seen)
    moved = passed or _new_tree(work, seen) or _new_paper(step, seen)
    grew = work is not None and _repairs(step, record) and not more and _size(work) > seen.size > 0
    seen.size = _size(work) if work else seen.size
    answered = not isinstance(step.result, Unanswered)
    moved = moved and answered
    return Try(entry.at, record.phase.id, step, moved=moved, passed=passed, grew=grew, first=first)


def _work(step: StepFinished) -> Work | None:
    return step.result.work if isinstance(step.result, Executed | Fixed | Debugged) else None


def _first_checks(step: StepFinished) -> tuple[CommandRun, ...]:
    match step.result:
        case Triaged(checks=checks):
            return checks
        case Executed(work=work) | Fixed(work=work) | Debugged(work=work):
            return work.before
    return ()


def _checks(step: StepFinished) -> tuple[CommandRun, ...]:
    match step.result:
        case Triaged(checks=checks) | Verified(checks=checks):
            return checks
        case Executed(work=work) | Fixed(work=work) | Debugged(work=work):
            return work.after
    return ()


def _newly_through(step: StepFinished, work: Work | None, seen: _Seen) -> bool:
    """A reviewer's gate let something through, for the first time on this state of the work."""
    through = isinstance(step.verdict, Advance) and not step.verdict.because
    if not through or work is not None or not _reports(step):
        return False
    key = (f"{step.step} {getattr(step.result, 'task', '')}", step.commit)
    fresh = key not in seen.gates
    seen.gates.add(key)
    return fresh


def _new_tree(work: Work | None, seen: _Seen) -> bool:
    if work is None or not work.change.files:
        return False
    fresh = work.change.tree not in seen.trees
    seen.trees.add(work.change.tree)
    return fresh


def _new_paper(step: StepFinished, seen: _Seen) -> bool:
    """A report that finds what the last one found is no new one."""
    match step.result:
        case Researched(text=text, claim=claim):
            paper = f"research {shape(text)} {shape(' '.join(claim.key_findings))}"
        case Planned(plan=plan) if plan is not None:
            paper = f"plan {shape(plan.text)} {plan.sha256}"
        case _ if _reports(step):
            paper = f"{step.step} {shape(str(getattr(step.verdict, 'because', '')))}"
        case _:
            return False
    fresh = paper not in seen.papers
    seen.papers.add(paper)
    return fresh


def _reports(step: StepFinished) -> bool:
    return step.step not in {*WORKING, *MACHINERY, "research"} and not isinstance(step.result, Unanswered)


def _repairs(step: StepFinished, record: PhaseRecord) -> bool:
    return isinstance(step.result, Fixed | Debugged) or record.brief.cycle > 0


def _size(work: Work) -> int:
    return work.change.added + work.change.removed


def _idle(told: Iterable[Try]) -> int:
    """
    AMB-22: tries in a row that changed neither the work nor a paper nor what passes. Reviews are no tries.

    A task or a pass that was given up has had its end, and the next one starts at nothing; but an agent that gives no
    answer is the same agent in the next pass.
    """
    idle = silent = 0
    for one in told:
        unanswered = isinstance(one.step.result, Unanswered)
        if one.first or one.moved:
            idle = 0
        if unanswered or (one.step.step in WORKING and not one.moved):
            idle = 0 if _given_up(one.step) else idle + 1
        if one.step.step not in MACHINERY:
            silent = silent + 1 if unanswered else 0
    return max(idle, silent)


def _given_up(step: StepFinished) -> bool:
    """CORR-03: the task is set aside and the next one follows."""
    return isinstance(step.verdict, Advance) and bool(step.verdict.because)


def _growing(told: Iterable[Try]) -> int:
    count = 0
    for one in told:
        if one.grew:
            count += 1
        elif _work(one.step) is not None or one.passed:
            count = 0
    return count


def _errors(told: Iterable[Try]) -> dict[str, list[str]]:
    """The shapes of what went wrong, by kind of step, since such a step went well or anything new passed."""
    found: dict[str, list[str]] = {}
    for one in told:
        if one.passed:
            found.clear()
        kind, error = _kind(one.step), _error(one)
        if error is not None:
            found.setdefault(error[0], []).append(shape(error[1]))
        elif one.step.step not in MACHINERY:
            found.pop(kind, None)
        if one.step.step not in MACHINERY and not isinstance(one.step.result, Unanswered):
            found.pop(_SILENCE, None)
    return found


def _kind(step: StepFinished) -> str:
    return "execute" if step.step == "fix" else step.step


def _error(one: Try) -> tuple[str, str] | None:
    """The kind of step and what went wrong; None where nothing did."""
    step = one.step
    if isinstance(step.result, Unanswered):
        return _SILENCE, f"no usable answer ({step.result.outcome}): {step.result.detail}"
    match step.verdict:
        case Retry(because=because) | Stop(because=because):
            return _kind(step), because
        case Advance(because=because) if because and step.step not in MACHINERY:
            return _kind(step), because.removeprefix("task FAILED: ")
    return None


def _last_error(told: Iterable[Try]) -> str:
    errors = [error for one in told if (error := _error(one))]
    return errors[-1][1] if errors else ""


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
