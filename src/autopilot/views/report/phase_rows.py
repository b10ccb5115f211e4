"""What became of each phase of the roadmap, and by what evidence."""

from collections.abc import Iterator

import msgspec

from autopilot.domain.attempt import PhaseOutcome
from autopilot.domain.phase import Phase
from autopilot.domain.results import COMPLETION, Compared, Judged, Rated, Verified
from autopilot.domain.value import Value
from autopilot.domain.verdict import Advance
from autopilot.history.record import PhaseRecord
from autopilot.history.timeline import History
from autopilot.policy.outcomes import shortfall
from autopilot.policy.uniform_scores import suspects
from autopilot.text.times import elapsed
from autopilot.views.lines import fact_sentences as facts
from autopilot.views.lines import task_lines as visual_lines
from autopilot.views.report.source import Told

STATUSES = {
    "completed": "passed",
    "below_bar": "passed below the bar",
    "already_satisfied": "already satisfied",
    "failed": "failed",
    "needs_human_verification": "waits for a person",
    "in_progress": "in progress",
    "skipped": "skipped",
    "not_started": "not started",
    "done_before": "done before",
    "elsewhere": "not in this run",
}


class PhaseSeen(Value, frozen=True, kw_only=True):
    """
    One phase. `status` is a key of `STATUSES`; `evidence` is what it stands on, `reason` why it ended as it did.

    `seconds` is from the beginning of its first pass to the end of its last, None while it has none.
    """

    id: str
    name: str
    goal: str = ""
    type: str = ""
    depends_on: tuple[str, ...] = ()
    status: str = "elsewhere"
    score: float | None = None
    threshold: float | None = None
    tasks: str = ""
    passes: int = 0
    seconds: float | None = None
    commit: str = ""
    landed: str = ""
    reason: str = ""
    evidence: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()

    @property
    def word(self) -> str:
        return STATUSES.get(self.status, self.status)


def phases_seen(told: Told) -> tuple[PhaseSeen, ...]:
    """In the order of the roadmap."""
    alike = suspects(told.run)
    return tuple(_seen(told, phase, alike=phase.id in alike) for phase in told.phases)


def _seen(told: Told, phase: Phase, *, alike: bool) -> PhaseSeen:
    history = told.histories.get(phase.id)
    if history is None:
        done = phase.id in told.run.start.completed or phase.status == "completed"
        return _of(phase, "done_before" if done else "elsewhere")
    record, outcome = told.counted(phase.id), history.counted[1].outcome if history.counted else None
    skipped, short = history.skipped, shortfall(told.run, phase.id)
    why = short.text if short else outcome.reason if outcome else ""
    return msgspec.structs.replace(
        _of(phase, short.outcome if short else history.status),
        score=outcome.alignment_score if outcome else None,
        threshold=record.brief.pass_threshold if record else None,
        tasks=outcome.tasks_completed if outcome else "",
        passes=len(history.started),
        seconds=_seconds(told, history),
        commit=outcome.commit if outcome else "",
        landed=_landed(told, phase.id),
        reason=skipped.reason if skipped else why,
        evidence=tuple(evidence_of(record)) if record else (),
        remarks=tuple(_remarks(history, record, outcome, alike=alike)),
        caveats=outcome.caveats if outcome else (),
    )


def _of(phase: Phase, status: str) -> PhaseSeen:
    return PhaseSeen(
        id=phase.id, name=phase.name, goal=phase.goal, type=phase.type, depends_on=phase.depends_on, status=status
    )


def _seconds(told: Told, history: History) -> float | None:
    if not history.started:
        return None
    last_turn = history.turns[-1][0]
    passes = told.passes.get(history.started[-1][1].brief.phase.id, ())
    last_entry = passes[-1].entries[-1].at if passes and passes[-1].entries else ""
    return elapsed(history.started[0][0], max(last_turn, last_entry))


def _landed(told: Told, phase: str) -> str:
    landing = told.run.landed(phase)
    if landing is None:
        return ""
    return f"landed as {landing.commit}" if landing.landed else f"not landed: {landing.note}"


def evidence_of(record: PhaseRecord) -> Iterator[str]:
    """What was run and what reviewers said, newest of each; nothing of what agents claim of their own work."""
    verified, judged, compared = record.find(Verified), record.find(Judged), record.find(Compared)
    if verified:
        yield facts.counted((*verified.checks, *verified.gates))
        if pages := visual_lines.counted(verified):
            yield pages
        if verified.opinion is not None:
            yield "verifier agrees" if verified.opinion.passed else "verifier disagrees"
    recommendation = (compared.opinion.word or "") if compared else judged.opinion.recommendation if judged else ""
    if recommendation:
        yield f"judge says {recommendation}"
    rated = record.find(Rated)
    if rated:
        yield f"rated {rated.score:.1f}"


def _remarks(
    history: History, record: PhaseRecord | None, outcome: PhaseOutcome | None, *, alike: bool
) -> Iterator[str]:
    if outcome and outcome.unanchored:
        yield "unanchored: the roadmap has no criterion with a command"
    yield from outcome.caveats if outcome else ()
    if outcome and outcome.rollback:
        yield f"rolled back; its work is kept on {outcome.diagnostic_branch or 'a branch of its own'}"
    last = history.finished[-1][1].verdict if history.finished else None
    if isinstance(last, Advance) and last.because:
        yield last.because.replace("_", " ")
    verified = record.find(Verified) if record else None
    if verified and any(not run.confined for run in (*verified.checks, *verified.gates)):
        yield "its commands ran without a sandbox"
    if alike:
        yield "its score is suspiciously like those of other phases"
    if history.skipped and history.skipped.blocking_phase:
        yield f"blocked by phase {history.skipped.blocking_phase}"


def of_run(phase: str) -> str:
    """How a stream's phase is called on the page."""
    return "end of run" if phase == COMPLETION else f"phase {phase}"
