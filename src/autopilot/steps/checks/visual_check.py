"""Look at the app's pages as part of verification, and say what has to be mended."""

from msgspec import UNSET, UnsetType

from autopilot.domain.results import Verified
from autopilot.domain.visual import Look, VisualResults, draws
from autopilot.history.record import PhaseRecord
from autopilot.ports.agents import Tools

BUGS = "VISUAL-BUGS.md"


def look(record: PhaseRecord, tools: Tools) -> VisualResults | UnsetType:
    """VIS-02, VIS-03: what our browser saw, or UNSET where this phase is not looked at."""
    visual = record.start.settings.visual
    if visual is None or not visual.applies(record.phase.type):
        return UNSET
    wanted = Look(commit=record.commit, base=record.brief.base, visual=visual, redrawn=redrawn(record))
    return tools.looks.look(wanted)


def redrawn(record: PhaseRecord) -> bool:
    """Whether the phase is to change how pages look: by the roadmap, or by a plan that was accepted."""
    named = (path for task in (record.plan.tasks if record.plan else ()) for path in task.files)
    return record.phase.type == "ui" or any(draws(path) for path in named)


def complaints(record: PhaseRecord) -> tuple[str, ...]:
    """VIS-04: what a debugger is told, with the paper that has all of it."""
    seen = record.find(Verified)
    results = seen.visual if seen else None
    if results is None or not results.blocking:
        return ()
    told = (f"{issue.told}. {issue.suggested_fix}".strip() for issue in results.blocking)
    return (f"Seen in a browser (details in `{record.brief.dir}/{BUGS}`):", *(f"- {line}" for line in told))
