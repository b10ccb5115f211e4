"""
Facts, opinions and claims: three kinds that never mix.

A fact is something Autopilot ran, read or measured itself; every pass needs facts. An opinion comes from a separate
reviewer and can only hold back. A claim is what an agent says of its own work; it never lets anything pass.
"""

from collections.abc import Iterable
from typing import Literal

from autopilot.domain.value import Value


class Fact(Value, frozen=True, kw_only=True):
    """Base of what Autopilot found out itself."""


class Opinion(Value, frozen=True, kw_only=True):
    """Base of what a separate reviewer says. Needed for a pass, never enough for one."""

    issues_detected: tuple[str, ...] = ()


class Claim(Value, frozen=True, kw_only=True):
    """
    Base of what an agent says about its own work. Kept for the log and compared with facts.

    PROM-04: `issues_detected` is whatever an agent of any role came across; it is shown and mends nothing.
    """

    issues_detected: tuple[str, ...] = ()


Severity = Literal["blocker", "warning", "info"]
NAMES_SHOWN = 5


class Counts(Fact, frozen=True, kw_only=True):
    """How many tests a run passed and failed, skipped ones left out, and which failed. None: it did not say."""

    passed: int | None = None
    failed: int | None = None
    failing: tuple[str, ...] = ()

    @property
    def executed(self) -> int | None:
        return None if self.passed is None else self.passed + (self.failed or 0)

    def __str__(self) -> str:
        """`{passed}/{total} tests`, and the first few that fail; empty when nothing could be read."""
        said = "" if self.passed is None else f"{self.passed}/{self.executed} tests"
        names = f"failing: {', '.join(self.failing[:NAMES_SHOWN])}" if self.failing else ""
        return "; ".join(part for part in (said, names) if part)


class CommandRun(Fact, frozen=True, kw_only=True):
    """
    A command Autopilot ran on a checkout of its own. `exit_code` None: it was cut off, or `not_run` says why not.

    `laid` is a hash of the files laid over the tree, `tests` what a test command said of its tests.
    `output` is its end without secrets, `output_sha256` is of all it printed. `restored` are the paths that were put
    back to what they were at the phase's base.
    """

    check: str
    what: str
    command: str
    exit_code: int | None
    passed: bool
    seconds: float
    output: str
    output_sha256: str
    tree: str
    sandbox: str
    laid: str = ""
    tests: Counts | None = None
    restored: tuple[str, ...] = ()
    not_run: str = ""

    @property
    def code(self) -> str:
        """How it ended, in two words."""
        if self.not_run:
            return "not run"
        return "cut off" if self.exit_code is None else f"exit {self.exit_code}"

    @property
    def ended(self) -> str:
        """How it ended, as the end of a sentence about the command."""
        if self.not_run:
            return f"was not run: {self.not_run}"
        return "was cut off" if self.exit_code is None else f"exited {self.exit_code}"

    @property
    def confined(self) -> bool:
        """Whether it ran in a sandbox: without one a pass is never shown as verified."""
        return not self.sandbox.startswith("none")


class FileChange(Fact, frozen=True, kw_only=True):
    path: str
    status: Literal["A", "M", "D", "T"]


class Change(Fact, frozen=True, kw_only=True):
    """
    What a step did to the tree, read from git: from `base` to `commit`. Empty when nothing changed.

    `left_out` are files of its folder that no commit can hold.
    """

    base: str
    commit: str
    tree: str
    files: tuple[FileChange, ...] = ()
    added: int = 0
    removed: int = 0
    left_out: tuple[str, ...] = ()


class Finding(Fact, frozen=True, kw_only=True):
    """Something Autopilot noticed in a change or a plan. A blocker keeps the work from passing."""

    rule: str
    where: str
    what: str
    severity: Severity = "blocker"
    why: str = ""


class FileVersion(Fact, frozen=True, kw_only=True):
    """A file at a commit. `text` is None when it is no text or too large; of a link it is where it points."""

    mode: str
    size: int = 0
    text: str | None = None


class FileTexts(Fact, frozen=True, kw_only=True):
    """A changed file on both sides of a change; None where it is not there."""

    path: str
    before: FileVersion | None = None
    after: FileVersion | None = None


class Work(Fact, frozen=True, kw_only=True):
    """
    The facts of one attempt at a task: criteria and gates on the tree before and after it, and the change.

    `judged` is the tree the runs after it are about: the change's own, but for what was left out of it. `extra` are the
    runs behind some findings: old tests on the new code, sources put back, a second try.
    """

    task: str
    change: Change
    before: tuple[CommandRun, ...] = ()
    after: tuple[CommandRun, ...] = ()
    gates_before: tuple[CommandRun, ...] = ()
    gates_after: tuple[CommandRun, ...] = ()
    findings: tuple[Finding, ...] = ()
    extra: tuple[CommandRun, ...] = ()
    judged: str = ""

    @property
    def on_its_tree(self) -> bool:
        return all_about(self.judged or self.change.tree, (*self.after, *self.gates_after))


def all_about(tree: str, runs: Iterable[CommandRun]) -> bool:
    """Whether every run was made on the tree, none of them cut off and passed all the same."""
    return all(run.tree == tree and not (run.passed and run.exit_code is None) for run in runs)


class Usage(Value, frozen=True, kw_only=True):
    """
    What a call cost, as far as the agent reports it. None is unknown, never zero.

    `input_tokens` has the cached ones in it. Dollars that the agent did not tell are reckoned `by_list`, if at all.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    cached_tokens: int | None = None
    by_list: bool = False
