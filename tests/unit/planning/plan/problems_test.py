"""What is wrong with a plan, found without asking anyone."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec
import pytest

from autopilot.domain.phase import Criterion, DeclaredChange, Expectation, Phase, Plan, Task
from autopilot.planning.plan import read_plan as plans
from autopilot.planning.plan.problems import PlanReader, cannot_fail, leaves_project, problems

if TYPE_CHECKING:
    from autopilot.ports.agents import Planning

PHASE = Phase(id="3", name="Shop")
ACTION = "Write a class Cart in src/cart.py with add and total, keep prices as integers of cents, and raise on negative amounts."
CHECK = Criterion(id="03-01.1", text="adds", command="pytest -q")
GOOD = Task(
    id="03-01", title="Cart", action=ACTION, files=("src/cart.py",), criteria=(CHECK,), done="adds", complexity="simple"
)


@dataclass
class Rules:
    """The rules and severities found for a plan of these tasks."""

    tasks: tuple[Task, ...]
    requirements: tuple[str, ...] = ()
    phase: Phase = field(default=PHASE)

    def found(self) -> set[tuple[str, str]]:
        plan = Plan(text="", tasks=self.tasks)
        return {(finding.rule, finding.severity) for finding in problems(plan, self.phase, self.requirements)}


def changed(**values: object) -> Task:
    return msgspec.structs.replace(GOOD, **values)


def test_a_good_plan_has_no_problems() -> None:
    assert Rules((GOOD,)).found() == set()


@pytest.mark.parametrize(
    ("task", "rule", "severity"),
    [
        (changed(files=()), "PCHK-02", "blocker"),
        (changed(done=""), "PCHK-02", "blocker"),
        (changed(action=""), "PCHK-02", "blocker"),
        (changed(criteria=()), "PCHK-04", "blocker"),
        (changed(depends_on=("03-09",)), "PCHK-03", "blocker"),
        (changed(depends_on=("03-01",)), "PCHK-03", "blocker"),
        (changed(criteria=(CHECK, Criterion(id="2", text="Page exists"))), "PCHK-04", "blocker"),
        (changed(criteria=(CHECK, Criterion(id="2", text="It works as expected"))), "PCHK-05", "blocker"),
        (changed(criteria=(Criterion(id="1", text="x", command="grep -c a b | wc -l"),)), "PCHK-07", "blocker"),
        (
            changed(criteria=(Criterion(id="1", text="x", command="test -f a && grep 'npm test' b"),)),
            "PCHK-07",
            "blocker",
        ),
        (changed(complexity=None), "PCHK-08", "warning"),
        (changed(changes_tests=(DeclaredChange(path="tests/test_a.py"),)), "changes-tests", "blocker"),
        (changed(action="Implement the cart."), "PROM-02", "blocker"),
        (changed(files=("/etc/passwd",)), "PCHK-02", "blocker"),
        (changed(files=("src/../../x",)), "PCHK-02", "blocker"),
        (changed(criteria=(Criterion(id="1", text="x", command="pytest || true"),)), "PCHK-04", "blocker"),
    ],
)
def test_each_flaw_is_found(task: Task, rule: str, severity: str) -> None:
    """PCHK-02..05, PCHK-07, PCHK-08."""
    assert (rule, severity) in Rules((task,)).found()


@pytest.mark.parametrize(("count", "told"), [(5, False), (6, True)], ids=["five", "six"])
def test_pchk_10_more_than_five_tasks_are_remarked_on(count: int, told: bool) -> None:
    tasks = tuple(changed(id=f"03-0{n}") for n in range(1, count + 1))

    assert (("PCHK-10", "info") in Rules(tasks).found()) == told


def test_interactive_code_needs_a_behavioural_criterion() -> None:
    """PCHK-06."""
    looks = Criterion(id="1", text="x", command="grep -q a src/A.tsx")
    task = changed(files=("src/A.tsx",), criteria=(looks,))

    assert ("PCHK-06", "warning") in Rules((task,)).found()


def test_duplicate_ids_and_cycles_are_found() -> None:
    """PCHK-03."""
    two = (changed(depends_on=("03-02",)), changed(id="03-02", depends_on=("03-01",)), changed(id="03-02"))
    texts = [f.what for f in problems(Plan(text="", tasks=two), PHASE, ())]

    assert any("2 tasks have the id 03-02" in text for text in texts)
    assert any("wait for each other" in text for text in texts[:3])


@pytest.mark.parametrize(("served", "covered"), [(("REQ-01",), True), (("REQ-011",), False), ((), False)])
def test_each_requirement_needs_a_task(served: tuple[str, ...], covered: bool) -> None:
    """PCHK-01."""
    assert (("PCHK-01", "blocker") not in Rules((changed(requirements=served),), ("REQ-01",)).found()) == covered


def test_checkpoints_need_no_commands() -> None:
    task = Task(id="03-02", title="Look", type="checkpoint:human-verify", action="Look")

    assert Rules((GOOD, task)).found() == set()


def test_prose_beside_a_command_is_tolerated_in_a_plan_the_user_brought() -> None:
    task = changed(criteria=(CHECK, Criterion(id="2", text="Page exists")))
    found = problems(Plan(text="", tasks=(task,), existed_before=True), PHASE, ())

    assert [finding.severity for finding in found] == ["warning"]


@pytest.mark.parametrize(
    "command", ["pytest -q", "python3 -m unittest", "npm run test", "cargo test --all", "make test"]
)
def test_words_of_a_test_run_prove_nothing(command: str) -> None:
    expect = Expectation(form="text", text="passed")

    assert cannot_fail(Criterion(id="1", text="x", command=command, expect=expect))
    assert cannot_fail(Criterion(id="1", text="x", command=command)) is None
    assert cannot_fail(Criterion(id="1", text="x", command="python3 -m till x", expect=expect)) is None


@pytest.mark.parametrize(
    "command",
    [
        "x || true",
        "x || :",
        "x; true",
        "x\ntrue",
        "x; exit 0",
        "exit 0",
        "true",
        "x || exit 0",
        "x || echo failed",
        "(x) || /bin/true",
    ],
)
def test_a_check_that_cannot_fail_is_no_check(command: str) -> None:
    """PCHK-04."""
    assert cannot_fail(Criterion(id="1", text="x", command=command))


@pytest.mark.parametrize(
    "command", ["x", "grep true y", "test x || exit 1", "x; echo EXIT:$?", "x && y", "grep 'a;' b"]
)
def test_an_honest_check_is_let_be(command: str) -> None:
    assert cannot_fail(Criterion(id="1", text="x", command=command)) is None


def test_a_count_is_judged_by_its_output() -> None:
    assert (
        cannot_fail(Criterion(id="1", text="x", command="grep -c a b || true", expect=Expectation(form="count")))
        is None
    )


@pytest.mark.parametrize("path", ["/a", "../a", "a/../../b", "~/a", "C:\\a", "\\\\host\\a", ".git/hooks/x", "a\0b"])
def test_paths_that_leave_the_project_are_seen(path: str) -> None:
    assert leaves_project(path)


@pytest.mark.parametrize("path", ["a", "./a", "a/../b", "src/..a", ".github/x", "a b"])
def test_paths_inside_the_project_are_let_be(path: str) -> None:
    assert not leaves_project(path)


def test_the_reader_reads_as_the_functions_do() -> None:
    text = '<task id="03-01">\n**Action:** x\n</task>'

    reader: Planning = PlanReader()

    assert reader.plan(text, {}) == plans.read(text, {})
