"""What the event log says by what went before: a phase's cycles of every kind, and the specification's lock."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from autopilot.domain.attempt import Brief, Spec
from autopilot.domain.events import Event, Noted, PhaseFinished, PhaseStarted, RunResumed, RunStarted
from autopilot.domain.rework import GAPS_EXHAUSTED, QUALITY_EXHAUSTED
from autopilot.domain.verdict import Advance, Retry

Told = Iterator[tuple[str, dict[str, Any]]]


@dataclass(slots=True)
class Cycles:
    """Heard entry by entry, it knows of each phase the score it stands on, its last pass, and its diagnostic."""

    spec: Spec | None = None
    scores: dict[str, float] = field(default_factory=dict)
    statuses: dict[str, str] = field(default_factory=dict)
    briefs: dict[str, Brief] = field(default_factory=dict)
    papers: dict[str, str] = field(default_factory=dict)

    def hear(self, event: Event) -> None:
        match event:
            case RunStarted(spec=spec, before=before):
                self.spec = spec
                self.statuses |= {phase: known.status for phase, known in before.items()}
                self.scores |= {phase: known.score for phase, known in before.items() if known.score is not None}
            case RunResumed(spec=spec):
                self.spec = spec
            case PhaseStarted(brief=brief):
                self.briefs[brief.phase.id] = brief
            case PhaseFinished(outcome=outcome) if (
                outcome.status == "completed" and outcome.alignment_score is not None
            ):
                stood = self.scores.get(outcome.phase, 0.0) if event.cycle else 0.0
                self.scores[outcome.phase] = max(stood, outcome.alignment_score)
            case Noted(phase=str(phase), details={"diagnostic_path": str(path)}):
                self.papers[phase] = path
            case _:
                return

    def begun(self, brief: Brief) -> Told:
        """A pass starts: the phase's first, a remediation, or one that a flag asked for."""
        phase = brief.phase.id
        if brief.mode == "force" and not brief.cycle:
            told = {"previous_score": self.scores.get(phase), "previous_status": self.statuses.get(phase)}
            yield "force_reexecution_started", {"phase_id": phase, **told}
        if not brief.cycle or (brief.turn and brief.number == 0):
            place = {"position": brief.position, "total": brief.total, "base": brief.base}
            yield "phase_started", {"name": brief.phase.name, **place}
        match brief.mode:
            case "quality":
                yield "quality_remediation_started", self._quality(brief, self.scores.get(phase), None)
            case "gaps":
                yield "gaps_iteration_started", self._gaps(brief, self.scores.get(phase), None)
            case _ if brief.cycle:
                yield "remediation_started", self._remediation(brief)

    def ended(self, event: PhaseFinished, details: dict[str, Any]) -> Told:
        """How a pass that mends something came out, and whether its loop is used up."""
        phase = event.outcome.phase
        old, new, brief = self.scores.get(phase), self._new(event), self.briefs.get(phase)
        if brief is not None and event.mode == "quality":
            yield "quality_remediation_completed", {**details, **self._quality(brief, old, new)}
        elif brief is not None and event.mode == "gaps":
            yield "gaps_iteration_completed", {**details, **self._gaps(brief, old, new)}
        elif event.cycle:
            yield "remediation_completed", {**details, **self.completed(event)}
        yield from self._marked(event)

    def _remediation(self, brief: Brief) -> dict[str, Any]:
        return {
            "phase_id": brief.phase.id,
            "cycle": brief.cycle,
            "current_score": self.scores.get(brief.phase.id),
            "pass_threshold": brief.pass_threshold,
            "feedback_items": len(brief.feedback),
            "feedback": list(brief.feedback),
        }

    def _quality(self, brief: Brief, old: float | None, new: float | None) -> dict[str, Any]:
        scores = {"old_score": old, "new_score": new, "target": brief.pass_threshold}
        return {"phase_id": brief.phase.id, "cycle": brief.turn, **scores, "feedback": list(brief.feedback)}

    def _gaps(self, brief: Brief, old: float | None, new: float | None) -> dict[str, Any]:
        wrong = brief.deficiency
        return {
            "phase_id": brief.phase.id,
            "iteration": brief.turn,
            "deficiency_addressed": wrong.criterion if wrong else None,
            "deficiency": msgspec.to_builtins(wrong),
            "old_score": old,
            "new_score": new,
            "remaining_deficiencies": len(brief.deficiencies),
        }

    def completed(self, event: PhaseFinished) -> dict[str, Any]:
        """A cycle that failed has no new score: it neither improved nor reached anything."""
        phase, new = event.outcome.phase, self._new(event)
        old, bar = self.scores.get(phase), self._bar(phase)
        return {
            "phase_id": phase,
            "cycle": event.cycle,
            "old_score": old,
            "new_score": new,
            "improved": new is not None and old is not None and new > old,
            "reached_threshold": new is not None and bar is not None and new >= bar,
        }

    def _marked(self, event: PhaseFinished) -> Told:
        """CENF-03a, QUAL-10, GAPS-11: what the phase stands on though a loop is used up."""
        phase, brief = event.outcome.phase, self.briefs.get(event.outcome.phase)
        word = event.verdict.because if isinstance(event.verdict, Advance | Retry) else ""
        scores = (self.scores.get(phase) if event.cycle else None, self._new(event))
        final = {"phase_id": phase, "final_score": max(filter(None, scores), default=None)}
        paper = {"diagnostic_path": self.papers.get(phase)}
        if word == "force_incomplete":
            bar = {"pass_threshold": self._bar(phase), "remediation_cycles": event.cycle}
            yield "force_incomplete_marked", {**final, **bar, **paper}
        elif word == QUALITY_EXHAUSTED:
            yield QUALITY_EXHAUSTED, {**final, "cycles": event.turn, "target": self._bar(phase), **paper}
        elif word == GAPS_EXHAUSTED:
            left = len(brief.deficiencies) if brief else 0
            told = {"iterations": event.turn, "target": self._bar(phase), "remaining_deficiencies": left}
            yield GAPS_EXHAUSTED, {**final, **told, **paper}

    def _bar(self, phase: str) -> float | None:
        return self.briefs[phase].pass_threshold if phase in self.briefs else None

    def _new(self, event: PhaseFinished) -> float | None:
        return event.outcome.alignment_score if event.outcome.status == "completed" else None
