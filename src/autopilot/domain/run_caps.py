"""The most a run may spend, as the user says it, and what that makes of the limits. Pure."""

import msgspec

from autopilot.domain.settings import Limits
from autopilot.domain.value import Value

MINUTES = 60


class RunCaps(Value, frozen=True, kw_only=True):
    """`--max-usd`, `--max-tokens`, `--max-hours`; None: not said."""

    usd: float | None = None
    tokens: int | None = None
    hours: float | None = None


def capped(limits: Limits, caps: RunCaps) -> Limits:
    """The limits with these caps for the run. A phase's own share grows with them and never shrinks."""
    minutes = None if caps.hours is None else caps.hours * MINUTES
    said = {"usd": caps.usd, "tokens": caps.tokens, "unpriced_tokens": caps.tokens, "minutes": minutes}
    changes: dict[str, float] = {}
    for unit, most in said.items():
        if most is None:
            continue
        before, share = getattr(limits, f"{unit}_per_run"), getattr(limits, f"{unit}_per_phase")
        changes[f"{unit}_per_run"] = most
        if before and share is not None:
            changes[f"{unit}_per_phase"] = type(share)(share * max(1.0, most / before))
    return msgspec.structs.replace(limits, **changes)
