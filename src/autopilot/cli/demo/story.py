"""What the demo's run showed, told from its journal for somebody who has never heard of Autopilot."""

import re
from collections.abc import Iterator, Mapping, Sequence

from autopilot.domain.answers import FixClaim, WorkClaim
from autopilot.domain.events import Entry, PhaseFinished, PhaseStarted, StepFinished
from autopilot.domain.evidence import CommandRun
from autopilot.domain.results import Executed, Fixed, Rated, Verified
from autopilot.domain.verdict import Advance
from autopilot.views.facts import failing
from autopilot.views.text import clean, last_line

_COMMAND_WIDTH = 40
_PHASE_FOLDER = re.compile(r"\.planning/phases/[^/]+/")


def story(run: Sequence[Entry], passes: Mapping[str, Sequence[Entry]]) -> Iterator[str]:
    """`passes` holds the streams of the phases' passes by name, in the order they were begun."""
    briefs = [entry.event.brief for entry in run if isinstance(entry.event, PhaseStarted)]
    for brief in (brief for brief in briefs if brief.number == 0):
        mine = [entries for name, entries in passes.items() if _phase_of(name) == brief.phase.id]
        steps = [entry.event for entries in mine for entry in entries if isinstance(entry.event, StepFinished)]
        yield f"Phase {brief.phase.id}: {clean(brief.phase.name, 80)} -- {_ending(brief.phase.id, run)}"
        for line in (*_worked(steps), *_rated(steps, brief.pass_threshold)):
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


def _ending(phase: str, run: Sequence[Entry]) -> str:
    ends = [e.event for e in run if isinstance(e.event, PhaseFinished) and e.event.outcome.phase == phase]
    if not ends:
        return "not finished"
    return "passed" if isinstance(ends[-1].verdict, Advance) else ends[-1].outcome.status.replace("_", " ")


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


def _changes(result: Executed | Fixed) -> tuple[str, ...]:
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
    ended = "cut off" if run.exit_code is None else f"exit code {run.exit_code}"
    told = next((line for line in run.output.splitlines() if line.startswith("FAIL")), last_line(run.output))
    command = clean(_PHASE_FOLDER.sub(".../", run.command), _COMMAND_WIDTH)
    return f"{command:<{_COMMAND_WIDTH}} -> {ended}{f', {clean(told, 50)}' if told else ''}"


def _counted(runs: Sequence[CommandRun]) -> str:
    return f"{sum(run.passed for run in runs)} of {len(runs)} commands passed"


def _rated(steps: Sequence[StepFinished], bar: float) -> Iterator[str]:
    ratings = [step.result for step in steps if isinstance(step.result, Rated)]
    for number, rated in enumerate(ratings):
        yield f"A rater gave:   {rated.score:.1f} of 10; {bar:.1f} is needed"
        if rated.score < bar:
            weakest = min(rated.opinion.scorecard, key=lambda row: row.score)
            yield f"                because {clean(weakest.justification, 100)}"
        if rated.score < bar and number + 1 < len(ratings):
            yield "Sent back:      one remediation did what was missing, and everything was checked again"
