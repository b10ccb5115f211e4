"""Checks what plans of the phase asked for that a later plan replaced: work that counted must still hold."""

import msgspec

from autopilot.domain.evidence import CommandRun
from autopilot.domain.phase import Criterion, Plan
from autopilot.domain.results import REPLACED
from autopilot.history.record import PhaseRecord
from autopilot.ports.agents import Tools
from autopilot.steps.checks.test_specs import frozen_tests


def replaced_checks(record: PhaseRecord, tools: Tools, commit: str) -> tuple[CommandRun, ...]:
    """Each criterion with the test files of its own plan. What the plan in force asks for as well is run once."""
    known = {_asked(criterion, record.plan) for criterion in _criteria(record.plan)}
    found: tuple[CommandRun, ...] = ()
    for number, plan in enumerate(record.replaced_plans, start=1):
        left = [c for c in _criteria(plan) if _asked(c, plan) not in known]
        known |= {_asked(criterion, plan) for criterion in left}
        named = tuple(msgspec.structs.replace(c, id=f"{c.id}{REPLACED}{number}", text=_told(c)) for c in left)
        found += tools.facts.check(commit, named, frozen_tests(record, plan)) if named else ()
    return found


def _criteria(plan: Plan | None) -> tuple[Criterion, ...]:
    return tuple(c for task in plan.tasks for c in task.criteria if c.command) if plan else ()


def _asked(criterion: Criterion, plan: Plan | None) -> tuple[object, ...]:
    """What the criterion comes down to: its command, what that must show, and the test files it names."""
    named = (test for test in plan.tests if test.path in (criterion.command or "")) if plan else ()
    return criterion.command, criterion.expect, tuple(named)


def _told(criterion: Criterion) -> str:
    return f"{criterion.text} (asked for by an earlier plan of this phase)"
