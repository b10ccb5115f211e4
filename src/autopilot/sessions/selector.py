"""Recommends the mode of the next session and how sure it is."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_args

from autopilot.domain.value import Value
from autopilot.sessions.pressure import Pressure, effectiveness, pressure_of
from autopilot.text.numbers import clamp, measured, rounded, shown, whole

Mode = Literal["housekeeping", "feature", "deep", "discovery", "evolve", "plan-retro"]
Executed = Literal["feature", "deep", "housekeeping"]
Exclusivity = Literal["exclusive", "parallel-ok", "always-ok"]

MODES: tuple[Mode, ...] = get_args(Mode)
EXECUTED: tuple[Executed, ...] = get_args(Executed)
DEFAULT: Mode = "feature"
# A swap never leads into these: they look and think, and leave nothing to judge a session by.
NOT_SWAPPED_INTO = frozenset({"discovery", "plan-retro"})
TIERS: dict[str, Mode] = {"fast": "housekeeping", "standard": "feature", "deep": "deep"}

_BESIDE: dict[str, Exclusivity] = {
    **dict.fromkeys(("bootstrap", "housekeeping", "memory-cleanup"), "exclusive"),
    **dict.fromkeys(("deep", "feature"), "parallel-ok"),
    **dict.fromkeys(("discovery", "evolve", "plan", "plan-retro", "repo-audit", "portfolio"), "always-ok"),
}
KNOWN = frozenset(_BESIDE)


def exclusivity(mode: str) -> Exclusivity:
    """Whether a session in this mode may run while another does; of an unknown mode it may not."""
    return _BESIDE.get(mode, "exclusive")


LOW_COMPLETION, HIGH_CARRYOVER, SOME_CARRYOVER = 0.5, 0.3, 0.2
STRONG, TREND_OF = 0.9, 3
HIGHEST, LEAST_SHOWN, MOST_SHOWN = 0.9, 0.1, 3
PENALTY = 0.10
LONGEST_RATIONALE = 120
_HINTS = frozenset({"effective-sizing", "scope-guidance"})


class Signals(Value, frozen=True, kw_only=True):
    """
    What is known when a mode is chosen; anything may be missing or odd.

    `tier` is the word of the lock that says how large the project is, and `locked` whether there is one at all.
    """

    recommended_mode: Any = None
    priorities: tuple[Any, ...] | None = None
    carryover_ratio: float | None = None
    completion_rate: float | None = None
    rationale: str | None = None
    sessions: tuple[Any, ...] = ()
    learnings: tuple[Any, ...] = ()
    locked: bool = False
    tier: str | None = None
    text: str | None = None

    @property
    def active(self) -> bool:
        return bool(self.sessions or self.learnings or self.locked)


class Alternative(Value, frozen=True, kw_only=True):
    mode: Mode
    confidence: float


class Recommendation(Value, frozen=True, kw_only=True):
    """
    `mode` None: nothing to recommend. `exhausted`: because there is no work left.

    `advice` is what a person can do where the loop does not work on its own.
    """

    mode: Mode | None
    rationale: str = ""
    confidence: float = 0.0
    alternatives: tuple[Alternative, ...] = ()
    context_pressure: Pressure = Pressure()
    exhausted: bool = False
    advice: str = ""


def select(signals: Signals | None) -> Recommendation:
    if signals is None:
        return Recommendation(mode=DEFAULT, rationale="scaffold: null signals \u2192 default")
    pressure = pressure_of(signals.priorities, signals.text, signals.sessions)
    completed, carried = measured(signals.completion_rate), measured(signals.carryover_ratio)
    if completed is not None and completed < LOW_COMPLETION:
        others = (Alternative(mode="feature", confidence=0.3), Alternative(mode="discovery", confidence=0.25))
        return _fixed("plan-retro", 0.8, "low completion \u2192 retrospective", others, pressure)
    if carried is not None and carried >= HIGH_CARRYOVER:
        others = (Alternative(mode="feature", confidence=0.3), Alternative(mode="plan-retro", confidence=0.2))
        words = f"carryover {whole(carried * 100)}% \u2014 deep clear"
        return _fixed("deep", 0.75, words, others, pressure)
    known = next((mode for mode in MODES if mode == signals.recommended_mode), None)
    if known is None:
        return _fixed(DEFAULT, 0.0, "missing/invalid recommendedMode \u2192 default", (), pressure)
    return _passed_through(known, signals, pressure)


def score(mode: Mode, signals: Signals, pressure: Pressure) -> float:
    return rounded(clamp(0.5 + delta(mode, signals, pressure), 0.0, HIGHEST))


def delta(mode: Mode, signals: Signals, pressure: Pressure) -> float:
    """What speaks for the mode less what speaks against it."""
    trend, trending = _trend(signals)
    gained = trend if trending == mode else 0.0
    wanted = TIERS.get(signals.tier or "")
    gained += 0.10 if wanted == mode else 0.0
    gained += min(0.10, 0.05 * sum(1 for _ in _hints(mode, signals.learnings)))
    against = (
        trending not in (None, mode) and trend == _STRONG_TREND,
        wanted is not None and wanted != mode,
        (measured(signals.carryover_ratio) or 0.0) >= SOME_CARRYOVER and mode != "deep",
    )
    return gained - PENALTY * sum(against) + _pressed(mode, signals, pressure)


_STRONG_TREND, _WEAK_TREND = 0.15, 0.075


def _trend(signals: Signals) -> tuple[float, str | None]:
    """The mode of the last three sessions, if they had one, and how much that says."""
    last = signals.sessions[-TREND_OF:]
    kinds = {_word(session, "session_type") for session in last}
    kind = kinds.pop() if len(kinds) == 1 else ""
    if len(last) < TREND_OF or not kind:
        return 0.0, None
    rates = [rate for rate in map(completion_rate, last) if rate is not None]
    strong = len(rates) == TREND_OF and sum(rates) / TREND_OF >= STRONG
    return (_STRONG_TREND if strong else _WEAK_TREND), kind


def completion_rate(session: Mapping[str, Any]) -> float | None:
    """Where the session's writer puts it, or on top, where early records have it."""
    nested = measured(effectiveness(session).get("completion_rate"))
    return measured(session.get("completion_rate")) if nested is None else nested


