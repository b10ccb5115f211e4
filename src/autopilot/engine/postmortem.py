"""Why a pass failed, told from its record alone: the cause by the rule, what led to it, and what to do next time."""

from collections.abc import Iterator

import msgspec

from autopilot.domain.answers import Categorised, Category
from autopilot.domain.diagnostics import Looked, Moment, Postmortem, RootCause, TriedFix
from autopilot.domain.events import Entry, StepFinished
from autopilot.domain.evidence import CommandRun, Work
from autopilot.domain.record import PhaseRecord
from autopilot.domain.results import Debugged, Executed, Fixed, Judged, Preflighted, Triaged, Unanswered, Verified
from autopilot.domain.taxonomy import category_of, failure_categories, known
from autopilot.domain.verdict import Advance, AskHuman, Retry, Stop
from autopilot.engine.decide import Finish

MOST_MOMENTS, MOST_COMMANDS, SHOWN = 20, 50, 200
OUT_OF_CONTEXT = frozenset({"context_exhausted", "limit_hit"})
ADVICE: dict[Category, str] = {
    "executor_incomplete": "Finish every task of the plan and run its criteria before answering.",
    "executor_wrong_approach": "Compare the approach with the phase's goal before writing code, and plan another way.",
    "compilation_failure": "Run the compile command after every change and mend it before going on.",
    "lint_failure": "Run the lint command after every change and mend what it names.",
    "build_failure": "Run the build command before answering.",
    "acceptance_criteria_unmet": "Run this very command first, see it fail, and run it again before answering.",
    "scope_creep": "Change only what a task of the plan asks for.",
    "context_exhaustion": "Plan smaller tasks, so that each fits into one call.",
    "tool_failure": "Check that the program and its environment work before the phase is started again.",
    "coordination_failure": "Check that what this phase depends on, and the specification, are as they were locked.",
}


def postmortem_of(record: PhaseRecord, finish: Finish) -> Postmortem:
    cause = root_cause(record, finish)
    return Postmortem(
        phase_id=record.phase.id,
        phase_name=record.phase.name,
        timestamp=_last_at(record),
        root_cause=cause,
        timeline=timeline(record),
        evidence=Looked(commands_run=commands_run(record), files_checked=files_checked(record)),
        attempted_fixes=tuple(fixes(record)),
        prevention_rule=prevention(record, cause),
    )


def root_cause(record: PhaseRecord, finish: Finish) -> RootCause:
    """OBSV-03b. Of several categories the earliest counts."""
    last = record.finished[-1].step if record.finished else "preflight"
    unknown: Cause = ("acceptance_criteria_unmet", last, _last_at(record))
    category, step, at = next(_causes(record), unknown)
    return RootCause(category=category, description=finish.reason, first_observed_at=at, step=step)


Cause = tuple[Category, str, str]


def _causes(record: PhaseRecord) -> Iterator[Cause]:
    """Every cause the record names: the verifier's first, then by the step that ended the pass, then by our facts."""
    done = [(entry, entry.event) for entry in record.entries if isinstance(entry.event, StepFinished)]
    for entry, step in done:
        if isinstance(step.result, Verified) and step.result.opinion:
            yield from _named(step.result.opinion.failure_categories, step.step, entry.at)
    if done:
        yield from _of_the_end(*done[-1])
    for entry, step in reversed(done):
        if isinstance(step.result, Debugged):
            yield from _named(step.result.claim.failure_categories, step.step, entry.at)
            break
    for entry, step in done:
        yield from _of_our_facts(entry, step)


def _of_our_facts(entry: Entry, step: StepFinished) -> Iterator[Cause]:
    if isinstance(step.result, Verified | Executed | Fixed) and not _accepted(step):
        yield from ((category_of(run), step.step, entry.at) for run in runs_of(step) if not run.passed)
    if isinstance(step.result, Verified):
        ours = msgspec.structs.replace(step.result, opinion=None, checks=(), gates=())
        yield from _named(failure_categories(ours), step.step, entry.at)


def _named(categories: tuple[Categorised, ...], step: str, at: str) -> Iterator[Cause]:
    for entry in known(categories):
        yield entry.category, step, at  # type: ignore[misc]  # known() lets only the ten through


def _of_the_end(entry: Entry, step: StepFinished) -> Iterator[Cause]:
    match step.result:
        case Preflighted(dependencies_met=met):
            yield ("tool_failure" if met else "coordination_failure"), step.step, entry.at
        case Unanswered(outcome=outcome):
            yield ("context_exhaustion" if outcome in OUT_OF_CONTEXT else "tool_failure"), step.step, entry.at
        case Judged(opinion=opinion) if isinstance(step.verdict, Stop):
            crept = bool(opinion.scope_creep) or any("scope" in concern.casefold() for concern in opinion.concerns)
            missing = bool(opinion.missing_requirements)
            other: Category = "executor_incomplete" if missing else "executor_wrong_approach"
            yield ("scope_creep" if crept else other), step.step, entry.at
        case _:
            return


def _accepted(step: StepFinished) -> bool:
    return isinstance(step.verdict, Advance) and not step.verdict.because


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


def commands_run(record: PhaseRecord) -> tuple[str, ...]:
    """What we ran and what came of it; failures first, each once."""
    runs = [run for step in record.finished for run in runs_of(step)]
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


def prevention(record: PhaseRecord, cause: RootCause) -> str:
    """Two sentences: what broke here, in the words of the commands that showed it, and what to do about it."""
    broken = next((r for step in reversed(record.finished) for r in runs_of(step) if not r.passed), None)
    shown = f"`{broken.command}` failed ({broken.what})" if broken else cause.description[:SHOWN].rstrip(".")
    advice = next(text for category, text in ADVICE.items() if category == cause.category)
    return f"In phase {record.phase.id} ({record.phase.name}) {shown}. {advice}"


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
