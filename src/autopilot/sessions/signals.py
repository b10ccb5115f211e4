"""What is known when the next mode is chosen, gathered from the files of the project. Nothing in them is an error."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from autopilot.domain.value import Value
from autopilot.sessions import learnings
from autopilot.sessions.backlog import Backlog
from autopilot.sessions.files import next_session as state_fields
from autopilot.sessions.files.jsonl import objects_in
from autopilot.sessions.files.next_session import StateFields
from autopilot.sessions.files.session_record import normalised, problem_in, recent
from autopilot.sessions.selector import (
    EXECUTED,
    MODES,
    STRONG,
    TIERS,
    TREND_OF,
    Executed,
    Mode,
    Recommendation,
    Signals,
    select,
)

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
    read = (normalised(record) for record in objects_in(sources.sessions or ""))
    told = [record for record in read if problem_in(record) is None]
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
    return replace(_chosen(signals, backlog), advice=_advice(signals, backlog.wanted))


def recommended(signals: Signals, backlog: Backlog) -> Mode | None:
    """What the selector itself recommends, whether or not Autopilot carries it out."""
    return select(informed(signals, backlog)).mode


def wished(mode: Executed, backlog: Backlog) -> Recommendation:
    """The mode that a person named with `--mode`. Their word needs no confidence."""
    if not backlog.has(mode):
        return Recommendation(mode=None, rationale=f"no phase needs a {mode} session", exhausted=True)
    return Recommendation(mode=mode, rationale="named with --mode", confidence=1.0)


def remarks(sources: Sources, path: str) -> Iterator[str]:
    """What the files say that Autopilot does not use, and why."""
    front = state_fields.front_matter(sources.state or "")
    said = front.get("recommended-mode")
    if said is not None and said not in MODES:
        yield f"STATE.md: recommended-mode is {said!r}. Autopilot ignores it. Use one of {', '.join(MODES)}."
    for number, line in enumerate((sources.sessions or "").splitlines(), start=1):
        for record in objects_in(line):
            if problem := problem_in(normalised(record)):
                yield f"{path}, line {number}: {problem}. Autopilot ignores this session."


def _advice(signals: Signals, wanted: Executed) -> str:
    count = len(signals.sessions)
    why = "The last session finished too little to choose without you; see `autopilot status`."
    if count < TREND_OF:
        why = (
            f"The loop chooses on its own after {TREND_OF} sessions that finished their phases. "
            f"This project has {count}, and every `autopilot run` counts as one."
        )
    elif (signals.completion_rate or 0.0) >= STRONG:
        why = "The last sessions were of different kinds or left phases open, so their trend says too little."
    return f"{why} Choose yourself: `autopilot loop --mode {wanted}` starts now, `autopilot next` runs one phase."


def _chosen(signals: Signals, backlog: Backlog) -> Recommendation:
    found = select(informed(signals, backlog))
    if found.mode not in EXECUTED:
        return replace(found, mode=None, rationale=f"{found.mode} is for a person: {found.rationale}")
    if backlog.has(found.mode):
        return found
    other = next((a for a in found.alternatives if a.mode in EXECUTED and backlog.has(a.mode)), None)
    if other is None:
        return replace(found, mode=None, rationale=f"no work for {found.mode}: {found.rationale}")
    return replace(found, mode=other.mode, confidence=other.confidence, rationale=f"no work for {found.mode}")
