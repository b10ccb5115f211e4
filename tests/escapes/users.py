"""Starts a program of these tests as the superuser or as an ordinary user, who cannot do all that we can."""

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "src"
NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all")
NO_SANDBOX = 4
START = (
    "import importlib, sys; from autopilot.domain.errors import SandboxUnavailable\n"
    "try: importlib.import_module(sys.argv[1]).main(*sys.argv[2:])\n"
    f"except SandboxUnavailable as e: print(e.what, file=sys.stderr); sys.exit({NO_SANDBOX})\n"
)
LIBRARIES = str(Path(msgspec.__file__).parents[1])


def environment() -> dict[str, str]:
    path = os.pathsep.join((str(SOURCE), str(HERE.parent), LIBRARIES))
    return {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}


@cache
def as_nobody() -> tuple[str, ...]:
    """How to start Python as an ordinary user when we are the superuser; empty where that cannot be done."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for python in (sys.executable, shutil.which(version, path="/usr/local/bin:/usr/bin")):
        if python is None or shutil.which("setpriv") is None:
            continue
        words = (*NOBODY, python)
        code = "import os, sys; from escapes import arena; sys.exit(not os.access(sys.executable, os.X_OK))"
        trial = subprocess.run([*words, "-c", code], env=environment(), cwd="/", capture_output=True)  # noqa: PLW1510 - its failure is an answer
        if trial.returncode == 0:
            return words
    return ()


def results(program: str, user: str, *words: str) -> dict[str, Any]:
    """What the `main` of one of our modules printed. Skips the test where it finds no sandbox, or nobody to be."""
    python: tuple[str, ...] = (sys.executable,)
    if user == "ordinary" and os.getuid() == 0:
        python = as_nobody()
    if user == "superuser" and os.getuid() != 0:
        pytest.skip("only the superuser can try this")
    if not python:
        pytest.skip("no ordinary user can read this checkout and run its Python")
    done = subprocess.run(
        [*python, "-c", START, program, *words], env=environment(), cwd="/", capture_output=True, text=True, check=False
    )
    if done.returncode == NO_SANDBOX:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))
