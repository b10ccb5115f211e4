"""Programs of this machine that tests need: one that does not run is absent."""

import shutil
import subprocess
from functools import cache

import pytest


@cache
def trouble_with(program: str) -> str:
    """Why it cannot be used; empty when it can. Shims are on the PATH even where there is nothing behind them."""
    if shutil.which(program) is None:
        return f"{program} is not installed"
    done = subprocess.run([program, "--version"], capture_output=True, stdin=subprocess.DEVNULL, check=False)
    return f"{program} does not run here" if done.returncode else ""


def needs(*programs: str) -> None:
    """Skip the test where one of the programs does not run."""
    if troubles := ", ".join(filter(None, map(trouble_with, programs))):
        pytest.skip(troubles)
