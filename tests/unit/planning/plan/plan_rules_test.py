"""The rules on plans that have a list or an exception to them."""

import msgspec
import pytest

from autopilot.domain.phase import Criterion, Phase, Plan, Task
from autopilot.domain.settings import Commands
from autopilot.planning.plan.criteria import criterion
from autopilot.planning.plan.problems import PlanReader, problems
from autopilot.steps import plan as plan_step
from support.records import Story, brief, phase, started

ACTION = "Write a class Cart in src/cart.py with add and total, keep prices as integers of cents, and raise on negative amounts."
SPEC = "bash .planning/phases/01-x/tests/task-01-01.sh"


def of(*commands: str | None, text: str = "it adds", file: str = "src/cart.py") -> Plan:
    criteria = tuple(Criterion(id=f"01-01.{n}", text=text, command=command) for n, command in enumerate(commands))
    made = Task(
        id="01-01", title="Cart", action=ACTION, files=(file,), criteria=criteria, done="adds", complexity="simple"
    )
    return Plan(text="", tasks=(made,))


def found(plan: Plan, kind: str = "code") -> set[tuple[str, str]]:
    return {(f.rule, f.severity) for f in problems(plan, Phase(id="1", name="Shop", type=kind), ())}  # type: ignore[arg-type]  # cases as plain words


@pytest.mark.parametrize(
    "words",
    ["should work", "properly handles", "is correct", "works as expected", "functions correctly", "is implemented"],
)
def test_pchk_05_words_in_place_of_a_command_block(words: str) -> None:
    assert ("PCHK-05", "blocker") in found(of("pytest", None, text=f"The total {words.upper()}"))
    assert found(of("pytest", text=f"The total {words}")) == set()


@pytest.mark.parametrize(
    ("commands", "blocked"),
    [(("grep -q a b",), True), (("test -f a", "wc -l b"), True), (("grep -q a b", SPEC), False), (("pytest",), False)],
    ids=["grep", "existence and size", "with a test file", "executed"],
)
def test_pchk_07_a_task_that_is_only_looked_at_needs_a_test_file(commands: tuple[str, ...], blocked: bool) -> None:
    assert (("PCHK-07", "blocker") in found(of(*commands))) == blocked


@pytest.mark.parametrize("kind", ["ui", "mixed", "data"])
def test_pchk_06_something_to_touch_is_not_only_searched_for(kind: str) -> None:
    warned = ("PCHK-06", "warning") in found(of("grep -q a src/A.tsx", file="src/A.tsx"), kind)

    assert warned == (kind in {"ui", "mixed"})


@pytest.mark.parametrize(
    ("commands", "criteria", "told"),
    [
        (Commands(test="pytest"), ("grep -q a b", "test -f c"), True),
        (Commands(compile="make"), ("grep -q a b",), True),
        (Commands(test="pytest"), ("grep -q a b", "pytest -q"), False),
        (Commands(lint="ruff"), ("grep -q a b",), False),
        (Commands(), ("grep -q a b",), False),
    ],
    ids=["tests", "compile", "one runs them", "only lint", "none configured"],
)
def test_pchk_09_commands_that_no_criterion_runs_are_told(
    commands: Commands, criteria: tuple[str, ...], told: bool
) -> None:
    record = Story(brief(phase=phase()), started(commands=commands)).record
    seen = {(f.rule, f.severity) for f in PlanReader().problems(of(*criteria), record)}

    assert (("PCHK-09", "info") in seen) == told


@pytest.mark.parametrize(
    ("files", "size", "told"),
    [
        (("a.py",), "simple", False),
        (("a.py", "tests/test_a.py"), "simple", False),
        (("a.py", "b.py"), "simple", True),
        (("a.py", "b.py", "c.py"), "medium", False),
        (("a.py", "b.py", "c.py", "d.py"), "medium", True),
        (("a.py", "b.py", "c.py", "d.py"), "complex", False),
    ],
)
def test_plan_03_a_task_larger_than_it_is_called_is_told(files: tuple[str, ...], size: str, told: bool) -> None:
    (task,) = of("pytest").tasks
    sized = msgspec.structs.replace(task, files=files, complexity=size)

    assert (("PLAN-03", "info") in found(Plan(text="", tasks=(sized,)))) == told


def test_plan_05_a_task_people_touch_wants_a_criterion_of_behaviour() -> None:
    plain = of("npm test", file="src/Button.tsx")
    (task,) = plain.tasks
    traced = Criterion(id="01-01.9", text="a click -- verified by: trace onClick -> save()", behavioural=True)
    followed = Plan(text="", tasks=(msgspec.structs.replace(task, criteria=(*task.criteria, traced)),))

    assert ("PLAN-05", "warning") in found(plain, "ui")
    assert found(followed, "ui") == found(plain, "data") == set()


@pytest.mark.parametrize(("kind", "asked"), [("ui", True), ("mixed", True), ("data", False), ("protocol", False)])
def test_plan_05_the_planner_is_asked_for_behaviour_where_people_touch_something(kind: str, asked: bool) -> None:
    told = plan_step.prompt(Story(brief(phase=phase(type=kind))).record)

    assert ("criterion\nof behaviour" in told) == asked
    assert "simple is one file" in told


def test_plan_05_what_the_planner_is_asked_to_write_is_read_as_behaviour() -> None:
    assert criterion("a click saves -- verified by: trace onClick -> submit -> save()", "1").behavioural
