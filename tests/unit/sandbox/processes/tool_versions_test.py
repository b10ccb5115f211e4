"""Versions of the tools: each asked once, from nowhere near the project."""

import os
import platform
from pathlib import Path

from autopilot import __version__
from autopilot.sandbox.processes.tool_versions import tool_check, tool_versions
from support.processes import PlainProcesses


def test_every_known_tool_is_asked_once(tmp_path: Path) -> None:
    for name in ("pytest", "mystery"):
        (tmp_path / name).write_text("#!/bin/sh\necho tool 9.8.7\npwd\n")
        (tmp_path / name).chmod(0o755)
    processes = PlainProcesses()
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    found = tool_versions(processes, ["pytest -q", "pytest tests", "mystery --all", "'unbalanced"], env)

    assert (found["autopilot"], found["python"], found["pytest"]) == (__version__, platform.python_version(), "9.8.7")
    assert found["kernel"].startswith(platform.system())
    assert "git" in found
    assert "mystery" not in found
    assert len({job.argv for job in processes.jobs}) == len(processes.jobs)
    assert not any(Path(job.cwd).exists() for job in processes.jobs)


def test_a_tool_that_is_not_there_is_left_out(tmp_path: Path) -> None:
    found = tool_versions(PlainProcesses(), ["cargo test"], {"PATH": str(tmp_path)})

    assert found.keys() <= {"autopilot", "python", "kernel", "bubblewrap", "git"}


def tool(folder: Path, name: str, body: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{body}\n")
    (folder / name).chmod(0o755)


def test_a_tool_that_does_not_run_is_absent(tmp_path: Path) -> None:
    tool(tmp_path, "cargo", "echo no default is configured >&2\nexit 1")
    tool(tmp_path, "make", "echo GNU Make 4.3")
    env = {"PATH": str(tmp_path), "HOME": str(tmp_path)}
    commands = ["cargo test", "CI=1 make check", "./own.sh", "tox"]

    (check,) = tool_check(PlainProcesses(), commands, env, tmp_path / "project")

    assert check.level == "warn"
    assert check.found == ("cargo does not run (exit code 1): no default is configured; tox is not on PATH; make 4.3")
    assert "cargo" not in tool_versions(PlainProcesses(), commands, env)


def test_tools_that_run_are_fine_and_unknown_ones_are_not_asked(tmp_path: Path) -> None:
    tool(tmp_path, "make", "echo GNU Make 4.3")
    env = {"PATH": str(tmp_path), "HOME": str(tmp_path)}

    assert [(c.level, c.found) for c in tool_check(PlainProcesses(), ["make check"], env, tmp_path / "project")] == [
        ("ok", "make 4.3")
    ]
    assert list(tool_check(PlainProcesses(), ["./own.sh"], env, tmp_path / "project")) == []


def test_a_tool_is_asked_with_the_toolchain_that_commands_get(tmp_path: Path) -> None:
    tool(tmp_path, "cargo", 'test -d "$RUSTUP_HOME/toolchains" && echo cargo 1.2.3')
    (tmp_path / "home/.rustup/toolchains").mkdir(parents=True)
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": str(tmp_path / "home")}

    assert tool_versions(PlainProcesses(), ["cargo test"], env)["cargo"] == "1.2.3"
