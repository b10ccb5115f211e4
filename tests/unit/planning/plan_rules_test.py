"""The rules on plans that have a list or an exception to them."""

import pytest

from autopilot.domain.phase import Criterion, Phase, Plan, Task
from autopilot.domain.settings import Commands
from autopilot.planning.plan_problems import PlanReader, problems
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
