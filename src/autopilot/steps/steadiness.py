"""Do the user's own criteria hold every time? What passes by chance has not been shown."""

import re

import msgspec

from autopilot.domain.evidence import CommandRun, Finding
from autopilot.domain.phase import Criterion
from autopilot.domain.protocols import Tools
from autopilot.domain.record import PhaseRecord
from autopilot.domain.results import Verified
from autopilot.steps.frozen import frozen_tests

QUICK_S = 1.0
# A look at a file says the same each time.
_LOOKS = re.compile(
    r"(?:!\s*)?(?:test|\[|grep|egrep|fgrep|cat|ls|diff|cmp|wc|head|tail|sort|cut|echo|printf|true|stat)(?=\s|$)"
)
_JOINTS = re.compile(r"\|\|?|&&|;|\n")


def steadied(record: PhaseRecord, tools: Tools, found: Verified, commit: str) -> Verified:
    """The quick ones are run a few times more; one that fails then is a blocker."""
    quick = {run.command for run in found.checks if run.passed and run.seconds <= QUICK_S}
    wanted = tuple(c for c in record.phase.criteria if c.command in quick and runs_something(c))
    runs = tools.facts.repeated(commit, wanted, frozen_tests(record, record.plan)) if wanted else ()
    return msgspec.structs.replace(
        found,
        findings=(*found.findings, *(_unsteady(run) for run in runs if not run.passed)),
        extra=(*found.extra, *map(_marked, runs)),
    )


def runs_something(criterion: Criterion) -> bool:
    """Whether the command starts a program of the project's, as far as one can see."""
    parts = (part.strip() for part in _JOINTS.split(criterion.command or ""))
    return any(part and not _LOOKS.match(part) for part in parts) or "$(" in (criterion.command or "")


def _marked(run: CommandRun) -> CommandRun:
    return msgspec.structs.replace(run, check=f"{run.check}.again", what=f"{run.what} (run several times more)")


def _unsteady(run: CommandRun) -> Finding:
    what = "it held, and did not when it was run again on the same tree: it passes by chance"
    return Finding(rule="unsteady", where=run.command, what=what)
