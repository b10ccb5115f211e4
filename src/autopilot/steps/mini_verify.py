"""Have a second pair of eyes look at one finished task, on a checkout of its own."""

from autopilot.domain.answers import TaskOpinion
from autopilot.domain.evidence import Finding
from autopilot.domain.honesty import SPOKEN
from autopilot.domain.phase import Task
from autopilot.domain.progress import current_task
from autopilot.domain.protocols import Tools
from autopilot.domain.questions import Question
from autopilot.domain.record import PhaseRecord
from autopilot.domain.results import Executed, Fixed, MiniVerified
from autopilot.steps.prompt import bullets, criteria_lines, heading, render


def run(record: PhaseRecord, tools: Tools) -> MiniVerified:
    task = current_task(record)
    question = Question(role="mini_verify", prompt=prompt(record, task), answer=TaskOpinion, task=task)
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


def noticed_line(finding: Finding) -> str:
    why = f" ({SPOKEN[finding.severity]}: {finding.why})" if finding.why else ""
    return f"{finding.where}: {finding.what}{why}"
