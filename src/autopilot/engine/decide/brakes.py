"""
What stops a run that spends too much or gets nowhere: one table of brakes over the journal's records.

A cap is asked before every step and every call. A breaker is asked before work is tried once more, never between a try
and the check of it: a phase's own limits come first, and what was paid for is looked at.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from autopilot.domain.events import Noted, RunFinished, RunResumed, RunStopped
from autopilot.domain.settings import Limits
from autopilot.history.active_time import active_time
from autopilot.history.digest import PassDigest, Spent
from autopilot.history.record import RunRecord
from autopilot.history.totals import tallied
from autopilot.policy.budget import Debit, spent
from autopilot.policy.loops import BREAKER, CAP, Tries, is_breaker, tries

Passes = tuple[PassDigest, ...]
MINUTE = 60
NO_CALL = Debit()
COST_UNKNOWN, CLOSED = "cost_unknown", "circuit_breaker_closed"


@dataclass(frozen=True, slots=True)
class Brake:
    """A brake that has tripped. `ends`: the run has failed by it (CB-09, CB-11); otherwise it is paused."""

    name: str
    exit_code: int
    reason: str
    do: str
    ends: bool = False

    def event(self) -> RunFinished | RunStopped:
        if self.ends:
            return RunFinished(
                status="failed", exit_code=self.exit_code, reason=self.reason, brake=self.name, do=self.do
            )
        return RunStopped(exit_code=self.exit_code, reason=self.reason, brake=self.name, do=self.do)


class Tripped(Exception):
    """Ends the run where it stands; the step under way stays open and is done when the run goes on."""

    def __init__(self, brake: Brake) -> None:
        super().__init__(brake.reason)
        self.brake = brake


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauge:
    """Everything the brakes look at. `phase` is the one at work, empty between phases."""

    limits: Limits
    tries: Tries
    run: Spent
    here: Spent
    run_minutes: float
    phase_minutes: float
    phase: str = ""
    ahead: Debit = NO_CALL


@dataclass(frozen=True, slots=True)
class Cap:
    """Stops at `limit` of what `reads` measures. `ahead` is what the next call would add."""

    name: str
    rule: str
    unit: Literal["usd", "tokens", "minutes"]
    whose: Literal["run", "phase"]
    reads: Callable[[Gauge], float]
    ahead: Callable[[Gauge], float]

    def brake(self, gauge: Gauge) -> Brake | None:
        most, now, more = getattr(gauge.limits, self.name), self.reads(gauge), self.ahead(gauge)
        if most is None:
            return None
        if now < most and now + more <= most:
            return None
        who = "the run" if self.whose == "run" else f"phase {gauge.phase}"
        used = f"{_amount(now, self.unit)} of {_amount(most, self.unit)} used by {who}"
        next_call = f", and the next call may need {_amount(more, self.unit)}" if now < most else ""
        return Brake(
            name=self.name,
            exit_code=CAP,
            reason=f"{self.name} reached: {used}{next_call}",
            do=f"autopilot resume {_flag(gauge.limits, self.unit)}",
            ends=self.whose == "run",
        )


@dataclass(frozen=True, slots=True)
class Breaker:
    """Opens when `reads` has come to the limit of its name; a limit below `least` counts as that."""

    name: str
    rule: str
    reads: Callable[[Tries], int]
    says: str
    least: int = 1

    def brake(self, gauge: Gauge) -> Brake | None:
        count, limit = self.reads(gauge.tries), max(self.least, getattr(gauge.limits, self.name))
        if count < limit:
            return None
        last = f"; last: {gauge.tries.last_error}" if gauge.tries.last_error else ""
        return self.opened(f"{self.says.format(count=count)}{last}")

    def opened(self, why: str) -> Brake:
        return Brake(name=self.name, exit_code=BREAKER, reason=f"{self.name}: {why}", do="autopilot resume --now")


def _nothing(_: Gauge) -> float:
    return 0.0


def _usd_ahead(gauge: Gauge) -> float:
    return gauge.ahead.usd


def _tokens_ahead(gauge: Gauge) -> float:
    return gauge.ahead.tokens


def _unpriced(gauge: Gauge) -> float:
    """The next call may have no price either once one had none."""
    return gauge.ahead.tokens if gauge.run.unpriced else 0.0


CAPS: tuple[Cap, ...] = (
    Cap("usd_per_run",               "CB-09", "usd",     "run",   lambda g: g.run.usd or 0.0,  _usd_ahead),
    Cap("tokens_per_run",            "CB-09", "tokens",  "run",   lambda g: g.run.fresh,       _tokens_ahead),
    Cap("unpriced_tokens_per_run",   "CB-09", "tokens",  "run",   lambda g: g.run.unpriced,    _unpriced),
    Cap("minutes_per_run",           "CB-11", "minutes", "run",   lambda g: g.run_minutes,     _nothing),
    Cap("usd_per_phase",             "CB-08", "usd",     "phase", lambda g: g.here.usd or 0.0, _usd_ahead),
    Cap("tokens_per_phase",          "CB-08", "tokens",  "phase", lambda g: g.here.fresh,      _tokens_ahead),
    Cap("unpriced_tokens_per_phase", "CB-08", "tokens",  "phase", lambda g: g.here.unpriced,   _unpriced),
    Cap("minutes_per_phase",         "CB-10", "minutes", "phase", lambda g: g.phase_minutes,   _nothing),
)  # fmt: skip
BREAKERS: tuple[Breaker, ...] = (
    Breaker("no_progress",        "CB-01", lambda t: t.no_progress, "{count} tries in a row brought nothing new"),
    Breaker("same_error",         "CB-02", lambda t: t.same_error,  "the same error {count} times in a row"),
    Breaker("alternating_errors", "-",     lambda t: t.alternating, "two errors have taken turns {count} times"),
    Breaker("growing_diffs",      "-",     lambda t: t.growing,     "{count} repairs in a row, each bigger"),
    Breaker("retries",            "CB-06", lambda t: t.retries - 1, "{count} retries, and one more is due", least=0),
)  # fmt: skip


def tripped(run: RunRecord, passes: Passes, now: str, phase: str | None = None) -> Brake | None:
    """The first brake that holds the run back from trying once more."""
    gauge = gauged(run, passes, now, phase=phase)
    return _capped(gauge) or _opened(gauge)


def over_cap(
    run: RunRecord, passes: Passes, now: str, phase: str | None = None, ahead: Debit | None = None
) -> Brake | None:
    """The first cap that is used up, or that a call with this debit would cross."""
    return _capped(measured(run, passes, now, ahead, phase))


def _capped(gauge: Gauge) -> Brake | None:
    asked = (cap for cap in CAPS if gauge.phase or cap.whose == "run")
    return next((brake for cap in asked if (brake := cap.brake(gauge))), None)


def _opened(gauge: Gauge) -> Brake | None:
    if gauge.tries.relapsed:
        return BREAKERS[0].opened(f"the first try since the breaker opened failed too: {gauge.tries.last_error}")
    return next((brake for breaker in BREAKERS if (brake := breaker.brake(gauge))), None)


def gauged(run: RunRecord, passes: Passes, now: str, phase: str | None = None) -> Gauge:
    """Everything. `phase` is the one that asks; None for the one begun last."""
    gauge = measured(run, passes, now, phase=phase)
    return replace(gauge, tries=tries(run, passes, gauge.phase))


def measured(run: RunRecord, passes: Passes, now: str, ahead: Debit | None = None, phase: str | None = None) -> Gauge:
    """What the caps look at, without a count of tries."""
    if phase is None:
        at_work = run.open_phase
        phase = at_work.phase.id if at_work else ""
    worked = active_time(run, passes, now, phase)
    return Gauge(
        limits=run.limits,
        tries=Tries(),
        run=spent(passes),
        here=spent(tallied(passes).whole.by_phase.get(phase, ())),
        run_minutes=worked.run,
        phase_minutes=worked.phase,
        phase=phase,
        ahead=ahead or NO_CALL,
    )


def seconds_left(run: RunRecord, passes: Passes, now: str, phase: str | None = None) -> float:
    """Until the first cap on time, the run's or the open phase's."""
    gauge = measured(run, passes, now, phase=phase)
    left = gauge.limits.minutes_per_run - gauge.run_minutes
    if gauge.phase:
        left = min(left, gauge.limits.minutes_per_phase - gauge.phase_minutes)
    return left * MINUTE


def usd_left(run: RunRecord, passes: Passes, now: str, phase: str | None = None) -> float:
    """Until the first cap in dollars, the run's or the open phase's; what nobody told is not counted."""
    gauge = measured(run, passes, now, phase=phase)
    left = gauge.limits.usd_per_run - (gauge.run.usd or 0.0)
    if gauge.phase:
        left = min(left, gauge.limits.usd_per_phase - (gauge.here.usd or 0.0))
    return max(left, 0.0)


def _amount(value: float, unit: str) -> str:
    return f"${value:.2f}" if unit == "usd" else f"{value:.1f} minutes" if unit == "minutes" else f"{value:.0f} tokens"


def _flag(limits: Limits, unit: str) -> str:
    """Twice the run's cap; a phase's share grows with it."""
    match unit:
        case "usd":
            return f"--max-usd {max(limits.usd_per_run * 2, 1):g}"
        case "tokens":
            most = limits.unpriced_tokens_per_run if limits.tokens_per_run is None else limits.tokens_per_run
            return f"--max-tokens {max(most * 2, 1000)}"
        case _:
            return f"--max-hours {max(limits.minutes_per_run * 2 / MINUTE, 0.1):g}"


def due_notes(run: RunRecord, passes: Passes) -> tuple[Noted, ...]:
    """What is to be told once: that a cap in dollars cannot hold, and that a breaker has closed again."""
    return tuple(note for note in (_cost_unknown(run, passes), _closed(run, passes)) if note)


def _cost_unknown(run: RunRecord, passes: Passes) -> Noted | None:
    limits, usual = run.limits, Limits()
    said = (limits.usd_per_run, limits.usd_per_phase) != (usual.usd_per_run, usual.usd_per_phase)
    if not said or any(note.event == COST_UNKNOWN for note in run.of(Noted)):
        return None
    told = spent(passes)
    if not told.calls or told.usd is not None:
        return None
    other = "--max-tokens and --max-hours do" if told.tokens is not None else "--max-hours does"
    message = f"the agent does not say what its calls cost, so a cap in dollars cannot hold; {other}"
    return Noted(event=COST_UNKNOWN, details={"message": message})


def _closed(run: RunRecord, passes: Passes) -> Noted | None:
    """RSM-05: a run that a breaker stopped was resumed, and something has passed a check since."""
    stops = [at for at, stop in zip(run.places(RunStopped), run.of(RunStopped), strict=True) if is_breaker(stop)]
    since = run.entries[stops[-1] :] if stops else ()
    noted = any(isinstance(e.event, Noted) and e.event.event == CLOSED for e in since)
    if not since or noted or not any(isinstance(e.event, RunResumed) for e in since) or tries(run, passes).half_open:
        return None
    return Noted(event=CLOSED, details={"brake": getattr(since[0].event, "brake", "")})
