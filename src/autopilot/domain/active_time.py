"""How long a run and its phases have been worked on: the time in which nobody worked is left out. Pure."""

from collections.abc import Iterable

from autopilot.domain.digest import PassDigest
from autopilot.domain.moments import elapsed
from autopilot.domain.record import RunRecord
from autopilot.domain.value import Value
from autopilot.domain.waits import overlap

MINUTE = 60


class ActiveTime(Value, frozen=True, kw_only=True):
    """In minutes. Phases at work at the same time have the same minutes each; the run has them once."""

    run: float
    phases: dict[str, float]


def active_time(run: RunRecord, passes: Iterable[PassDigest], now: str) -> ActiveTime:
    known = {(digest.phase, digest.number): digest for digest in passes}
    worked = {key: digest.seconds for key, digest in known.items()}
    for key, begun in run.at_work.items() if run.end is None else ():
        last = known[key].last if key in known else ""
        since = max((begun, last, *run.resumes[-1:]))
        waited = overlap((wait for wait in run.waits if wait.phase == key[0]), since, now)
        worked[key] = worked.get(key, 0.0) + max(0.0, elapsed(since, now) - waited)
    phases: dict[str, float] = {}
    for (phase, _), seconds in worked.items():
        phases[phase] = phases.get(phase, 0.0) + seconds / MINUTE
    over, (at_work, measured) = run.stretches
    measured += elapsed(run.entries[-1].at, now) if run.end is None and not run.lies_still else 0.0
    pieces = (*over, (at_work, measured))
    whole = sum(max((seconds, *(worked.get(key, 0.0) for key in keys))) for keys, seconds in pieces)
    return ActiveTime(run=whole / MINUTE, phases=phases)
