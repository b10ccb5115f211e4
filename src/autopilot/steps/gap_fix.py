"""Have one gap closed that the audit found, commit it, and run all that the run's phases promised on the new tree."""

from autopilot.domain.agent_call import Question
from autopilot.domain.answers import FixClaim, WorkClaim
from autopilot.domain.phase import Task
from autopilot.domain.results import Gap, Mended
from autopilot.history.record import PhaseRecord
from autopilot.policy.audit_gaps import next_gap, routed
from autopilot.policy.facts.held_out import veiled
from autopilot.ports.agents import Tools
from autopilot.steps.checks.facts import work_facts
from autopilot.steps.prompt import render

TITLE = 60


def run(record: PhaseRecord, tools: Tools) -> Mended:
    gap = next_gap(record)
    task = task_of(record, gap)
    if routed(record, gap) == "fix":
        small = Question(role="fix", prompt=fix_prompt(record, gap), answer=FixClaim, task=task)
        fixed = tools.agents.work(small, message(gap), onto=record.commit)
        work = work_facts(record, tools, task, fixed.change, fixed.findings)
        return Mended(gap=gap, route="fix", work=work, claim=fixed.value)
    large = Question(role="execute", prompt=task_prompt(record, gap), answer=WorkClaim, task=task)
    done = tools.agents.work(large, message(gap), onto=record.commit)
    work = work_facts(record, tools, task, done.change, done.findings)
    return Mended(gap=gap, route="execute", work=work, work_claim=done.value)


def task_of(record: PhaseRecord, gap: Gap) -> Task:
    """AUDT-08: a plan of one task. Its criteria are everybody's: all of them must go on holding."""
    return Task(
        id=gap.requirement_id,
        title=f"close {gap.requirement_id} gap",
        action=gap.suggested_fix or gap.gap_description,
        criteria=tuple(c for c in record.phase.criteria if c.command),
    )


def message(gap: Gap) -> str:
    """AUDT-07."""
    line = " ".join(gap.gap_description.split())
    short = line if len(line) <= TITLE else f"{line[: TITLE - 3].rstrip()}..."
    return f"fix(audit): close {gap.requirement_id} gap -- {short}"


def fix_prompt(record: PhaseRecord, gap: Gap) -> str:
    text = render(
        "gap_fix",
        requirement=gap.requirement_id,
        phase=gap.phase_id or "not named",
        gap=gap.gap_description,
        suggested=gap.suggested_fix or "nothing",
        spec=record.start.spec.path,
    )
    return veiled(record, text)


def task_prompt(record: PhaseRecord, gap: Gap) -> str:
    text = render(
        "gap_task",
        requirement=gap.requirement_id,
        phase=gap.phase_id or "not named",
        gap=gap.gap_description,
        suggested=gap.suggested_fix or "nothing",
        spec=record.start.spec.path,
    )
    return veiled(record, text)
