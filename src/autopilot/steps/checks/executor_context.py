"""EXEC-06: what an executor is told before its first task: where to look, how the code stood, what failed before."""

import re
from collections.abc import Collection

from autopilot.domain.evidence import CommandRun
from autopilot.domain.phase import Task
from autopilot.domain.results import Executed, Primed
from autopilot.history.record import PhaseRecord
from autopilot.policy.facts.commands import gate_missing
from autopilot.policy.task_progress import auto_tasks, since_plan
from autopilot.ports.agents import Tools
from autopilot.text.numbers import read_number

MOST_FILES = 5
NO_LEARNINGS = "no learnings file found"
NO_MAP = "not found"
_COUNTED = re.compile(r"\b(\d+) errors?\b", re.IGNORECASE)
_ERROR = re.compile(r"\berror\b", re.IGNORECASE)


def prime(record: PhaseRecord, tools: Tools) -> Primed | None:
    """
    The facts for the first task of a plan or a remediation; None for those after it.

    The baseline is the gates' run on the tree before the work, which the task's own facts hold as well: it is one run.
    """
    if any(isinstance(step.result, Executed) for step in since_plan(record)):
        return None
    named = tuple(dict.fromkeys(path for task in _to_do(record) for path in task.files))
    gates = tools.facts.gates(record.commit, record.start.settings.commands)
    baseline = next((run for run in gates if run.check == "compile"), None)
    return Primed(
        files=tools.facts.related(record.commit, named)[:MOST_FILES] if named else (),
        baseline=baseline_words(baseline, record.start.unused),
        learnings=learnings_words(tools.learnings),
        repo_map=map_words(tools.facts.mapped(record.commit)),
        known=tools.facts.known(record.commit, _said(record)),
    )


def _said(record: PhaseRecord) -> str:
    """What the tasks talk about."""
    return "\n".join(part for task in _to_do(record) for part in (task.title, task.action, task.done))


def _to_do(record: PhaseRecord) -> tuple[Task, ...]:
    """A remediation names no files: it is about those of the plan it mends."""
    plan = record.brief.plan
    return plan.tasks if record.brief.cycle and plan else auto_tasks(record)


def baseline_words(run: CommandRun | None, unused: Collection[str] = ()) -> str:
    if run is None:
        return gate_missing("compile", unused)
    return "PASS (0 errors)" if run.passed else f"FAIL ({error_count(run.output)} errors)"


def error_count(output: str) -> int:
    """As the compiler counts them in the end, else the lines that name one; a failure has at least one."""
    counted = [read_number(digits) for digits in _COUNTED.findall(output)]
    lines = sum(bool(_ERROR.search(line)) for line in output.splitlines())
    return max(counted[-1] if counted else lines, 1)


def learnings_words(text: str) -> str:
    entries = sum(line.startswith("### ") for line in text.splitlines())
    return f"{entries} known from earlier failures" if text.strip() else NO_LEARNINGS


def map_words(files: int | None) -> str:
    return NO_MAP if files is None else f"loaded with {files} files"


def primed_lines(primed: Primed | None) -> str:
    if primed is None:
        return ""
    files = ", ".join(primed.files) or "none of the files the plan names is there yet"
    read = f"Read first: the plan; {files}."
    there = f"Already there: {'; '.join(primed.known)}.\n" if primed.known else ""
    return f"{read}\n{there}Compile before your work: {primed.baseline}\nLearnings: {primed.learnings}\n"
