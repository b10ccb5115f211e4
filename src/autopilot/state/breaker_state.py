"""The circuit breaker as the journal has it: what state.json says of it (STATE-05), and how long it cools down."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from autopilot.domain.errors import BreakerOpen
from autopilot.domain.events import RunStopped
from autopilot.history.digest import PassDigest
from autopilot.history.record import RunRecord
from autopilot.policy.budget import spent
from autopilot.policy.loops import BREAKER, tries
from autopilot.text.times import iso


def breaker_state(run: RunRecord, passes: Iterable[PassDigest]) -> dict[str, Any]:
    told, until, end = tries(run, passes), cooldown_until(run), run.end
    opened = isinstance(end, RunStopped) and bool(end.brake)
    return {
        "state": "open" if opened else "half_open" if told.half_open else "closed",
        "consecutive_no_progress": told.no_progress,
        "consecutive_same_error": told.same_error,
        "last_error": told.last_error or None,
        "cooldown_until": iso(until) if until else None,
        "retries": told.retries,
        "reason": end.reason if isinstance(end, RunStopped) and opened else None,
    }


def spending(run: RunRecord, passes: Iterable[PassDigest], minutes: float) -> dict[str, Mapping[str, Any]]:
    """What the run has used of what it may; null where no agent told."""
    told, limits = spent(passes), run.limits
    return {
        "tokens": {"used": told.tokens, "cap": limits.tokens_per_run, "untold_calls": told.untold_tokens},
        "usd": {"used": told.usd, "cap": limits.usd_per_run, "untold_calls": told.untold_usd},
        "minutes": {"used": minutes, "cap": limits.minutes_per_run},
    }


def cooldown_until(run: RunRecord) -> datetime | None:
    """CB-07. None unless a breaker stopped the run and nobody has resumed it."""
    end = run.end
    if not isinstance(end, RunStopped) or end.exit_code != BREAKER:
        return None
    return datetime.fromisoformat(run.entries[-1].at) + timedelta(seconds=run.limits.cooldown_seconds)


def heed_cooldown(run: RunRecord, now: str) -> None:
    """Raises `BreakerOpen` while the breaker cools down."""
    until, end = cooldown_until(run), run.end
    if until is None or not isinstance(end, RunStopped) or datetime.fromisoformat(now) >= until:
        return
    if now < run.entries[-1].at:  # the clock was put back since: nobody knows how much of the time is over
        return
    raise BreakerOpen(
        f"A circuit breaker stopped the run: {end.reason}",
        why=f"Started again at once it would most likely end there again; it cools down until {until:%H:%M:%S} UTC.",
        do="Look at the reason, mend the cause, and go on with: autopilot resume --now",
    )
