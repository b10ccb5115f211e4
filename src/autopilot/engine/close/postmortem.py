"""Explains from its record why an attempt failed."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from types import UnionType
from typing import Literal

import msgspec

from autopilot.domain.agent_call import REVIEWERS
from autopilot.domain.answers import Categorised, Category
from autopilot.domain.events import StepFinished
from autopilot.domain.evidence import CommandRun, Work
from autopilot.domain.results import (
    Compared,
    Debugged,
    Executed,
    Fixed,
    Judged,
    MiniVerified,
    PlanChecked,
    Planned,
    Preflighted,
    Rated,
    Triaged,
    Unanswered,
    Verified,
)
from autopilot.domain.value import Value
from autopilot.domain.verdict import Advance, AskHuman, Retry, Stop
from autopilot.engine.decide.next_step import Finish
from autopilot.history.record import PhaseRecord
from autopilot.policy.answer_check import too_shallow
from autopilot.policy.facts.tamper_rules import blockers
from autopilot.policy.failure_categories import category_of, failure_categories, known
from autopilot.policy.task_progress import failed_tasks, unproven

Cause = Category | Literal["plan_rejected", "reviewer_no_answer", "reviewer_without_evidence"]
"""Why a phase failed: one of the ten categories of TAX-01, or what a planner or a reviewer did."""


class RootCause(Value, frozen=True, kw_only=True):
    category: str
    description: str
    first_observed_at: str
    step: str


class Moment(Value, frozen=True, kw_only=True):
    timestamp: str
    step: str
    event: str
    status: Literal["success", "failure", "partial"]


class Looked(Value, frozen=True, kw_only=True):
    commands_run: tuple[str, ...] = ()
    files_checked: tuple[str, ...] = ()


class TriedFix(Value, frozen=True, kw_only=True):
    """`resolved` and `remaining` are what our own commands showed before and after, not what the debugger said."""

    attempt: int
    description: str
    commit_sha: str
    resolved: tuple[str, ...] = ()
    remaining: tuple[str, ...] = ()


class Postmortem(Value, frozen=True, kw_only=True):
    """OBSV-03."""

    phase_id: str
    phase_name: str
    timestamp: str
    status: Literal["failed"] = "failed"
    root_cause: RootCause
    timeline: tuple[Moment, ...] = ()
    evidence: Looked = Looked()
    attempted_fixes: tuple[TriedFix, ...] = ()
    prevention_rule: str


class Span(Value, frozen=True, kw_only=True):
    """OBSV-01: one line of TRACE.jsonl."""

    timestamp: str
    phase_id: str
    step: str
    action: Literal["file_read", "file_write", "command_run", "tool_call", "agent_spawn", "decision"]
    input_summary: str
    output_summary: str
    duration_ms: int
    status: Literal["success", "failure", "skipped"]


MIN_SCORE = 7.0
MOST_MOMENTS, MOST_COMMANDS, SHOWN = 20, 50, 200
OUT_OF_CONTEXT = frozenset({"context_exhausted", "limit_hit"})
UNMET: Category = "acceptance_criteria_unmet"
ADVICE: dict[Cause, str] = {
    "executor_incomplete": "Finish every task of the plan and run its criteria before answering.",
    "executor_wrong_approach": "Compare the approach with the phase's goal before writing code, and plan another way.",
    "compilation_failure": "Run the compile command after every change and fix errors before you continue.",
    "lint_failure": "Run the lint command after every change and fix what it names.",
    "build_failure": "Run the build command before answering.",
    "acceptance_criteria_unmet": "See it fail first, and check it again before answering.",
    "scope_creep": "Change only what a task of the plan asks for.",
    "context_exhaustion": "Plan smaller tasks, so that each fits into one call.",
    "tool_failure": "Check that the program and its environment work before the phase is started again.",
    "coordination_failure": "Check that what this phase depends on, and the specification, are as they were locked.",
    "plan_rejected": "Answer every objection of the plan check in the plan itself before handing it in.",
    "reviewer_no_answer": "The work is not the cause: check the reviewing agent, then start the phase again.",
    "reviewer_without_evidence": (
        "The work is not the cause: a review counts only with commands that were run and evidence of its own."
    ),
}


@dataclass(frozen=True, slots=True)
class Found:
    """The category of what a verdict rests on, and what shows it: a failing command, or the words of the verdict."""

    category: Cause
    run: CommandRun | None = None
    because: str = ""

    @property
    def reviewer(self) -> bool:
        return self.category in {"reviewer_no_answer", "reviewer_without_evidence"}


@dataclass(frozen=True, slots=True)
class Ended:
    """What ended a pass: its kind, where it showed, what was found, and since when."""

    category: Cause
    step: str
    at: str
    shown: str


def postmortem_of(record: PhaseRecord, finish: Finish) -> Postmortem:
    ended = ended_by(record, finish)
    return Postmortem(
        phase_id=record.phase.id,
        phase_name=record.phase.name,
        timestamp=_last_at(record),
        root_cause=RootCause(
            category=ended.category, description=finish.reason, first_observed_at=ended.at, step=ended.step
        ),
        timeline=timeline(record),
        evidence=Looked(commands_run=commands_run(record), files_checked=files_checked(record)),
        attempted_fixes=tuple(fixes(record)),
        prevention_rule=prevention(record, ended),
    )


def ended_by(record: PhaseRecord, finish: Finish) -> Ended:
    """OBSV-03b: the cause is what the verdict that ended the pass rests on, and nothing that went wrong before it."""
    done = [(entry.at, entry.event) for entry in record.entries if isinstance(entry.event, StepFinished)]
    if not done:
        return Ended(UNMET, "preflight", _last_at(record), _short(finish.reason))
    at, last = done[-1]
    # A pass that ran out of steps was ended by no verdict: the last one that held work back stands for it.
    if not isinstance(last.verdict, Stop):
        at, last = next(((a, s) for a, s in reversed(done) if not _accepted(s)), done[-1])
    found = cause_of(record, last)
    if (run := found.run) is None:
        return Ended(found.category, last.step, at, _short(found.because or finish.reason))
    # The same command may have failed before, after an earlier try at the work.
    first = next((a for a, step in done if _fails_in(step, run)), at)
    return Ended(found.category, last.step, first, f"`{run.command}` failed ({run.what})")


def cause_of(record: PhaseRecord, last: StepFinished) -> Found:
    return next(of(record, last) for kind, of in CAUSES if isinstance(last.result, kind))


def _of_preflight(_: PhaseRecord, last: StepFinished) -> Found:
    met = isinstance(last.result, Preflighted) and last.result.dependencies_met
    return Found("tool_failure" if met else "coordination_failure")


def _of_silence(_: PhaseRecord, last: StepFinished) -> Found:
    """Whose part it was to answer."""
    if last.step in REVIEWERS:
        return Found("reviewer_no_answer")
    dry = isinstance(last.result, Unanswered) and last.result.outcome in OUT_OF_CONTEXT
    return Found("context_exhaustion" if dry else "tool_failure")


def _of_plan(_: PhaseRecord, last: StepFinished) -> Found:  # noqa: ARG001 - the signature of every cause
    return Found("plan_rejected")


def _of_work(_: PhaseRecord, last: StepFinished) -> Found:
    run = _failing(runs_of(last))
    if run is not None:
        return Found(category_of(run), run)
    bent = isinstance(last.result, Executed | Fixed | Debugged) and blockers(last.result.work.findings)
    return Found("executor_wrong_approach" if bent else "executor_incomplete")


def _of_review(_: PhaseRecord, last: StepFinished) -> Found:
    ran = isinstance(last.result, MiniVerified) and last.result.opinion.commands_run
    return Found(UNMET if ran else "reviewer_without_evidence")


def _of_verification(record: PhaseRecord, last: StepFinished) -> Found:
    """
    What a task's reviewer left undone; then our own facts, which hold whatever the verifier says; then its word.

    Where a criterion is not met, and no more is known, those who looked for the reason have named it.
    """
    seen = last.result if isinstance(last.result, Verified) else record.latest(Verified)
    given_up = _of_given_up(record)
    if given_up and given_up.reviewer:
        return given_up
    run = _failing((*seen.checks, *(gate for gate in seen.gates if gate.check not in seen.old_failures)))
    if run is not None:
        category = category_of(run)
        return Found(_reason(record, seen) if category == UNMET else category, run)
    if seen.broken:
        found = failure_categories(msgspec.structs.replace(seen, opinion=None, checks=(), gates=()))
        return Found(_named(found) or UNMET)
    if not seen.checks or (seen.visual and seen.visual.blocking):
        return Found(UNMET)
    if unproven(record, (check.command for check in seen.checks)):
        return given_up or Found("executor_incomplete")
    return Found(_reason(record, seen) if _objects(seen, record) else "reviewer_without_evidence")


def _of_given_up(record: PhaseRecord) -> Found | None:
    """Why the last task that is not done was set aside."""
    left = failed_tasks(record)
    step = next((step for step in reversed(record.finished) if _sets_aside(step, left)), None)
    if step is None or not isinstance(step.verdict, Advance):
        return None
    return replace(cause_of(record, step), because=step.verdict.because)


def _objects(seen: Verified, record: PhaseRecord) -> bool:
    """Whether the verifier found something wrong, by commands it really ran."""
    said, least = seen.opinion, record.start.settings.limits.min_verification_seconds
    if said is None or not said.commands_run or too_shallow(seen.observed, len(seen.checks), seen.seconds, least):
        return False
    return not said.passed or bool(said.failures) or any(result.failed for result in said.criteria_results)


def _of_judge(record: PhaseRecord, last: StepFinished) -> Found:
    """A judge who lets it pass can end a pass only by an answer that is none."""
    judge = record.latest(Judged).opinion
    second = last.result.opinion.recommendation if isinstance(last.result, Compared) else "proceed"
    if (judge.recommendation, second) == ("proceed", "proceed"):
        return Found("reviewer_without_evidence")
    if judge.scope_creep or any("scope" in concern.casefold() for concern in judge.concerns):
        return Found("scope_creep")
    return Found("executor_incomplete" if judge.missing_requirements else "executor_wrong_approach")


def _of_rating(record: PhaseRecord, last: StepFinished) -> Found:
    """A low score is the work's; a task left to a person without a reason is the verifier's."""
    found = _of_verification(record, last)
    low = isinstance(last.result, Rated) and last.result.score < MIN_SCORE
    return Found(UNMET) if low and found.reviewer else found


def _of_none(_: PhaseRecord, last: StepFinished) -> Found:  # noqa: ARG001 - the signature of every cause
    return Found("coordination_failure")


CAUSES: tuple[tuple[type | UnionType, Callable[[PhaseRecord, StepFinished], Found]], ...] = (
    (Preflighted, _of_preflight),
    (Unanswered, _of_silence),
    (Planned | PlanChecked, _of_plan),
    (Executed | Fixed | Debugged, _of_work),
    (MiniVerified, _of_review),
    (Verified, _of_verification),
    (Judged | Compared, _of_judge),
    (Rated, _of_rating),
    (object, _of_none),
)


def _reason(record: PhaseRecord, seen: Verified) -> Cause:
    """OBSV-03b: what the verifier names; where debugging was of no use, what the last debugger named."""
    debugged = record.find(Debugged)
    said = seen.opinion.failure_categories if seen.opinion else ()
    return _named(said) or (_named(debugged.claim.failure_categories) if debugged else None) or UNMET


def _named(categories: tuple[Categorised, ...]) -> Category | None:
    return next((entry.category for entry in known(categories)), None)  # type: ignore[misc]  # known() lets only the ten through


def _failing(runs: Iterable[CommandRun]) -> CommandRun | None:
    return next((run for run in runs if not run.passed), None)


def _fails_in(step: StepFinished, run: CommandRun) -> bool:
    return any(r.command == run.command and not r.passed for r in on_work(step))


def _sets_aside(step: StepFinished, left: tuple[str, ...]) -> bool:
    given_up = isinstance(step.verdict, Advance) and bool(step.verdict.because)
    match step.result:
        case Executed(work=work) | Fixed(work=work):
            return given_up and work.task in left
        case MiniVerified(task=task):
            return given_up and task in left
        case _:
            return False


def _accepted(step: StepFinished) -> bool:
    return isinstance(step.verdict, Advance) and not step.verdict.because


def _short(reason: str) -> str:
    return f"the attempt ended with: {reason[:SHOWN].rstrip('.')}"


def timeline(record: PhaseRecord) -> tuple[Moment, ...]:
    """The last steps of the pass, at most twenty."""
    done = [(entry.at, entry.event) for entry in record.entries if isinstance(entry.event, StepFinished)]
    return tuple(_moment(at, step) for at, step in done[-MOST_MOMENTS:])


def _moment(at: str, step: StepFinished) -> Moment:
    name = f"{step.step} {step.n}"
    match step.verdict:
        case Advance(because=""):
            return Moment(timestamp=at, step=step.step, event=f"{name} passed", status="success")
        case Advance(because=because):
            return Moment(timestamp=at, step=step.step, event=f"{name}: {because}"[:SHOWN], status="partial")
        case Retry(because=because) | Stop(because=because) | AskHuman(question=because):
            return Moment(timestamp=at, step=step.step, event=f"{name}: {because}"[:SHOWN], status="failure")


def runs_of(step: StepFinished) -> tuple[CommandRun, ...]:
    """The commands we ran in the step."""
    match step.result:
        case Executed(work=work) | Fixed(work=work) | Debugged(work=work):
            return (*work.after, *work.gates_after)
        case Verified(checks=checks, gates=gates):
            return (*checks, *gates)
        case Triaged(checks=checks):
            return checks
        case _:
            return ()


def on_work(step: StepFinished) -> tuple[CommandRun, ...]:
    """Without what triage ran: that was there before the work."""
    return () if isinstance(step.result, Triaged) else runs_of(step)


def commands_run(record: PhaseRecord) -> tuple[str, ...]:
    """What we ran on the work and what came of it; failures first, each once."""
    runs = [run for step in record.finished for run in on_work(step)]
    told = (f"{r.command} -> {_ended(r)}" for r in sorted(runs, key=lambda run: run.passed))
    return tuple(dict.fromkeys(told))[:MOST_COMMANDS]


def _ended(run: CommandRun) -> str:
    return f"{run.code} ({'PASS' if run.passed else 'FAIL'})"


def files_checked(record: PhaseRecord) -> tuple[str, ...]:
    changed = (f.path for work in _works(record) for f in work.change.files)
    judged = (evidence for seen in record.results(Judged) for evidence in seen.opinion.independent_evidence)
    return tuple(dict.fromkeys((*changed, *judged)))[:MOST_COMMANDS]


def _works(record: PhaseRecord) -> Iterator[Work]:
    return (s.result.work for s in record.finished if isinstance(s.result, Executed | Fixed | Debugged))


def fixes(record: PhaseRecord) -> Iterator[TriedFix]:
    tried = (step.result for step in record.finished if isinstance(step.result, Fixed | Debugged))
    for attempt, result in enumerate(tried, start=1):
        work, failed = result.work, {run.check for run in result.work.before if not run.passed}
        yield TriedFix(
            attempt=attempt,
            description="; ".join(result.claim.changes)[:SHOWN] or f"debugging of {work.task}",
            commit_sha=work.change.commit if work.change.files else "",
            resolved=tuple(run.what for run in work.after if run.passed and run.check in failed),
            remaining=tuple(run.what for run in (*work.after, *work.gates_after) if not run.passed),
        )


def prevention(record: PhaseRecord, ended: Ended) -> str:
    """Two sentences: what ended the pass, in the words of the command or verdict that did, and what to do about it."""
    return f"In phase {record.phase.id} ({record.phase.name}) {ended.shown}. {ADVICE[ended.category]}"


def learning(told: Postmortem) -> str:
    """LRNG-01: what of it the next planner and executor read."""
    number, category = told.phase_id, told.root_cause.category
    return (
        f"### Phase {number} failure -- {category}\n"
        f"**Prevention rule:** {told.prevention_rule}\n"
        f"**Context:** Phase {number} ({told.phase_name}) failed with category `{category}`. "
        f"Recorded: {told.timestamp}.\n"
    )


def _last_at(record: PhaseRecord) -> str:
    return record.entries[-1].at if record.entries else ""
