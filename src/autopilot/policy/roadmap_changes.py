"""Compares phases as a run knows them with the roadmap as it is now. Pure."""

from collections.abc import Iterable, Iterator

from autopilot.domain.phase import Criterion, Expectation, Phase, RoadmapTaken
from autopilot.domain.value import Value

STARTS_OVER = "set aside: the roadmap was edited, and the phase starts over"
"""Why a pass ended that no step failed in."""


class Settled(Value, frozen=True, kw_only=True):
    """What the run goes by from here on. `again` are the phases that had started and start over or are dropped."""

    sha256: str
    taken: RoadmapTaken | None = None
    again: tuple[str, ...] = ()


def is_same(old: Phase, new: Phase) -> bool:
    """Whether both ask for the same. Where it is in the file and whether it is ticked does not matter."""
    return not tuple(differences(old, new))


def differences(old: Phase, new: Phase) -> Iterator[str]:
    """What the new one has otherwise, in words."""
    if old.name != new.name:
        yield f"its name is now {new.name!r}"
    if old.depends_on != new.depends_on:
        yield f"it depends on {_listed(new.depends_on)} instead of {_listed(old.depends_on)}"
    if (old.goal, old.description) != (new.goal, new.description):
        yield "its goal or description changed"
    if _asked(old.criteria) != _asked(new.criteria):
        yield f"its success criteria changed ({len(old.criteria)} before, {len(new.criteria)} now)"
    if (old.requirements, old.kind) != (new.requirements, new.kind):
        yield "its requirements or its kind changed"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "nothing"


def _asked(criteria: Iterable[Criterion]) -> list[tuple[str, str | None, Expectation, bool]]:
    return [(c.text, c.command, c.expect, c.behavioural) for c in criteria]
