"""Summarizes each finished step and call of an attempt in a few fields."""

import hashlib
from collections.abc import Iterable, Sequence
from itertools import pairwise

from autopilot.domain.events import AgentAnswered, Entry, Event, StepFinished, StepStarted
from autopilot.domain.evidence import CommandRun, Usage, Work
from autopilot.domain.results import Debugged, Executed, Fixed, Planned, Researched, Triaged, Unanswered, Verified
from autopilot.domain.value import Value
from autopilot.domain.verdict import SET_ASIDE, Advance, Retry, Stop
from autopilot.history.record import PhaseRecord
from autopilot.history.waits import Waited, overlap
from autopilot.text.error_shape import shape
from autopilot.text.times import elapsed

WORKING = frozenset({"plan", "execute", "fix", "debug"})
MACHINERY = frozenset({"preflight", "triage"})
SILENCE = "no answer"


class Trial(Value, frozen=True, kw_only=True):
    """
    One finished step.

    `error` says what went wrong and `shape` what is left of that without its arguments. `size` is how much the work
    changed, None where nothing was worked on; `tree`, `paper` and `gate` name what the step brought, empty where it
    brought none, `looked_at` the trees it found, `holding` the checks that passed.
    """

    at: str
    step: str
    first: bool
    retry: bool = False
    unanswered: bool = False
    given_up: bool = False
    repairs: bool = False
    error: str | None = None
    shape: str = ""
    size: int | None = None
    tree: str = ""
    paper: str = ""
    gate: str = ""
    looked_at: tuple[str, ...] = ()
    holding: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        return "execute" if self.step == "fix" else self.step


class CallDigest(Value, frozen=True, kw_only=True):
    role: str
    usage: Usage


class Spent(Value, frozen=True, kw_only=True):
    """
    `tokens` and `usd` are None when no call told; `untold_*` counts the calls that did not.

    `fresh` are the tokens that did not come from a cache, `unpriced` those of them whose call has no price.

    `by_list` counts those whose dollars are reckoned from a price list, where calls are at hand one by one.
    """

    calls: int = 0
    tokens: int | None = None
    usd: float | None = None
    untold_tokens: int = 0
    untold_usd: int = 0
    by_list: int = 0
    fresh: int = 0
    unpriced: int = 0


def spent_by(calls: Iterable[CallDigest]) -> Spent:
    """A call that was made twice was paid twice."""
    usages = [call.usage for call in calls]
    tokens = [told for usage in usages if (told := tokens_of(usage)) is not None]
    dollars = [usage.cost_usd for usage in usages if usage.cost_usd is not None]
    return Spent(
        calls=len(usages),
        tokens=sum(tokens) if tokens else None,
        usd=round(sum(dollars), 6) if dollars else None,
        untold_tokens=len(usages) - len(tokens),
        untold_usd=len(usages) - len(dollars),
        by_list=sum(usage.by_list for usage in usages),
        fresh=sum(map(fresh_tokens, usages)),
        unpriced=sum(fresh_tokens(usage) for usage in usages if usage.cost_usd is None),
    )


def tokens_of(usage: Usage) -> int | None:
    told = [count for count in (usage.input_tokens, usage.output_tokens) if count is not None]
    return sum(told) if told else None


def fresh_tokens(usage: Usage) -> int:
    """Input that did not come from a cache, and output. What nobody told counts as nothing."""
    return max(0, (usage.input_tokens or 0) - (usage.cached_tokens or 0)) + (usage.output_tokens or 0)


class PassDigest(Value, frozen=True, kw_only=True):
    """
    `entries` is how many the pass has, `last` the time of the newest, `seconds` how long it was worked on.

    `retries` and `error` are the sum and the newest of its trials', at hand so that a long run need not look at all.
    """

    phase: str
    number: int
    trials: tuple[Trial, ...] = ()
    calls: tuple[CallDigest, ...] = ()
    entries: int = 0
    last: str = ""
    seconds: float = 0.0
    retries: int = 0
    error: str = ""
    spent: Spent = Spent()


