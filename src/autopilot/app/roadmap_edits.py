"""Finds what was edited in the roadmap of an open run, takes what is safe to take, and asks about the rest."""

from collections.abc import Callable, Sequence
from typing import Literal

from msgspec.structs import replace

from autopilot.domain.errors import RoadmapChanged
from autopilot.domain.events import RunResumed, RunStarted
from autopilot.domain.people import Person
from autopilot.domain.phase import NEVER_RUN, Phase, RoadmapChoice, RoadmapTaken
from autopilot.domain.value import Value
from autopilot.engine.decide.line import accepted
from autopilot.history.record import RunRecord
from autopilot.planning.roadmap.order import order
from autopilot.planning.start.read_project import Project
from autopilot.policy.roadmap_changes import Settled, differences

OUT = frozenset({"completed", *NEVER_RUN})


class Edit(Value, frozen=True, kw_only=True):
    """One phase that is not as the run knows it."""

    phase: str
    what: str
    state: Literal["new", "waiting", "started", "passed"]
    removed: bool = False

    @property
    def line(self) -> str:
        then = {
            "new": "This run does not include it.",
            "waiting": "It has not started, so the run goes by the new roadmap.",
            "started": "It has started.",
            "passed": f"It passed as it was. To redo it: autopilot --force {self.phase}",
        }[self.state]
        return f"Phase {self.phase}: {self.what}. {then}"


def edits_of(run: RunRecord, project: Project) -> tuple[Edit, ...]:
    """Nothing where the files are as they were when the run looked last."""
    if not _is_edited(run, project):
        return ()
    now = {phase.id: phase for phase in project.roadmap.phases}
    known = {phase.id: phase for phase in run.start.phases}
    found = [edit for name, old in known.items() if (edit := _edit(run, old, now.get(name)))]
    return (*found, *(Edit(phase=name, what="it is new", state="new") for name in now if name not in known))


def foreseen(run: RunRecord, project: Project, first: RunStarted) -> tuple[RunStarted, tuple[str, ...]]:
    """The rest of the run as it would be by the roadmap as it is now, and what there is to say about that."""
    edits = edits_of(run, project)
    asked = [edit.phase for edit in edits if edit.state == "started"]
    told = (f"`resume` needs to know about phase {', '.join(asked)}: add --roadmap take or --roadmap keep.",)
    taken = _taken(run, project, edits, ()) if edits else None
    lines = (*(edit.line for edit in edits), *(told if asked else ()))
    if taken is None:
        return first, lines
    left = {*first.targets} - {*taken.completed}
    targets = tuple(target for target in taken.targets if target in left)
    completed = tuple(sorted({*first.completed, *taken.completed}))
    return replace(first.going_by(taken), targets=targets, completed=completed), lines


def settle(
    run: RunRecord, project: Project, choice: RoadmapChoice | None, person: Person, warn: Callable[[str], None]
) -> Settled:
    """Raises `RoadmapChanged` where nobody can say what becomes of phases that have started."""
    edits = edits_of(run, project)
    for edit in edits:
        warn(f"{project.roadmap.path} was edited. {edit.line}")
    started = tuple(edit.phase for edit in edits if edit.state == "started")
    if started and choice is None:
        choice = person.roadmap(started)
    if started and choice is None:
        names = ", ".join(started)
        raise RoadmapChanged(
            f"{project.roadmap.path} changed for phase {names}, which this run has started.",
            why="The work so far was planned and checked by the old text; the rest would be by the new one.",
            do="To start it over by the new text: autopilot resume --roadmap take; to finish it by the old text: "
            "autopilot resume --roadmap keep",
        )
    again = started if choice == "take" else ()
    taken = _taken(run, project, edits, again) if edits else None
    return Settled(sha256=project.roadmap_sha256, taken=taken, again=again)


def _is_edited(run: RunRecord, project: Project) -> bool:
    if run.start.settings.modes.debug:
        return False  # its one phase is the problem that the user reported
    looked = next((r.roadmap_sha256 for r in reversed(tuple(run.of(RunResumed))) if r.roadmap_sha256), "")
    known = looked or run.start.roadmap_sha256
    if known:
        return known != project.roadmap_sha256
    # Runs of older versions know only the hash of the specification.
    return project.spec.path != project.roadmap.path or run.spec.sha256 != project.spec.sha256


def _edit(run: RunRecord, old: Phase, new: Phase | None) -> Edit | None:
    state = _state(run, old.id)
    if new is None:
        return Edit(phase=old.id, what="it is gone", state=state, removed=True)
    found = list(differences(old, new))
    if state == "waiting" and new.status in OUT and new.status != old.status:
        found.append(f"it is marked {new.status}")
    return Edit(phase=old.id, what="; ".join(found), state=state) if found else None


def _state(run: RunRecord, phase: str) -> Literal["waiting", "started", "passed"]:
    if not run.begun(phase):
        return "waiting"
    return "passed" if accepted(run, phase) else "started"


def _taken(run: RunRecord, project: Project, edits: Sequence[Edit], again: tuple[str, ...]) -> RoadmapTaken:
    """The new roadmap, but for phases that have started and are to be finished as they were."""
    start = run.start
    held = {edit.phase for edit in edits if edit.state in {"started", "passed"} and edit.phase not in again}
    old = {phase.id: phase for phase in start.phases if phase.id in held}
    phases = tuple(old.pop(phase.id, phase) for phase in project.roadmap.phases)
    phases = (*phases, *old.values())
    known = {phase.id: phase for phase in phases}
    marked = {p.id for p in phases if p.status in OUT and not run.begun(p.id)}
    targets = [t for t in start.targets if t in known and (t not in marked or _was_marked(start, t))]
    rest = order([known[t] for t in targets if not run.begun(t)], project.roadmap)
    done = {p.id for p in phases if p.id in marked and p.status == "completed"}
    return RoadmapTaken(
        phases=phases,
        targets=(*(t for t in targets if run.begun(t)), *(phase.id for phase in rest)),
        completed=tuple(sorted({*start.completed, *done})),
        folders={**start.folders, **{p: f for p, f in project.folders.items() if p not in held}},
        requirements={**start.requirements, **{p: r for p, r in project.requirements.items() if p not in held}},
    )


def _was_marked(start: RunStarted, target: str) -> bool:
    """A phase may have been asked for though the roadmap calls it done or deferred."""
    return any(phase.id == target and phase.status in OUT for phase in start.phases)
