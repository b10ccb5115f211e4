"""For every test: a user's folder of its own, time never decides, and what was skipped is said with its reason."""

import os
import re
import shutil
import tempfile
from collections import Counter

import pytest
from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


# Before any other module of the tests copies the environment: the developer's own key, grants and consents are neither
# used nor changed.
STATE = os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="autopilot-state-")


def pytest_unconfigure() -> None:
    shutil.rmtree(STATE, ignore_errors=True)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Ends with why tests were skipped, grouped and counted: a skipped test proves nothing."""
    skipped = terminalreporter.stats.get("skipped", [])
    if not skipped:
        return
    reasons = Counter(reason_of(report) for report in skipped)
    terminalreporter.section(f"{len(skipped)} skipped, and why")
    for reason, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0])):
        terminalreporter.write_line(f"{count:>5}  {reason}")


def reason_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    told = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return re.sub(r"^Skipped: ", "", told) or "no reason given"