def digest_of(record: PhaseRecord, resumes: Sequence[str] = (), waits: Iterable[Waited] = ()) -> PassDigest:
    """
    `resumes` are the times at which the run was taken up again: nobody worked from the entry before to then.

    Nor did anybody while one of the `waits` of the run was this phase's.
    """
    own = tuple(wait for wait in waits if wait.phase == record.phase.id)
    ends = [entry for entry in record.entries if isinstance(entry.event, StepFinished)]
    answers = (entry.event for entry in record.entries if isinstance(entry.event, AgentAnswered))
    calls = tuple(CallDigest(role=answer.role, usage=answer.usage) for answer in answers)
    trials = tuple(_trial(entry, record, first=number == 0) for number, entry in enumerate(ends))
    return PassDigest(
        phase=record.phase.id,
        number=record.brief.number,
        trials=trials,
        calls=calls,
        spent=spent_by(calls),
        entries=len(record.entries),
        last=record.entries[-1].at if record.entries else "",
        seconds=sum(_worked(a.at, b.at, resumes, own) for a, b in pairwise(record.entries)),
        retries=sum(trial.retry for trial in trials),
        error=next((trial.error for trial in reversed(trials) if trial.error), ""),
    )


def _worked(begin: str, end: str, resumes: Sequence[str], waits: tuple[Waited, ...]) -> float:
    back = max((at for at in resumes if begin < at <= end), default=begin)
    return max(0.0, elapsed(back, end) - overlap(waits, back, end))


def _trial(entry: Entry, record: PhaseRecord, *, first: bool) -> Trial:
    step = entry.event
    assert isinstance(step, StepFinished)
    work, error = _work(step), _error(step)
    return Trial(
        at=entry.at,
        step=step.step,
        first=first,
        retry=isinstance(step.verdict, Retry),
        unanswered=isinstance(step.result, Unanswered),
        given_up=isinstance(step.verdict, Advance) and bool(step.verdict.because),
        repairs=isinstance(step.result, Fixed | Debugged) or (work is not None and record.brief.cycle > 0),
        error=error,
        shape=shape(error) if error is not None else "",
        size=work.change.added + work.change.removed if work else None,
        tree=work.change.tree if work and work.change.files else "",
        paper=_paper(step),
        gate=_gate(step, work),
        looked_at=tuple(dict.fromkeys(run.tree for run in _first_checks(step))),
        holding=tuple(dict.fromkeys(run.check for run in _checks(step) if run.passed)),
    )


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


def _gate(step: StepFinished, work: Work | None) -> str:
    """A reviewer's gate let something through: which, for which task, on which state of the work."""
    through = isinstance(step.verdict, Advance) and not step.verdict.because
    if not through or work is not None or not _reports(step):
        return ""
    return f"{step.step} {getattr(step.result, 'task', '')} {step.commit}"


def _paper(step: StepFinished) -> str:
    """A report that finds what the last one found is no new one."""
    match step.result:
        case Researched(text=text, claim=claim):
            paper = f"research {shape(text)} {shape(' '.join(claim.key_findings))}"
        case Planned(plan=plan) if plan is not None:
            paper = f"plan {shape(plan.text)} {plan.sha256}"
        case _ if _reports(step):
            paper = f"{step.step} {shape(str(getattr(step.verdict, 'because', '')))}"
        case _:
            return ""
    return hashlib.sha256(paper.encode("utf-8", "replace")).hexdigest()


def _reports(step: StepFinished) -> bool:
    return step.step not in {*WORKING, *MACHINERY, "research"} and not isinstance(step.result, Unanswered)


def _error(step: StepFinished) -> str | None:
    """What went wrong; None where nothing did."""
    if isinstance(step.result, Unanswered):
        return f"no usable answer ({step.result.outcome}): {step.result.detail}"
    match step.verdict:
        case Retry(because=because) | Stop(because=because):
            return because
        case Advance(because=because) if because and step.step not in MACHINERY:
            return because.removeprefix(SET_ASIDE)
    return None


class LeftBehind(Value, frozen=True, kw_only=True):
    """By a step's id the commits before and after it, by a call's the planning files it wrote."""

    steps: dict[str, tuple[str, str]] = {}
    wrote: dict[str, dict[str, str]] = {}


def left_behind(events: Sequence[Event], phase: str) -> LeftBehind:
    """`phase` is `<run>/<phase>`. A step that was begun twice is taken from where it began last."""
    begun = {(event.step, event.n): event.base for event in events if isinstance(event, StepStarted)}
    ended = [event for event in events if isinstance(event, StepFinished) and (event.step, event.n) in begun]
    return LeftBehind(
        steps={f"{phase}/{event.step}/{event.n}": (begun[event.step, event.n], event.commit) for event in ended},
        wrote={event.call: event.wrote for event in events if isinstance(event, AgentAnswered) and event.wrote},
    )
