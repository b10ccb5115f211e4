"""What the demo's run showed, told from its journal for somebody who has never heard of Autopilot."""

import re
from collections.abc import Iterator, Mapping, Sequence

from autopilot.domain.answers import FixClaim, WorkClaim
from autopilot.domain.events import Entry, PhaseFinished, PhaseStarted, StepFinished
from autopilot.domain.evidence import CommandRun
from autopilot.domain.results import Debugged, Executed, Fixed, Judged, Planned, Rated, Verified
from autopilot.domain.verdict import Advance
from autopilot.text.clean import clean, last_line
from autopilot.views.lines.fact_sentences import failing

_COMMAND_WIDTH = 40
_REPLANNED = "too low to mend; the phase was researched and planned anew"
_REMEDIATED = "one remediation did what was missing"
_PHASE_FOLDER = re.compile(r"\.planning/phases/[^/]+/")


def story(run: Sequence[Entry], passes: Mapping[str, Sequence[Entry]]) -> Iterator[str]:
    """`passes` holds the streams of the phases' passes by name, in the order they were begun."""
    briefs = [entry.event.brief for entry in run if isinstance(entry.event, PhaseStarted)]
    for brief in (brief for brief in briefs if brief.number == 0):
        mine = [entries for name, entries in passes.items() if _phase_of(name) == brief.phase.id]
        steps = [entry.event for entries in mine for entry in entries if isinstance(entry.event, StepFinished)]
        yield f"Phase {brief.phase.id}: {clean(brief.phase.name, 80)} -- {_ending(brief.phase.id, run)}"
        end = _end_of(brief.phase.id, run)
        for line in (*_worked(steps), *_debugged(steps), *_rated(steps, brief.pass_threshold), *_condemned(steps, end)):
            yield f"  {line}"
        yield ""


def commands_run(passes: Mapping[str, Sequence[Entry]]) -> int:
    """How many commands Autopilot ran on the work; one that was run on a tree already is not counted again."""
    steps = [entry.event for entries in passes.values() for entry in entries if isinstance(entry.event, StepFinished)]
    works = [s.result.work for s in steps if isinstance(s.result, Executed | Fixed)]
    seen = [s.result for s in steps if isinstance(s.result, Verified)]
    of_works = (run for w in works for run in (*w.before, *w.after, *w.gates_before, *w.gates_after))
    return len({(run.tree, run.command) for run in (*of_works, *(run for v in seen for run in (*v.checks, *v.gates)))})


def _phase_of(stream: str) -> str:
    return stream.partition("/")[2].partition("~")[0]


def _end_of(phase: str, run: Sequence[Entry]) -> PhaseFinished | None:
    ends = [e.event for e in run if isinstance(e.event, PhaseFinished) and e.event.outcome.phase == phase]
    return ends[-1] if ends else None


def _ending(phase: str, run: Sequence[Entry]) -> str:
    end = _end_of(phase, run)
    if end is None:
        return "not finished"
    if end.outcome.rollback:
        return "rolled back"
    return "passed" if isinstance(end.verdict, Advance) else end.outcome.status.replace("_", " ")


def _worked(steps: Sequence[StepFinished]) -> Iterator[str]:
    works = [step.result for step in steps if isinstance(step.result, Executed | Fixed)]
    refuted = [result for result in works if failing(result.work)]
    for result in refuted:
        yield from _refuted(result, works)
    if works and not refuted:
        runs = tuple(run for result in works for run in (*result.work.after, *result.work.gates_after))
        yield f"The agent said: {claimed(works[0])}"
        yield f"Autopilot ran:  {_counted(runs)}"


