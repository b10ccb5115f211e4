"""How a wait for an agent changes the picture: what is waited for, and clocks that stand still meanwhile. Pure."""

import msgspec

from autopilot.domain.events import Entry, WaitEnded, WaitStarted
from autopilot.policy.failover import in_form
from autopilot.state.picture import OpenPass, Picture, StepRow, Wait
from autopilot.state.picture_attempt import happened
from autopilot.state.wait_words import name_of, told
from autopilot.text.clean import clean
from autopilot.text.times import elapsed


def of_wait(picture: Picture, entry: Entry) -> Picture:
    match entry.event:
        case WaitStarted() as event:
            others = tuple(wait for wait in picture.waits if wait.stream != event.stream)
            what = f"{told(event)}, phase {clean(event.phase, 40)} {event.role.replace('_', ' ')}"
            wait = Wait(what=what, stream=event.stream, until=in_form(event.until) or "", call=event.call)
            drawn = _still(msgspec.structs.replace(picture, waits=(*others, wait)), event.stream, entry.at)
            return happened(drawn, entry.at, f"Phase {clean(event.phase, 40)}: waits: {told(event)}")
        case WaitEnded(call=call, backend=backend):
            over = next((wait for wait in picture.waits if wait.call == call), None)
            if over is None:
                return picture
            left = tuple(wait for wait in picture.waits if wait.call != call)
            drawn = msgspec.structs.replace(picture, waits=left)
            return happened(_moving(drawn, over.stream, entry.at), entry.at, f"{name_of(backend)} is asked again")
    return picture


def resumed(known: OpenPass, pause: float, at: str) -> OpenPass:
    """The pass when its run is taken up again after so many seconds; one that waited goes on waiting."""
    if not known.waits_since:
        return msgspec.structs.replace(known, paused=known.paused + pause)
    paused = known.paused + elapsed(known.waits_since, at)
    steps = tuple(_anew(row, at) if row.waits_since else row for row in known.steps)
    return msgspec.structs.replace(known, paused=paused, waits_since=at, steps=steps)


def _still(picture: Picture, stream: str, at: str) -> Picture:
    known = picture.passes.get(stream)
    if known is None:
        return picture
    steps = (*known.steps[:-1], *(msgspec.structs.replace(row, waits_since=at) for row in known.steps[-1:]))
    return _with(picture, stream, msgspec.structs.replace(known, waits_since=at, steps=steps))


def _moving(picture: Picture, stream: str, at: str) -> Picture:
    known = picture.passes.get(stream)
    if known is None or not known.waits_since:
        return picture
    waited = elapsed(known.waits_since, at)
    steps = tuple(
        msgspec.structs.replace(row, waited=row.waited + waited, waits_since="") if row.waits_since else row
        for row in known.steps
    )
    moved = msgspec.structs.replace(known, paused=known.paused + waited, waits_since="", steps=steps)
    return _with(picture, stream, moved)


def _anew(row: StepRow, at: str) -> StepRow:
    return msgspec.structs.replace(row, waits_since=at, waited=0.0)


def _with(picture: Picture, stream: str, known: OpenPass) -> Picture:
    return msgspec.structs.replace(picture, passes={**picture.passes, stream: known})
