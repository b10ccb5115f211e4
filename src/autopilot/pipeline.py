"""
The order of work: each step, the gate behind it, and the artifacts its results become.

The first nine headings run in this order. `fix` and `debug` are detours: a gate sends work there and their own gates
send it back. `ENDING` are the steps behind a run's last phase. To change what Autopilot does, start here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from autopilot.gates import (
    after_audit,
    after_debug,
    after_divergence,
    after_gap_fix,
    after_integration,
    after_judge,
    after_mini_verify,
    after_phase,
    after_plan,
    after_plan_check,
    after_preflight,
    after_rate,
    after_research,
    after_task,
    after_triage,
    after_verify,
    after_version,
)
from autopilot.gates import after_no_answer as unanswered
from autopilot.gates.rules import Gate
from autopilot.history.record import PhaseRecord
from autopilot.ports.agents import Step
from autopilot.steps import (
    audit,
    debug,
    execute,
    fix,
    gap_fix,
    integration,
    judge,
    judge_divergence,
    mini_verify,
    plan,
    plan_check,
    preflight,
    rate,
    research,
    triage,
    verify,
    version,
)
from autopilot.steps.artifacts import execution_log, handoff, phase_summary
from autopilot.steps.checks import contamination
from autopilot.text.clean import harmless

Artifacts = Callable[[PhaseRecord], dict[str, str]]
AnyGate = Gate[PhaseRecord, Any, Any, Any]


def no_artifacts(record: PhaseRecord) -> dict[str, str]:  # noqa: ARG001 - the signature of every entry in the table
    return {}


@dataclass(frozen=True, slots=True)
class Stage:
    name: str
    step: Step
    gate: AnyGate
    artifacts: Artifacts = no_artifacts


PIPELINE: tuple[Stage, ...] = (
    Stage("preflight",        preflight.run,        after_preflight.GATE),
    Stage("triage",           triage.run,           after_triage.GATE,     triage.artifacts),
    Stage("research",         research.run,         after_research.GATE,   research.artifacts),
    Stage("plan",             plan.run,             after_plan.GATE,       plan.artifacts),
    Stage("plan_check",       plan_check.run,       after_plan_check.GATE),
    Stage("execute",          execute.run,          after_task.GATE,       execution_log.artifacts),
    Stage("mini_verify",      mini_verify.run,      after_mini_verify.GATE),
    Stage("verify",           verify.run,           after_verify.GATE,     verify.artifacts),
    Stage("judge",            judge.run,            after_judge.GATE,      judge.artifacts),
    Stage("judge_divergence", judge_divergence.run, after_divergence.GATE),
    Stage("rate",             rate.run,             after_rate.GATE,       rate.artifacts),
    Stage("fix",              fix.run,              after_task.GATE,       handoff.artifacts),
    Stage("debug",            debug.run,            after_debug.GATE,      phase_summary.artifacts),
)  # fmt: skip
LAST = "rate"
ENDING: tuple[Stage, ...] = (
    Stage("integration",      integration.run,      after_integration.GATE),
    Stage("audit",            audit.run,            after_audit.GATE),
    Stage("gap_fix",          gap_fix.run,          after_gap_fix.GATE),
    Stage("version",          version.run,          after_version.GATE),
)  # fmt: skip
UNANSWERED = unanswered.GATE
PHASE_GATE = after_phase.GATE


def stage_named(name: str) -> Stage:
    return next(stage for stage in (*PIPELINE, *ENDING) if stage.name == name)


def artifacts(record: PhaseRecord) -> dict[str, str]:
    """
    Every artifact the record supports so far, by file name below the phase's folder.

    They are for people to read. Test files are for the shell, and stay as they were frozen.
    """
    found = {name: text for stage in PIPELINE for name, text in stage.artifacts(record).items()}
    return {name: text if name.startswith("tests/") else harmless(text) for name, text in found.items()}


def contaminations(record: PhaseRecord) -> tuple[contamination.PaperHit, ...]:
    """Where a reviewer's report, as it is written, repeats what another role concluded."""
    return contamination.in_papers(artifacts(record))
