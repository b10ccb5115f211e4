"""Who may write what: tasks that share a file go to one agent, so that no two agents of a wave share one."""

from collections.abc import Iterable, Sequence
from itertools import combinations

from autopilot.domain.value import Value
from autopilot.sessions.waves import WaveTask


class Share(Value, frozen=True, kw_only=True):
    """One agent's tasks, and every file it may write. `alone`: it holds a file the others rest on, and goes first."""

    tasks: tuple[WaveTask, ...]
    alone: bool = False

    @property
    def files(self) -> frozenset[str]:
        return frozenset(file for task in self.tasks for file in task.files)


def shares(tasks: Sequence[WaveTask], contracts: Iterable[str] = ()) -> tuple[Share, ...]:
    """Those that hold contract files first; the rest in the order of their first task. Disjoint by construction."""
    locked = frozenset(contracts)
    groups: list[tuple[WaveTask, ...]] = []
    for task in tasks:
        touching = [group for group in groups if any(_meets(task, other) for other in group)]
        rest = [group for group in groups if group not in touching]
        together = (*(other for group in touching for other in group), task)
        place = groups.index(touching[0]) if touching else len(groups)
        groups = [*rest[:place], together, *rest[place:]]
    found = [Share(tasks=group, alone=bool(locked & {f for t in group for f in t.files})) for group in groups]
    return tuple(sorted(found, key=lambda share: not share.alone))


def dealt(found: Sequence[Share], agents: int) -> tuple[Share, ...]:
    """As many shares as there are agents, the smallest put together; those that go alone stay alone."""
    alone = [share for share in found if share.alone]
    rest = [share for share in found if not share.alone]
    while len(rest) > max(1, agents):
        *rest, one, other = sorted(rest, key=lambda share: -len(share.tasks))
        rest.append(Share(tasks=(*other.tasks, *one.tasks)))
    return (*alone, *rest)


def overlaps(found: Iterable[Share]) -> frozenset[str]:
    """The files that more than one share holds; there must be none."""
    return frozenset(file for one, other in combinations(found, 2) for file in one.files & other.files)


def _meets(one: WaveTask, other: WaveTask) -> bool:
    return bool(set(one.files) & set(other.files))
