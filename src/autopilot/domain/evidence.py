"""
Facts, opinions and claims: three kinds that never mix.

A fact is something Autopilot ran, read or measured itself; every pass needs facts. An opinion comes from a separate
reviewer and can only hold back. A claim is what an agent says of its own work; it never lets anything pass.
"""

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


class CommandRun(Fact, frozen=True, kw_only=True):
    """
    A command Autopilot ran on a checkout of its own. `exit_code` None: it was cut off or could not start.

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
    restored: tuple[str, ...] = ()

    @property
    def confined(self) -> bool:
        """Whether it ran in a sandbox: without one a pass is never shown as verified."""
        return not self.sandbox.startswith("none")


class FileChange(Fact, frozen=True, kw_only=True):
    path: str
    status: Literal["A", "M", "D", "T"]


class Change(Fact, frozen=True, kw_only=True):
    """What a step did to the tree, read from git: from `base` to `commit`. Empty when nothing changed."""

    base: str
    commit: str
    tree: str
    files: tuple[FileChange, ...] = ()
    added: int = 0
    removed: int = 0


class Finding(Fact, frozen=True, kw_only=True):
    """Something Autopilot noticed in a change or a plan. A blocker keeps the work from passing."""

    rule: str
    where: str
    what: str
    severity: Literal["blocker", "warning", "info"] = "blocker"


class Work(Fact, frozen=True, kw_only=True):
    """The facts of one attempt at a task: criteria and gates on the tree before and after it, and the change."""

    task: str
    change: Change
    before: tuple[CommandRun, ...] = ()
    after: tuple[CommandRun, ...] = ()
    gates_before: tuple[CommandRun, ...] = ()
    gates_after: tuple[CommandRun, ...] = ()
    findings: tuple[Finding, ...] = ()


class Usage(Value, frozen=True, kw_only=True):
    """What a call cost, as far as the agent reports it. None is unknown, never zero."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
