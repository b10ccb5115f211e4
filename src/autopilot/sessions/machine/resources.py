"""Grades the machine's free resources and caps the number of jobs."""

from typing import Literal

from autopilot.domain.value import Value

Tier = Literal["green", "warn", "degraded", "critical"]
TIERS: tuple[Tier, ...] = ("green", "warn", "degraded", "critical")
# The most agents a wave may have. None: as configured; 0: none, the coordinator works alone.
CAPS: dict[Tier, int | None] = {"green": None, "warn": 4, "degraded": 2, "critical": 0}
_RAM_FREE_GB = (6.0, 4.0, 2.0)
_PRESSURE_FREE_PCT = (30.0, 15.0, 5.0)
_SWAP_GB = (1.0, 2.0)
_SWAP_MOST_GB = 3.0
_PEERS = (2, 4, 6)


class Snapshot(Value, frozen=True, kw_only=True):
    """What the machine says of itself. A signal that could not be had is None, and decides nothing."""

    ram_free_gb: float | None = None
    swap_gb: float | None = None
    peers: int | None = None
    memory_pressure_pct_free: float | None = None


class Assessment(Value, frozen=True, kw_only=True):
    """What the loop asks of a reading: the verdict, and how many agents a wave may have; None: as configured."""

    verdict: str
    cap: int | None = None


class Reading(Value, frozen=True, kw_only=True):
    """The tier of each known signal, and what they come to."""

    tiers: dict[str, Tier]
    tier: Tier
    cap: int | None

    @property
    def assessment(self) -> Assessment:
        return Assessment(verdict=self.tier, cap=self.cap)

    @property
    def reasons(self) -> tuple[str, ...]:
        return tuple(f"{name} is {tier}" for name, tier in self.tiers.items() if tier != "green")


def read(snapshot: Snapshot) -> Reading:
    found: dict[str, Tier | None] = {
        "ram_free_gb": _falling(snapshot.ram_free_gb, _RAM_FREE_GB),
        "swap_gb": _swap(snapshot.swap_gb),
        "peers": _crowd(snapshot.peers),
        "memory_pressure_pct_free": _falling(snapshot.memory_pressure_pct_free, _PRESSURE_FREE_PCT),
    }
    tiers = {name: tier for name, tier in found.items() if tier is not None}
    worst: Tier = max(tiers.values(), key=TIERS.index, default="green")
    return Reading(tiers=tiers, tier=worst, cap=CAPS[worst])


def worse(one: str, other: str) -> str:
    """The more restrictive of two verdicts; a word that is none ranks with green, and the first stands in a tie."""
    return other if _rank(other) > _rank(one) else one


def _rank(verdict: str) -> int:
    return next((place for place, tier in enumerate(TIERS) if tier == verdict), 0)


def _falling(value: float | None, least: tuple[float, float, float]) -> Tier | None:
    """The lower end of a band belongs to it."""
    if value is None:
        return None
    return TIERS[sum(value < bound for bound in least)]


def _swap(value: float | None) -> Tier | None:
    if value is None:
        return None
    return TIERS[sum(value >= bound for bound in _SWAP_GB) + (value > _SWAP_MOST_GB)]


def _crowd(value: int | None) -> Tier | None:
    if value is None:
        return None
    return TIERS[sum(value > most for most in _PEERS)]


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
