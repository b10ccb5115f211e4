"""The steps of one phase in state.json: STATE-04, from its passes in order."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from autopilot.domain.answers import SEVERITY
from autopilot.domain.attempt import PhaseOutcome, plan_name
from autopilot.domain.events import Entry, StepFinished
from autopilot.domain.evidence import CommandRun, Work
from autopilot.domain.results import (
    Compared,
    Executed,
    Fixed,
    Judged,
    MiniVerified,
    PlanChecked,
    Planned,
    Preflighted,
    Rated,
    Researched,
    StepResult,
    Triaged,
    Unanswered,
    Verified,
    heading_of,
)
from autopilot.domain.verdict import Advance, AskHuman
from autopilot.history.record import PhaseRecord
from autopilot.policy.step_words import step_word
from autopilot.policy.task_progress import auto_tasks, fixes_of, since_plan, task_states

Shown = Callable[[Any, PhaseRecord, Entry], dict[str, Any]]


def steps_of(passes: Sequence[PhaseRecord], outcome: PhaseOutcome) -> dict[str, dict[str, Any]]:
    steps = _blank()
    for record in passes:
        for entry in record.entries:
            if isinstance(entry.event, StepFinished):
                _show(steps, record, entry, entry.event)
        open_step = shown_as(record.open_step.step) if record.open_step else None
        if open_step:
            steps[open_step]["status"] = "in_progress"
    checked = (isinstance(step.result, PlanChecked) for record in passes for step in record.own_finished)
    steps["plan"]["validation_rounds"] = sum(checked)
    steps["execute"]["tasks"] = tasks_of(passes)
    if steps["execute"]["status"] in {"completed", "partial"} and _unfinished(passes[-1], outcome):
        steps["execute"]["status"] = "in_progress"
    _fill_skipped(steps, outcome)
    return steps


def _fill_skipped(steps: dict[str, dict[str, Any]], outcome: PhaseOutcome) -> None:
    """A step that left no entry has the status the pass's outcome gives it."""
    for name, digest in outcome.pipeline_steps.items():
        if name in steps and steps[name]["status"] == "not_started":
            steps[name]["status"] = digest.status


def shown_as(step: str) -> str | None:
    """The step of state.json a step of the pipeline belongs to."""
    heading = heading_of(step)
    return heading and heading.lower().replace("-", "_")


def succeeded(done: StepFinished) -> bool:
    """The step gave a result, and its gate neither sent it back, nor set its task aside, nor gave the phase up."""
    match done.result, done.verdict:
        case ((Executed() | Fixed()), Advance(to=to)):
            return to == "mini_verify"
        case MiniVerified(), Advance(because=because):
            return not because
        case Unanswered(), _:
            return False
        case _, verdict:
            return isinstance(verdict, Advance | AskHuman)


def tasks_of(passes: Iterable[PhaseRecord]) -> dict[str, dict[str, Any]]:
    tasks = dict[str, dict[str, Any]]()
    for record in passes:
        over = task_states(record)
        commits = {work.task: work.change.commit for work in _works(record) if work.change.files}
        tried = {work.task for work in _works(record)}
        for task in record.tasks:
            state = over.get(task.id, "in_progress" if task.id in tried else "pending")
            tasks[task.id] = {
                "status": "completed" if state == "verified" else state,
                "commit": commits.get(task.id) if state == "verified" else None,
                "retries": fixes_of(record, task.id),
            }
    return tasks


def _unfinished(record: PhaseRecord, outcome: PhaseOutcome) -> bool:
    """Whether tasks are still to come; in a pass that is over none are."""
    if outcome.pipeline_steps:
        return False
    over = task_states(record)
    return any(task.id not in over for task in auto_tasks(record))


def _works(record: PhaseRecord) -> Iterator[Work]:
    return (s.result.work for s in since_plan(record) if isinstance(s.result, Executed | Fixed))


def _show(steps: dict[str, dict[str, Any]], record: PhaseRecord, entry: Entry, done: StepFinished) -> None:
    name = shown_as(done.step)
    if name is None:
        return
    step = steps[name]
    step["status"] = step_word(record, name, done)
    shown = _SHOWN.get(type(done.result))
    if shown is not None:
        step.update(shown(done.result, record, entry))


def _blank() -> dict[str, dict[str, Any]]:
    automated = {"compile": None, "tests": None, "lint": None}
    fields: dict[str, dict[str, Any]] = {
        "preflight": {"timestamp": None},
        "triage": {"routing": None, "pass_ratio": None},
        "research": {"output": None, "hash": None},
        "plan": {"output": None, "hash": None, "validation_rounds": 0},
        "plan_check": {"confidence": None},
        "execute": {"tasks": {}},
        "verify": {"automated": automated, "scope_creep": []},
        "judge": {"recommendation": None, "concerns": []},
        "rate": {"alignment_score": None, "score_band": None},
    }
    return {name: {"status": "not_started", **own} for name, own in fields.items()}


def _researched(result: Researched, record: PhaseRecord, _: Entry) -> dict[str, Any]:
    digest = f"sha256:{sha256(result.text.encode()).hexdigest()}" if result.text else None
    return {"output": f"{record.brief.dir}/RESEARCH.md" if result.text else None, "hash": digest}


def _planned(result: Planned, record: PhaseRecord, _: Entry) -> dict[str, Any]:
    if result.plan is None:
        return {}
    return {
        "output": f"{record.brief.dir}/{plan_name(record.brief, result.plan)}",
        "hash": f"sha256:{result.plan.sha256}",
    }


def _verified(result: Verified, *_: object) -> dict[str, Any]:
    creep = list(result.opinion.scope_creep) if result.opinion else []
    names = {"compile": "compile", "tests": "test", "lint": "lint"}
    return {"automated": {key: gate_state(result.gates, name) for key, name in names.items()}, "scope_creep": creep}


def _compared(result: Compared, record: PhaseRecord, _: Entry) -> dict[str, Any]:
    """Of the judge's two answers the harsher counts."""
    first = record.latest(Judged).opinion
    harsher = max(first.recommendation, result.opinion.word or "halt", key=SEVERITY.index)
    return {"recommendation": harsher, "concerns": [*first.concerns, *result.concerns]}


def gate_state(gates: Sequence[CommandRun], name: str) -> bool | str:
    """True or false as run; a gate that was not configured is n/a."""
    found = [gate.passed for gate in gates if gate.check.rpartition(":")[2] == name]
    return all(found) if found else "n/a"


_SHOWN: Mapping[type[StepResult], Shown] = {
    Preflighted: lambda _result, _record, entry: {"timestamp": entry.at},
    Triaged: lambda result, *_: {"routing": result.routing, "pass_ratio": round(result.pass_ratio, 2)},
    Researched: _researched,
    Planned: _planned,
    PlanChecked: lambda result, *_: {"confidence": result.opinion.confidence if result.opinion else None},
    Verified: _verified,
    Judged: lambda result, *_: {
        "recommendation": result.opinion.recommendation,
        "concerns": list(result.opinion.concerns),
    },
    Compared: _compared,
    Rated: lambda result, *_: {"alignment_score": result.score, "score_band": result.opinion.score_band},
}
