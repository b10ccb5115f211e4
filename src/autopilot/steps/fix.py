"""Have a debugger mend one task; the result replaces the task's commit, so history keeps one commit a task."""

from collections.abc import Iterable, Iterator

from autopilot.domain.agent_call import Question
from autopilot.domain.answers import FixClaim
from autopilot.domain.evidence import CommandRun, Finding
from autopilot.domain.phase import Task
from autopilot.domain.results import Executed, Fixed
from autopilot.history.record import PhaseRecord
from autopilot.policy.facts.held_out import hidden, veiled
from autopilot.policy.task_progress import current_task, task_base
from autopilot.ports.agents import Tools
from autopilot.steps.checks.facts import work_facts
from autopilot.steps.checks.gate_lines import gate_words
from autopilot.steps.execute import message
from autopilot.steps.prompt import heading, render, task_lines

OUTPUT_SHOWN = 1500


def run(record: PhaseRecord, tools: Tools) -> Fixed:
    task = current_task(record)
    question = Question(role="debug", prompt=prompt(record, task), answer=FixClaim, task=task)
    worked = tools.agents.work(question, message(record, task), onto=task_base(record, task.id))
    return Fixed(work=work_facts(record, tools, task, worked.change, worked.findings), claim=worked.value)


def prompt(record: PhaseRecord, task: Task) -> str:
    text = render("fix", heading=heading(record), task=task_lines(task), failures=failures(record))
    return veiled(record, text)


def failures(record: PhaseRecord) -> str:
    """Facts only: the gate's reason and the failing commands' own output; nobody's reasoning."""
    work = next(s.result.work for s in reversed(record.finished) if isinstance(s.result, Executed | Fixed))
    failing = (r for r in (*work.after, *work.gates_after) if not r.passed)
    said = (record.complaint() or "", f"Gates: {gate_words(work)}", *left_out_words(work.findings))
    return "\n\n".join((*said, *failure_texts(record, failing)))


def left_out_words(findings: Iterable[Finding]) -> Iterator[str]:
    """What the checks were run without: who does not know that looks for the cause in vain."""
    return (f"{f.where}: {f.what}" for f in findings if f.rule == "control-file")


def failure_texts(record: PhaseRecord, failing: Iterable[CommandRun]) -> Iterator[str]:
    """Each command with the end of its output; of one that is held out only what it is about."""
    for run in failing:
        if (held := hidden(record, run.command)) is not None:
            yield f"Not so: {held.text}"
        else:
            yield f"$ {run.command}\n{run.output[-OUTPUT_SHOWN:]}"
