"""Have a second pair of eyes look at one finished task, on a checkout of its own."""

from collections.abc import Mapping
from typing import Any

from autopilot.domain.agent_call import Objection, Question
from autopilot.domain.answers import CriterionResult, TaskOpinion
from autopilot.domain.evidence import Finding
from autopilot.domain.phase import Task
from autopilot.domain.results import Executed, Fixed, MiniVerified
from autopilot.history.record import PhaseRecord
from autopilot.policy.facts.tamper_rules import SPOKEN
from autopilot.policy.task_progress import current_task
from autopilot.ports.agents import Tools
from autopilot.steps.prompt import bullets, criteria_lines, heading, render


def run(record: PhaseRecord, tools: Tools) -> MiniVerified:
    task = current_task(record)
    question = Question(
        role="mini_verify", prompt=prompt(record, task), answer=TaskOpinion, task=task, objections=unclear_rows
    )
    return MiniVerified(task=task.id, opinion=tools.agents.ask(question).value)


def prompt(record: PhaseRecord, task: Task) -> str:
    work = next(s.result.work for s in reversed(record.finished) if isinstance(s.result, Executed | Fixed))
    return render(
        "mini_verify",
        heading=heading(record),
        id=task.id,
        title=task.title,
        files=bullets((f.path for f in work.change.files), "none"),
        criteria=criteria_lines(task.criteria),
        noticed=bullets((noticed_line(f) for f in work.findings), "nothing"),
        complaint=f"\n{record.complaint()}\n" if record.complaint() else "",
    )


def unclear_rows(answer: Mapping[str, Any]) -> tuple[Objection, ...]:
    """A row without a word that says whether its criterion holds counts as failed: its reviewer is asked again."""
    rows = answer.get("criteria_results")
    given = [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
    results = (CriterionResult(criterion=str(r.get("criterion", "")), status=str(r.get("status") or "")) for r in given)
    names = [result.criterion or "a criterion without a name" for result in results if result.unclear]
    if not names:
        return ()
    told = f"criteria_results does not say of these whether they hold: {'; '.join(names)}."
    return (Objection(reminder=f"{told} Give each the status pass or fail.", issue=told),)


def noticed_line(finding: Finding) -> str:
    why = f" ({SPOKEN[finding.severity]}: {finding.why})" if finding.why else ""
    return f"{finding.where}: {finding.what}{why}"
