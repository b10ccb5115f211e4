"""Builds one phase of state.json (STATE-03)."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from autopilot.domain.attempt import PhaseOutcome, SubEnd
from autopilot.domain.events import AgentAnswered, PhaseFinished, PhaseSkipped
from autopilot.domain.phase import Phase, Plan
from autopilot.domain.rework import GAPS_EXHAUSTED, QUALITY, QUALITY_EXHAUSTED
from autopilot.domain.verdict import Advance, AskHuman, Outcome, Retry, Stop
from autopilot.history.digest import PassDigest
from autopilot.history.record import PhaseRecord, RunRecord
from autopilot.history.timeline import History, merged, scored_at
from autopilot.policy.budget import estimated_tokens
from autopilot.policy.outcomes import described, outcome_of
from autopilot.policy.task_progress import own_debugs, own_replans
from autopilot.state.step_states import steps_of

# Only its empty fields are read.
_NO_PASS = PhaseOutcome(phase="", status="failed", reason="", commit="")


def phase_state(phase: Phase, history: History, bar: float) -> dict[str, Any]:
    """`bar` is the score the run asks of a phase."""
    status = history.status
    counted_at, counted = history.counted or ("", None)
    outcome = counted.outcome if counted else _NO_PASS
    ended = status in {"completed", "failed", "needs_human_verification"}
    word = _outcome(history, outcome.alignment_score, bar)
    return {
        "name": phase.name,
        "phase_type": phase.type,
        "status": status,
        "outcome": word,
        "started_at": history.started[0][0] if history.started else None,
        "completed_at": history.finished[-1][0] if ended and counted_at else None,
        "steps": steps_of(history.passes, outcome),
        "debug_attempts": _debugs(history),
        "replan_attempts": _replans(history),
        "tokens_used": tokens_used(history.passes),
        "estimated_tokens": _estimate(phase, history),
        "human_verify_justification": _justification(history),
        "human_verdict": _human_verdict(history),
        "force_incomplete": _force_incomplete(history),
        "diagnostic_path": _noted(history, None, "diagnostic_path"),
        "remediation_cycles": max((turn.brief.cycle for _, turn in history.started), default=0),
        "alignment_score": outcome.alignment_score,
        "commit_shas": [sha for _, turn in history.finished for sha in turn.outcome.commit_shas],
        "checkpoint_sha": outcome.commit or None,
        "automated_checks": dict(outcome.automated_checks),
        "score_history": _scores(history),
        "quality_exhausted": _exhausted(history, QUALITY_EXHAUSTED, outcome.alignment_score),
        "gaps_exhausted": _exhausted(history, GAPS_EXHAUSTED, outcome.alignment_score),
        "split": False,
        "sub_phases": [],
        "rubber_stamp_suspect": False,
        "unanchored": outcome.unanchored,
        "caveats": list(outcome.caveats),
        "reason": described(word, outcome.alignment_score, bar) if word else _reason(history, outcome),
        "blocking_phase": history.skipped.blocking_phase if history.skipped else None,
        "issues": list(outcome.issues),
    }


def _estimate(phase: Phase, history: History) -> int | None:
    """MTRC-02e: what was announced when the phase began; runs of older versions did not keep it."""
    told = next((turn.brief.estimated_tokens for _, turn in history.started if turn.brief.estimated_tokens), 0)
    return told or (estimated_tokens(phase, plan_of(history)) if history.started else None)


def plan_of(history: History) -> Plan | None:
    return next((record.plan for record in reversed(history.passes) if record.plan), None)


def tokens_used(passes: Iterable[PhaseRecord]) -> int:
    """As far as the agents say; unknown counts as nothing here."""
    answers = (e.event for record in passes for e in record.entries if isinstance(e.event, AgentAnswered))
    return sum((a.usage.input_tokens or 0) + (a.usage.output_tokens or 0) for a in answers)


def _debugs(history: History) -> int:
    return sum(turn.outcome.debug_attempts for _, turn in history.finished) + sum(map(own_debugs, _at_work(history)))


def _replans(history: History) -> int:
    return sum(turn.outcome.replan_attempts for _, turn in history.finished) + sum(map(own_replans, _at_work(history)))


def _at_work(history: History) -> tuple[PhaseRecord, ...]:
    """The passes that have not ended; where parts came together to an end, no pass of the phase itself did."""
    ended = sum(not turn.outcome.sub_phases for _, turn in history.finished)
    return history.passes[ended:]


def _justification(history: History) -> dict[str, Any] | None:
    """RET-06, of a phase that waits for a person or whose newest pass did."""
    last = history.turns[-1][1] if history.turns else None
    if not isinstance(last, PhaseFinished) or last.outcome.status != "needs_human_verification":
        return None
    question = last.verdict.question if isinstance(last.verdict, AskHuman) else last.outcome.reason
    plan = plan_of(history)
    checkpoint = next((t for t in plan.tasks if t.type != "auto"), None) if plan else None
    passed, _, total = last.outcome.tasks_completed.partition("/")
    return {
        "checkpoint_task_id": checkpoint.id if checkpoint else "",
        "task_description": checkpoint.title if checkpoint else question,
        "question": question,
        "auto_tasks_passed": int(passed) if passed.isdecimal() else 0,
        "auto_tasks_total": int(total) if total.isdecimal() else 0,
    }


def _outcome(history: History, score: float | None, bar: float) -> Outcome | None:
    last = history.turns[-1][1] if history.turns else None
    return outcome_of(last.verdict, score, bar) if isinstance(last, PhaseFinished) else None


def _reason(history: History, outcome: PhaseOutcome) -> str:
    """Why it is as it is; where a person has decided, in their words."""
    last = history.turns[-1][1] if history.turns else None
    match last:
        case PhaseFinished(verdict=Advance(because=why) | Stop(because=why)) if history.words and why:
            return why
        case PhaseSkipped(reason=why):
            return why
        case _:
            return outcome.reason


def _human_verdict(history: History) -> dict[str, Any] | None:
    """STAT-05a."""
    if not history.words:
        return None
    at, word = history.words[-1]
    return {"verdict": word.verdict, "timestamp": at, "issues": list(word.issues)}


def _force_incomplete(history: History) -> bool:
    """CENF-03: it passed, though remediation did not bring it to the threshold."""
    if any(note.event == "force_incomplete_marked" for note in history.notes):
        return True
    verdict = history.finished[-1][1].verdict if history.finished else None
    return isinstance(verdict, Advance) and verdict.because == "force_incomplete"


def _noted(history: History, event: str | None, key: str) -> Any:
    """The newest value noted under the key, by the named event or by any."""
    notes = (note for note in reversed(history.notes) if event in {None, note.event})
    return next((note.details[key] for note in notes if key in note.details), None)


def _scores(history: History) -> list[dict[str, Any]]:
    """HIST-01: over all runs, each pass's score under the flag it was made with."""
    before = history.before.history if history.before else ()
    own = (scored for at, turn in history.finished if (scored := scored_at(at, turn)))
    return [msgspec.to_builtins(scored) for scored in merged(before, own)]


