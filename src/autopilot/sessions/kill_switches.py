"""The kill-switches: what trips each, in the order they are looked at, and what the user can do about it."""

from collections.abc import Mapping
from typing import Any, Literal

from autopilot.domain.value import Value
from autopilot.sessions.machine.stall import Stalled
from autopilot.text.numbers import number_of, rounded, shown

Switch = Literal[
    "max-sessions-reached",
    "max-hours-exceeded",
    "resource-overload",
    "low-confidence-fallback",
    "user-abort",
    "spiral",
    "failed-wave",
    "carryover-too-high",
    "token-budget-exceeded",
    "stall-timeout",
]
HOUR_MS = 3_600_000
PEER_ABORT = 6
CARRYOVER = 0.5

HINTS: dict[Switch, str] = {
    "max-sessions-reached": "All sessions asked for are done. Start another loop to go on.",
    "max-hours-exceeded": "Start again with a higher --max-hours, or look which waves take long.",
    "resource-overload": "Wait until other sessions on this machine are done, or close them; then start again.",
    "low-confidence-fallback": "Start again with a lower --confidence-threshold, or run the next phases yourself.",
    "user-abort": "Start again when you are ready; finished sessions are kept.",
    "spiral": "Look at the wave that went round in circles before anything else; the loop does not try it again.",
    "failed-wave": "Find out why it failed (autopilot status), mend that, then start again.",
    "carryover-too-high": "More than half of the last session was left over: take on less, or split phases.",
    "token-budget-exceeded": "Start again with a higher --max-tokens, or split the work.",
    "stall-timeout": "Nothing moved for a long while: look at the agent's transcript before you start again.",
}


class Kill(Value, frozen=True, kw_only=True):
    switch: Switch
    detail: str


class Boundary(Value, frozen=True, kw_only=True):
    """What is known before an iteration. A verdict or a number of peers that could not be had is None."""

    iterations: int = 0
    max_sessions: int
    elapsed_ms: float = 0
    max_hours_ms: float
    tokens: float = 0
    max_tokens: float = 0
    verdict: str | None = None
    peers: float | None = None
    peer_abort: float = PEER_ABORT
    aborted: bool = False


def before(seen: Boundary) -> Kill | None:
    """The first switch that forbids another iteration."""
    if seen.aborted:
        return Kill(switch="user-abort", detail="AbortSignal triggered before iteration")
    if seen.iterations >= seen.max_sessions:
        detail = f"iterations_completed={seen.iterations} >= max-sessions={seen.max_sessions}"
        return Kill(switch="max-sessions-reached", detail=detail)
    if seen.elapsed_ms >= seen.max_hours_ms:
        detail = f"elapsed={_hours(seen.elapsed_ms)}h >= max-hours={_hours(seen.max_hours_ms)}h"
        return Kill(switch="max-hours-exceeded", detail=detail)
    if 0 < seen.max_tokens <= seen.tokens:
        detail = f"cumulative_tokens={shown(seen.tokens)} >= max-tokens={shown(seen.max_tokens)}"
        return Kill(switch="token-budget-exceeded", detail=detail)
    if seen.verdict == "critical" and seen.peers is not None and seen.peers > seen.peer_abort:
        detail = f"verdict=critical peers={shown(seen.peers)} > threshold={shown(seen.peer_abort)}"
        return Kill(switch="resource-overload", detail=detail)
    return None


def after(result: Any, stalled: Stalled | None = None, carryover_threshold: float = CARRYOVER) -> Kill | None:
    """The first switch that a finished session trips; a result that is no object trips none."""
    if not isinstance(result, Mapping):
        return None
    if stalled is not None:
        return Kill(switch="stall-timeout", detail=stalled.words)
    summary = _part(result, "agent_summary")
    if (spirals := number_of(summary.get("spiral")) or 0) > 0:
        return Kill(switch="spiral", detail=f"agent_summary.spiral={shown(spirals)} > 0")
    if (failed := number_of(summary.get("failed")) or 0) > 0:
        return Kill(switch="failed-wave", detail=f"agent_summary.failed={shown(failed)} > 0")
    return _left_over(_part(result, "effectiveness"), carryover_threshold)


def _left_over(effectiveness: Mapping[str, Any], threshold: float) -> Kill | None:
    planned, carried = (number_of(effectiveness.get(name)) for name in ("planned_issues", "carryover"))
    if planned is None or carried is None or planned <= 0 or carried / planned <= threshold:
        return None
    ratio = shown(rounded(carried / planned))
    counts = f"(carryover={shown(carried)}, planned={shown(planned)})"
    return Kill(
        switch="carryover-too-high", detail=f"carryover/planned={ratio} > threshold={shown(threshold)} {counts}"
    )


def _part(result: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = result.get(name)
    return found if isinstance(found, Mapping) else {}


def _hours(ms: float) -> str:
    return shown(rounded(ms / HOUR_MS))
