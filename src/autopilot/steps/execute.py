"""Have an agent carry out one task, commit what it did, and run the task's criteria on it."""

from autopilot.domain.answers import WorkClaim
from autopilot.domain.evidence import CommandRun, Work
from autopilot.domain.phase import Task, padded
from autopilot.domain.progress import fixes_of, since_plan, task_states, waiting_task
from autopilot.domain.protocols import Question, Tools
from autopilot.domain.record import PhaseRecord
from autopilot.domain.results import Executed, Fixed, MiniVerified
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


def artifacts(record: PhaseRecord) -> dict[str, str]:
    """EXECUTION-LOG.md from facts: what was committed, what our commands showed, what the agent had said."""
    works = [(s.result.work, s) for s in since_plan(record) if isinstance(s.result, Executed | Fixed)]
    if not works:
        return {}
    newest = {work.task: work for work, _ in works}
    parts = [f"# Execution Log: Phase {record.phase.id} -- {record.phase.name}\n"]
    parts += [log_entry(record, task, newest[task.id]) for task in record.tasks if task.id in newest]
    name = f"EXECUTION-LOG-R{record.brief.cycle}.md" if record.brief.cycle else "EXECUTION-LOG.md"
    return {name: "\n".join(parts)}


def log_entry(record: PhaseRecord, task: Task, work: Work) -> str:
    status = {"verified": "COMPLETED", "failed": "FAILED"}.get(task_states(record).get(task.id, ""), "NEEDS_REVIEW")
    review = next((r for r in reversed(tuple(record.results(MiniVerified))) if r.task == task.id), None)
    reviewed = ("PASS" if review.opinion.passed else "FAIL") if review else "not reached"
    claim = next((r.claim for r in record.results(Executed) if r.work.task == task.id), WorkClaim())
    return "\n".join(
        (
            f"## Task {task.id}: {task.title}",
            f"- **Status:** {status}",
            f"- **Commit SHA:** {work.change.commit if work.change.files else 'none'}",
            f"- **Files modified:** {', '.join(f.path for f in work.change.files) or 'none'}",
            f"- **Evidence:**\n{run_lines(work.after)}",
            f"- **Test results:** {sum(r.passed for r in work.after)}/{len(work.after)} commands passed",
            f"- **Gate Results:**\n{run_lines(work.gates_after)}",
            f"- **mini_verification:** {reviewed}; debug attempts: {fixes_of(record, task.id)}",
            f"- **The agent's claim:** {claim.tasks_completed or '-'} completed, {claim.tasks_failed or '-'} failed",
            "",
        )
    )


def run_lines(runs: tuple[CommandRun, ...]) -> str:
    lines = (
        f"  - {'PASS' if r.passed else 'FAIL'}: {r.what} -- `{r.command}` "
        f"({'cut off' if r.exit_code is None else f'exit {r.exit_code}'}, {r.seconds:.1f} s, tree {r.tree[:12]})"
        for r in runs
    )
    return "\n".join(lines) or "  - none configured"
