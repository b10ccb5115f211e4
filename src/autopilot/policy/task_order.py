"""In which order a plan's tasks are carried out: waves, what they depend on, and files that several of them touch."""

from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

from autopilot.domain.phase import Task

Place = tuple[int, int]


def task_order(tasks: Sequence[Task]) -> tuple[Task, ...]:
    """The tasks one after another; ties stay in plan order."""
    return tuple(task for group in sub_waves(tasks) for task in group)


def sub_waves(tasks: Sequence[Task]) -> tuple[tuple[Task, ...], ...]:
    """
    EXEC-W1: groups of tasks that could be carried out at the same time, in order.

    No two tasks of a group touch the same file or need each other. A task never comes before one it depends on, even if
    the plan puts that one into a later wave.
    """
    places: dict[str, Place] = {}
    for task in _sorted(tasks):
        places[task.id] = _place(task, tasks, places)
    groups = sorted(set(places.values()))
    return tuple(tuple(task for task in tasks if places[task.id] == group) for group in groups)


def _sorted(tasks: Sequence[Task]) -> tuple[Task, ...]:
    """Dependencies first, then by wave and plan order. Plan-check lets no cycle through; one would keep plan order."""
    known = {task.id: task for task in tasks}
    rank = {task.id: (task.wave, at) for at, task in enumerate(tasks)}
    sorter = TopologicalSorter({task.id: [need for need in task.depends_on if need in known] for task in tasks})
    try:
        sorter.prepare()
    except CycleError:
        return tuple(tasks)
    ordered: list[Task] = []
    ready: set[str] = set()
    while sorter.is_active():
        ready |= set(sorter.get_ready())
        first = min(ready, key=lambda task: rank[task])
        ready.remove(first)
        sorter.done(first)
        ordered.append(known[first])
    return tuple(ordered)


def _place(task: Task, tasks: Sequence[Task], places: Mapping[str, Place]) -> Place:
    """Wave and sub-wave: the task's own wave or that of its latest dependency, behind whatever it must follow there."""
    needed = [places[need] for need in task.depends_on if need in places]
    wave = max([task.wave, *(place[0] for place in needed)])
    rivals = [places[t.id] for t in tasks if t.id in places and t.id != task.id and set(t.files) & set(task.files)]
    ahead = [sub for at, sub in (*needed, *rivals) if at == wave]
    return wave, max(ahead, default=0) + 1
