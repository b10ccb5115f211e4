"""Which agents are installed: asked for their version without a home, a variable or a chance to dawdle."""

from pathlib import Path

import pytest

from autopilot.agents import discovery as installed
from autopilot.agents.backends.catalogue import BY_NAME
from autopilot.agents.discovery import KNOWN, agent_checks
from autopilot.sandbox.processes.children import ChildProcesses


def program(folder: Path, name: str, body: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def found(folder: Path) -> list[str]:
    environment = {"PATH": f"{folder}:/usr/bin:/bin", "HOME": "/secret", "API_KEY": "secret"}
    return [check.found for check in agent_checks(ChildProcesses(), environment)]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ('echo "$0 2.1.7 (Code)"', "claude 2.1.7 at "),
        ("echo 'version 0.4.0-beta.1' >&2", "claude 0.4.0-beta.1 at "),
        ("true", "claude (does not tell its version) at "),
        ('test -z "$(ls -A "$HOME")" && test -z "$API_KEY" && echo 1.0', "claude 1.0 at "),
        ('test "$*" = --version && test -z "$(ls -A .)" && echo 1.1', "claude 1.1 at "),
    ],
    ids=["plain", "on standard error", "says nothing", "empty home, no key", "nothing else asked"],
)
def test_an_agent_is_named_with_its_version(body: str, told: str, tmp_path: Path) -> None:
    program(tmp_path, "claude", body)

    assert [line.startswith(told) for line in found(tmp_path)] == [True]


def test_an_agent_that_dawdles_is_named_without_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed, "SECONDS", 0.5)
    program(tmp_path, "claude", "sleep 600")

    assert [line.partition(" at ")[0] for line in found(tmp_path)] == ["claude (does not tell its version)"]


@pytest.mark.parametrize(
    ("body", "why"), [("echo no node here >&2\nexit 127", "no node here"), ("exit 3", "exit code 3")]
)
def test_an_agent_that_does_not_run_is_said_to(body: str, why: str, tmp_path: Path) -> None:
    program(tmp_path, "claude", body)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": "/secret"}
    (check,) = agent_checks(ChildProcesses(), environment)

    assert (check.level, check.found) == ("warn", f"claude at {tmp_path}/claude does not run: {why}")


def test_all_that_are_there_are_named_in_the_order_of_preference(tmp_path: Path) -> None:
    for name in reversed(KNOWN):
        program(tmp_path, name, "echo 1.2")

    assert [line.split()[0] for line in found(tmp_path)] == list(KNOWN)


def test_none_at_all_is_a_warning_with_a_way_out(tmp_path: Path) -> None:
    (check,) = agent_checks(ChildProcesses(), {"PATH": str(tmp_path)})

    assert (check.level, "exec:" in check.fix) == ("warn", True)


@pytest.mark.parametrize("name", KNOWN)
def test_a_key_or_a_file_of_its_own_shows_that_an_agent_is_signed_in(name: str, tmp_path: Path) -> None:
    program(tmp_path, name, "echo 1.2")
    variables, files = BY_NAME[name].sign_in.variables, BY_NAME[name].sign_in.files
    bare = {"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": str(tmp_path)}
    (without,) = agent_checks(ChildProcesses(), bare)
    (by_key,) = agent_checks(ChildProcesses(), {**bare, variables[0]: "secret"})
    (tmp_path / files[0]).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / files[0]).write_text("secret")
    (by_file,) = agent_checks(ChildProcesses(), bare)

    assert (without.level, bool(without.fix)) == ("warn", True)
    assert by_key.found.endswith(f"signed in by {variables[0]}")
    assert by_file.found.endswith(f"signed in by ~/{files[0]}")
    assert "secret" not in f"{by_key}{by_file}"


@pytest.mark.parametrize("trouble", ["a link", "a second name", "too large"])
def test_an_account_that_no_call_can_be_given_is_said_to_be_one(trouble: str, tmp_path: Path) -> None:
    program(tmp_path, "claude", "echo 2.0")
    own, elsewhere = tmp_path / ".claude/.credentials.json", tmp_path / "elsewhere"
    own.parent.mkdir()
    elsewhere.write_text(" " * (65_537 if trouble == "too large" else 2))
    if trouble == "a link":
        own.symlink_to(elsewhere)
    elif trouble == "a second name":
        own.hardlink_to(elsewhere)
    else:
        elsewhere.rename(own)
    (check,) = agent_checks(ChildProcesses(), {"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": str(tmp_path)})

    assert (check.level, "agents cannot be given ~/.claude/.credentials.json" in check.found) == ("warn", True)
    assert "set ANTHROPIC_API_KEY" in check.fix


def test_without_a_file_or_a_variable_the_keychain_is_said_to_be_out_of_reach(tmp_path: Path) -> None:
    program(tmp_path, "claude", "echo 2.0")
    (check,) = agent_checks(ChildProcesses(), {"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": str(tmp_path)})

    assert "no sign of an account" in check.found
    assert "keychain cannot be copied into the home of a call: set ANTHROPIC_API_KEY" in check.fix
