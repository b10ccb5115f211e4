"""The facts of one attempt at a task: its criteria and the project's gates, before and after, run by us."""

from autopilot.domain.evidence import Change, Finding, Work
from autopilot.domain.phase import Task
from autopilot.history.record import PhaseRecord
from autopilot.ports.agents import Tools
from autopilot.steps.checks.exemptions import between, changed_tests, judged, left_out
from autopilot.steps.checks.gate_facts import gate_facts
from autopilot.steps.checks.probes import spot_check
from autopilot.steps.checks.tampering import declaring, tampering, weighted
from autopilot.steps.checks.test_specs import frozen_tests
from autopilot.steps.checks.unused_files import noticed


def work_facts(record: PhaseRecord, tools: Tools, task: Task, change: Change, findings: tuple[Finding, ...]) -> Work:
    plan = record.plan or record.brief.plan
    files = frozen_tests(record, plan)
    runnable = tuple(c for c in task.criteria if c.command)
    start, end = judged(record, tools, change.base), judged(record, tools, change.commit)
    seen = between(tools, change, start.commit, end.commit)
    before = tools.facts.check(start.commit, runnable, files)
    after = tools.facts.check(end.commit, runnable, files)
    gates = gate_facts(tools, record.start.settings.commands, seen, changed_tests(record, task))
    tasks = declaring(record, task)
    work = Work(
        task=task.id,
        change=change,
        before=before,
        after=after,
        gates_before=gates.before,
        gates_after=gates.after,
        findings=(
            *weighted(record, findings, tasks),
            *tampering(record, tools, change, tasks),
            *noticed(task, change, tools, plan),
            *left_out(end),
            *gates.findings,
        ),
        extra=gates.extra,
        judged=tools.facts.tree(end.commit),
    )
    return spot_check(tools, task, work, seen, files)
