"""Which files of a command count as checks that the work must not decide by itself."""

import pytest

from autopilot.steps.checks.old_checks import scripts


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("bash check.sh", ["check.sh"]),
        ("./scripts/verify.sh --all", ["scripts/verify.sh"]),
        ("sh -e ci/run && python3 tests/smoke.py", ["ci/run", "tests/smoke.py"]),
        ("true; node test/index.js", ["test/index.js"]),
        ("python3 -m till 2x3.50 | grep -x 7.00", []),
        ("python3 app.py", []),
        ("grep -q done check.sh", []),
        ("", []),
    ],
)
def test_scripts_that_look_like_checks_are_found(command: str, found: list[str]) -> None:
    assert list(scripts(command)) == found
