"""Have an agent carry out one task, commit what it did, and run the task's criteria on it."""

from autopilot.domain.agent_call import Question
from autopilot.domain.answers import WorkClaim
from autopilot.domain.evidence import Change, CommandRun, Finding
from autopilot.domain.phase import Task, padded
from autopilot.domain.results import Batch, Executed, Primed
from autopilot.history.record import PhaseRecord
from autopilot.policy.facts.held_out import veiled
from autopilot.policy.task_progress import auto_tasks, batch_of, batched, claim_for, share, task_states, waiting_task
from autopilot.ports.agents import Tools
from autopilot.steps.checks.executor_context import prime, primed_lines
from autopilot.steps.checks.facts import work_facts
from autopilot.steps.prompt import bullets, heading, map_line, render, task_lines


def run(record: PhaseRecord, tools: Tools) -> Executed:
    task, primed = waiting_task(record), prime(record, tools)
    if batched(record):
        return run_batched(record, tools, task, primed)
    question = Question(role="execute", prompt=prompt(record, task, primed), answer=WorkClaim, task=task)
    worked = tools.agents.work(question, message(record, task), onto=record.commit)
    work = work_facts(record, tools, task, worked.change, worked.findings)
    return Executed(work=work, claim=worked.value, primed=primed)


def run_batched(record: PhaseRecord, tools: Tools, task: Task, primed: Primed | None) -> Executed:
    """PVRF-01h: the first task's step has everything carried out; each step commits its own task's files."""
    batch = batch_of(record)
    findings: tuple[Finding, ...] = ()
    if batch is None:
        question = Question(role="execute", prompt=batch_prompt(record, primed), answer=WorkClaim)
        title = f"feat({padded(record.phase.id)}): {len(auto_tasks(record))} tasks at once"
        worked = tools.agents.work(question, title, onto=record.commit)
        batch, findings = Batch(change=worked.change, claim=worked.value), worked.findings
    work = work_facts(record, tools, task, own_part(record, tools, task, batch.change), findings)
    return Executed(work=work, claim=claim_for(record, task, batch.claim), batch=batch, primed=primed)


def own_part(record: PhaseRecord, tools: Tools, task: Task, whole: Change) -> Change:
    """The task's commit, taken out of the batch; after a crash the one that is already there."""
    step = record.open_step
    assert step is not None
    # Not the step's own name: under that the whole batch is found again.
    name = f"{record.start.run}/{record.phase.id}/{step.step}/{step.n}.part"
    text = f"{message(record, task)}\n\nAutopilot-Run: {record.start.run}\nAutopilot-Step: {name}\n"
    made = tools.workspace.sealed(record.commit, name)
    return made or tools.workspace.portion(whole, share(record, task, whole), record.commit, text)


def message(record: PhaseRecord, task: Task) -> str:
    """EXEC-03: one commit a task."""
    kind = "fix" if record.brief.cycle else "feat"
    return f"{kind}({padded(record.phase.id)}): {task.id} - {task.title}"


def prompt(record: PhaseRecord, task: Task, primed: Primed | None = None) -> str:
    text = render(
        "execute",
        heading=heading(record),
        task=task_lines(task),
        previous=previous(record),
        priming=primed_lines(primed),
        dir=record.brief.dir,
        map=map_line(record),
    )
    return veiled(record, text)


def batch_prompt(record: PhaseRecord, primed: Primed | None = None) -> str:
    text = render(
        "execute_batch",
        heading=heading(record),
        tasks="\n\n".join(task_lines(task) for task in auto_tasks(record)),
        priming=primed_lines(primed),
        dir=record.brief.dir,
        map=map_line(record),
    )
    return veiled(record, text)


def previous(record: PhaseRecord) -> str:
    """PVRF-01b: what the tasks before this one left, in a line each."""
    states = task_states(record)
    done = (f"{task.id} {task.title}: {states[task.id]}" for task in record.tasks if task.id in states)
    return "Tasks before this one:\n" + bullets(done, "- none, this is the first task")


def run_lines(runs: tuple[CommandRun, ...]) -> str:
    lines = (
        f"  - {'PASS' if r.passed else 'FAIL'}: {r.what} -- `{r.command}` "
        f"({r.code}, {r.seconds:.1f} s, tree {r.tree[:12]})"
        for r in runs
    )
    return "\n".join(lines) or "  - none configured"
