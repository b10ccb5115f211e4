"""What is wrong with a plan that no opinion is needed for: the mechanical part of plan-check (PCHK-01..09)."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from autopilot.domain.evidence import Finding
from autopilot.domain.phase import Criterion, Phase, PhaseFiles, Plan, Task
from autopilot.domain.settings import Commands
from autopilot.history.record import PhaseRecord
from autopilot.planning.plan import read_plan as plans
from autopilot.planning.plan.phase_files import phase_files
from autopilot.planning.roadmap import graph

_VAGUE = (
    "should work", "properly handles", "is correct", "works as expected", "functions correctly", "is implemented",
)  # fmt: skip
_STUB_WORDS = 20
_MOST_TASKS = 5
_GENERIC = re.compile(
    r"\W*(?:implement|add|update|create|build|fix|write)\s+(?:the\s+)?[\w/.` -]{1,60}\.?\s*$", re.IGNORECASE
)
_LOOKS_ONLY = re.compile(
    r"(?:!\s*)?(?:git\s+grep|[ef]?grep|rg|test\s+(?:!\s+)?-[a-z]|\[\s+(?:!\s+)?-[a-z]|wc|ls|cat|find|awk|sed|head|tail|sort|uniq|cut|tr|xargs|echo|true)\b"
)
_TEST_SPEC = re.compile(r"tests?/task-[\w.-]+\.sh")
# Each makes the command's end say "fine" whatever happened before.
_TEST_RUNNER = re.compile(
    r"\b(?:pytest|unittest|tox|nox|jest|vitest|mocha|rspec|phpunit|ctest)\b"
    r"|\b(?:npm|pnpm|yarn|bun|cargo|go|make|mvn|gradle|gradlew|dotnet|mix|swift)\s+(?:run\s+)?test\b"
)
_HARMLESS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\|\|\s*(?:true|:|/bin/true|exit\s+0|echo\b)"), "`|| true` swallows the failure"),
    (re.compile(r"(?:;|&&?|\n|^)\s*(?:true|:|/bin/true)\s*$"), "it ends in `true`"),
    (re.compile(r"(?:;|\|\||\n|^)\s*exit\s+0\s*$"), "it ends in `exit 0`"),
)
_MOST_FILES = {"simple": 1, "medium": 3}
_TESTS = re.compile(r"(?:^|[/_.-])(?:tests?|specs?)(?:[/_.-]|$)", re.IGNORECASE)
_INTERACTIVE = re.compile(r"\.(?:tsx|jsx|vue|svelte|html|css|scss|qml|swift|kt)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Subject:
    plan: Plan
    phase: Phase
    requirements: tuple[str, ...]
    commands: Commands


class PlanReader:
    """`Planning` for the pipeline."""

    def plan(self, text: str, tests: Mapping[str, str]) -> Plan:
        return plans.read(text, tests)

    def phase_files(self, files: Mapping[str, str], phase: str, tests: Mapping[str, str]) -> PhaseFiles:
        return phase_files(files, phase, tests)

    def problems(self, plan: Plan, record: PhaseRecord) -> tuple[Finding, ...]:
        subject = _Subject(
            plan=plan,
            phase=record.phase,
            requirements=tuple(line.partition(":")[0] for line in record.brief.requirements),
            commands=record.start.settings.commands,
        )
        return tuple(_all(subject))


def problems(plan: Plan, phase: Phase, requirements: Sequence[str]) -> tuple[Finding, ...]:
    """Without the project's commands, PCHK-09 has nothing to compare with and stays silent."""
    return tuple(_all(_Subject(plan=plan, phase=phase, requirements=tuple(requirements), commands=Commands())))


def _all(subject: _Subject) -> Iterator[Finding]:
    for check in PLAN_CHECKS:
        yield from check(subject)
    for task in subject.plan.tasks:
        for task_check in TASK_CHECKS:
            yield from task_check(task, subject)


def _uncovered(subject: _Subject) -> Iterator[Finding]:
    served = {requirement.upper() for task in subject.plan.tasks for requirement in task.requirements}
    text = subject.plan.text.upper()
    for requirement in subject.requirements:
        wanted = requirement.upper()
        mentioned = re.search(rf"(?<![\w-]){re.escape(wanted)}(?![\w-])", text)
        if wanted not in served and not (mentioned and not served):
            yield Finding(rule="PCHK-01", where="plan", what=f"Requirement {requirement} has no task.")


