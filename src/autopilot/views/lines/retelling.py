"""A finished run retold: what was claimed, what Autopilot found by which command, how each phase ended."""

from collections.abc import Iterator, Mapping, Sequence

from autopilot.domain.attempt import PhaseOutcome
from autopilot.domain.events import (
    Entry,
    Event,
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
    stream_of,
)
from autopilot.domain.results import Executed, Fixed, MiniVerified, Verified
from autopilot.domain.verdict import Advance
from autopilot.history.best_attempt import counted as best_of
from autopilot.history.best_attempt import kept, outcome_kept
from autopilot.history.run_index import judged
from autopilot.policy.outcomes import described, outcome_of
from autopilot.text.clean import clean
from autopilot.views.lines import task_lines as visual_lines
from autopilot.views.lines.fact_sentences import counted, ended, failing, said

_MOST_TRIES = 4


def account(run_entries: Sequence[Entry], phase_entries: Mapping[str, Sequence[Entry]]) -> str:
    """`phase_entries` holds the phase streams by name. Every line ends; nothing is decided here."""
    events = [entry.event for entry in run_entries]
    lines = [*_heading(events)]
    for phase in _phases(events):
        lines += ["", *_phase(phase, events, phase_entries)]
    return "".join(f"{line}\n" for line in lines)


def _heading(events: Sequence[Event]) -> Iterator[str]:
    start = next((e for e in events if isinstance(e, RunStarted)), None)
    for resumed in (e for e in events if isinstance(e, RunResumed)):
        start = start.going_by(resumed.roadmap) if start else None
    asked_for = start.targets if start else _phases(events)
    # A part of a phase that was split is told of below, and is no phase.
    ends = {e.outcome.phase: e for e in judged(events)}
    passed = [p for p in asked_for if p in ends and _passed(ends[p]) and not _shortfall(p, events)]
    yield f"{f'Run {start.run}' if start else 'Run'}: {len(passed)} of {len(asked_for)} phases passed."
    end = next((e for e in reversed(events) if isinstance(e, RunFinished | RunStopped)), None)
    if end:
        yield f"It ended with exit code {end.exit_code}: {clean(end.reason)}"


def _passed(event: PhaseFinished) -> bool:
    """By the run's verdict: a cycle that failed takes nothing away from what stood before it."""
    return isinstance(event.verdict, Advance)


def _shortfall(phase: str, events: Sequence[Event]) -> str:
    """What is to be said of a phase that counts as done without having passed at its bar; else empty."""
    start = next((e for e in events if isinstance(e, RunStarted)), None)
    ends = [e for e in judged(events) if e.outcome.phase == phase]
    if start is None or not ends:
        return ""
    score, bar = _counted(phase, events, ends).alignment_score, start.settings.pass_threshold
    word = outcome_of(ends[-1].verdict, score, bar)
    return described(word, score, bar) if word else ""


def _phases(events: Sequence[Event]) -> list[str]:
    """In the order they were reached."""
    reached = {e.brief.phase.id if isinstance(e, PhaseStarted) else e.phase: None
               for e in events if isinstance(e, PhaseStarted | PhaseSkipped)}  # fmt: skip
    return list(reached)


def _phase(phase: str, events: Sequence[Event], streams: Mapping[str, Sequence[Entry]]) -> Iterator[str]:
    start = next((e for e in events if isinstance(e, RunStarted)), None)
    brief = next((e.brief for e in events if isinstance(e, PhaseStarted) and e.brief.phase.id == phase), None)
    ends = [e for e in events if isinstance(e, PhaseFinished) and e.outcome.phase == phase]
    yield f"Phase {phase}{f' {clean(brief.phase.name, 60)}' if brief else ''}"
    for cycle in range(len(ends) + 1):
        stream = streams.get(stream_of(start.run if start else "", phase, cycle), ())
        yield from _tries([e.event for e in stream if isinstance(e.event, StepFinished)])
    yield f"  ended: {_ending(phase, events, ends)}"


def _tries(steps: Sequence[StepFinished]) -> Iterator[str]:
    """A line for each attempt at a task, claim beside fact; then what the last full check showed."""
    works = [step.result for step in steps if isinstance(step.result, Executed | Fixed)]
    for result in works[:_MOST_TRIES]:
        who = "fix" if isinstance(result, Fixed) else "agent"
        yield f"  task {clean(result.work.task, 20)}: {who} claimed {said(result.claim)}; found {_found(result)}"
    if len(works) > _MOST_TRIES:
        yield f"  and {len(works) - _MOST_TRIES} more attempts"
    reviews = [r for s in steps if isinstance(r := s.result, MiniVerified) and not r.opinion.passed]
    for review in reviews[:1]:
        yield f"  task {clean(review.task, 20)}: the reviewer did not accept it"
    checks = [step.result for step in steps if isinstance(step.result, Verified)]
    if checks:
        last = checks[-1]
        bad = next((run for run in (*last.checks, *last.gates) if not run.passed), None)
        parts = (counted((*last.checks, *last.gates)), ended(bad) if bad else "", visual_lines.counted(last))
        yield f"  whole phase checked again: {'; '.join(part for part in parts if part)}"


def _found(result: Executed | Fixed) -> str:
    bad = failing(result.work)
    if bad:
        return ended(bad[0]) + (f" (and {len(bad) - 1} more)" if len(bad) > 1 else "")
    blockers = [finding for finding in result.work.findings if finding.severity == "blocker"]
    if blockers:
        return clean(f"{blockers[0].where}: {blockers[0].what}", 120)
    good = next((run for run in result.work.after if run.passed), None)
    return f"{ended(good)}, {counted(result.work.after)}" if good else "nothing that could be checked"


def _counted(phase: str, events: Sequence[Event], ends: Sequence[PhaseFinished]) -> PhaseOutcome:
    """AMB-37: of a phase that passed, the pass it stands on; of any other the last one."""
    start = next((e for e in events if isinstance(e, RunStarted)), None)
    before = start.before.get(phase) if start else None
    if not _passed(ends[-1]):
        return ends[-1].outcome
    if before and kept(ends, before):
        return outcome_kept(phase, before, ends[-1].outcome.commit)
    return (best_of(ends) or ends[-1]).outcome


def _ending(phase: str, events: Sequence[Event], ends: Sequence[PhaseFinished]) -> str:
    skipped = next((e for e in events if isinstance(e, PhaseSkipped) and e.phase == phase), None)
    if not ends:
        return f"skipped, {clean(skipped.reason).replace('_', ' ')}" if skipped else "not finished"
    outcome = _counted(phase, events, ends)
    score = f" at {outcome.alignment_score:.1f}/10" if outcome.alignment_score is not None else ""
    landing = next((e for e in reversed(events) if isinstance(e, PhaseLanded) and e.phase == phase), None)
    where = ""
    if landing:
        where = f"; landed as {landing.commit[:8]}" if landing.landed else f"; not landed: {clean(landing.note, 120)}"
    word = next((e for e in reversed(events) if isinstance(e, VerdictGiven) and e.phase == phase), None)
    said = f"; a person said {word.verdict.replace('_', ' ')}" if word else ""
    short = _shortfall(phase, events)
    told = short or f"{outcome.status.replace('_', ' ')}{score}: {clean(outcome.reason) or 'no reason was given'}"
    return f"{told}{said}{where}"
