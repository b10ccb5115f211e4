"""A run's end in the form the command line reports it."""

from collections.abc import Iterable

from autopilot.domain.events import AgentAnswered, RunFinished
from autopilot.domain.record import PhaseRecord, RunRecord
from autopilot.domain.request import Ending, PhaseEnd, RunEnd
from autopilot.domain.verdict import Advance, AskHuman, Retry, Stop
from autopilot.engine.orchestrate import best


def run_end(run: RunRecord, passes: Iterable[PhaseRecord], finished: RunFinished) -> RunEnd:
    spent = [e.event.usage for record in passes for e in record.entries if isinstance(e.event, AgentAnswered)]
    dollars = [usage.cost_usd for usage in spent if usage.cost_usd is not None]
    done = run.completion
    audit = done.self_audit if done else None
    tokens = [t for u in spent for t in (u.input_tokens, u.output_tokens) if t is not None]
    return RunEnd(
        run=run.start.run,
        exit=finished.exit_code,
        reason=finished.reason,
        phases={target: phase_end(run, target) for target in run.start.targets},
        usd=round(sum(dollars), 6) if dollars else None,
        tokens=sum(tokens) if tokens else None,
        ending=Ending(
            integration=done.integration if done else "not_run",
            gaps=tuple(gap.requirement_id for gap in audit.remaining_gap_details) if audit else (),
            version=done.version if done else "",
        ),
    )


def phase_end(run: RunRecord, phase: str) -> PhaseEnd:
    skipped, passes = run.skipped(phase), run.standing(phase)
    if skipped:
        return PhaseEnd(status="skipped", reason=skipped.reason)
    if not passes:
        return PhaseEnd(status="not_started")
    outcome = best(run, phase)
    match passes[-1].verdict:
        case Advance(because=because):
            return PhaseEnd(status="completed", score=outcome.alignment_score, reason=because or outcome.reason)
        case AskHuman(question=question):
            return PhaseEnd(status="needs_human_verification", score=outcome.alignment_score, reason=question)
        case Stop(because=because):
            return PhaseEnd(status="failed", score=outcome.alignment_score, reason=because)
        case Retry(because=because):
            return PhaseEnd(status="in_progress", score=outcome.alignment_score, reason=because)
