"""Sentences about what Autopilot ran, and about what an agent said beside it."""

from collections.abc import Iterable

from autopilot.domain.answers import FixClaim, WorkClaim
from autopilot.domain.evidence import CommandRun, Work
from autopilot.policy.task_progress import new_failures
from autopilot.text.clean import clean, last_line

_NOTHING = frozenset({"", "0", "none", "[]"})


def ended(run: CommandRun) -> str:
    """`command` exited 1."""
    command = f"`{clean(run.command, 80)}`"
    if run.exit_code is None:
        return f"{command} {clean(run.ended, 300)}"
    unexpected = " without showing what was expected" if not run.passed and run.exit_code == 0 else ""
    return f"{command} exited {run.exit_code}{unexpected}"


def summary_of(run: CommandRun) -> str:
    """How the command ended and the last thing it printed."""
    printed = last_line(run.output)
    return f"{ended(run)}: {printed}" if printed else ended(run)


def failing(work: Work) -> tuple[CommandRun, ...]:
    return (*(run for run in work.after if not run.passed), *new_failures(work.gates_before, work.gates_after))


def counted(runs: Iterable[CommandRun]) -> str:
    """2/3 checks passed; said to be unsandboxed unless every one of them ran in a sandbox."""
    seen = tuple(runs)
    if not seen:
        return "nothing was checked"
    told = f"{sum(run.passed for run in seen)}/{len(seen)} checks passed"
    return told if all(run.confined for run in seen) else f"{told} (unsandboxed)"


def says_done(claim: WorkClaim | FixClaim) -> bool:
    """Whether the agent reported success, as far as its words can be read."""
    if isinstance(claim, FixClaim):
        return bool(claim.fixed)
    done, total = _parts(claim.tasks_completed)
    failed, _ = _parts(claim.tasks_failed)
    return done.lower() not in _NOTHING and failed.lower() in _NOTHING and (not total or done == total)


def said(claim: WorkClaim | FixClaim) -> str:
    """The claim in a few words, for an account."""
    if isinstance(claim, FixClaim):
        return "fixed" if claim.fixed else "not fixed"
    if says_done(claim):
        return f"done ({clean(claim.tasks_completed, 20)})"
    return f"not done ({clean(claim.tasks_failed or claim.tasks_completed, 20) or 'no report'})"


def _parts(count: str) -> tuple[str, str]:
    done, _, total = count.strip().partition("/")
    return done.strip(), total.strip()