def _refuted(result: Executed | Fixed, works: Sequence[Executed | Fixed]) -> Iterator[str]:
    """Work that Autopilot's own commands refuted, the agent's words beside them, and what came of it."""
    bad, later = failing(result.work), works[works.index(result) + 1 :]
    mended = next((other for other in later if other.work.task == result.work.task), None)
    yield f"The agent said: {claimed(result)}"
    yield from (f"{'Autopilot ran:' if number == 0 else '':<15} {_shown(run)}" for number, run in enumerate(bad))
    yield "Caught:         the report counted for nothing; the task did not pass, and a debugger got the failing output"
    if mended:
        yield from (f"The fix:        {clean(words, 90)}" for words in _changes(mended))
        yield f"Autopilot ran:  the same again: {_counted((*mended.work.after, *mended.work.gates_after))}"


def _debugged(steps: Sequence[StepFinished]) -> Iterator[str]:
    """Every task had passed and the phase as a whole had not: what failed, and how the debug loop ended."""
    for number, step in enumerate(steps):
        bad = [run for run in step.result.checks if not run.passed] if isinstance(step.result, Verified) else []
        later = [other.result for other in steps[number + 1 :]]
        if bad:
            yield from (f"{'Phase checked:' if at == 0 else '':<15} {_shown(run)}" for at, run in enumerate(bad))
            yield "Caught:         every task had passed, the phase as a whole did not; it went into the debug loop"
        fix = next((result for result in later if isinstance(result, Debugged)), None)
        again = next((result for result in later if isinstance(result, Verified)), None)
        if bad and fix and again:
            yield from (f"The fix:        {clean(words, 90)}" for words in _changes(fix))
            yield f"Phase checked:  {_counted((*again.checks, *again.gates))}"


def _condemned(steps: Sequence[StepFinished], end: PhaseFinished | None) -> Iterator[str]:
    judged = [step.result for step in steps if isinstance(step.result, Judged)]
    if judged and end and end.outcome.rollback:
        opinion = judged[-1].opinion
        yield f"A judge said:   {opinion.recommendation}"
        yield from (f"                because {clean(words, 130)}" for words in opinion.concerns[:1])
        yield f"Rolled back:    your branch never saw it; the work is kept on {end.outcome.diagnostic_branch}"


def _changes(result: Executed | Fixed | Debugged) -> tuple[str, ...]:
    return result.claim.changes[:1] if isinstance(result.claim, FixClaim) else ()


def claimed(result: Executed | Fixed) -> str:
    """The agent's report in its own words."""
    claim = result.claim
    if not isinstance(claim, WorkClaim):
        return "fixed" if claim.fixed else "not fixed"
    quoted = next((words for evidence in claim.evidence for words in evidence.commands_run), "")
    count = f"{clean(claim.tasks_completed, 20)} tasks done" if claim.tasks_completed else "nothing"
    return f'{count}, "{clean(quoted, 70)}"' if quoted else count


def _shown(run: CommandRun) -> str:
    ended = run.code if run.exit_code is None else f"exit code {run.exit_code}"
    told = next((line for line in run.output.splitlines() if line.startswith("FAIL")), last_line(run.output))
    command = clean(_PHASE_FOLDER.sub(".../", run.command), _COMMAND_WIDTH)
    return f"{command:<{_COMMAND_WIDTH}} -> {ended}{f', {clean(told, 50)}' if told else ''}"


def _counted(runs: Sequence[CommandRun]) -> str:
    return f"{sum(run.passed for run in runs)} of {len(runs)} commands passed"


def _rated(steps: Sequence[StepFinished], bar: float) -> Iterator[str]:
    places = [number for number, step in enumerate(steps) if isinstance(step.result, Rated)]
    for number in places:
        rated = steps[number].result
        assert isinstance(rated, Rated)
        yield f"A rater gave:   {rated.score:.1f} of 10; {bar:.1f} is needed"
        if rated.score < bar:
            weakest = min(rated.opinion.scorecard, key=lambda row: row.score)
            yield f"                because {clean(weakest.justification, 100)}"
        if rated.score < bar and number != places[-1]:
            replanned = any(isinstance(step.result, Planned) for step in steps[number:])
            yield f"Sent back:      {_REPLANNED if replanned else _REMEDIATED}, and everything was checked again"
