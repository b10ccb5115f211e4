"""The order of a plan's tasks: waves, dependencies, and no two at once on one file (EXEC-W1, PLAN-09)."""

from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.phase import Task
from autopilot.policy.task_progress import auto_tasks, sub_waves, task_order, waiting_task
from support.records import Story, plan

FILES = st.lists(st.sampled_from(["a", "b", "c"]), max_size=2, unique=True).map(tuple)


@st.composite
def plans(draw: st.DrawFn) -> tuple[Task, ...]:
    """Up to six tasks without a cycle; a task may need one of a later wave."""
    ids = draw(st.permutations([f"01-0{n}" for n in range(1, draw(st.integers(1, 6)) + 1)]))
    made = [
        Task(
            id=name,
            title=name,
            files=draw(FILES),
            wave=draw(st.integers(1, 3)),
            depends_on=tuple(draw(st.lists(st.sampled_from([*ids[:at], "elsewhere"]), max_size=2))),
        )
        for at, name in enumerate(ids)
    ]
    return tuple(draw(st.permutations(made)))


def named(name: str, *files: str, wave: int = 1, needs: tuple[str, ...] = ()) -> Task:
    return Task(id=name, title=name, files=files, wave=wave, depends_on=needs)


def ids(tasks: tuple[Task, ...]) -> list[str]:
    return [task.id for task in tasks]


@given(plans())
def test_every_task_is_carried_out_once_and_after_what_it_needs(tasks: tuple[Task, ...]) -> None:
    ordered = ids(task_order(tasks))

    assert sorted(ordered) == sorted(ids(tasks))
    for task in tasks:
        assert all(ordered.index(need) < ordered.index(task.id) for need in task.depends_on if need in ordered)


@given(plans())
def test_exec_w1_no_two_tasks_of_a_sub_wave_share_a_file_or_need_each_other(tasks: tuple[Task, ...]) -> None:
    """PLAN-09."""
    for group in sub_waves(tasks):
        files = [file for task in group for file in task.files]
        assert len(files) == len(set(files))
        assert not any(need in ids(group) for task in group for need in task.depends_on)


@given(plans())
def test_waves_come_one_after_another_unless_a_dependency_says_otherwise(tasks: tuple[Task, ...]) -> None:
    free = [task.wave for task in task_order(tasks) if not task.depends_on]

    assert free == sorted(free)


def test_exec_w1_a_file_in_two_tasks_of_a_wave_splits_the_wave() -> None:
    """PLAN-09."""
    tasks = (named("1", "a"), named("2", "a"), named("3", "b"), named("4", "c", wave=2))

    assert [ids(group) for group in sub_waves(tasks)] == [["1", "3"], ["2"], ["4"]]


def test_a_plan_that_runs_in_a_circle_keeps_its_own_order() -> None:
    tasks = (named("1", needs=("2",)), named("2", needs=("1",)))

    assert sorted(ids(task_order(tasks))) == ["1", "2"]


def test_pvrf_01a_the_next_task_is_the_first_in_order_that_was_not_tried() -> None:
    tasks = (named("01-01", "a", wave=2), named("01-02", "b"), named("01-03", "c", needs=("01-01",)))
    told = Story().planned(plan(*tasks))
    assert ids(auto_tasks(told.record)) == ["01-02", "01-01", "01-03"]

    told.executed("01-02", then="execute")
    assert waiting_task(told.record).id == "01-01"
