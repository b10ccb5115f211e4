"""The test results a runner writes for us beside its output: where, and what they say."""

import html
import os
import re
import secrets
import shlex
from pathlib import Path

from autopilot.domain.evidence import Counts
from autopilot.evidence.safe_read import read_beneath

MOST_BYTES = 20_000_000
# pytest reads its extra options from the environment, also when something else starts it.
_STARTS_PYTEST = re.compile(r"\b(?:pytest|py\.test|tox|nox|make|just|hatch|poetry|pdm|uv|task)\b")
_CASE = re.compile(r"<testcase\b([^>]*)>")
_CLASS, _NAME = re.compile(r'\bclassname="([^"]*)"'), re.compile(r'(?<!\w)name="([^"]*)"')
_FAILED, _SKIPPED = re.compile(r"<(?:failure|error)\b"), re.compile(r"<skipped\b")


def report_path(command: str, folder: str) -> Path | None:
    """A file nobody knows the name of before the run; None for a command that would not write it."""
    if not _STARTS_PYTEST.search(command):
        return None
    return Path(os.path.realpath(folder), ".autopilot", f"tests-{secrets.token_hex(8)}.xml")


def reporting(command: str, report: Path) -> str:
    option = shlex.quote(f"--junitxml={report}")
    return f"export PYTEST_ADDOPTS={shlex.quote(option)}\n{command}"


def read_report(report: Path) -> Counts | None:
    """None when there is no such report, or one without a single test."""
    place = Path(report).parents[1]
    content = read_beneath(place, report.relative_to(place).as_posix(), MOST_BYTES)
    return None if content is None else counts_of(content.decode("utf-8", "replace"))


def counts_of(text: str) -> Counts | None:
    """The cases of a JUnit file; text inside them is escaped, so that none can be made up there."""
    found = list(_CASE.finditer(text))
    if not found:
        return None
    ends = [*(case.start() for case in found[1:]), len(text)]
    failing, skipped = [], 0
    for case, end in zip(found, ends, strict=True):
        body = "" if case[1].endswith("/") else text[case.end() : end]
        if _FAILED.search(body):
            failing.append(_title(case[1]))
        elif _SKIPPED.search(body):
            skipped += 1
    passed = len(found) - len(failing) - skipped
    return Counts(passed=passed, failed=len(failing), failing=tuple(failing))


def _title(attributes: str) -> str:
    owner, name = _CLASS.search(attributes), _NAME.search(attributes)
    return html.unescape("::".join(part[1] for part in (owner, name) if part and part[1]))
