"""Have an agent carry out one task, commit what it did, and run the task's criteria on it."""

from autopilot.domain.answers import WorkClaim
from autopilot.domain.evidence import CommandRun
from autopilot.domain.phase import Task, padded
from autopilot.domain.progress import task_states, waiting_task
from autopilot.domain.protocols import Question, Tools
from autopilot.domain.record import PhaseRecord
from autopilot.domain.results import Executed
from autopilot.steps.facts import work_facts
from autopilot.steps.prompt import bullets, heading, render, task_lines


def run(record: PhaseRecord, tools: Tools) -> Executed:
    task = waiting_task(record)
    question = Question(role="execute", prompt=prompt(record, task), answer=WorkClaim, task=task)
    worked = tools.agents.work(question, message(record, task), onto=record.commit)
    return Executed(work=work_facts(record, tools, task, worked.change, worked.findings), claim=worked.value)


def message(record: PhaseRecord, task: Task) -> str:
    """EXEC-03: one commit a task."""
    kind = "fix" if record.brief.cycle else "feat"
    return f"{kind}({padded(record.phase.id)}): {task.id} - {task.title}"


def prompt(record: PhaseRecord, task: Task) -> str:
    return render(
        "execute",
        heading=heading(record),
        task=task_lines(task),
        previous=previous(record),
        dir=record.brief.dir,
    )


def previous(record: PhaseRecord) -> str:
    """PVRF-01b: what the tasks before this one left, in a line each."""
    states = task_states(record)
    done = (f"{task.id} {task.title}: {states[task.id]}" for task in record.tasks if task.id in states)
    return "Tasks before this one:\n" + bullets(done, "- none, this is the first task")


def run_lines(runs: tuple[CommandRun, ...]) -> str:
    lines = (
        f"  - {'PASS' if r.passed else 'FAIL'}: {r.what} -- `{r.command}` "
        f"({'cut off' if r.exit_code is None else f'exit {r.exit_code}'}, {r.seconds:.1f} s, tree {r.tree[:12]})"
        for r in runs
    )
    return "\n".join(lines) or "  - none configured"