def _hints(mode: Mode, learnings: tuple[Any, ...]) -> Iterator[Mapping[str, Any]]:
    for learning in learnings:
        if _word(learning, "type") in _HINTS and mode in _word(learning, "subject").lower():
            yield learning


def _word(said: Any, name: str) -> str:
    found = said.get(name) if isinstance(said, Mapping) else None
    return found if isinstance(found, str) else ""


def _pressed(mode: Mode, signals: Signals, pressure: Pressure) -> float:
    told = signals.priorities is not None or bool(signals.text) or any(effectiveness(s) for s in signals.sessions)
    if not told:
        return 0.0
    if pressure.level == "high":
        return {"feature": -0.15, "housekeeping": -0.10}.get(mode, 0.0)
    return 0.05 if pressure.level == "low" and mode == "feature" else 0.0


def _passed_through(mode: Mode, signals: Signals, pressure: Pressure) -> Recommendation:
    own = Alternative(mode=mode, confidence=score(mode, signals, pressure))
    words = _rationale(mode, signals)
    if pressure.level != "low":
        words = f"{words}; pressure:{pressure.level}({shown(pressure.score)})"
    if not signals.active:
        return _fixed(mode, own.confidence, words, (), pressure)
    scored = [Alternative(mode=m, confidence=score(m, signals, pressure)) for m in MODES if m != mode]
    others = sorted((a for a in scored if a.confidence >= LEAST_SHOWN), key=_less_sure)
    best = next((a for a in others if a.mode not in NOT_SWAPPED_INTO), own)
    if best.confidence > own.confidence:
        rest = sorted((own, *(a for a in others if a != best)), key=_less_sure)
        words = (
            f"global-max swap: {best.mode} ({shown(best.confidence)}) "
            f"outranked passthrough {mode} ({shown(own.confidence)})"
        )
        return _fixed(best.mode, best.confidence, words, tuple(rest[:MOST_SHOWN]), pressure)
    return _fixed(mode, own.confidence, words, tuple(others[:MOST_SHOWN]), pressure)


def _less_sure(alternative: Alternative) -> float:
    return -alternative.confidence


def _rationale(mode: Mode, signals: Signals) -> str:
    trended = _trend(signals)[1] == mode
    tiered = TIERS.get(signals.tier or "") == mode
    if trended and tiered:
        return "passthrough reinforced by recent-sessions trend + bootstrap tier"
    if trended:
        return "passthrough reinforced by recent-sessions trend"
    if tiered:
        return f"passthrough reinforced by bootstrap tier ({signals.tier})"
    return "passthrough of Phase A recommended-mode" + ("" if signals.active else " \u2014 stale signals")


def _fixed(
    mode: Mode, confidence: float, rationale: str, alternatives: tuple[Alternative, ...], pressure: Pressure
) -> Recommendation:
    return Recommendation(
        mode=mode,
        rationale=rationale[:LONGEST_RATIONALE],
        confidence=confidence,
        alternatives=alternatives,
        context_pressure=pressure,
    )
