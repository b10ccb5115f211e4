"""Decides how many phases a session may work on at the same time on this machine."""

from typing import Literal

from autopilot.domain.value import Value
from autopilot.sessions.machine.resources import Reading

Decision = Literal["proceed", "reduce", "coordinator-direct"]


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
