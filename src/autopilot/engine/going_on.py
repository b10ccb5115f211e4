"""Whether a request means the run that is still open, and what of that run is left."""

from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet

import msgspec

from autopilot.domain.events import RunStarted
from autopilot.domain.modes import asks
from autopilot.domain.record import RunRecord
from autopilot.domain.redo import again_flags
from autopilot.domain.request import RunRequest
from autopilot.domain.verdict import Advance


def goes_on(request: RunRequest, newest: RunRecord, chosen: AbstractSet[str], warn: Callable[[str], None]) -> bool:
    """AMB-01: no phases, or the same ones, resume; others start anew, but not over a run that was cut off."""
    if talks_first(request, newest):
        return False
    modes, then = request.modes, newest.start.settings.modes
    alike = again_flags(modes) == again_flags(then) and modes.complete == then.complete
    if not request.wish or (chosen == set(newest.start.targets) and alike):
        return True
    if newest.end is None:
        warn(
            f"An interrupted run of phases {' '.join(newest.start.targets)} is resumed first; "
            f"when it is over, ask again for {request.wish}."
        )
        return True
    return False


def verified_already(run: RunRecord) -> Iterator[str]:
    """PRE-01: what this run has passed is not done again; the journal says so, whatever the papers say."""
    for target in run.start.targets:
        if any(isinstance(finished.verdict, Advance) for finished in run.standing(target)[-1:]):
            yield f"Phase {target} already verified in this run -- skipping."


def talks_first(request: RunRequest, newest: RunRecord) -> bool:
    """Whether people are to be asked who were not before the open run: what they say is for a new one."""
    return newest.end is not None and asks(request.modes) and not asks(newest.start.settings.modes)


def still_to_do(newest: RunRecord, request: RunRequest) -> RunStarted:
    """The run's first event as it would be for what is left of it. An agent named anew is asked from here on."""
    settings = newest.start.settings
    agent = settings.agent if request.agent == "auto" else request.agent
    passed = {t for t in newest.start.targets if any(isinstance(f.verdict, Advance) for f in newest.standing(t)[-1:])}
    return msgspec.structs.replace(
        newest.start,
        settings=msgspec.structs.replace(settings, agent=agent),
        targets=tuple(target for target in newest.start.targets if target not in passed),
        completed=tuple(sorted({*newest.start.completed, *passed})),
    )
