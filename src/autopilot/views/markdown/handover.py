"""The paper a run leaves when an agent ran out of context: what is done, what is next, and how to go on (CTX-04)."""

from autopilot.domain.request import PhaseEnd, RunEnd
from autopilot.policy.task_progress import REPORTED
from autopilot.text.clean import clean


def exhausted(end: RunEnd) -> tuple[str, ...]:
    """The phases whose executor ran dry."""
    return tuple(name for name, phase in end.phases.items() if _dry(phase))


def restart_lines(end: RunEnd) -> tuple[str, ...]:
    """CTXE-01x. Only `resume` knows which tasks are done: the phases named anew would start from the beginning."""
    done = sum(phase.status == "completed" for phase in end.phases.values())
    return (f"Context getting full. {done} phases completed so far. To continue, run:", "  autopilot resume")


def handover(end: RunEnd) -> str:
    """CTX-06: a line a phase."""
    left = [name for name, phase in end.phases.items() if phase.status != "completed"]
    phases = "\n".join(f"- {_line(name, phase)}" for name, phase in end.phases.items())
    remaining = " ".join(left)
    return (
        f"# Handoff: {end.run}\n\n{phases}\n\n"
        f"- **Next phase:** {left[0] if left else 'none'}\n- **Remaining phases:** {remaining}\n\n"
        + "\n".join(restart_lines(end))
        + "\n"
    )


def _line(name: str, phase: PhaseEnd) -> str:
    score = f" ({phase.score:.1f}/10)" if phase.score is not None else ""
    return f"Phase {name}: {clean(phase.status, 40)}{score}"


def _dry(phase: PhaseEnd) -> bool:
    return phase.status == "failed" and phase.reason.startswith(REPORTED)
