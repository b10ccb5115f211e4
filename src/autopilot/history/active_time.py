"""How long a run and its phases have been worked on: the time in which nobody worked is left out. Pure."""

from collections.abc import Iterable

from autopilot.domain.value import Value
from autopilot.history.digest import PassDigest
from autopilot.history.record import RunRecord
from autopilot.history.totals import Tally, tallied
from autopilot.history.waits import overlap
from autopilot.text.times import elapsed

MINUTE = 60


class ActiveTime(Value, frozen=True, kw_only=True):
    """In minutes. Phases at work at the same time have the same minutes each; the run has them once."""

    run: float
    phase: float = 0.0


def active_time(run: RunRecord, passes: Iterable[PassDigest], now: str, phase: str = "") -> ActiveTime:
    """Of the run, and of the phase."""
    tally = tallied(passes)
    known, over = tally.whole.seconds, run.times.over
    going_on = _going_on(run, tally, now)

    def worked(key: tuple[str, int]) -> float:
        return known.get(key, 0.0) + going_on.get(key, 0.0)

    measured = run.times.seconds + (elapsed(run.entries[-1].at, now) if run.end is None and not run.lies_still else 0.0)
    # A run looked at as it was before its newest passes ended has fewer pieces than were summed up with them.
    count, whole = tally.pieces if tally.pieces[0] <= len(over) else (0, 0.0)
    for keys, seconds in (*over[count:], (run.times.begun, measured)):
        whole += max((seconds, *map(worked, keys)))
    own = {(digest.phase, digest.number) for digest in tally.whole.by_phase.get(phase, ())}
    own |= {key for key in going_on if key[0] == phase}
    return ActiveTime(run=whole / MINUTE, phase=sum(worked(key) / MINUTE for key in sorted(own)))


def _going_on(run: RunRecord, tally: Tally, now: str) -> dict[tuple[str, int], float]:
    """The seconds since the newest entry of each pass that is open, those not counted in which it waited."""
    if run.end is not None:
        return {}
    since: dict[tuple[str, int], float] = {}
    for (phase, number), begun in run.at_work.items():
        told = (digest.last for digest in tally.whole.by_phase.get(phase, ()) if digest.number == number)
        last = max((begun, *told, *run.resumes[-1:]))
        waited = overlap((wait for wait in run.waits if wait.phase == phase), last, now)
        since[phase, number] = max(0.0, elapsed(last, now) - waited)
    return since
