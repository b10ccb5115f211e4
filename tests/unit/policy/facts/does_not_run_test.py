"""A command that does not run is told from one that runs and fails."""

import pytest

from autopilot.domain.evidence import CommandRun
from autopilot.policy.facts.commands import fails_already, first_results, lacks_something, why_not_run


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


UV = """\
   Building tinydb
error: Failed to download `pygments==2.19.2`
  cause: Request failed after 3 retries in 4.1s
  cause: failed to lookup address information: Temporary failure in name resolution

hint: `pygments` was included because `tinydb:dev` depends on `sphinx`
"""
SETUP = "uv sync --frozen --no-install-project"


def test_a_command_that_fails_before_any_work_shows_how_its_output_ends() -> None:
    long = "".join(f"line {n}\n" for n in range(100)) + "x" * 1000

    *_, shown = fails_already(ran("uv run pytest", 2, UV)).partition("Its output ends with:\n")
    assert shown.splitlines()[-1] == "    hint: `pygments` was included because `tinydb:dev` depends on `sphinx`"
    assert "    error: Failed to download `pygments==2.19.2`" in shown.splitlines()

    *_, shown = fails_already(ran("pytest", 1, long)).partition("Its output ends with:\n")
    assert "line 99" in shown
    assert "line 10\n" not in shown
    assert len(shown) < 1000
    assert "ends with" not in fails_already(ran("pytest", 1))


@pytest.mark.parametrize(
    ("output", "lacks"),
    [
        (UV, True),
        ("E   ModuleNotFoundError: No module named 'yaml'\n1 error", True),
        ("Error: Cannot find module 'tape'\nRequire stack:\n", True),
        ("sh: 1: nyc: not found\n", True),
        ("npm error code ENOTFOUND\n", True),
        ("/usr/bin/python: No module named pytest\n", True),
        ("FAILED tests/test_a.py::test_a - assert 1 == 2\n1 failed", False),
        ("test result: FAILED. 1 passed; 1 failed", False),
        ("expected status 404: page not found", False),
        ("", False),
    ],
)
def test_output_that_looks_as_if_something_is_not_installed(output: str, lacks: bool) -> None:
    assert lacks_something(ran("pytest", 1, output)) is lacks
    assert not lacks_something(ran("pytest", 0, output))


def test_the_set_up_command_is_suggested_once_and_only_where_something_seems_to_be_missing() -> None:
    plain, lacking = ran("pytest", 1, "1 failed"), ran("uv run pytest", 2, UV)
    absent = ran("uv run mypy .", 2, "error: Failed to spawn: `mypy`\n")

    def told(*runs: CommandRun, setup: str = SETUP) -> list[str]:
        unused = {run.check: why for run in runs if (why := why_not_run(run))}
        return [text for _, text in first_results(runs, unused, setup)]

    assert ['"workspace"' in text for text in told(plain, lacking, lacking)] == [False, True, False]
    (text,) = told(absent)
    assert f'"workspace": {{"setup": "{SETUP}"}}' in text
    assert "If something is not installed" in text
    assert told(ran("pytest", 0, UV)) == []
    assert '"workspace"' not in "".join(told(lacking, absent, setup=""))
