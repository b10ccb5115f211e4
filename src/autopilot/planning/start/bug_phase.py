"""Turns a problem that the user reports into a phase of its own, outside the roadmap (`autopilot debug`)."""

import re
from collections.abc import Collection, Sequence

from autopilot.domain.errors import UsageInvalid
from autopilot.domain.phase import Criterion, Phase
from autopilot.domain.settings import Commands
from autopilot.planning.plan.folders import BUG_PREFIX

LONGEST_NAME, LONGEST_SLUG = 60, 40
BARE_ROADMAP = b"# Roadmap\n\n### Phase 1: Nothing\n**Goal**: None.\n"
_ODD = re.compile(r"[^a-z0-9]+")


def bug_phase(symptom: str, checks: Sequence[str], commands: Commands, taken: Collection[str]) -> Phase:
    """
    The phase of one problem. Its criteria are the commands that show it, else the project's own.

    Raises `UsageInvalid` where there is no command: without one nothing can show that the problem is gone.
    """
    named = [(f"`{check}` passes", check) for check in checks if check.strip()]
    own = [(f"The project's {name} command passes", command) for name, command in commands.configured()]
    found = named or own
    if not found:
        raise UsageInvalid(
            "No command shows the problem.",
            why="A fix counts only when a command that failed before passes after it.",
            do='Name one, as in `autopilot debug "the total is wrong" --check "python3 -m unittest tests.test_total"`.',
        )
    name = next(name for n in range(1, len(taken) + 2) if (name := f"{BUG_PREFIX}{n}") not in taken)
    words = " ".join(symptom.split()) or f"{found[0][1]} fails"
    return Phase(
        id=name,
        name=words[:LONGEST_NAME],
        goal=f"Find the cause of this problem and fix it: {words}",
        criteria=tuple(
            Criterion(id=str(n), text=text, command=command, source="roadmap")
            for n, (text, command) in enumerate(found, start=1)
        ),
    )


def folder_of(phase: Phase) -> str:
    slug = _ODD.sub("-", phase.name.lower()).strip("-")[:LONGEST_SLUG].strip("-")
    return f".planning/phases/{phase.id.lower()}-{slug}".rstrip("-")
