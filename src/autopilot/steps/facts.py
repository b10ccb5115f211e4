"""The facts of one attempt at a task: its criteria and the project's gates, before and after, run by us."""

from autopilot.domain.evidence import Change, Finding, Work
from autopilot.domain.phase import Task
from autopilot.domain.protocols import Tools
from autopilot.domain.record import PhaseRecord
from autopilot.steps.frozen import frozen_tests
from autopilot.steps.tampering import declaring, judged, tampering
from autopilot.steps.wiring import noticed


def work_facts(record: PhaseRecord, tools: Tools, task: Task, change: Change, findings: tuple[Finding, ...]) -> Work:
    commands = record.start.settings.commands
    plan = record.plan or record.brief.plan
    files = frozen_tests(record, plan)
    runnable = tuple(c for c in task.criteria if c.command)
    tasks = declaring(record, task)
    return Work(
        task=task.id,
        change=change,
        before=tools.facts.check(change.base, runnable, files),
        after=tools.facts.check(change.commit, runnable, files),
        gates_before=tools.facts.gates(change.base, commands),
        gates_after=tools.facts.gates(change.commit, commands),
        findings=(
            *judged(record, findings, tasks),
            *tampering(record, tools, change, tasks),
            *noticed(task, change, tools, plan),
        ),
    )
