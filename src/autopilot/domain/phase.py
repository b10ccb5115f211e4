"""What the user asked for: phases of a roadmap, and the tasks a plan breaks one into."""

import re
from typing import Literal

from autopilot.domain.numerals import read_number
from autopilot.domain.value import Value

PhaseStatus = Literal["not_started", "in_progress", "completed", "deferred"]
PhaseType = Literal["ui", "protocol", "data", "mixed"]
TaskType = Literal["auto", "checkpoint:human-verify", "checkpoint:human-action", "checkpoint:decision"]
Complexity = Literal["simple", "medium", "complex"]
Kind = Literal["feature", "refactor", "docs"]


_TEST_SPEC = re.compile(r"\btests/task-[\w.-]+\.sh\b")


class Expectation(Value, frozen=True, kw_only=True):
    """What a command must show. By default exit code 0; `count` and `text` look at its output as well."""

    form: Literal["exit", "count", "at_least", "text"] = "exit"
    number: int = 0
    text: str = ""

    def met(self, exit_code: int | None, output: str) -> bool:
        """
        Judge one run. A command cut off (None) meets nothing; a text may well be the message of a command that fails.

        `EXIT:n` printed by a command that itself ends well counts as its exit code; a failure cannot be talked away.
        """
        match self.form:
            case "exit":
                echoed = re.findall(r"^EXIT:(\d+)\s*$", output, re.MULTILINE)
                return (read_number(echoed[-1]) if echoed and exit_code == 0 else exit_code) == self.number
            case "count" | "at_least":
                count = _last_number(output)
                # `grep -c` ends with 1 when it has counted none.
                if count is None or (exit_code != 0 and (exit_code, count) != (1, 0)):
                    return False
                return count == self.number if self.form == "count" else count >= self.number
            case "text":
                return exit_code is not None and self.text in output


def _last_number(output: str) -> int | None:
    numbers = re.findall(r"-?\d+", output)
    return read_number(numbers[-1]) if numbers else None


class Criterion(Value, frozen=True, kw_only=True):
    """One acceptance criterion. Without a command it can be judged, but it is no fact."""

    id: str
    text: str
    command: str | None = None
    expect: Expectation = Expectation()
    behavioural: bool = False
    source: Literal["roadmap", "requirement", "plan"] = "plan"
    line: int = 0

    def met(self, exit_code: int | None, output: str) -> bool:
        """TSPC-01: a test specification that prints a failed assertion has failed, however it ends."""
        if self.command and _TEST_SPEC.search(self.command) and re.search(r"^\s*FAIL\b", output, re.MULTILINE):
            return False
        return self.expect.met(exit_code, output)


class Phase(Value, frozen=True, kw_only=True):
    """One phase of the roadmap: a goal, and how we will know it is met."""

    id: str
    name: str
    goal: str = ""
    status: PhaseStatus = "not_started"
    depends_on: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    criteria: tuple[Criterion, ...] = ()
    type: PhaseType = "mixed"
    description: str = ""
    line: int = 0
    kind: Kind = "feature"


class DeclaredChange(Value, frozen=True, kw_only=True):
    """A test file that a task must change, and why. Without a reason it excuses nothing."""

    path: str
    reason: str = ""


class Task(Value, frozen=True, kw_only=True):
    """
    One commit's worth of work.

    `changes_tests` are the tests (paths or patterns) whose expectation it changes on purpose.
    """

    id: str
    title: str
    action: str = ""
    files: tuple[str, ...] = ()
    criteria: tuple[Criterion, ...] = ()
    done: str = ""
    type: TaskType = "auto"
    complexity: Complexity | None = None
    wave: int = 1
    depends_on: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    line: int = 0
    changes_tests: tuple[DeclaredChange, ...] = ()
    kind: Kind = "feature"


class TaskTest(Value, frozen=True, kw_only=True):
    """A task's test specification as it was when the plan was accepted. `path` is relative to the phase folder."""

    path: str
    text: str


class MustHaves(Value, frozen=True, kw_only=True):
    """What a plan file says must hold once all its tasks are done."""

    truths: tuple[str, ...] = ()
    artifacts: tuple[str, ...] = ()
    links: tuple[str, ...] = ()


class PlanPart(Value, frozen=True, kw_only=True):
    """
    One plan file of a phase that has several, as `03-02-PLAN.md`.

    `tasks` are the ids of its tasks, `depends_on` the plan files of this phase that come first. A part that is not
    `autonomous` has a task for a person.
    """

    file: str
    tasks: tuple[str, ...]
    wave: int = 1
    depends_on: tuple[str, ...] = ()
    autonomous: bool = True
    files_modified: tuple[str, ...] = ()
    must_haves: MustHaves = MustHaves()


class Plan(Value, frozen=True, kw_only=True):
    """
    A proposal until plan-check accepts it, then a contract: `sha256` is over the text and the test files.

    `parts` are the plan files it was put together from; empty for a plan in a single PLAN.md.
    """

    text: str
    tasks: tuple[Task, ...]
    tests: tuple[TaskTest, ...] = ()
    sha256: str = ""
    existed_before: bool = False
    parts: tuple[PlanPart, ...] = ()


class PlanOnDisk(Value, frozen=True, kw_only=True):
    """A plan file in a phase's folder. `done`: a summary of it is there. `tasks` is 0 for one that cannot be read."""

    file: str
    done: bool = False
    tasks: int = 0


class PhaseFiles(Value, frozen=True, kw_only=True):
    """
    What the user brought for a phase, in its folder.

    `to_do` is the plan of the plan files without a summary, `whole` that of all of them; `problem` says why there is
    none. The others are names of files, as `03-CONTEXT.md`, and empty where there is none.
    """

    plans: tuple[PlanOnDisk, ...] = ()
    to_do: Plan | None = None
    whole: Plan | None = None
    problem: str = ""
    context: str = ""
    research: str = ""
    verification: str = ""
    uat: str = ""

    @property
    def done(self) -> int:
        return sum(plan.done for plan in self.plans)


def task_types(plan: Plan | None) -> str:
    """PRE-04, AMB-13: how many tasks of which type, of the plan as it was parsed."""
    tasks = plan.tasks if plan else ()
    auto = sum(task.type == "auto" for task in tasks)
    checked = sum(task.type == "checkpoint:human-verify" for task in tasks)
    return f"{auto} auto tasks, {checked} checkpoint:human-verify tasks"


class Note(Value, frozen=True, kw_only=True):
    """Something a reader of a planning file should know: where it is and what is odd about it."""

    file: str
    line: int
    what: str
    severity: Literal["error", "warning", "info"] = "warning"


class Roadmap(Value, frozen=True, kw_only=True):
    """Every phase of the roadmap in file order, and what was odd about the file."""

    path: str
    phases: tuple[Phase, ...]
    notes: tuple[Note, ...] = ()


def padded(phase_id: str) -> str:
    """`3` as it stands in commit messages and plan names: `03`; `2.1` is `02.1`."""
    first, dot, rest = phase_id.partition(".")
    return f"{first:0>2}{dot}{rest}"
