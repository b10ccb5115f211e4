"""Says which milestone a project has finished when its roadmap has no phases, and how to start the next one."""

import re
from collections.abc import Callable

from autopilot.domain.errors import RoadmapInvalid
from autopilot.domain.phase import Milestone, newest_shipped
from autopilot.planning.roadmap import markdown, milestones, state_md

HISTORY, STATE, ARCHIVE = ".planning/MILESTONES.md", ".planning/STATE.md", ".planning/milestones"
_LABEL = re.compile(r"\b(?:milestone\s+)?(v\d{1,4}(?:\.\d{1,4}){0,3})\b", re.IGNORECASE)
_FINISHED = re.compile(r"\b(?:completed?|shipped|archived|finished)\b", re.IGNORECASE)
_DATE = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_ACTIVITY = re.compile(r"last[ _]activity\W+(?P<rest>.*)", re.IGNORECASE)

Reader = Callable[[str], bytes | None]


def milestones_error(read: Reader, path: str) -> RoadmapInvalid | None:
    """The error to raise instead of a missing roadmap; None when the project has finished no milestone."""
    last = finished(read, path)
    if last is None:
        return None
    when = f" on {last.when}" if last.when else ""
    archived = f"{ARCHIVE}/{last.label}-ROADMAP.md"
    kept = f" Its roadmap is archived in {archived}." if read(archived) is not None else ""
    return RoadmapInvalid(
        f"Milestone {last.title} was finished{when}. The next milestone has no phases yet.",
        why=f"Without an open phase there is nothing to run.{kept}",
        do=(
            f"Start the next milestone: write its phases to {path}, each as a heading `### Phase 1: Name` with a line "
            "`**Goal**: ...` below it. In a coding agent with GSD, /gsd:new-milestone does it with you."
        ),
    )


def finished(read: Reader, path: str) -> Milestone | None:
    """The newest milestone that the roadmap, MILESTONES.md or STATE.md calls finished."""
    texts = [text for name in (path, HISTORY) if (text := read(name)) is not None]
    known = [one for text in texts for one in milestones.read(markdown.read(text)).known.values()]
    stated = _stated(read(STATE))
    newest = newest_shipped(known)
    if newest is None or (stated and milestones.key(stated.label) == milestones.key(newest.label) and not newest.when):
        return _joined(newest, stated)
    return newest


def _joined(newest: Milestone | None, stated: Milestone | None) -> Milestone | None:
    if newest is None or stated is None:
        return newest or stated
    return Milestone(label=newest.label, name=newest.name, line=newest.line, shipped=True, when=stated.when)


def _stated(text: bytes | None) -> Milestone | None:
    """`Status: v1.0 milestone complete` in STATE.md, with the date of its last activity."""
    if text is None:
        return None
    read = state_md.read(text)
    label = _LABEL.search(read.status) or _LABEL.search(read.milestone)
    if label is None or not _FINISHED.search(read.status):
        return None
    activity = (_ACTIVITY.search(line) for line in markdown.decode(text).split("\n"))
    dates = (_DATE.search(found["rest"]) for found in activity if found)
    when = next((date[0] for date in dates if date), "")
    return Milestone(label=label[1].lower(), shipped=True, when=when)
