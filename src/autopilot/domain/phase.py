"""What the user asked for: phases of a roadmap, and the tasks a plan breaks one into."""

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple

from autopilot.domain.value import Value
from autopilot.text.numbers import read_number

PhaseStatus = Literal["not_started", "in_progress", "completed", "deferred", "superseded", "cancelled", "disputed"]
"""`disputed`: the planning files contradict each other on whether the phase is done."""
NEVER_RUN: frozenset[PhaseStatus] = frozenset({"deferred", "superseded", "cancelled"})
"""States in which the roadmap itself takes a phase out of the way."""
Evidence = Literal["box", "table", "summaries"]
"""What settles a dispute on whether a phase is done: `--evidence`."""
EvidenceSource = Literal[
    "check-box", "table", "Status line", "heading", "list entry", "plan count", "plan ticks", "summaries",
    "verification", "STATE.md",
]  # fmt: skip
PhaseType = Literal["ui", "protocol", "data", "mixed"]
TaskType = Literal["auto", "checkpoint:human-verify", "checkpoint:human-action", "checkpoint:decision"]
Complexity = Literal["simple", "medium", "complex"]
Kind = Literal["feature", "refactor", "docs"]
Severity = Literal["error", "warning", "info"]


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


class Phase(Value, frozen=True, kw_only=True):
    """
    One phase of the roadmap: a goal, and how we will know it is met.

    `milestone` is the label of its milestone, as in `v1.1`. A milestone may start again at phase 1, so milestone and
    number together are the key of a phase: `id` is the number alone in the active milestone, and `V1.0-2` elsewhere.
    `successor` is the phase that takes the place of a superseded one.
    """

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
    milestone: str = ""
    successor: str = ""


def same_phase(one: Phase, other: Phase) -> bool:
    """Whether two phases of one number are the same: by their milestones, or, where one has none, by their names."""
    if one.milestone and other.milestone:
        return milestone_key(one.milestone) == milestone_key(other.milestone)
    return one.milestone == other.milestone or one.name.casefold() == other.name.casefold()


def number_of(phase: Phase) -> str:
    """The phase's number without the milestone that its id may begin with."""
    return phase.id.removeprefix(f"{phase.milestone.upper()}-") if phase.milestone else phase.id


def milestone_key(label: str) -> str:
    """`v1.0`, `V1` and `v1` are one milestone."""
    return re.sub(r"(?:\.0)+$", "", label.strip().lower())


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


class PlanCounts(NamedTuple):
    """Plan files on disk, how many of them are done, and how many of the others have no task that can be read."""

    plans: int
    done: int
    unreadable: int


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
    severity: Severity = "warning"


class Claim(Value, frozen=True, kw_only=True):
    """One place in the planning files that says whether a phase is done."""

    source: EvidenceSource
    status: PhaseStatus
    file: str
    line: int
    says: str

    @property
    def done(self) -> bool:
        return self.status == "completed"

    @property
    def told(self) -> str:
        return f"{self.file}:{self.line}: {self.source}: {self.says}"


class Milestone(Value, frozen=True, kw_only=True):
    """One milestone the roadmap names. `when` is the date it shipped, as written; empty when it is not given."""

    label: str
    name: str = ""
    line: int = 0
    shipped: bool = False
    when: str = ""

    @property
    def title(self) -> str:
        return f"{self.label} {self.name}".strip()


class Roadmap(Value, frozen=True, kw_only=True):
    """
    Every phase of the roadmap in the order of its number, and what was odd about the file.

    `active` is the label of the milestone that plain phase numbers belong to. `claims` are the places that say whether
    a phase is done, by phase id. `twofold` are the ids of phases that the roadmap names twice with different contents.
    """

    path: str
    phases: tuple[Phase, ...]
    notes: tuple[Note, ...] = ()
    milestones: tuple[Milestone, ...] = ()
    active: str = ""
    claims: dict[str, tuple[Claim, ...]] = {}
    twofold: frozenset[str] = frozenset()


PROJECT_DONE = "All phases complete. Project is done."


def all_done(roadmap: Roadmap) -> str:
    """What to say when no phase is left. A project with milestones is not done: its next one has no phases yet."""
    if not roadmap.milestones:
        return PROJECT_DONE
    held = {milestone_key(phase.milestone) for phase in roadmap.phases}
    shipped = newest_shipped(roadmap.milestones)
    waiting = (m for m in roadmap.milestones if not m.shipped and milestone_key(m.label) not in held)
    then = next(waiting, None)
    said = ["All phases complete."]
    if shipped:
        said.append(f"Milestone {shipped.title} was finished{f' on {shipped.when}' if shipped.when else ''}.")
    said.append(f"Milestone {then.title} has no phases yet." if then else "The next milestone has no phases yet.")
    said.append(f'Add them to {roadmap.path}, or with: autopilot phases add "Name: what it achieves"')
    return " ".join(said)


def newest_shipped(known: Iterable[Milestone]) -> Milestone | None:
    """The milestone that shipped last; of those without a date, the last one named."""
    shipped = [milestone for milestone in known if milestone.shipped]
    dated = [milestone for milestone in shipped if milestone.when]
    return max(reversed(dated), key=lambda milestone: milestone.when) if dated else (shipped[-1] if shipped else None)


def padded(phase_id: str) -> str:
    """`3` as it stands in commit messages and plan names: `03`; `2.1` is `02.1`."""
    first, dot, rest = phase_id.partition(".")
    return f"{first:0>2}{dot}{rest}"


RoadmapChoice = Literal["take", "keep"]
"""What becomes of changes to phases that have started: they start over, or are finished as they were."""


class RoadmapTaken(Value, frozen=True, kw_only=True):
    """What a run goes by after the roadmap was edited: phases, targets and what is known of them."""

    phases: tuple[Phase, ...]
    targets: tuple[str, ...]
    completed: tuple[str, ...] = ()
    folders: dict[str, str] = {}
    requirements: dict[str, tuple[str, ...]] = {}
