"""An agent that neither prints nor changes anything is ended; one that does either is not."""

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from autopilot.domain.process import Job, Processes
from autopilot.journal.lock import boot_id
from autopilot.sandbox.keeper.held_calls import KeptProcesses
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.sandbox.processes.idleness import Idleness
from support.waiting import PATIENCE_S

# Each goes on for longer than it may be idle, which is put in.
PRINTS = "import time\nfor _ in range(16):\n    print('.', flush=True)\n    time.sleep({limit} / 10)\n"
WRITES = "import time, pathlib\nfor n in range(16):\n    pathlib.Path(f'{{n}}').touch()\n    time.sleep({limit} / 10)\n"
NOTHING = "import time\nprint('begun', flush=True)\ntime.sleep(3000)\n"
LIMITS = (1.5, 12.0, 96.0)  # a busy machine may keep a program from giving a sign of life for a while


@dataclass(slots=True)
class Clocks:
    steady: float = 1000.0
    wall: float = 5000.0

    def go(self, steady: float, wall: float | None = None) -> None:
        self.steady += steady
        self.wall += steady if wall is None else wall


def watching(folder: Path, clocks: Clocks, *, may_be_silent: bool = False) -> Idleness:
    os.utime(folder, (0, 0))
    return Idleness(str(folder), 100.0, may_be_silent, lambda: clocks.steady, lambda: clocks.wall)


def processes(kind: str, folder: Path) -> Processes:
    plain = ChildProcesses(territory=str(folder))
    return plain if kind == "child" else KeptProcesses(folder / "keep", plain, boot_id())


def job(script: str, folder: Path, limit: float = LIMITS[0], *, may_be_silent: bool = False) -> Job:
    argv, env = (sys.executable, "-c", script.format(limit=limit)), {"PATH": os.defpath}
    return Job(
        argv=argv, cwd=str(folder), env=env, timeout_s=PATIENCE_S, idle_s=limit, mark="m", may_be_silent=may_be_silent
    )


kinds = pytest.mark.parametrize(
    "kind",
    ["child", pytest.param("kept", marks=pytest.mark.skipif(sys.platform != "linux", reason="keepers need Linux"))],
)


@kinds
@pytest.mark.parametrize("script", [PRINTS, WRITES], ids=["prints", "writes"])
def test_a_program_that_gives_signs_of_life_is_not_ended(tmp_path: Path, kind: str, script: str) -> None:
    def ends_by_itself(limit: float) -> bool:
        (place := tmp_path / f"work{limit:g}").mkdir()
        ran = processes(kind, tmp_path).run(job(script, place, limit))
        return (ran.idle, ran.exit_code) == (False, 0)

    assert any(ends_by_itself(limit) for limit in LIMITS)


@kinds
def test_a_program_without_a_sign_of_life_is_ended(tmp_path: Path, kind: str) -> None:
    (place := tmp_path / "work").mkdir()
    ran = processes(kind, tmp_path).run(job(NOTHING, place))

    assert (ran.idle, ran.exit_code) == (True, None)


def test_a_program_that_may_be_silent_is_let_be_until_it_has_spoken(tmp_path: Path) -> None:
    quiet = "import time\ntime.sleep(3)\n"

    plain = processes("child", tmp_path)

    assert plain.run(job(quiet, tmp_path, may_be_silent=True)).exit_code == 0
    assert plain.run(job(NOTHING, tmp_path, may_be_silent=True)).idle


def test_time_in_which_the_machine_slept_is_no_idleness(tmp_path: Path) -> None:
    clocks = Clocks()
    idle = watching(tmp_path, clocks)

    clocks.go(90)
    assert not idle.lapsed(0)
    clocks.go(20, wall=7200)
    assert not idle.lapsed(0)
    clocks.go(101)
    assert idle.lapsed(0)


def test_the_folder_is_looked_at_only_when_nothing_was_printed(tmp_path: Path) -> None:
    clocks = Clocks(wall=time.time())
    idle = watching(tmp_path, clocks)
    (tmp_path / "new").touch()
    os.utime(tmp_path / "new", (clocks.wall + 50, clocks.wall + 50))

    clocks.go(101)
    assert not idle.lapsed(0)
    clocks.go(50)
    assert idle.lapsed(0)


def test_time_in_which_we_were_stopped_is_no_idleness(tmp_path: Path) -> None:
    clocks = Clocks()
    idle = watching(tmp_path, clocks)

    clocks.go(3600)
    idle.excuse(3590)
    assert not idle.lapsed(0)
    clocks.go(91)
    assert idle.lapsed(0)
