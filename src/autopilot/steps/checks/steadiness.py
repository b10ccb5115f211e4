"""Do the user's own criteria hold every time? What passes by chance has not been shown."""

import re

import msgspec

from autopilot.domain.evidence import CommandRun, Finding
from autopilot.domain.phase import Criterion
from autopilot.domain.results import Verified
from autopilot.domain.settings import Limits
from autopilot.history.record import PhaseRecord
from autopilot.ports.agents import Tools
from autopilot.steps.checks.frozen import frozen_tests

# How often a criterion is run again at most, and which share of a phase's time all of that may take at worst.
MOST, SHARE = 5, 0.1
# A look at a file says the same each time.
_LOOKS = re.compile(
    r"(?:!\s*)?(?:test|\[|grep|egrep|fgrep|cat|ls|diff|cmp|wc|head|tail|sort|cut|echo|printf|true|stat)(?=\s|$)"
)
_JOINTS = re.compile(r"\|\|?|&&|;|\n")


def steadied(record: PhaseRecord, tools: Tools, found: Verified, commit: str) -> Verified:
    """Those that start a program are run a few times more; one that fails then is a blocker."""
    held = {run.command for run in found.checks if run.passed}
    wanted = tuple(c for c in record.phase.criteria if c.command in held and runs_something(c))
    times = repeats(len(wanted), record.start.settings.limits) if wanted else 0
    runs = tools.facts.repeated(commit, wanted, frozen_tests(record, record.plan), times) if wanted else ()
    return msgspec.structs.replace(
        found,
        findings=(*found.findings, *(_unsteady(run) for run in runs if not run.passed)),
        extra=(*found.extra, *map(_marked, runs)),
    )


def repeats(criteria: int, limits: Limits) -> int:
    """
    How many times more each of so many criteria is run: once at least.

    By the limits alone and never by how long a run took: a slow machine has to look as closely as a fast one.
    """
    runs = SHARE * limits.minutes_per_phase * 60 / max(1, limits.command_seconds)
    return max(1, int(min(MOST, runs / criteria)))


def runs_something(criterion: Criterion) -> bool:
    """Whether the command starts a program of the project's, as far as one can see."""
    parts = (part.strip() for part in _JOINTS.split(criterion.command or ""))
    return any(part and not _LOOKS.match(part) for part in parts) or "$(" in (criterion.command or "")


def _marked(run: CommandRun) -> CommandRun:
    return msgspec.structs.replace(run, check=f"{run.check}.again", what=f"{run.what} (run several times more)")


def _unsteady(run: CommandRun) -> Finding:
    what = "it held, and did not when it was run again on the same tree: it passes by chance"
    return Finding(rule="unsteady", where=run.command, what=what)
