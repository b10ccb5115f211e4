"""Behind the last phase: integration check, self-audit, version; what is next is decided from the record alone."""

import msgspec

from autopilot.domain.attempt import Brief
from autopilot.domain.events import CompletionFinished, StepFinished
from autopilot.domain.phase import Criterion, Expectation, Phase
from autopilot.domain.results import COMPLETION, Audited, Bumped, Integrated, Integration
from autopilot.domain.verdict import Advance, Retry, Stop
from autopilot.engine.decide.audit_scope import steps_due, uncovered
from autopilot.engine.decide.next_step import Run
from autopilot.engine.perform.context import Hands
from autopilot.engine.perform.run_log import Streams
from autopilot.engine.perform.step import perform
from autopilot.engine.run.briefs import counted
from autopilot.history.record import PhaseRecord, RunRecord
from autopilot.pipeline import stage_named
from autopilot.policy.audit_gaps import (
    MOST_ROUNDS,
    audit_summary,
    covers,
    mendable_gaps,
    rounds,
    steps_of,
    tries_since_audit,
)
from autopilot.policy.task_progress import command_runs

FOLDER = ".planning/completion"
REVIEWED_BY: dict[str, type[Integrated] | type[Audited]] = {"integration": Integrated, "audit": Audited}
REVIEWS = frozenset(REVIEWED_BY)


def completion_brief(run: RunRecord, streams: Streams, base: str) -> Brief:
    start, steps = run.start, steps_due(run)
    covered = uncovered(run) if REVIEWS.intersection(steps) else ()
    criteria = (c for phase in covered for c in promised(phase, start.phases, streams.passes(phase)))
    whole = Phase(
        id=COMPLETION,
        name="Completion",
        goal="All phases hold together and give what the specification asks for.",
        criteria=tuple({_key(c): c for c in reversed(tuple(criteria))}.values())[::-1],
    )
    return Brief(
        phase=whole,
        dir=FOLDER,
        base=base,
        position=len(start.targets),
        total=len(start.targets),
        number=len(run.completions),
        earlier=dict(counted(streams.completions())),
        covers=covered,
        steps=steps,
    )


def promised(target: str, phases: tuple[Phase, ...], passes: tuple[PhaseRecord, ...]) -> tuple[Criterion, ...]:
    """The roadmap's criteria for the phase and those of its plan; their ids tell the phases apart."""
    own = next((phase.criteria for phase in phases if phase.id == target), ())
    plan = next((record.plan for record in reversed(passes) if record.plan), None)
    planned = tuple(c for task in plan.tasks for c in task.criteria) if plan else ()
    return tuple(msgspec.structs.replace(c, id=f"{target}:{c.id}") for c in (*own, *planned) if c.command)


def _key(criterion: Criterion) -> tuple[str | None, Expectation]:
    return criterion.command, criterion.expect


def complete(brief: Brief, hands: Hands, streams: Streams) -> CompletionFinished:
    """Go through the steps, from wherever the journal left off."""
    run = streams.run()
    for target in run.start.targets:
        for record in streams.passes(target):
            hands.facts.recall(command_runs(record))
    record = streams.phase(brief)
    while (move := next_step(record)) is not None:
        record = perform(move, record, hands, streams)
    return outcome(record)


def next_step(record: PhaseRecord) -> Run | None:
    """None when everything that is due is over."""
    name = _next_name(record)
    return Run(stage_named(name), record.brief.earlier.get(name, 0) + record.attempts(name) + 1) if name else None


def _next_name(record: PhaseRecord) -> str | None:
    last = record.finished[-1] if record.finished else None
    if last and isinstance(last.verdict, Retry):
        return last.verdict.step
    if last and last.step == "gap_fix" and (goal := _after_try(record)):
        return goal
    begun = {step.step for step in record.finished}
    return next((step for step in steps_of(record) if step not in begun), None)


def _after_try(record: PhaseRecord) -> str | None:
    """AUDT-10: each gap has its turn; then another audit, if the line has moved; without that another round."""
    tries, gaps = tries_since_audit(record), len(mendable_gaps(record))
    if len(tries) % gaps:
        return "gap_fix"
    if any(isinstance(step.verdict, Advance) for step in tries[-gaps:]):
        return "audit"
    return "gap_fix" if rounds(record) < MOST_ROUNDS else None


def outcome(record: PhaseRecord) -> CompletionFinished:
    """An opinion that is missing is no pass."""
    steps = {step.step: step for step in record.finished}
    integration, because = _integration(steps.get("integration"))
    version = steps.get("version")
    result = version.result if version else None
    new = result.version if isinstance(result, Bumped) and version and isinstance(version.verdict, Advance) else ""
    return CompletionFinished(
        commit=record.commit,
        integration=integration,
        because=because,
        self_audit=audit_summary(record) if "audit" in steps_of(record) else None,
        version=new,
        note=version.verdict.because if version and isinstance(version.verdict, Stop) else "",
        covered=covers(record) if _looked(record) else (),
    )


def _looked(record: PhaseRecord) -> bool:
    """Whether every review that was due was given: what nobody looked at is due again at the end of the next run."""
    given = {kind for kind in (Integrated, Audited) if record.find(kind)}
    return given >= {REVIEWED_BY[step] for step in steps_of(record) if step in REVIEWS}


def _integration(step: StepFinished | None) -> tuple[Integration, str]:
    if step is None:
        return "not_run", ""
    return ("pass", "") if isinstance(step.verdict, Advance) else ("fail", getattr(step.verdict, "because", ""))
