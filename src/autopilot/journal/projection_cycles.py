"""What the event log says by what went before: a phase's remediation cycles, and the specification's lock."""

from dataclasses import dataclass, field
from typing import Any

from autopilot.domain.events import Brief, Event, Noted, PhaseFinished, PhaseStarted, RunResumed, RunStarted, Spec


@dataclass(slots=True)
class Cycles:
    """Heard entry by entry, it knows of each phase the score it stands on, the bar, and the diagnostic written."""

    spec: Spec | None = None

    scores: dict[str, float] = field(default_factory=dict)
    bars: dict[str, float] = field(default_factory=dict)
    papers: dict[str, str] = field(default_factory=dict)

    def hear(self, event: Event) -> None:
        match event:
            case RunStarted(spec=spec) | RunResumed(spec=spec):
                self.spec = spec
            case PhaseStarted(brief=brief):
                self.bars[brief.phase.id] = brief.pass_threshold
            case PhaseFinished(outcome=outcome) if (
                outcome.status == "completed" and outcome.alignment_score is not None
            ):
                self.scores[outcome.phase] = outcome.alignment_score
            case Noted(phase=str(phase), details={"diagnostic_path": str(path)}):
                self.papers[phase] = path
            case _:
                return

    def started(self, brief: Brief) -> dict[str, Any]:
        return {
            "phase_id": brief.phase.id,
            "cycle": brief.cycle,
            "current_score": self.scores.get(brief.phase.id),
            "pass_threshold": brief.pass_threshold,
            "feedback_items": len(brief.feedback),
            "feedback": list(brief.feedback),
        }

    def completed(self, event: PhaseFinished) -> dict[str, Any]:
        """A cycle that failed has no new score: it neither improved nor reached anything."""
        phase, new = event.outcome.phase, event.outcome.alignment_score
        new = new if event.outcome.status == "completed" else None
        old, bar = self.scores.get(phase), self.bars.get(phase)
        return {
            "phase_id": phase,
            "cycle": event.cycle,
            "old_score": old,
            "new_score": new,
            "improved": new is not None and old is not None and new > old,
            "reached_threshold": new is not None and bar is not None and new >= bar,
        }

    def marked(self, event: PhaseFinished) -> dict[str, Any]:
        phase, outcome = event.outcome.phase, event.outcome
        whole = outcome.status == "completed" and outcome.alignment_score is not None
        return {
            "phase_id": phase,
            "final_score": outcome.alignment_score if whole else self.scores.get(phase),
            "pass_threshold": self.bars.get(phase),
            "remediation_cycles": event.cycle,
            "diagnostic_path": self.papers.get(phase),
        }