def _repeated(subject: _Subject) -> Iterator[Finding]:
    for task_id, times in Counter(task.id for task in subject.plan.tasks).items():
        if times > 1:
            yield Finding(rule="PCHK-03", where=task_id, what=f"{times} tasks have the id {task_id}.")


def _cyclic(subject: _Subject) -> Iterator[Finding]:
    known = {task.id for task in subject.plan.tasks}
    edges: dict[str, tuple[str, ...]] = {}
    for task in subject.plan.tasks:
        own = tuple(need for need in task.depends_on if need in known)
        edges[task.id] = (*edges.get(task.id, ()), *own)
    if found := graph.cycle(edges):
        yield Finding(rule="PCHK-03", where=found[0], what=f"Tasks wait for each other: {' -> '.join(found)}.")
    for task in subject.plan.tasks:
        for need in task.depends_on:
            if need not in known:
                yield Finding(
                    rule="PCHK-03", where=task.id, what=f"Task {task.id} depends on {need}, which is no task."
                )


def _unexecuted(subject: _Subject) -> Iterator[Finding]:
    configured = [command for name, command in subject.commands.configured() if name in {"test", "compile"}]
    run = [c.command for task in subject.plan.tasks for c in task.criteria if c.command]
    if configured and not any(not _only_looks(command) for command in run):
        what = "The project has test or compile commands, but no criterion executes anything."
        yield Finding(rule="PCHK-09", where="plan", what=what, severity="info")


def _crowded(subject: _Subject) -> Iterator[Finding]:
    """PCHK-10 wants few tasks a plan; PLAN-02 draws the line at five."""
    if len(subject.plan.tasks) > _MOST_TASKS:
        what = f"The plan has {len(subject.plan.tasks)} tasks; more than {_MOST_TASKS} are hard to check as one."
        yield Finding(rule="PCHK-10", where="plan", what=what, severity="info")


def _incomplete(task: Task, _: _Subject) -> Iterator[Finding]:
    if _is_checkpoint(task):
        return
    parts = (("files", task.files), ("action", task.action), ("verify", task.criteria), ("done", task.done))
    missing = [name for name, value in parts if not value]
    if missing:
        yield Finding(rule="PCHK-02", where=task.id, what=f"Task {task.id} lacks {', '.join(missing)}.")


def _stub(task: Task, _: _Subject) -> Iterator[Finding]:
    if _is_checkpoint(task) or not task.action:
        return
    if len(task.action.split()) < _STUB_WORDS or _GENERIC.fullmatch(task.action):
        what = f"Task {task.id} action field is a stub -- lacks specific implementation steps."
        yield Finding(rule="PROM-02", where=task.id, what=what)


def _unproven(task: Task, subject: _Subject) -> Iterator[Finding]:
    """PCHK-04, PCHK-05. In a plan the user brought along, prose beside a command is only told."""
    if _is_checkpoint(task):
        return
    runnable = [c for c in task.criteria if c.command]
    for criterion in task.criteria:
        if criterion.command or criterion.behavioural:
            continue
        vague = next((words for words in _VAGUE if words in criterion.text.lower()), None)
        rule = "PCHK-05" if vague else "PCHK-04"
        what = f"Criterion {criterion.text[:120]!r} has no runnable command" + (
            f" and is vague ({vague!r})." if vague else "."
        )
        tolerated = subject.plan.existed_before and bool(runnable)
        yield Finding(rule=rule, where=criterion.id, what=what, severity="warning" if tolerated else "blocker")
    if not runnable:
        yield Finding(rule="PCHK-04", where=task.id, what=f"Task {task.id} has no criterion that can be run.")


def _toothless(task: Task, _: _Subject) -> Iterator[Finding]:
    for criterion in task.criteria:
        if why := cannot_fail(criterion):
            what = f"The check {criterion.command!r} cannot fail: {why}."
            yield Finding(rule="PCHK-04", where=criterion.id, what=what)


def _superficial(task: Task, subject: _Subject) -> Iterator[Finding]:
    commands = [c.command for c in task.criteria if c.command]
    if _is_checkpoint(task) or not commands or not all(_only_looks(command) for command in commands):
        return
    if not any(_TEST_SPEC.search(command) for command in commands):
        what = f"Task {task.id} has only grep/file existence criteria and no test specification reference."
        yield Finding(rule="PCHK-07", where=task.id, what=what)
    if _untraced(task, subject):
        what = f"Task {task.id} touches interactive code and its criteria only look at text."
        yield Finding(rule="PCHK-06", where=task.id, what=what, severity="warning")


