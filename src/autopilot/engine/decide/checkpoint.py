"""When a run pauses for a look because the user asked for it (FLAG-12). Pure."""

from autopilot.domain.events import RunStopped
from autopilot.history.record import RunRecord
from autopilot.policy.deferrals import settled_ends

WAITS = 11


def pause(run: RunRecord) -> RunStopped | None:
    """Due before the next phase begins, N ends after the last pause; counted from the journal, so no crash moves it."""
    every = run.start.settings.modes.checkpoint_every
    ended = tuple(end.outcome.phase for end in settled_ends(run))
    before = max((stop.checkpoint for stop in run.of(RunStopped)), default=0)
    if every is None or len(ended) - before < every:
        return None
    count = f"{len(ended)} finished phase{'s' * (len(ended) != 1)}"
    return RunStopped(
        exit_code=WAITS,
        reason=f"checkpoint after {count}: look at phase {', '.join(dict.fromkeys(ended[before:]))}",
        do="autopilot resume",
        checkpoint=len(ended),
    )
