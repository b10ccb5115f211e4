"""Which commands are the project's own gates, however they are written."""

import pytest

from autopilot.domain.settings import Commands
from autopilot.policy.facts.commands import is_gate

GATES = Commands(test="python -m pytest -q tests", lint="ruff check .", build="npm run build")


@pytest.mark.parametrize(
    "command",
    [
        "python -m pytest -q tests",
        "pytest  tests",
        "pytest",
        "CI=1 python3.12 -m pytest --tb=short tests > /dev/null 2>&1",
        "uv run pytest tests",
        "ruff check && pytest",
        "npm build",
        "cd . && ruff check .; pytest -x",
    ],
)
def test_trge_03_a_gate_in_other_words_is_still_one(command: str) -> None:
    assert is_gate(command, GATES)


@pytest.mark.parametrize(
    "command",
    [
        "pytest tests/new_test.py",
        "grep -q done letter.txt",
        "pytest && test -e letter.txt",
        "",
        "npm test",
        "x 'unclosed",
    ],
)
def test_what_shows_more_than_the_gates_is_none(command: str) -> None:
    assert not is_gate(command, GATES)


def test_without_a_gate_nothing_is_one() -> None:
    assert not is_gate("pytest", Commands())