def _unfollowed(task: Task, subject: _Subject) -> Iterator[Finding]:
    if _untraced(task, subject):
        what = f"Task {task.id} touches interactive code but has no behavioural criterion."
        yield Finding(rule="PLAN-05", where=task.id, what=what, severity="warning")


def _untraced(task: Task, subject: _Subject) -> bool:
    interactive = subject.phase.type in {"ui", "mixed"} and any(_INTERACTIVE.search(path) for path in task.files)
    return interactive and not any(c.behavioural for c in task.criteria)


def _unsized(task: Task, _: _Subject) -> Iterator[Finding]:
    if task.complexity is None and not _is_checkpoint(task):
        what = f"Task {task.id} has no valid complexity (simple, medium or complex): counted as medium."
        yield Finding(rule="PCHK-08", where=task.id, what=what, severity="warning")


def _missized(task: Task, _: _Subject) -> Iterator[Finding]:
    """PLAN-03 by what can be counted: the files, tests left out."""
    files = [path for path in task.files if not _TESTS.search(path)]
    if len(files) > _MOST_FILES.get(task.complexity or "", len(files)):
        what = f"Task {task.id} is called {task.complexity} but names {len(files)} files beside its tests."
        yield Finding(rule="PLAN-03", where=task.id, what=what, severity="info")


def _astray(task: Task, _: _Subject) -> Iterator[Finding]:
    for path in task.files:
        if leaves_project(path):
            yield Finding(
                rule="PCHK-02", where=task.id, what=f"Task {task.id} names {path!r}, which is outside the project."
            )


def _unreasoned(task: Task, _: _Subject) -> Iterator[Finding]:
    """A declared test change excuses only what it gives a reason for."""
    bare = [declared.path for declared in task.changes_tests if not declared.reason]
    if bare:
        what = f"Task {task.id} says that it changes {', '.join(bare)}, but not why: write `path -- reason`."
        yield Finding(rule="changes-tests", where=task.id, what=what)


def cannot_fail(criterion: Criterion) -> str | None:
    """Why the criterion's command would pass whatever the code does; None when it can fail."""
    command = (criterion.command or "").strip()
    if criterion.expect.form == "text" and _TEST_RUNNER.search(command):
        return "a test run that fails prints such words too; expect its exit code"
    if not command or criterion.expect.form != "exit":
        return None
    return next((why for pattern, why in _HARMLESS if pattern.search(command)), None)


def leaves_project(path: str) -> bool:
    """Absolute, in a home folder, on a drive, climbing out, git's or ours, or an option instead of a name."""
    parts = path.replace("\\", "/").split("/")
    if path.startswith(("/", "\\", "~", "-")) or re.match(r"[A-Za-z]:", path) or not path.isprintable():
        return True
    depth = 0
    for part in parts:
        depth += -1 if part == ".." else (part not in {"", "."})
        if depth < 0:
            return True
    return (
        any(part.rstrip(" .").casefold() in {".git", "git~1"} for part in parts) or parts[0].casefold() == ".autopilot"
    )


def _only_looks(command: str) -> bool:
    """Whether every part of the command only looks at text and files."""
    parts = [part.strip() for part in re.split(r"\|\||&&|[|;\n]", _without_quotes(command))]
    return all(_LOOKS_ONLY.match(part.lstrip("( ")) for part in parts if part)


def _without_quotes(command: str) -> str:
    return re.sub(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"", "''", command)


def _is_checkpoint(task: Task) -> bool:
    return task.type.startswith("checkpoint:")


PLAN_CHECKS: tuple[Callable[[_Subject], Iterator[Finding]], ...] = (
    _uncovered,
    _repeated,
    _cyclic,
    _unexecuted,
    _crowded,
)
TASK_CHECKS: tuple[Callable[[Task, _Subject], Iterator[Finding]], ...] = (
    _incomplete,
    _stub,
    _unproven,
    _toothless,
    _superficial,
    _unfollowed,
    _unsized,
    _missized,
    _astray,
    _unreasoned,
)
