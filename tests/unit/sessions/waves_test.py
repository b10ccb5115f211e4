"""Waves: planned by role and size, kept from writing the same files, judged by what was seen, carried over."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.sessions.executor import Dispatch, SessionOutcome, Workshop, execute, pooled
from autopilot.sessions.pool import run_pool
from autopilot.sessions.resources import Snapshot, read
from autopilot.sessions.scopes import Share, dealt, overlaps, shares
from autopilot.sessions.session_modes import Executed
from autopilot.sessions.spirals import AgentReport, Mishap, Status, ToolCall, friction, judged, stagnant
from autopilot.sessions.waves import (
    ROLES,
    Role,
    SessionPlan,
    Wave,
    WaveTask,
    agents_per_wave,
    complexity_of,
    plan_session,
    span,
)

tasks = st.builds(
    lambda n, role, files: WaveTask(id=f"t{n}", role=role, files=tuple(files)),
    st.integers(0, 10_000),
    st.sampled_from(ROLES),
    st.lists(st.sampled_from([f"f{n}" for n in range(12)]), max_size=3, unique=True),
)
task_lists = st.lists(tasks, max_size=12, unique_by=lambda task: task.id)


def task(name: str, *files: str, role: Role = "Impl-Core") -> WaveTask:
    return WaveTask(id=name, role=role, files=files)


def one_each() -> tuple[WaveTask, ...]:
    return tuple(task(role, role=role) for role in ROLES)


@pytest.mark.parametrize(
    ("waves", "layout"),
    [
        (3, ["Discovery+Impl-Core", "Impl-Polish+Quality", "Finalization"]),
        (4, ["Discovery", "Impl-Core+Impl-Polish", "Quality", "Finalization"]),
        (5, list(ROLES)),
        (1, ["Discovery+Impl-Core", "Impl-Polish+Quality", "Finalization"]),
    ],
)
def test_roles_are_laid_out_by_the_number_of_waves(waves: int, layout: list[str]) -> None:
    assert [wave.role for wave in plan_session("feature", one_each(), waves=waves).waves] == layout


def test_six_waves_give_the_work_itself_two_each() -> None:
    twice = tuple(task(f"{role}{n}", role=role) for role in ROLES for n in (1, 2))
    plan = plan_session("deep", twice, waves=6)

    expected = ["Discovery", "Impl-Core", "Impl-Core", "Impl-Polish", "Impl-Polish", "Quality+Finalization"]
    assert [wave.role for wave in plan.waves] == expected
    assert [len(wave.tasks) for wave in plan.waves] == [2, 1, 1, 1, 1, 4]


def test_roles_without_work_are_left_out_and_waves_numbered_anew() -> None:
    plan = plan_session("feature", (task("a", role="Impl-Core"), task("b", role="Quality")))

    assert [(wave.number, wave.role) for wave in plan.waves] == [(1, "Impl-Core"), (2, "Quality")]


@pytest.mark.parametrize(
    ("files", "directories", "issues", "expected"),
    [
        (5, 1, 1, "simple"),
        (6, 1, 1, "simple"),
        (6, 2, 1, "moderate"),
        (15, 3, 3, "moderate"),
        (16, 3, 3, "complex"),
        (16, 4, 4, "complex"),
    ],
)
def test_complexity_is_counted_in_files_folders_and_issues(
    files: int, directories: int, issues: int, expected: str
) -> None:
    assert complexity_of(files, directories, issues) == expected


def test_agents_follow_the_table_and_the_cap() -> None:
    plan = plan_session("deep", tuple(task(f"t{n}", f"d{n}/f{n}") for n in range(16)), most=18)

    assert (plan.complexity, plan.waves[0].agents) == ("complex", 10)
    assert span("feature", "moderate", "Quality") == (3, 4)
    assert [agents_per_wave({"default": 6, "deep": 18}, mode) for mode in ("deep", "feature")] == [18, 6]
    assert agents_per_wave(4, "deep") == 4


def test_a_little_housekeeping_alone_is_done_without_agents() -> None:
    plan = plan_session("housekeeping", (task("a"), task("b", role="Quality")), most=1)

    assert [(wave.role, wave.agents) for wave in plan.waves] == [("Impl-Core+Quality", 0)]


@given(task_lists, st.integers(3, 7), st.sampled_from(["feature", "deep", "housekeeping"]), st.integers(1, 20))
def test_every_task_is_in_exactly_one_wave(found: list[WaveTask], waves: int, mode: Executed, most: int) -> None:
    plan = plan_session(mode, tuple(found), waves=waves, most=most)

    planned = [task.id for wave in plan.waves for task in wave.tasks]
    assert sorted(planned) == sorted(task.id for task in found)
    assert all(wave.agents <= most for wave in plan.waves)
    assert [wave.number for wave in plan.waves] == list(range(1, len(plan.waves) + 1))


@given(task_lists, st.integers(0, 8), st.sets(st.sampled_from(["f1", "f2"])))
def test_no_two_agents_share_a_file_and_no_task_is_lost(found: list[WaveTask], agents: int, locks: set[str]) -> None:
    handed = dealt(shares(found, locks), agents)

    assert overlaps(handed) == frozenset()
    assert sorted(task.id for share in handed for task in share.tasks) == sorted(task.id for task in found)
    assert sum(not share.alone for share in handed) <= max(1, agents)


def test_work_on_a_contract_goes_first_and_alone() -> None:
    found = shares([task("a", "x"), task("b", "api.py"), task("c", "y")], contracts=["api.py"])

    assert [(share.tasks[0].id, share.alone) for share in found] == [("b", True), ("a", False), ("c", False)]


EDIT, READ = ToolCall(tool="edit", target="a.py"), ToolCall(tool="read", target="a.py")


def pages(*offsets: int) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(tool="read", target="a.py", arguments={"offset": str(n)}) for n in offsets)


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        pytest.param(AgentReport(task="t", changed=("a",), said="STATUS: done - all"), "done", id="done"),
        pytest.param(AgentReport(task="t", changed=("a",)), "done", id="changes without a word"),
        pytest.param(AgentReport(task="t", said="STATUS: done"), "partial", id="a word without changes"),
        pytest.param(AgentReport(task="t", changed=("a",), said="STATUS: failed \u2014 x"), "failed", id="its word lowers"),
        pytest.param(AgentReport(task="t", changed=("a",), said="STATUS: no-tests-needed"), "done", id="no tests needed"),
        pytest.param(AgentReport(task="t", changed=("a",), claimed=("a", "b")), "partial", id="claimed but unchanged"),
        pytest.param(AgentReport(task="t", mishaps=(Mishap(error="boom"),)), "failed", id="errors and no change"),
        pytest.param(AgentReport(task="t", changed=("a",), truncated=True), "partial", id="cut off"),
        pytest.param(AgentReport(task="t", changed=("a",), calls=(EDIT, READ) * 3), "spiral", id="edited thrice"),
        pytest.param(AgentReport(task="t", changed=("a",), calls=(EDIT, READ) * 2), "done", id="edited twice"),
        pytest.param(AgentReport(task="t", changed=("a",), reverted=True), "spiral", id="took it back"),
        pytest.param(AgentReport(task="t", changed=("a",), calls=(READ,) * 3), "spiral", id="three equal calls"),
        pytest.param(AgentReport(task="t", calls=pages(1, 50, 99)), "partial", id="leafs through a file"),
        pytest.param(
            AgentReport(task="t", changed=("a",), mishaps=tuple(Mishap(error="E", fix=str(n)) for n in range(3))),
            "spiral",
            id="same error, other fixes",
        ),
        pytest.param(
            AgentReport(task="t", changed=("a",), mishaps=(Mishap(error="E", fix="f"),) * 3), "failed", id="stuck"
        ),
        pytest.param(AgentReport(task="t", observed="done", said="STATUS: partial"), "partial", id="observed, lowered"),
    ],
)  # fmt: skip
def test_an_agent_is_judged_by_what_it_was_seen_doing(report: AgentReport, expected: Status) -> None:
    assert judged(report).status == expected


RANK: tuple[Status, ...] = ("done", "partial", "failed", "spiral")


@given(st.text(max_size=60), st.sampled_from(RANK), st.booleans())
def test_no_word_of_an_agent_makes_its_status_better(said: str, seen: Status, shouted: bool) -> None:
    words = f"STATUS: done\n{said}\nSTATUS: done" if shouted else said
    silent, loud = (judged(AgentReport(task="t", observed=seen, said=text)).status for text in ("", words))

    assert RANK.index(loud) >= RANK.index(silent)


def test_leafing_through_a_file_is_stagnation_only_without_an_edit() -> None:
    assert stagnant(AgentReport(task="t", calls=pages(1, 2, 3)))
    assert not stagnant(AgentReport(task="t", calls=(*pages(1, 2, 3), EDIT)))


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("old_str did not match", "edit-format-friction"),
        ("b.py is outside your scope", "scope-denied"),
        ("command blocked by policy", "command-blocked"),
        ("KeyError", "other"),
    ],
)
def test_what_an_agent_is_stuck_on_has_a_name(error: str, expected: str) -> None:
    assert friction(error) == expected


def workshop(answers: dict[str, list[Status]], **more: Any) -> tuple[Workshop, list[Dispatch]]:
    """A worker that reports what is written down for each task, the last again and again; nothing where it is empty."""
    seen: list[Dispatch] = []

    def work(dispatch: Dispatch) -> list[AgentReport]:
        seen.append(dispatch)
        names = [task.id for share in dispatch.shares for task in share.tasks if answers.get(task.id)]
        return [AgentReport(task=name, observed=_next(answers[name])) for name in names]

    return Workshop(work=work, now=lambda: "2026-03-01T09:00:00.000Z", **more), seen


def _next(said: list[Status]) -> Status:
    return said.pop(0) if len(said) > 1 else said[0]


def executed(answers: dict[str, list[Status]], *roles: Role, **more: Any) -> tuple[SessionOutcome, list[Dispatch]]:
    found = tuple(task(name, f"{name}.py", role=roles[at] if roles else "Impl-Core") for at, name in enumerate(answers))
    shop, seen = workshop(answers, **more)
    return execute(plan_session("feature", found), shop), seen


def test_a_failure_that_a_later_wave_mends_is_no_failed_wave() -> None:
    done, _ = executed({"a": ["failed", "done"], "b": ["done"]}, "Impl-Core", "Quality")

    assert done.summary == {"complete": 2, "partial": 0, "failed": 0, "spiral": 0}
    assert done.carried == ()


def test_a_failure_that_stays_is_counted_and_ends_the_session() -> None:
    done, _ = executed({"a": ["failed"], "b": ["done"], "c": ["done"]}, "Impl-Core", "Quality", "Finalization")

    assert done.summary["failed"] == 1
    assert done.carried == ("a", "c")


def test_a_spiral_counts_though_it_was_recovered_and_is_handed_out_narrowed() -> None:
    done, seen = executed({"a": ["spiral", "done"]})

    assert done.summary == {"complete": 1, "partial": 0, "failed": 0, "spiral": 1}
    assert seen[1].narrow == ("a",)


def test_what_no_report_came_back_for_is_handed_out_once_more_and_has_then_failed() -> None:
    done, seen = executed({"a": [], "b": ["done"]}, recoveries=0)

    assert [len(dispatch.shares) for dispatch in seen] == [2, 1]
    assert done.standing["a"].why == "no report came back"
    assert done.summary["failed"] == 1


def test_a_critical_machine_leaves_the_wave_to_the_coordinator_and_says_so() -> None:
    done, seen = executed({"a": ["done"], "b": ["done"]}, reading=lambda: read(Snapshot(ram_free_gb=1)))

    assert [(d.agents, len(d.shares)) for d in seen] == [(0, 1)]
    assert "coordinator-direct to 0 agents (ram_free_gb is critical)" in done.deviations[0]


def test_large_waves_are_handed_out_by_fours() -> None:
    wave = Wave(number=1, roles=("Impl-Core",), tasks=tuple(task(f"t{n}", f"f{n}") for n in range(6)), agents=6)
    shop, seen = workshop({f"t{n}": ["done"] for n in range(6)})
    execute(SessionPlan(mode="feature", complexity="simple", waves=(wave,)), shop)

    assert [len(dispatch.shares) for dispatch in seen] == [4, 2]
    assert {dispatch.isolation for dispatch in seen} == {"worktree"}


@given(st.dictionaries(st.sampled_from("abcdef"), st.lists(st.sampled_from(RANK), max_size=3), min_size=1))
def test_every_task_is_done_or_carried_over(answers: dict[str, list[Status]]) -> None:
    done, _ = executed({name: list(said) for name, said in answers.items()})

    finished = {name for name, end in done.standing.items() if end.status == "done"}
    assert finished.isdisjoint(done.carried)
    assert finished | set(done.carried) == set(answers)


def test_agents_work_side_by_side_and_one_that_dies_harms_no_other() -> None:
    def one(dispatch: Dispatch, share: Share) -> Sequence[AgentReport]:
        if share.tasks[0].id == "b":
            raise RuntimeError("dead")
        return [AgentReport(task=task.id, observed="done") for task in share.tasks]

    found = (task("a", "a"), task("b", "b"), task("c", "c"))
    shop = Workshop(work=pooled(one), now=lambda: "now", recoveries=0)
    done = execute(plan_session("feature", found), shop)

    assert done.summary == {"complete": 2, "partial": 0, "failed": 1, "spiral": 0}


def test_a_stop_keeps_new_work_from_starting_and_waits_for_the_rest() -> None:
    stopped: list[bool] = []

    def work() -> str:
        stopped.append(True)
        return "done"

    jobs: list[tuple[str, Callable[[], str]]] = [(name, work) for name in "abc"]
    done = run_pool(jobs, 1, aborted=lambda: bool(stopped))

    assert (list(done.results), done.unstarted) == (["a"], ("b", "c"))


@pytest.mark.parametrize(("names", "most"), [(["a", "a"], 2), (["a"], 0)], ids=["two of a name", "no workers"])
def test_a_pool_refuses_what_makes_no_sense(names: list[str], most: int) -> None:
    with pytest.raises(ValueError, match=r"called 'a'|at least one worker"):
        run_pool([(name, lambda: 1) for name in names], most)
