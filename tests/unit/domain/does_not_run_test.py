"""A command that does not run is told from one that runs and fails."""

import pytest

from autopilot.domain.does_not_run import fails_already, why_not_run
from autopilot.domain.evidence import CommandRun


def ran(command: str, exit_code: int | None, output: str = "") -> CommandRun:
    return CommandRun(
        check="test",
        what="test gate",
        command=command,
        exit_code=exit_code,
        passed=exit_code == 0,
        seconds=0.1,
        output=output,
        output_sha256="",
        tree="t",
        sandbox="none",
    )


@pytest.mark.parametrize(
    ("run", "why"),
    [
        (ran("npm test", 127, "bash: line 1: npm: command not found\n"), "bash: line 1: npm: command not found"),
        (ran("npm test", 127, "> x@1 test\n> jest\n\nsh: 1: jest: not found\n"), "sh: 1: jest: not found"),
        (ran("./gradlew test", 126, "bash: ./gradlew: Permission denied"), "bash: ./gradlew: Permission denied"),
        (ran("golangci-lint run", 127), "exit code 127"),
        (ran("make test", 2, "make: pytst: No such file\nmake: *** [test] Error 127\n"), "make: *** [test] Error 127"),
        (
            ran("python -m build", 1, "/usr/bin/python: No module named build\n"),
            "/usr/bin/python: No module named build",
        ),
        (ran("uv run mypy .", 2, "error: Failed to spawn: `mypy`\n"), "error: Failed to spawn: `mypy`"),
        (ran("cargo clippy", 101, "error: no such command: `clippy`\n"), "error: no such command: `clippy`"),
        (ran("poetry run pytest", 1, "Command not found: pytest\n"), "Command not found: pytest"),
    ],
)
def test_what_does_not_run_says_so_in_its_own_words(run: CommandRun, why: str) -> None:
    assert why_not_run(run) == why


@pytest.mark.parametrize(
    "run",
    [
        ran("pytest", 0, "command not found"),
        ran("pytest", 1, "E   ModuleNotFoundError: No module named 'app'\n1 failed"),
        ran("python -m unittest", 1, "ModuleNotFoundError: No module named 'app'\n"),
        ran("make test", 2, "make: *** [test] Error 1\n"),
        ran("npm test", 1, "expected 'command not found' to equal 'x'"),
        ran("cargo test", 101, "test result: FAILED. 1 passed; 1 failed"),
        ran("pytest", None, "command not found"),
    ],
)
def test_what_runs_and_fails_is_a_gate(run: CommandRun) -> None:
    assert why_not_run(run) == ""


def test_a_command_that_fails_before_any_work_is_named_with_its_end() -> None:
    failed = ran("pytest -q", 1)

    assert fails_already(failed).startswith("The test command `pytest -q` fails before any work (exit code 1).")
    assert fails_already(ran("pytest -q", 0)) == ""
