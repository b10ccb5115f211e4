"""The plan of a session: its five roles in waves, and how many agents each may have for work of this complexity."""

from collections.abc import Mapping
from typing import Literal, get_args

from autopilot.domain.value import Value
from autopilot.sessions.session_modes import Executed

Role = Literal["Discovery", "Impl-Core", "Impl-Polish", "Quality", "Finalization"]
Complexity = Literal["simple", "moderate", "complex"]
ROLES: tuple[Role, ...] = get_args(Role)
AGENTS_PER_WAVE = 6
EXPRESS_ISSUES = 3
_FEW, _MANY = 3, 6
_FILES, _SEVERAL = (5, 15), (1, 3)
_SIMPLE, _MODERATE = 1, 3

_LAYOUTS: dict[int, tuple[tuple[Role, ...], ...]] = {
    3: (("Discovery", "Impl-Core"), ("Impl-Polish", "Quality"), ("Finalization",)),
    4: (("Discovery",), ("Impl-Core", "Impl-Polish"), ("Quality",), ("Finalization",)),
    5: tuple((role,) for role in ROLES),
    6: (
        ("Discovery",), ("Impl-Core",), ("Impl-Core",), ("Impl-Polish",), ("Impl-Polish",),
        ("Quality", "Finalization"),
    ),
}  # fmt: skip

# Fewest and most agents of each role, in the order of the roles.
Span = tuple[int, int]
AGENTS: dict[Executed, dict[Complexity, tuple[Span, Span, Span, Span, Span]]] = {
    "feature": {
        "simple":   ((2, 3), (3, 4), (2, 3), (2, 2), (1, 1)),
        "moderate": ((4, 5), (5, 6), (4, 5), (3, 4), (2, 2)),
        "complex":  ((5, 6), (6, 6), (5, 6), (4, 4), (2, 2)),
    },
    "deep": {
        "simple":   ((3, 4), (4, 6), (3, 4), (3, 3), (2, 2)),
        "moderate": ((5, 6), (6, 8), (5, 6), (4, 5), (2, 3)),
        "complex":  ((6, 8), (8, 10), (6, 8), (6, 6), (3, 4)),
    },
    "housekeeping": dict.fromkeys(("simple", "moderate", "complex"), ((0, 0), (2, 2), (1, 1), (1, 1), (1, 1))),
}  # fmt: skip


class WaveTask(Value, frozen=True, kw_only=True):
    """One piece of work and the files it may write. `creates` says that it makes new folders."""

    id: str
    role: Role
    files: tuple[str, ...] = ()
    creates: bool = False


class Wave(Value, frozen=True, kw_only=True):
    """`agents` is how many the wave may have; 0: the coordinator does it alone."""

    number: int
    roles: tuple[Role, ...]
    tasks: tuple[WaveTask, ...]
    agents: int

    @property
    def role(self) -> str:
        return "+".join(self.roles)


class SessionPlan(Value, frozen=True, kw_only=True):
    mode: Executed
    complexity: Complexity
    waves: tuple[Wave, ...]


def complexity_of(files: int, directories: int, issues: int) -> Complexity:
    points = _points(files, _FILES) + _points(directories, _SEVERAL) + _points(issues, _SEVERAL)
    if points <= _SIMPLE:
        return "simple"
    return "moderate" if points <= _MODERATE else "complex"


def span(mode: Executed, complexity: Complexity, role: Role) -> Span:
    return AGENTS[mode][complexity][ROLES.index(role)]


def agents_per_wave(configured: int | Mapping[str, int], mode: Executed) -> int:
    """A number for all modes, or `{"default": 6, "deep": 18}`."""
    if isinstance(configured, int):
        return configured
    return configured.get(mode, configured.get("default", AGENTS_PER_WAVE))


def plan_session(
    mode: Executed, tasks: tuple[WaveTask, ...], *, waves: int = 5, most: int = AGENTS_PER_WAVE
) -> SessionPlan:
    """Roles without work are left out, and the waves that remain are numbered from 1."""
    files = {file for task in tasks for file in task.files}
    complexity = complexity_of(len(files), len({file.rpartition("/")[0] for file in files}), len(tasks))
    if express(mode, tasks, most):
        roles = tuple(role for role in ROLES if any(task.role == role for task in tasks))
        alone = Wave(number=1, roles=roles, tasks=tasks, agents=0)
        return SessionPlan(mode=mode, complexity=complexity, waves=(alone,) if tasks else ())
    layout = _LAYOUTS[min(_MANY, max(_FEW, waves))]
    found = [(roles, _share(layout, place, tasks)) for place, roles in enumerate(layout)]
    filled = [(roles, share) for roles, share in found if share]
    planned = (
        Wave(number=number, roles=roles, tasks=share, agents=_agents((mode, complexity), roles, len(share), most))
        for number, (roles, share) in enumerate(filled, start=1)
    )
    return SessionPlan(mode=mode, complexity=complexity, waves=tuple(planned))


def express(mode: Executed, tasks: tuple[WaveTask, ...], most: int) -> bool:
    """A little housekeeping that nothing is to be done beside: one wave, no agents."""
    return mode == "housekeeping" and len(tasks) <= EXPRESS_ISSUES and most <= 1


def _share(layout: tuple[tuple[Role, ...], ...], place: int, tasks: tuple[WaveTask, ...]) -> tuple[WaveTask, ...]:
    """The tasks of this wave; a role that has several waves spreads its own over them in order."""
    roles = layout[place]
    own = [task for task in tasks if task.role in roles]
    twins = [at for at, other in enumerate(layout) if other == roles]
    size = -(-len(own) // len(twins))
    at = twins.index(place)
    return tuple(own[at * size : (at + 1) * size])


def _agents(kind: tuple[Executed, Complexity], roles: tuple[Role, ...], tasks: int, most: int) -> int:
    highest = max(span(*kind, role)[1] for role in roles)
    return max(1, min(highest, tasks, most))


def _points(count: int, steps: tuple[int, int]) -> int:
    return sum(count > step for step in steps)
