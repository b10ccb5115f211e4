"""What a run begins with: its phases in order, its settings, and all the project says about them."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from autopilot.domain.errors import UsageInvalid
from autopilot.domain.events import RunStarted
from autopilot.domain.phase import Phase, all_done
from autopilot.domain.request import RunRequest
from autopilot.domain.rework import refines
from autopilot.planning.config.run_settings import settings_of
from autopilot.planning.roadmap import order, selection
from autopilot.planning.start.read_project import Project


def opening(
    request: RunRequest, project: Project, chosen: tuple[Phase, ...], completed: AbstractSet[str]
) -> RunStarted:
    """The run's first event; its name, place and commit are for the caller to fill in."""
    return RunStarted(
        run="",
        root="",
        branch=None,
        base="",
        spec=project.spec,
        roadmap=project.roadmap.path,
        phases=project.roadmap.phases,
        targets=in_order(request, project, chosen, completed),
        settings=settings_of(request, project),
        folders=project.folders,
        requirements=project.requirements,
        completed=tuple(sorted(completed)),
        roadmap_sha256=project.roadmap_sha256,
    )


def in_order(
    request: RunRequest, project: Project, chosen: tuple[Phase, ...], completed: AbstractSet[str]
) -> tuple[str, ...]:
    """Dependencies first. QUAL-04: what is to be completed runs before what is to be improved."""
    groups: list[Sequence[Phase]] = [chosen]
    if refines(request.modes):
        groups = [[p for p in chosen if p.id not in completed], [p for p in chosen if p.id in completed]]
    return tuple(phase.id for group in groups for phase in order.order(group, project.roadmap))


def nothing_to_do(request: RunRequest, project: Project, completed: AbstractSet[str]) -> str:
    """Why no phase was chosen. Raises `UsageInvalid` when none was asked for."""
    if not request.wish:
        raise UsageInvalid(
            "no phases named, and no unfinished run to go on with",
            why="Autopilot has to know which phases to drive",
            do="name them, as in `autopilot 3-7`, `autopilot next` or `autopilot all`",
        )
    left = selection.outstanding(project.roadmap, completed)
    return f"No outstanding phase in {request.wish!r}." if left else all_done(project.roadmap)
