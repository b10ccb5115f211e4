"""How many tests passed and failed, read from what a test run printed, as far as that can be told."""

import re
from dataclasses import dataclass

_PASSED = re.compile(r"(\d+) (?:tests? )?(?:passed|passing)\b", re.IGNORECASE)
_FAILED = re.compile(r"(\d+) (?:tests? )?(?:failed|failing)\b", re.IGNORECASE)
_FAILING = re.compile(r"^\s*(?:---\s*)?FAIL(?:ED)?:?\s+(\S+)", re.MULTILINE)
NAMES_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Counts:
    """None: the output does not say."""

    passed: int | None = None
    failed: int | None = None
    failing: tuple[str, ...] = ()

    def __str__(self) -> str:
        """`{passed}/{total} tests`, and the first few that fail; empty when nothing could be read."""
        said = "" if self.passed is None else f"{self.passed}/{self.passed + (self.failed or 0)} tests"
        names = f"failing: {', '.join(self.failing[:NAMES_SHOWN])}" if self.failing else ""
        return "; ".join(part for part in (said, names) if part)


def counts_in(output: str) -> Counts:
    """The last numbers count: many runners print their summary of files before that of tests."""
    passed, failed = _PASSED.findall(output), _FAILED.findall(output)
    known = bool(passed or failed)
    return Counts(
        passed=int(passed[-1]) if passed else (0 if known else None),
        failed=int(failed[-1]) if failed else (0 if known else None),
        failing=tuple(dict.fromkeys(_FAILING.findall(output))),
    )
