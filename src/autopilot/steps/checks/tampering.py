"""What detectors found in a change, weighed by the user's policy and by the test changes an accepted plan declares."""

from collections.abc import Iterable

from autopilot.domain.evidence import Change, Finding
from autopilot.domain.phase import Task
from autopilot.domain.results import Verified
from autopilot.history.record import PhaseRecord
from autopilot.policy.facts.tamper_rules import finding_line, weighed
from autopilot.ports.agents import Tools
from autopilot.steps.checks.exemptions import control_files

SHOWN = 40


def tampering(record: PhaseRecord, tools: Tools, change: Change, tasks: Iterable[Task]) -> tuple[Finding, ...]:
    """Worst first. `tasks` are those whose declarations count here."""
    if not change.files:
        return ()
    return weighted(record, tools.facts.tampering(change.base, change.commit), tasks)


def weighted(record: PhaseRecord, findings: tuple[Finding, ...], tasks: Iterable[Task]) -> tuple[Finding, ...]:
    declared = {declaration.path for task in tasks for declaration in task.changes_tests if declaration.reason}
    return weighed(findings, record.start.settings.honesty.rules, declared, control_files(record))


def declaring(record: PhaseRecord, task: Task) -> tuple[Task, ...]:
    """Whose declarations count for work on the task: its own; for work on the phase as a whole every task's."""
    planned = record.plan.tasks if record.plan else ()
    return (task,) if any(task.id == other.id for other in planned) else planned


def noticed_lines(seen: Verified | None) -> str:
    """For reviewers: what the machine noticed. Empty when nothing."""
    findings = seen.tampering if seen else ()
    lines = [f"- {finding_line(finding)}" for finding in findings[:SHOWN]]
    lines += [f"- and {len(findings) - SHOWN} more of less weight"] if len(findings) > SHOWN else []
    return "\nNoticed by machine in the change; look at each:\n" + "\n".join(lines) + "\n" if lines else ""
