"""What a run begins with: its phases in order, its settings, and all the project says about them."""

from collections.abc import Set as AbstractSet

from autopilot.domain.errors import UsageInvalid
from autopilot.domain.events import RunStarted
from autopilot.domain.phase import Phase
from autopilot.domain.request import RunRequest
from autopilot.planning import order, selection
from autopilot.planning.settings import settings_of
from autopilot.planning.whole import Project


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
        targets=tuple(phase.id for phase in order.order(chosen, project.roadmap)),
        settings=settings_of(request, project),
        folders=project.folders,
        requirements=project.requirements,
        completed=tuple(sorted(completed)),
    )


def nothing_to_do(request: RunRequest, project: Project, completed: AbstractSet[str]) -> str:
    """Why no phase was chosen. Raises `UsageInvalid` when none was asked for."""
    if not request.wish:
        raise UsageInvalid(
            "no phases named, and no unfinished run to go on with",
            why="Autopilot has to know which phases to drive",
            do="name them, as in `autopilot 3-7`, `autopilot next` or `autopilot all`",
        )
    left = selection.outstanding(project.roadmap, completed)
    return f"No outstanding phase in {request.wish!r}." if left else "All phases complete. Project is done."
