"""Decides whether what a command did meets its criterion. Pure."""

import re

from autopilot.domain.phase import Criterion
from autopilot.policy.facts.test_counts import ran_none
from autopilot.policy.facts.test_selection import selects_tests

_TEST_SPEC = re.compile(r"\btests/task-[\w.-]+\.sh\b")
_FAILED = re.compile(r"^\s*FAIL\b", re.MULTILINE)


def is_met(criterion: Criterion, exit_code: int | None, output: str) -> bool:
    """
    TSPC-01: a test specification that prints a failed assertion has failed, however it ends.

    A command that names tests and runs none shows nothing, though many runners end it with 0.
    """
    command = criterion.command or ""
    if _TEST_SPEC.search(command) and _FAILED.search(output):
        return False
    empty = exit_code == 0 and criterion.expect.form == "exit" and selects_tests(command) and ran_none(output)
    return criterion.expect.met(exit_code, output) and not empty
