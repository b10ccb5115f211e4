"""Builds the environment of a bout, and finds out which tools run in it."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path


def environment(folder: Path) -> dict[str, str]:
    """The user's own, but with a home, a cache and a temporary folder that belong to this bout alone."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PYTEST", "AUTOPILOT"))}
    rust = Path.home() / ".rustup"
    return {
        **({"RUSTUP_HOME": str(rust)} if rust.is_dir() else {}),
        **kept,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder / "home"),
        "XDG_STATE_HOME": str(folder / "state"),
        "AUTOPILOT_CACHE": str(folder / "cache"),
        "AUTOPILOT_PASS_ENV": "RUSTUP_HOME,CARGO_HOME,PYENV_ROOT,JAVA_HOME",
        "TMPDIR": str(folder / "tmp"),
        "GIT_CONFIG_NOSYSTEM": "1",
    }


def consent(root: Path, env: dict[str, str]) -> dict[str, str]:
    """The variable that agrees to exactly what the project asks for: whoever made it has seen it."""
    words = [sys.executable, "-m", "autopilot", "trust", "--show", "--json"]
    told = subprocess.run(words, cwd=root, env=env, capture_output=True, check=True).stdout
    return {"AUTOPILOT_TRUST": json.loads(told)["sha256"]}


@cache
def trouble_with(tool: str) -> str:
    """
    Why a tool cannot be used in a bout; empty when it can.

    A tool that does not run is absent: the `rustc` of rustup is on the PATH even where no toolchain is chosen.
    """
    if shutil.which(tool) is None:
        return f"{tool} is not installed"
    with tempfile.TemporaryDirectory() as folder:
        words = [tool, "--version"]
        (Path(folder) / "tmp").mkdir()
        done = subprocess.run(words, cwd=folder, env=environment(Path(folder)), capture_output=True, check=False)
    said = done.stderr.decode(errors="replace").strip().partition("\n")[0]
    return f"{tool} does not run: {said or f'exit code {done.returncode}'}" if done.returncode else ""
