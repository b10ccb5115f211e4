"""What a `--complete` run came to, over the whole roadmap (CMPL-04). Pure."""

from autopilot.domain.events import PhaseStarted
from autopilot.domain.value import Value
from autopilot.domain.verdict import ALREADY_SATISFIED, Advance, AskHuman, Stop
from autopilot.history.record import RunRecord
from autopilot.policy.outcomes import shortfall

DONE = "already_completed"


class BatchFigures(Value, frozen=True, kw_only=True):
    """
    Phase ids, each list in the order of the roadmap. `skipped` says of each why, `gaps` what each failed one blocked.

    `completed` counts over all runs; `left` are the phases that are neither completed nor waiting for a person.
    `below_bar` passed all the same; `satisfied` are done without any work, which nobody has accepted yet.
    """

    attempted: tuple[str, ...] = ()
    succeeded: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    deferred: tuple[str, ...] = ()
    below_bar: tuple[str, ...] = ()
    satisfied: tuple[str, ...] = ()
    skipped: dict[str, str] = {}
    gaps: dict[str, tuple[str, ...]] = {}
    left: tuple[str, ...] = ()
    completed: int = 0
    total: int = 0

    @property
    def percentage(self) -> float:
        """CMPL-04d, to one decimal."""
        return round(self.completed / self.total * 100, 1) if self.total else 0.0

    def skipped_for(self, *, done: bool) -> tuple[str, ...]:
        return tuple(phase for phase, reason in self.skipped.items() if (reason == DONE) == done)


def batch_figures(run: RunRecord) -> BatchFigures:
    roadmap = tuple(phase.id for phase in run.start.phases)
    begun = {started.brief.phase.id for started in run.of(PhaseStarted)}
    ends = {phase: standing[-1] for phase in roadmap if (standing := run.standing(phase))}
    passed = tuple(phase for phase, end in ends.items() if isinstance(end.verdict, Advance))
    skips = {phase: skip for phase in roadmap if (skip := run.skipped(phase))}
    failed = tuple(phase for phase, end in ends.items() if isinstance(end.verdict, Stop))
    deferred = tuple(phase for phase, end in ends.items() if isinstance(end.verdict, AskHuman))
    short = {phase: found.outcome for phase in passed if (found := shortfall(run, phase))}
    satisfied = tuple(phase for phase, outcome in short.items() if outcome == ALREADY_SATISFIED)
    completed = {phase for phase in roadmap if phase in run.start.completed} | set(passed) - set(satisfied)
    return BatchFigures(
        attempted=tuple(phase for phase in roadmap if phase in begun),
        succeeded=tuple(phase for phase in passed if phase not in short),
        failed=failed,
        deferred=deferred,
        below_bar=tuple(phase for phase in short if phase not in satisfied),
        satisfied=satisfied,
        skipped={phase: skip.reason for phase, skip in skips.items()},
        gaps={
            phase: tuple(other for other, skip in skips.items() if skip.blocking_phase == phase)
            for phase in failed
            if any(skip.blocking_phase == phase for skip in skips.values())
        },
        left=tuple(phase for phase in roadmap if phase not in {*completed, *deferred, *satisfied}),
        completed=len(completed),
        total=len(roadmap),
    )
