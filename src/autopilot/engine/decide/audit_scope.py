"""What the end of a run covers: completed phases that no audit has looked at yet, or why it covers none. Pure."""

from dataclasses import dataclass

from autopilot.domain.events import (
    CompletionFinished,
    CompletionStarted,
    PhaseFinished,
    RunFinished,
    RunResumed,
    RunStopped,
)
from autopilot.domain.verdict import AskHuman
from autopilot.engine.decide.line import accepted
from autopilot.history.record import RunRecord
from autopilot.policy.audit_gaps import requirements_of

OFF = "switched off in the config (workflow.integration_check, workflow.self_audit)"
DEBUGGED = "a debug run has no audit: its own commands and the project's gates check it"
ALONE = "only one phase is complete and no requirement is stated, so there is nothing to compare it with"
UNASKED = "nothing is asked of them: neither a requirement nor a success criterion"
IDLE = "no phase passed in this run"
SILENT = "the reviewer gave no usable answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """`covered` are the phases the ends of this run looked at, `left` completed ones that it did not, and why."""

    covered: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    because: str = ""


def coverage(run: RunRecord, end: RunFinished | RunStopped) -> Coverage:
    looked_at = {phase for done in run.of(CompletionFinished) for phase in covered_by(run, done)}
    left = uncovered(run)
    because = end.reason if end.brake or isinstance(end, RunStopped) else why_not(run)
    return Coverage(covered=_in_order(run, looked_at), left=left, because=(because or SILENT) if left else "")


def uncovered(run: RunRecord) -> tuple[str, ...]:
    """Completed phases that no end has looked at since they were completed: this run's, and earlier runs'."""
    since: dict[str, int] = {phase: -1 for phase in run.start.unaudited if phase not in run.start.targets}
    for at, entry in enumerate(run.entries):
        if isinstance(entry.event, PhaseFinished) and accepted(run, entry.event.outcome.phase):
            since[entry.event.outcome.phase] = at
        elif isinstance(entry.event, CompletionFinished):
            since = {phase: at for phase, at in since.items() if phase not in covered_by(run, entry.event)}
    return _in_order(run, set(since))


def covered_by(run: RunRecord, done: CompletionFinished) -> tuple[str, ...]:
    """Older versions ended a run only when all its targets had passed, and looked at these."""
    return run.start.targets if done.covered is None else done.covered


def why_not(run: RunRecord) -> str:
    """Why the end of this run looks at nothing, or at nothing more; empty when it has something to look at."""
    settings = run.start.settings
    waiting = [t for t in run.start.targets if (ends := run.standing(t)) and isinstance(ends[-1].verdict, AskHuman)]
    if not (settings.integration_check or settings.self_audit):
        return DEBUGGED if settings.modes.debug else OFF
    if waiting:
        return f"phase {', '.join(waiting)} waits for a person's verdict"
    if any(not run.landed(phase) for phase in _passed(run)):
        return "what passed is built on work that a person did not accept"
    if not _passed(run):
        return IDLE
    if reviews_due(run):
        return ""
    return SILENT if set(uncovered(run)) <= _tried(run) else ALONE if len(_completed(run)) == 1 else UNASKED


def reviews_due(run: RunRecord) -> tuple[str, ...]:
    """
    The reviews of what is not covered yet; where nobody answered, they are due again when the run is resumed.

    They ask agents, so there has to be something that the phases' own verification could not see: another phase, or a
    stated requirement.
    """
    start, left = run.start, set(uncovered(run)) - _tried(run)
    several = len([p for p in start.phases if p.status != "deferred" or p.id in start.targets]) > 1
    stated = any(start.requirements.get(phase) for phase in left)
    wanted = {
        "integration": start.settings.integration_check and len(_completed(run)) > 1,
        "audit": start.settings.self_audit and (several or stated) and bool(requirements_of(start, left)),
    }
    return tuple(step for step, due in wanted.items() if due and left)


def _tried(run: RunRecord) -> frozenset[str]:
    """What was to be looked at since the run was started or resumed."""
    since = max((0, *run.places(RunResumed)))
    begun = (run.entries[at].event for at in run.places(CompletionStarted) if at > since)
    briefs = (event.brief for event in begun if isinstance(event, CompletionStarted))
    return frozenset(phase for brief in briefs for phase in brief.covers or ())


def steps_due(run: RunRecord) -> tuple[str, ...]:
    """What is to be done behind the last phase now. The version is bumped once, when all targets have passed."""
    reviews = reviews_due(run) if not why_not(run) else ()
    whole = all(accepted(run, target) and run.landed(target) for target in run.start.targets)
    bumped = any("version" in brief.steps for brief in run.completions)
    version = run.start.settings.version_bump and whole and not bumped
    return (*reviews, *(("version",) if version else ()))


def _passed(run: RunRecord) -> tuple[str, ...]:
    return tuple(target for target in run.start.targets if accepted(run, target))


def _completed(run: RunRecord) -> frozenset[str]:
    """All there is to hold together: with what was done before the run."""
    again = {target for target in run.start.targets if not accepted(run, target)}
    return frozenset({*run.start.completed, *_passed(run)} - again)


def _in_order(run: RunRecord, phases: set[str]) -> tuple[str, ...]:
    return tuple(phase.id for phase in run.start.phases if phase.id in phases)
