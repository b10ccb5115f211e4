"""A run's end in the form the command line reports it."""

from collections.abc import Iterable

from msgspec import UNSET
from msgspec.structs import replace

from autopilot.domain.events import CompletionFinished, RunFinished, RunStopped
from autopilot.domain.request import Ending, PhaseEnd, RunEnd
from autopilot.domain.verdict import Advance, AskHuman, Retry, Stop
from autopilot.engine.decide.audit_scope import coverage
from autopilot.history.best_attempt import best
from autopilot.history.digest import PassDigest
from autopilot.history.record import RunRecord
from autopilot.policy.audit_gaps import remaining_gaps, unaudited
from autopilot.policy.budget import spent
from autopilot.policy.outcomes import shortfall


def ending(run: RunRecord, finished: RunFinished) -> Ending:
    ends, seen = tuple(run.of(CompletionFinished)), coverage(run, finished)
    return Ending(
        integration=next((done.integration for done in reversed(ends) if done.integration != "not_run"), "not_run"),
        gaps=remaining_gaps(ends),
        unaudited=unaudited(ends),
        version=next((done.version for done in reversed(ends) if done.version), ""),
        covered=seen.covered,
        uncovered=seen.left,
        uncovered_because=seen.because,
    )


def run_end(run: RunRecord, passes: Iterable[PassDigest], finished: RunFinished | RunStopped) -> RunEnd:
    told = spent(passes)
    return RunEnd(
        run=run.start.run,
        exit=finished.exit_code,
        reason=finished.reason,
        phases={target: phase_end(run, target) for target in run.start.targets},
        usd=told.usd,
        tokens=told.tokens,
        do=finished.do,
        ending=ending(run, finished) if isinstance(finished, RunFinished) else UNSET,
    )


def phase_end(run: RunRecord, phase: str) -> PhaseEnd:
    skipped, passes = run.skipped(phase), run.standing(phase)
    if skipped:
        return PhaseEnd(status="skipped", reason=skipped.reason)
    if not passes:
        at_work = any(phase in {brief.phase.id, brief.parent} for brief in run.open_passes)
        return PhaseEnd(status="in_progress" if at_work else "not_started")
    outcome, short = best(run, phase), shortfall(run, phase)
    told = PhaseEnd(status="", score=outcome.alignment_score)
    match passes[-1].verdict:
        case Advance(because=because):
            why = short.text if short else because or outcome.reason
            word = short.outcome if short else None
            return replace(told, status="completed", reason=why, outcome=word, caveats=outcome.caveats)
        case AskHuman(question=question):
            return replace(told, status="needs_human_verification", reason=question)
        case Stop(because=because):
            kept = passes[-1].outcome.diagnostic_branch or ""
            return replace(told, status="failed", reason=because, branch=kept)
        case Retry(because=because):
            return replace(told, status="in_progress", reason=because)
