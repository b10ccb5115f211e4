"""What keepers add to `Processes`: a program outlives the run that started it, for a while, and is started once."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from autopilot.domain.errors import Interrupted, SandboxUnavailable
from autopilot.domain.process import Job
from autopilot.domain.settings import SandboxChoice
from autopilot.sandbox.choose_tier import choose
from autopilot.sandbox.keeper import keeper
from autopilot.sandbox.keeper.held_calls import KeptProcesses
from autopilot.sandbox.keeper.orders import Order, written
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.sandbox.tiers.agent_view import AgentView
from support.waiting import PATIENCE_S, is_alive, soon

pytestmark = [pytest.mark.sandbox, pytest.mark.skipif(sys.platform != "linux", reason="keepers need Linux")]

PATH = os.environ["PATH"]
CALL = "run-1/3/execute/1"
RUN = """
import sys
from pathlib import Path
from autopilot.domain.process import Job
from autopilot.sandbox.keeper.held_calls import KeptProcesses
from autopilot.sandbox import choose_tier as choose
from autopilot.sandbox.tiers.agent_view import AgentView
from autopilot.sandbox.processes.children import ChildProcesses
keep, cwd, script, lease, path, mark, tier = sys.argv[1:]
others = ChildProcesses(territory=cwd)
kept = KeptProcesses(Path(keep), others, "boot", float(lease))
kept = choose.choose(tier, others).agents(AgentView(), kept)
job = Job(argv=("sh", "-c", script), cwd=cwd, env={"PATH": path}, stdin=b"the prompt", mark=mark, timeout_s=1200)
kept.run(job, lambda pid: print(pid, flush=True))
"""


class Listener:
    """A talk that is over when the word is heard; `meanwhile` is what happens as soon as anything is."""

    replies = False

    def __init__(self, last: bytes, meanwhile: Callable[[], object] = lambda: None) -> None:
        self.said, self._last, self._meanwhile = b"", last, meanwhile

    @property
    def over(self) -> bool:
        return self._last in self.said

    def heard(self, piece: bytes) -> bytes:
        self.said += piece
        self._meanwhile()
        return b""

    def farewell(self) -> bytes:
        return b""


def kept_in(folder: Path, lease_s: float = 60.0, boot: str = "boot") -> KeptProcesses:
    return KeptProcesses(folder / "keep", others_in(folder), boot, lease_s)


def others_in(folder: Path) -> ChildProcesses:
    """Each test has marks of its own: others run at the same time."""
    return ChildProcesses(territory=str(folder))


def job(folder: Path, script: str, stdin: bytes = b"the prompt") -> Job:
    argv = ("sh", "-c", script)
    return Job(argv=argv, cwd=str(folder), env={"PATH": PATH}, stdin=stdin, mark=CALL, timeout_s=PATIENCE_S)


def begun_and_killed(folder: Path, script: str, lease_s: float = 60.0, tier: SandboxChoice = "none") -> int:
    """A run that starts the call and dies; the number of the program it started."""
    argv = [sys.executable, "-c", RUN, str(folder / "keep"), str(folder), script, str(lease_s), PATH, CALL, tier]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        pid = int(run.stdout.readline())
        run.kill()
    return pid


def test_a_call_outlives_its_run_and_the_next_one_takes_its_result(tmp_path: Path) -> None:
    script = "echo started >> starts; cat; while ! test -e go; do sleep 0.02; done; echo and the answer"
    pid = begun_and_killed(tmp_path, script)
    kept = kept_in(tmp_path)

    assert is_alive(pid)
    assert kept.place(CALL, "the prompt") == str(tmp_path)
    assert kept.held().keys() == {f"{tmp_path}/{CALL}"}
    (tmp_path / "go").touch()
    ran = kept.run(job(tmp_path, script), lambda _: pytest.fail("it was started a second time"))
    assert (ran.exit_code, ran.stdout) == (0, b"the promptand the answer\n")
    assert (tmp_path / "starts").read_text() == "started\n"


def test_a_result_that_came_while_nobody_looked_is_taken_as_often_as_asked_for(tmp_path: Path) -> None:
    pid = begun_and_killed(tmp_path, "echo the answer; exit 3")
    kept = kept_in(tmp_path)
    assert soon(lambda: not is_alive(pid))

    for _ in range(2):
        assert kept.run(job(tmp_path, "echo the answer; exit 3")).exit_code == 3
    kept.release(CALL)
    assert kept.place(CALL, "the prompt") is None
    assert list((tmp_path / "keep").iterdir()) == []


@pytest.mark.parametrize("what", ["another prompt", "another boot"])
def test_what_is_not_the_same_call_is_ended_and_asked_anew(tmp_path: Path, what: str) -> None:
    pid = begun_and_killed(tmp_path, "echo x >> starts; sleep 60")
    kept = kept_in(tmp_path, boot="later" if what == "another boot" else "boot")
    stdin = b"else" if what == "another prompt" else b"the prompt"

    ran = kept.run(job(tmp_path, "echo new", stdin))
    assert (ran.stdout, is_alive(pid)) == (b"new\n", False)


def test_without_a_run_the_lease_ends_and_with_it_everything_the_program_started(tmp_path: Path) -> None:
    script = "setsid sh -c 'echo $$ > daemon; exec sleep 60' & env -i setsid sleep 61 & echo $! > bare; sleep 60"
    pid = begun_and_killed(tmp_path, script, lease_s=2.0)
    assert soon(lambda: (tmp_path / "daemon").exists() and (tmp_path / "bare").exists())
    pids = [pid, *(int((tmp_path / name).read_text()) for name in ("daemon", "bare"))]

    assert soon(lambda: not any(map(is_alive, pids)))
    assert kept_in(tmp_path).run(job(tmp_path, "echo anew")).stdout == b"anew\n"


def test_a_run_that_lives_renews_the_lease(tmp_path: Path) -> None:
    ran = kept_in(tmp_path, lease_s=0.5).run(job(tmp_path, "sleep 1.5; echo done"))

    assert ran.stdout == b"done\n"


def test_a_keeper_that_was_killed_holds_nothing(tmp_path: Path) -> None:
    pid = begun_and_killed(tmp_path, "sleep 60")
    (place,) = (tmp_path / "keep").iterdir()
    os.kill(int((place / "keeper").read_text().split()[0]), signal.SIGKILL)
    kept = kept_in(tmp_path)

    assert soon(lambda: kept.place(CALL, "the prompt") is None)
    assert kept.run(job(tmp_path, "echo anew")).stdout == b"anew\n"
    assert not is_alive(pid)


def test_a_program_that_kills_its_keeper_at_once_is_a_call_cut_off_not_one_that_could_not_be_made(
    tmp_path: Path,
) -> None:
    """Now and then it is quicker than the keeper, which has not yet told that it was started."""
    kept, begun = kept_in(tmp_path), list[int]()

    for turn in range(20):
        assert kept.run(job(tmp_path, f"kill -9 $PPID; sleep {60 + turn}"), begun.append).exit_code is None
    kept.release(CALL)

    assert len(begun) == 20
    assert not any(map(is_alive, begun))
    assert [*(tmp_path / "keep").iterdir()] == []


def test_the_beginning_and_the_end_of_a_flood_are_kept(tmp_path: Path) -> None:
    flood = job(tmp_path, "echo first; head -c 30000000 /dev/zero | tr '\\0' 'x'; echo last")
    ran = kept_in(tmp_path).run(flood)

    assert ran.stdout.startswith(b"first\nxxx")
    assert ran.stdout.endswith(b"xxxlast\n")
    assert len(ran.stdout) <= flood.max_output
    assert sum(path.stat().st_size for path in (tmp_path / "keep").rglob("out*")) <= 3 * flood.max_output


def test_a_sweep_ends_the_keeper_too(tmp_path: Path) -> None:
    pid = begun_and_killed(tmp_path, "sleep 60")
    kept = kept_in(tmp_path)

    assert kept.sweep("run-1") >= 2
    assert not is_alive(pid)
    assert kept.held() == {}


def test_releasing_all_ends_what_is_still_held(tmp_path: Path) -> None:
    pid = begun_and_killed(tmp_path, "sleep 60")
    kept_in(tmp_path).release_all()

    assert not is_alive(pid)
    assert list((tmp_path / "keep").iterdir()) == []


def test_who_listens_hears_it_as_it_is_printed_and_the_call_is_over_with_its_last_word(tmp_path: Path) -> None:
    """The program waits until it was heard; what it does behind its last word is not waited for."""
    talk = Listener(b"last", (tmp_path / "go").touch)
    script = "echo first; while ! test -e go; do sleep 0.02; done; echo last; sleep 60"
    asked = msgspec.structs.replace(job(tmp_path, script), talk=talk)
    kept = kept_in(tmp_path)

    ran = kept.run(asked)
    assert (ran.exit_code, ran.stdout, talk.said) == (None, b"first\nlast\n", b"first\nlast\n")
    assert ran.seconds < 20
    assert kept.place(CALL, "the prompt") == str(tmp_path), "what was said is an answer"


def test_who_takes_a_call_up_hears_all_of_it(tmp_path: Path) -> None:
    script = "echo first; while ! test -e go; do sleep 0.02; done; echo last"
    begun_and_killed(tmp_path, script)
    talk = Listener(b"nothing", (tmp_path / "go").touch)

    kept_in(tmp_path).run(msgspec.structs.replace(job(tmp_path, script), talk=talk))
    assert talk.said == b"first\nlast\n"


def test_a_halt_ends_kept_calls_too(tmp_path: Path) -> None:
    others, errors = others_in(tmp_path), list[BaseException]()
    kept, begun = KeptProcesses(tmp_path / "keep", others, "boot"), list[int]()

    def call() -> None:
        try:
            kept.run(job(tmp_path, "sleep 60"), begun.append)
        except Interrupted as error:
            errors.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    assert soon(lambda: bool(begun))
    with others.halted():
        thread.join(20)
    assert (len(errors), is_alive(begun[0])) == (1, False)
    assert list((tmp_path / "keep").iterdir()) == []


@pytest.mark.parametrize("tier", ["bubblewrap", "landlock"])
def test_a_confined_program_is_held_and_taken_up_as_well(tmp_path: Path, tier: SandboxChoice) -> None:
    try:
        processes = choose(tier, others_in(tmp_path)).agents(AgentView(), kept_in(tmp_path))
    except SandboxUnavailable as error:
        pytest.skip(error.what)
    script = "echo x >> starts; (setsid sleep 61 &); while ! test -e go; do sleep 0.02; done; cat"
    pid = begun_and_killed(tmp_path, script, tier=tier)
    assert soon((tmp_path / "starts").exists)
    (tmp_path / "go").touch()

    assert processes.run(job(tmp_path, script)).stdout == b"the prompt"
    assert ((tmp_path / "starts").read_text(), is_alive(pid)) == ("x\n", False)


def test_an_order_is_understood_as_it_was_given_and_not_at_all_when_cut_short(tmp_path: Path) -> None:
    order = Order(str(tmp_path), "/", 1.5, 2.0, 3, "mark", (4, 5), (), ("true", "=", ""), {"A": "1=2", "B": ""})
    whole = written(order)

    assert vars(keeper.Order(whole)) == order._asdict()
    for end in range(len(whole)):
        with pytest.raises(ValueError, match="not whole"):
            keeper.Order(whole[:end])


def test_what_another_crew_was_asked_is_not_taken_up(tmp_path: Path) -> None:
    pid = begun_and_killed(tmp_path, "sleep 60")
    crew = KeptProcesses(tmp_path / "keep", others_in(tmp_path), "boot", whose="others")

    assert crew.place(CALL, "the prompt") is None
    assert not crew.held()
    assert crew.release_all(but=lambda _: True) == 1
    assert not is_alive(pid)


def test_a_sweep_spares_what_is_held(tmp_path: Path) -> None:
    pid = begun_and_killed(tmp_path, "sleep 60")
    kept, others = kept_in(tmp_path), others_in(tmp_path)

    assert others.sweep("run-1", kept.held()) == 0
    assert is_alive(pid)
    kept.release_all()
