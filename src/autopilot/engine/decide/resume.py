"""Whether a request means the run that is still open, and what of that run is left."""

from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet

import msgspec

from autopilot.domain.errors import UsageInvalid
from autopilot.domain.events import RunStarted
from autopilot.domain.request import RunRequest
from autopilot.domain.rework import again_flags
from autopilot.domain.settings import asks
from autopilot.domain.verdict import Advance
from autopilot.engine.decide.continue_attempt import NAMEABLE, from_step
from autopilot.engine.decide.next_move import failed
from autopilot.history.record import PhaseRecord, RunRecord


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


def check_retry(run: RunRecord, phase: str, step: str, passes: tuple[PhaseRecord, ...]) -> None:
    """Raises `UsageInvalid` where the phase cannot be tried again from that step."""
    if phase not in run.start.targets:
        raise UsageInvalid(
            f"Phase {phase} is not part of the newest run.",
            why=f"{run.start.run} works on phase {', '.join(run.start.targets)}.",
            do=f"Run the phase: autopilot {phase}",
        )
    blocked = run.skipped(phase)
    if blocked and blocked.blocking_phase:
        raise UsageInvalid(
            f"Phase {phase} did not run: phase {blocked.blocking_phase} failed.",
            why="There is nothing of it to try again.",
            do=f"Try the other one again: autopilot retry {blocked.blocking_phase}",
        )
    if not failed(run, phase):
        raise UsageInvalid(
            f"Phase {phase} has not failed.",
            why="`retry` is for phases that failed in the newest run.",
            do="Continue the run with: autopilot resume",
        )
    _check_step(phase, step, passes[-1])


def _check_step(phase: str, step: str, last: PhaseRecord) -> None:
    if step and step not in NAMEABLE:
        raise UsageInvalid(
            f"{step!r} is not a step to start from.",
            why="A phase is tried again from one of its main steps.",
            do=f"Steps: {', '.join(NAMEABLE)}.",
        )
    if step and from_step(last, step) is None:
        reached = last.finished[-1].step if last.finished else "the start"
        raise UsageInvalid(
            f"Phase {phase} did not get to {step}: it ended in {reached}.",
            why="What comes before a step has to be finished for it.",
            do=f"Try it again from where it failed: autopilot retry {phase}",
        )


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
