"""Context mapping: score what phases say, have agents ask for what they do not, and keep what people answer (CMAP)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from autopilot.domain.answers import OpenQuestion
from autopilot.domain.attempt import Brief
from autopilot.domain.errors import NoAnswer
from autopilot.domain.forecast import Sufficiency
from autopilot.domain.people import Asked, Batch, Given
from autopilot.domain.user_answers import KeptQuestion, UserAnswer, with_phase
from autopilot.engine.perform.consultation import Consultation
from autopilot.journal.answer_files import AskedFile
from autopilot.planning.start import sufficiency
from autopilot.planning.start.sufficiency import SUFFICIENT, Context
from autopilot.steps.interview import question as questions


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A phase to be mapped: what an agent is told of it, and what it is scored by."""

    brief: Brief
    context: Context


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapped:
    """`waiting` are the questions nobody answered, as they stand in questions.json."""

    details: Mapping[str, Any]
    waiting: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class ContextMapping:
    """One mapping: the sitting, and the file that outlives it."""

    sitting: Consultation
    file: AskedFile

    def run(self, targets: Sequence[Target]) -> Mapped:
        before = {target.brief.phase.id: self._score(target) for target in targets}
        for target in targets:
            self.sitting.person.tell(sufficiency.log_line(target.brief.phase.id, before[target.brief.phase.id]))
        low = [target for target in targets if before[target.brief.phase.id].score < SUFFICIENT]
        for target in low:
            self._recover(target)
            if not self._open(target):
                self._find_questions(target, before[target.brief.phase.id])
        batch = self._batch(low, before)
        if batch.questions:
            self.sitting.answers(batch, lambda given: self._record(given, low))
        left = {target.brief.phase.id: self._open(target) for target in low}
        self._tell_scores(low, before)
        count = sum(map(len, left.values()))
        if count:
            self.sitting.person.tell(f"{count} question{'s' * (count > 1)} left open in {self.file.path.name}.")
        details = {
            "phases_scored": len(targets),
            "phases_below_threshold": len(low),
            "questions_generated": len(batch.questions),
            "questions_answered": len(batch.questions) - count,
            "context_map_path": f".autopilot/{self.file.path.name}",
        }
        return Mapped(details=details, waiting=[_waiting(phase, n, q) for phase, one in left.items() for n, q in one])

    def _score(self, target: Target) -> Sufficiency:
        kept = self.file.read().phase(target.brief.phase.id).questions
        return sufficiency.rescored(target.context, [(q.category, bool(q.answer)) for q in kept])

    def _open(self, target: Target) -> list[tuple[int, KeptQuestion]]:
        """The unanswered questions with their numbers, which stay the same for ever."""
        kept = self.file.read().phase(target.brief.phase.id).questions
        return [(n, question) for n, question in enumerate(kept, 1) if not question.answer]

    def _find_questions(self, target: Target, score: Sufficiency) -> None:
        """CMAP-02a: one agent a phase; what it asks is in the file before the next is asked."""
        phase = target.brief.phase
        kept = self.file.read().phase(phase.id).questions
        answered = [UserAnswer(question=q.question, answer=q.answer) for q in kept if q.answer]
        self.sitting.person.tell(f"Phase {phase.id}: asking an agent what is missing...")
        try:
            claim = self.sitting.agent(
                target.brief,
                "question",
                len(answered) + 1,
                lambda record: questions.question(record, score.score, sufficiency.factors_text(score), answered),
            )
        except NoAnswer as silence:
            self.sitting.person.tell(f"Phase {phase.id}: no questions could be had: {silence.detail[:200]}")
            return
        found = questions.usable(claim)
        if not found:
            self.sitting.person.tell(f"Phase {phase.id}: the agent's questions were rejected, none is specific enough.")
        self._save(target, score.score, None, [_asked(one) for one in found])

    def _batch(self, low: Sequence[Target], before: Mapping[str, Sufficiency]) -> Batch:
        """CMAP-03a."""
        parts, asked = [], list[Asked]()
        for target in low:
            phase, waiting = target.brief.phase, self._open(target)
            if waiting:
                lines = [f"{n}. {question.question} [{question.category}]" for n, question in waiting]
                head = f"## Phase {phase.id}: {phase.name} (score: {before[phase.id].score}/10)"
                parts.append("\n".join([head, *lines]))
                asked += [
                    Asked(key=_key(phase.id, n), phase=phase.id, text=question.question, number=n)
                    for n, question in waiting
                ]
        head = f"Context Mapping: {len(parts)} phases need additional information"
        hint = 'Answer below, one line each (e.g., "Phase 3, Q1: ...").'
        return Batch(text="\n\n".join([head, *parts, hint]), questions=tuple(asked))

    def _recover(self, target: Target) -> None:
        """What was answered when an earlier process died, before the file had it."""
        for number, _ in self._open(target):
            key = _key(target.brief.phase.id, number)
            said = self.sitting.heard(key)
            if said:
                self._record(Given(key=key, answer=said), [target])

    def _record(self, given: Given, low: Sequence[Target]) -> None:
        phase_id, _, number = given.key.rpartition("/Q")
        target = next(target for target in low if target.brief.phase.id == phase_id)
        question = self.file.read().phase(phase_id).questions[int(number) - 1]
        answered = {"question": question.question, "answer": given.answer, "answered_at": self.sitting.clock.now()}
        self._save(target, None, None, [answered])

    def _tell_scores(self, low: Sequence[Target], before: Mapping[str, Sufficiency]) -> None:
        """CMAP-03e."""
        if not low:
            self.sitting.person.tell("Every phase says enough to be worked on.")
            return
        lines = ["Context sufficiency, before and after:"]
        for target in low:
            phase, after = target.brief.phase, self._score(target)
            self._save(target, None, after.score, [])
            self.sitting.person.tell(sufficiency.log_line(phase.id, after))
            lines.append(f"  Phase {phase.id}: {phase.name}: {before[phase.id].score}/10 -> {after.score}/10")
        self.sitting.person.tell("\n".join(lines))

    def _save(self, target: Target, score: int | None, after: int | None, asked: Sequence[Mapping[str, Any]]) -> None:
        now, phase = self.sitting.clock.now(), target.brief.phase
        scores = {"context_score": score, "score_after": after}
        changes: dict[str, Any] = {name: value for name, value in scores.items() if value is not None}
        changes |= {"phase_name": phase.name, "mapped_at": now}
        self.file.update(lambda paper: with_phase(paper, phase.id, changes, asked, now))


def _key(phase: str, number: int) -> str:
    return f"{phase}/Q{number}"


def _asked(one: OpenQuestion) -> dict[str, Any]:
    return {**msgspec.to_builtins(one), "answer": None, "answered_at": None}


def _waiting(phase: str, number: int, question: KeptQuestion) -> dict[str, Any]:
    return {
        "kind": "map",
        "phase": phase,
        "number": number,
        "question": question.question,
        "category": question.category,
        "why_needed": question.why_needed,
    }
