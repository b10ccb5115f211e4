"""Versions of the tools: each asked once, from nowhere near the project."""

import os
import platform
from pathlib import Path

from autopilot import __version__
from autopilot.sandbox.versions import tool_versions
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
