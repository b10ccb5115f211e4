"""Check the plan by machine first; ask a checker only about what a machine cannot judge."""

from collections.abc import Sequence

from autopilot.domain.agent_call import Question
from autopilot.domain.answers import PlanOpinion
from autopilot.domain.evidence import Finding
from autopilot.domain.phase import Plan
from autopilot.domain.results import PlanChecked, Planned
from autopilot.history.record import PhaseRecord
from autopilot.ports.agents import Tools
from autopilot.steps.checks.plan_references import taken_for_granted
from autopilot.steps.prompt import UNMAPPED, bullets, criteria_lines, heading, render


def run(record: PhaseRecord, tools: Tools) -> PlanChecked:
    plan = proposal(record)
    missing = taken_for_granted(plan, record, tools)
    findings = (*tools.planning.problems(plan, record), *missing)
    if any(f.severity == "blocker" for f in findings):
        return PlanChecked(plan=plan, findings=findings)
    answered = tools.agents.ask(Question(role="plan_check", prompt=prompt(record, missing), answer=PlanOpinion))
    return PlanChecked(plan=plan, findings=findings, opinion=answered.value)


def proposal(record: PhaseRecord) -> Plan:
    """The newest plan that could be read; before any was made, the one the user brought."""
    made = next((p.plan for p in reversed(tuple(record.results(Planned))) if p.plan), None)
    plan = made or record.brief.plan
    if plan is None:
        raise LookupError(f"no plan to check in phase {record.phase.id!r}")
    return plan


def prompt(record: PhaseRecord, missing: Sequence[Finding] = ()) -> str:
    return render(
        "plan_check",
        heading=heading(record),
        requirements=bullets(record.brief.requirements, UNMAPPED),
        criteria=criteria_lines(record.phase.criteria),
        dir=record.brief.dir,
        missing=f"\nNot found in the code:\n{bullets((f.what for f in missing), '')}\n" if missing else "",
    )
