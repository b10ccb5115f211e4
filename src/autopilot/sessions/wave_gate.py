"""Before each wave: how many agents the machine allows, and how they are kept apart."""

from typing import Literal

from autopilot.domain.value import Value
from autopilot.sessions.resources import Reading
from autopilot.sessions.session_modes import Executed

Decision = Literal["proceed", "reduce", "coordinator-direct"]
Isolation = Literal["none", "worktree"]
Choice = Literal["auto", "none", "worktree"]
Risk = Literal["low", "medium", "high"]
Enforcement = Literal["strict", "warn", "off"]
_FEW, _SOME = 2, 4


class Gated(Value, frozen=True, kw_only=True):
    decision: Decision
    agents: int
    reasons: tuple[str, ...]


def gate(planned: int, reading: Reading | None, ceiling: int | None = None) -> Gated:
    """
    `reading` None: the machine was not asked or did not answer, and the wave goes ahead as planned.

    `ceiling` is what a heavy repository allows at most; it only ever lowers.
    """
    if reading is None:
        return _lowered(planned, planned, ("resources unknown: gate skipped",), ceiling)
    if reading.tier == "critical":
        return Gated(decision="coordinator-direct", agents=0, reasons=reading.reasons)
    if reading.tier == "green":
        return _lowered(planned, planned, ("all signals within bounds",), ceiling)
    allowed = max(1, planned // 2)
    return _lowered(planned, min(allowed, reading.cap or allowed), reading.reasons, ceiling)


def _lowered(planned: int, agents: int, reasons: tuple[str, ...], ceiling: int | None) -> Gated:
    if ceiling is not None and ceiling < agents:
        agents, reasons = ceiling, (*reasons, f"heavy repository: at most {ceiling} agents a wave")
    return Gated(decision="reduce" if agents < planned else "proceed", agents=agents, reasons=reasons)


def isolation(
    agents: int, mode: Executed, *, risk: Risk = "low", choice: Choice = "auto", creates: bool = False
) -> Isolation:
    """A worktree is a clone of its own here. Work that makes new folders is done in one place."""
    if creates:
        return "none"
    if choice != "auto":
        return choice
    if risk == "high" or agents > _SOME:
        return "worktree"
    return "none" if agents <= _FEW or mode == "housekeeping" else "worktree"


def enforcement(kept_apart: Isolation, wanted: Enforcement) -> Enforcement:
    """Agents in one place are held to their files: a warning would come too late."""
    return "strict" if kept_apart == "none" and wanted == "warn" else wanted