def _exhausted(history: History, word: str, score: float | None) -> bool:
    """QUAL-10, GAPS-11: the loop came to its end, and nothing after it brought the score to the target."""
    verdicts = (turn.verdict for _, turn in history.finished if isinstance(turn.verdict, Advance | Retry))
    over = any(verdict.because == word for verdict in verdicts)
    return over and (word == GAPS_EXHAUSTED or score is None or score < QUALITY)


def part_states(run: RunRecord, known: Mapping[str, History]) -> dict[str, dict[str, Any]]:
    """By phase: that it was split, and how far each part of its last split is."""
    found: dict[str, dict[str, Any]] = {}
    for finished in run.of(PhaseFinished):
        split = finished.outcome.split_details
        if finished.outcome.status == "split_request" and split:
            names = (part.sub_phase_id for part in split.recommended_sub_phases)
            found[finished.outcome.phase] = _told(tuple(_so_far(name, known) for name in names))
        elif finished.outcome.sub_phases:
            found[finished.outcome.phase] = _told(finished.outcome.sub_phases)
    return found


def wholes_of(run: RunRecord) -> dict[str, str]:
    """The phase that each part is one of."""
    begun = run.chronicle.begun.items()
    return {name: briefs[-1].parent for name, briefs in begun if any(brief.parent for brief in briefs)}


def part_tokens(wholes: Mapping[str, str], made: Mapping[str, tuple[PassDigest, ...]]) -> dict[str, int]:
    """By phase: what was spent on its parts, as far as the agents say; unknown counts as nothing here."""
    found: dict[str, int] = {}
    for part, whole in wholes.items():
        found[whole] = found.get(whole, 0) + sum(digest.spent.tokens or 0 for digest in made.get(part, ()))
    return found


def _told(parts: tuple[SubEnd, ...]) -> dict[str, Any]:
    return {"split": True, "sub_phases": msgspec.to_builtins(parts)}


def _so_far(name: str, known: Mapping[str, History]) -> SubEnd:
    history = known.get(name, History())
    score = history.counted[1].outcome.alignment_score if history.counted else None
    return SubEnd(sub_phase_id=name, status=history.status, alignment_score=score)
