"""Binds a journal to the user again after a project was moved or its key was lost (`autopilot adopt`)."""

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from autopilot.app.ownership import check_folder, check_untracked
from autopilot.authority.grants import Grant, Grants
from autopilot.domain.errors import UsageInvalid
from autopilot.domain.events import RunFinished, RunStopped
from autopilot.domain.value import Value
from autopilot.history.record import RunRecord
from autopilot.journal import adoption
from autopilot.journal.adoption import Found
from autopilot.journal.inbox import FileInbox
from autopilot.journal.lock import RunLock


class Offer(Value, frozen=True, kw_only=True):
    """What would be adopted, in lines for whoever decides; `own` where there is nothing to adopt."""

    root: Path
    lines: tuple[str, ...] = ()
    own: bool = False


def offer(root: Path) -> Offer:
    """Nothing is changed. Raises where the folder is not the user's, or the journal was changed under their key."""
    if os.environ.get("AUTOPILOT_CALL"):
        raise UsageInvalid(
            "An agent may not adopt a journal.",
            why="Whose it is decides what runs in the user's name.",
            do="Leave it to the person who works here.",
        )
    check_folder(root / ".autopilot")
    check_untracked(root)
    found = adoption.look_over(root / ".autopilot" / "journal.db")
    return Offer(root=root, own=found.own, lines=() if found.own else tuple(_lines(root, found)))


def adopt(root: Path) -> str:
    """
    Binds the journal to the user and this folder, and takes along the grants they gave it before it was moved.

    What the repository may run is another question, and is asked by whoever starts something of it.
    """
    home = root / ".autopilot"
    with RunLock(home):
        found = adoption.look_over(home / "journal.db")
        kept = tuple(_grants(root, found))
        entries = adoption.adopt(home / "journal.db")
        for grant in kept:
            Grants().write(grant)
    then = "autopilot resume" if kept else "autopilot resume --agent NAME, which also says who may work here"
    return f"The journal of {entries} entries is yours now. Go on with: {then}"


def _grants(root: Path, found: Found) -> Iterator[Grant]:
    """Those of the runs in it, given for the place the user's own key says it was written for."""
    place, here = found.bound.place, str(root.resolve())
    if place is None or not found.bound.known or not found.bound.strange:
        return
    for run in found.runs:
        if grant := Grants().read(run.start.run, Path(place.root)):
            launch = Path(grant.launch)
            below = launch.is_relative_to(place.root)
            moved = str(Path(here) / launch.relative_to(place.root)) if below else grant.launch
            yield msgspec.structs.replace(grant, root=here, launch=moved)


def _lines(root: Path, found: Found) -> Iterator[str]:
    place, checked = found.bound.place, "every entry checked" if found.bound.known else "NOT checked: another key"
    yield f"A journal of {found.entries} entries ({checked})."
    if found.bound.strange:
        yield f"It is not yours: {found.bound.strange}."
    if place is not None and found.bound.strange:
        yield f"Written for {place.root} by the user with the number {place.user}."
    if found.doubt:
        yield f"Its end cannot be checked: {found.doubt}. The last entries may be missing."
    if found.runs:
        yield from _run_lines(found.runs[-1], len(found.runs))
    waiting = len(FileInbox(root / ".autopilot").waiting())
    if waiting:
        yield f"Verdicts that wait to be applied: {waiting}."
    kept = any(True for _ in _grants(root, found))
    yield "Your grant for its run comes along." if kept else "No grant comes with it: a resume must name the agent."


def _run_lines(run: RunRecord, runs: int) -> Iterator[str]:
    start, end = run.start, run.end
    how = end.status if isinstance(end, RunFinished) else "stopped" if isinstance(end, RunStopped) else "interrupted"
    yield f"Runs: {runs}. The newest is {start.run}, phases {' '.join(start.targets)}: {how}."
    yield f"It says it was started with the agent {start.settings.agent!r} and the sandbox {start.settings.sandbox}."
