"""What is known when the next mode is chosen, gathered from the files of the project. Nothing in them is an error."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from autopilot.domain.value import Value
from autopilot.sessions import learnings, state_fields
from autopilot.sessions.backlog import Backlog
from autopilot.sessions.lines import objects_in
from autopilot.sessions.selector import Recommendation, Signals, select
from autopilot.sessions.session_modes import EXECUTED, TIERS
from autopilot.sessions.session_record import normalised, recent
from autopilot.sessions.state_fields import StateFields

LAST_SESSIONS = 10


class Sources(Value, frozen=True, kw_only=True):
    """The texts themselves; None: there is no such file. `calibration` is the text of learnings.md."""

    state: str | None = None
    sessions: str | None = None
    lock: str | None = None
    learnings: tuple[Any, ...] = ()
    calibration: str = ""
    text: str | None = None


def gathered(sources: Sources, now: datetime) -> Signals:
    fields = state_fields.read(sources.state) or StateFields()
    lock = state_fields.keys_of(sources.lock)
    told = [normalised(record) for record in objects_in(sources.sessions or "")]
    known: Sequence[Any] = (*sources.learnings, *learnings.calibrations(sources.calibration))
    return Signals(
        recommended_mode=fields.mode,
        priorities=fields.priorities,
        carryover_ratio=fields.carryover_ratio,
        completion_rate=fields.completion_rate,
        rationale=fields.rationale,
        sessions=recent(told, LAST_SESSIONS),
        learnings=learnings.effective(known, now),
        locked=lock is not None,
        tier=(lock or {}).get("tier"),
        text=sources.text,
    )


def informed(signals: Signals, backlog: Backlog) -> Signals:
    """
    The signals with what the roadmap says: what kind of work is left stands in for a lock, and for a missing word of
    the last session or one that there is no work for.
    """
    wanted = backlog.wanted
    tier = next((name for name, mode in TIERS.items() if mode == wanted), None)
    said = signals.recommended_mode
    possible = said is not None and (said not in EXECUTED or backlog.has(said))
    return replace(
        signals,
        recommended_mode=said if possible else wanted,
        priorities=backlog.first if signals.priorities is None else signals.priorities,
        locked=signals.locked or tier is not None,
        tier=tier if signals.tier not in TIERS else signals.tier,
    )


def choose(signals: Signals, backlog: Backlog) -> Recommendation:
    """The selector's word, as far as there is work for it that Autopilot carries out itself."""
    if backlog.wanted is None:
        return Recommendation(mode=None, rationale="nothing is left to do", exhausted=True)
    found = select(informed(signals, backlog))
    if found.mode not in EXECUTED:
        return replace(found, mode=None, rationale=f"{found.mode} is for a person: {found.rationale}")
    if backlog.has(found.mode):
        return found
    other = next((a for a in found.alternatives if a.mode in EXECUTED and backlog.has(a.mode)), None)
    if other is None:
        return replace(found, mode=None, rationale=f"no work for {found.mode}: {found.rationale}")
    return replace(found, mode=other.mode, confidence=other.confidence, rationale=f"no work for {found.mode}")
