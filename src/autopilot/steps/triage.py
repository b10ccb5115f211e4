"""Runs the criteria before any agent is asked: perhaps the work is already there."""

import json

import msgspec

from autopilot.domain.phase import Criterion, Kind, Plan
from autopilot.domain.results import Triaged
from autopilot.history.record import PhaseRecord
from autopilot.policy.facts.commands import is_gate
from autopilot.policy.task_progress import declared_kinds
from autopilot.ports.agents import Tools
from autopilot.steps.checks.test_specs import frozen_tests
from autopilot.steps.prompt import criteria_under

NO_CRITERIA = "No verifiable criteria for triage -- routing to full pipeline."

ACCEPTED = "the plan was accepted before -- every task of it is carried out"
GUARDED = "a {kind} phase -- its criteria guard what is there and do not show that the work is done"


def run(record: PhaseRecord, tools: Tools) -> Triaged:
    plan = trusted(record)
    criteria = criteria_under(record, plan)
    checks = tools.facts.check(record.commit, _runnable(criteria), frozen_tests(record, plan))
    if not checks:
        return Triaged(routing="full_pipeline", source="none", note=NO_CRITERIA)
    full = Triaged(routing="full_pipeline", source="plan" if plan else "roadmap", checks=checks)
    if override := must_work(record):
        return msgspec.structs.replace(full, note=f"override: {override}")
    if not all(check.passed for check in checks):
        return full
    if doubt := to_doubt(record, criteria):
        return msgspec.structs.replace(full, note=f"override: {doubt}")
    return msgspec.structs.replace(full, routing="verify_only")


def must_work(record: PhaseRecord) -> str:
    """Why the phase is worked on whatever its criteria say; empty when they decide."""
    if record.brief.cycle:
        return "remediation"
    if record.brief.mode in {"force", "debug"}:
        return record.brief.mode
    return ACCEPTED if record.brief.is_promised else ""


def to_doubt(record: PhaseRecord, criteria: tuple[Criterion, ...]) -> str:
    """Why criteria that hold do not show that the phase is done; empty when they do."""
    if is_to_be_done(record):
        return GUARDED.format(kind=declared(record))
    if record.brief.found:
        return "a person did not accept the phase as it was"
    unrunnable = len(criteria) - len(_runnable(criteria))
    if unrunnable:
        return f"{unrunnable} of {len(criteria)} criteria cannot be run"
    commands = record.start.settings.commands
    if all(is_gate(c.command or "", commands) for c in criteria):
        return "the criteria only run the project's own checks, which held before"
    return ""


def is_to_be_done(record: PhaseRecord) -> bool:
    """
    AMB-10: whether criteria that hold say nothing about the work.

    Those of a refactoring or of documentation hold before it too; only a roadmap that calls it done can say that it is.
    """
    return declared(record) != "feature" and record.phase.status != "completed"


def declared(record: PhaseRecord) -> Kind:
    return next((kind for kind in declared_kinds(record) if kind != "feature"), "feature")


def trusted(record: PhaseRecord) -> Plan | None:
    """The plan this pass was given, unless it is one that agents made for an earlier run and that came to nothing."""
    plan = record.brief.plan
    return plan if plan and (record.brief.cycle or record.brief.is_promised or plan.existed_before) else None


def _runnable(criteria: tuple[Criterion, ...]) -> tuple[Criterion, ...]:
    return tuple(c for c in criteria if c.command and not c.behavioural)


def artifacts(record: PhaseRecord) -> dict[str, str]:
    """TRGE-05."""
    seen = record.find(Triaged)
    if seen is None:
        return {}
    skipped = ["research", "plan", "plan_check", "execute"] if seen.routing == "verify_only" else []
    body = {
        "phase_id": record.phase.id,
        "timestamp": next(e.at for e in record.history if getattr(e.event, "result", None) == seen),
        "criteria_source": seen.source,
        "criteria_checked": [
            {
                "criterion": c.what,
                "command": c.command,
                "result": "pass" if c.passed else "fail",
                "output": c.output[:200],
            }
            for c in seen.checks
        ],
        "total_criteria": len(seen.checks),
        "passed_criteria": sum(c.passed for c in seen.checks),
        "pass_ratio": round(seen.pass_ratio, 2),
        "routing_decision": seen.routing,
        "skipped_steps": skipped,
        "note": seen.note,
    }
    return {"TRIAGE.json": json.dumps(body, indent=2) + "\n"}
