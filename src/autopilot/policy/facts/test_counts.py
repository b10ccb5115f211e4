"""How many tests passed and failed, and which, read from what a test run printed, as far as that can be told."""

import re

from autopilot.domain.evidence import Counts
from autopilot.text.numbers import read_number

_PASSED = re.compile(
    r"(?<!\d)(\d++) (?:tests? )?(?:passed|passing)\b|^(?:#|\u2139) pass (\d+)$", re.IGNORECASE | re.MULTILINE
)
_FAILED = re.compile(
    r"(?<!\d)(\d++) (?:tests? )?(?:failed|failing)\b|^(?:#|\u2139) fail (\d+)$", re.IGNORECASE | re.MULTILINE
)
_FAILING = re.compile(
    r"^[^\S\n]*+(?:---[^\S\n]*+)?(?:FAIL(?:ED)?:?|ERROR:)[ \t]+(?!\()(\S+(?: \([A-Za-z_][\w.]*\)$)?)"
    r"|^test (\S+) \.\.\. FAILED$"
    r"|^(?:not ok \d+ - |\u2716 )(.+?)(?: \([\d.]+ms\))?$",
    re.MULTILINE,
)
# unittest: `Ran 3 tests in 0.1s`, then `OK (skipped=1)` or `FAILED (failures=1, errors=1)`.
_RAN = re.compile(r"^Ran (\d+) tests? in ", re.MULTILINE)
_ENDED = re.compile(r"^(?:OK|FAILED)(?: \((.*)\))?$", re.MULTILINE)
_RUST = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed", re.MULTILINE)
_COLORS = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
# What runners print that do not count passed tests then: go, jest and vitest, rspec and minitest, ctest and others.
_NOTHING = re.compile(
    r"\[no tests to run\]|^testing: warning: no tests to run"
    r"|^\s*Tests:?\s+(?:\d+ (?:skipped|todo),? ?)+(?:\d+ total|\(\d+\))"
    r"|^0 (?:examples|runs),|^No tests (?:were found|executed|found|ran)|^No test matches|no tests ran",
    re.MULTILINE,
)
_SOMETHING = re.compile(
    r"^ok\s+\S+\s+(?:[\d.]+s|\(cached\))(?!.*no tests to run)|^\s*--- PASS|[1-9]\d* (?:examples|runs),", re.MULTILINE
)


def counts_in(output: str) -> Counts:
    """The last numbers count: many runners print their summary of files before that of tests."""
    failing = tuple(dict.fromkeys(next(filter(None, found)) for found in _FAILING.findall(output)))
    if suites := _RUST.findall(output):
        passed, failed = (sum(read_number(suite[n]) for suite in suites) for n in (0, 1))
        return Counts(passed=passed, failed=failed, failing=failing)
    if ran := _RAN.findall(output):
        return _unittest(read_number(ran[-1]), output, failing)
    passes, failures = _numbers(_PASSED, output), _numbers(_FAILED, output)
    known = bool(passes or failures)
    return Counts(
        passed=passes[-1] if passes else (0 if known else None),
        failed=failures[-1] if failures else (0 if known else None),
        failing=failing,
    )


def ran_none(output: str) -> bool:
    """Whether a test run says that it has run no test at all."""
    plain = _COLORS.sub("", output)
    if counts_in(plain).executed or any(_numbers(_PASSED, plain)) or any(map(read_number, _RAN.findall(plain)[:-1])):
        return False
    silent = _NOTHING.search(plain) is not None and not _SOMETHING.search(plain)
    return counts_in(plain).executed == 0 or silent


def _unittest(ran: int, output: str, failing: tuple[str, ...]) -> Counts:
    ended = _ENDED.findall(output)
    numbers = dict(re.findall(r"(\w+)=(\d+)", ended[-1])) if ended else {}
    failures, errors, skipped = (read_number(numbers.get(name, "0")) for name in ("failures", "errors", "skipped"))
    failed = failures + errors
    return Counts(passed=max(ran - failed - skipped, 0), failed=failed, failing=failing)


def _numbers(pattern: re.Pattern[str], output: str) -> list[int]:
    return [read_number(next(filter(None, found))) for found in pattern.findall(output)]
