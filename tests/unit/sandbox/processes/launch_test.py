"""How programs are started: tied to us, or not at all."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autopilot.sandbox.processes.launch import Tether, dying_with

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("setpriv") is None, reason="needs Linux with util-linux"
)
DESCRIBE = """
import sys
from autopilot.sandbox.processes.launch import Tether
tether = Tether(setpriv=sys.argv[1], env=sys.argv[2])
print("\\n".join(tether.argv(sys.argv[3], (sys.argv[3], *sys.argv[4:]))))
"""


def tether() -> Tether:
    setpriv, env = shutil.which("setpriv"), shutil.which("env")
    assert setpriv is not None
    assert env is not None
    return Tether(setpriv=setpriv, env=env)


@pytest.mark.parametrize("program", ["touch", "sh"], ids=["started directly", "started behind env"])
def test_a_program_whose_parent_is_already_gone_does_not_run(tmp_path: Path, program: str) -> None:
    made = tmp_path / "made"
    found = shutil.which(program)
    assert found is not None
    words = [str(made)] if program == "touch" else ["-c", f"touch {made}"]
    alive = tether()
    described = subprocess.run(
        [sys.executable, "-c", DESCRIBE, alive.setpriv, alive.env, found, *words],
        capture_output=True,
        text=True,
        check=True,
    )

    orphan = subprocess.run(described.stdout.splitlines(), capture_output=True, check=False)
    assert orphan.returncode != 0
    assert not made.exists()
    subprocess.run(alive.argv(found, (found, *words)), check=True)
    assert made.exists()


def test_python_knows_its_own_name_although_it_is_tethered() -> None:
    argv = tether().argv(sys.executable, (sys.executable, "-c", "import sys; print(sys.executable)"))

    assert subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip() == sys.executable


def test_where_there_is_no_launcher_a_hook_does_the_same() -> None:
    read = "import ctypes; n = ctypes.c_int(); ctypes.CDLL(None).prctl(2, ctypes.byref(n)); print(n.value)"
    parent = Path("/proc/self").readlink().name
    done = subprocess.run(
        [sys.executable, "-c", read], preexec_fn=dying_with(int(parent)), capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "9"


def test_the_hook_ends_a_child_whose_parent_is_another() -> None:
    done = subprocess.run(["true"], preexec_fn=dying_with(-1), check=False)

    assert done.returncode == 1
