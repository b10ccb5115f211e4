"""Which phases people are asked about, and what they said about each before."""

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet

import msgspec

from autopilot.domain.phase import Phase
from autopilot.domain.request import RunRequest
from autopilot.domain.settings import Modes
from autopilot.domain.user_answers import Kept, KeptPhase, UserAnswer, UserContext
from autopilot.planning.roadmap import selection
from autopilot.planning.start.read_project import Project

MOST_TEXT = 8000


def works(modes: Modes) -> bool:
    """Whether a flag says which phases are worked on."""
    return modes.complete or any(text is not None for text in (modes.force, modes.quality, modes.gaps))


def aimed(request: RunRequest) -> RunRequest:
    """FLAG-17, FLAG-18: what is discussed is run, when nothing else says what is."""
    modes = request.modes
    if modes.discuss is None or request.wish or works(modes):
        return request
    return msgspec.structs.replace(request, phases=modes.discuss or "all")


def foreseen(request: RunRequest) -> RunRequest:
    """The same for a look ahead, where a mapping alone shows the phases it would ask about."""
    request = aimed(request)
    if not only_maps(request):
        return request
    return msgspec.structs.replace(request, phases=request.modes.map or "all")


def only_maps(request: RunRequest) -> bool:
    """FLAG-15: a mapping that no phases and no flag of execution stand beside runs nothing."""
    modes = request.modes
    return modes.map is not None and modes.discuss is None and not request.wish and not works(modes)


def targets(
    named: str, request: RunRequest, project: Project, done: AbstractSet[str], chosen: tuple[Phase, ...]
) -> tuple[Phase, ...]:
    """CMAP-00, FLAG-18: the phases named behind the flag, else those about to be run, else all outstanding."""
    roadmap = project.roadmap
    expressions = (named,) if named else () if chosen else request.modes.named
    if not expressions:
        return chosen or selection.outstanding(roadmap, done)
    picked = {phase.id for text in expressions for phase in selection.select(text, roadmap, done)}
    return tuple(phase for phase in roadmap.phases if phase.id in picked)


def contexts(
    phases: Iterable[Phase], project: Project, read: Callable[[str], str | None], mapped: Kept, discussed: Kept
) -> dict[str, UserContext]:
    """What people said about each phase; those nobody spoke of are left out. `read` gives a planning file's text."""
    found = {}
    for phase in phases:
        file = context_file(project, phase.id)
        text = read(file)
        context = UserContext(
            file=file if text is not None else "",
            text=(text or "")[:MOST_TEXT],
            discussed=_answers(discussed.phase(phase.id)),
            mapped=_answers(mapped.phase(phase.id)),
        )
        if context != UserContext():
            found[phase.id] = context
    return found


def context_file(project: Project, phase: str) -> str:
    """Where the phase's decisions are: `03-CONTEXT.md` if the user has one, else CONTEXT.md."""
    found = project.phase_files.get(phase)
    return f"{project.folders[phase]}/{(found.context if found else '') or 'CONTEXT.md'}"


def _answers(kept: KeptPhase) -> tuple[UserAnswer, ...]:
    return tuple(UserAnswer(question=q.question, answer=q.answer, area=q.area) for q in kept.questions if q.answer)
