"""No attack gets out: every way we know, tried in every tier, as the superuser and as an ordinary user."""

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

from escapes.attacks import ATTACKS

pytestmark = pytest.mark.sandbox

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "src"
NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all")
NO_SANDBOX = 4
START = (
    "import sys; from autopilot.domain.errors import SandboxUnavailable\n"
    "from escapes import arena\n"
    "try: arena.main(*sys.argv[1:])\n"
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


def results(tier: str, user: str, context: str = "as it is") -> dict[str, Any]:
    words: tuple[str, ...] = (sys.executable,)
    if user == "ordinary" and os.getuid() == 0:
        words = as_nobody()
    if user == "superuser" and os.getuid() != 0:
        pytest.skip("only the superuser can try this")
    if not words:
        pytest.skip("no ordinary user can read this checkout and run its Python")
    done = subprocess.run(
        [*words, "-c", START, tier, context], env=environment(), cwd="/", capture_output=True, text=True, check=False
    )
    if done.returncode == NO_SANDBOX:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize("user", ["superuser", "ordinary"])
@pytest.mark.parametrize("tier", ["bubblewrap", "landlock"])
def test_nothing_gets_out_but_what_the_tier_says_it_cannot_hold(tier: str, user: str) -> None:
    found = results(tier, user)["found"]

    assert {name for name, what in found.items() if what} == {a.name for a in ATTACKS if tier in a.beyond}
    assert len(found) == len(ATTACKS) >= 27


@pytest.mark.parametrize("user", ["superuser", "ordinary"])
def test_where_no_namespaces_can_be_made_landlock_takes_over_and_holds(user: str) -> None:
    seen = results("auto", user, "without namespaces")

    assert seen["tier"] == "landlock"
    assert {name for name, what in seen["found"].items() if what} == {a.name for a in ATTACKS if "landlock" in a.beyond}


def test_without_a_sandbox_the_same_attacks_succeed() -> None:
    """So the suite can fail: what holds them back above is the sandbox."""
    found = results("none", "ordinary")["found"]

    assert {name for name, what in found.items() if not what} <= {"a file larger than allowed", "many processes"}
