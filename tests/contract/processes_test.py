"""What `Processes` promises: a program runs to its end, and nothing of it is left afterwards."""

import fcntl
import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from autopilot.domain.errors import AgentUnavailable, Interrupted, StorageFailed
from autopilot.domain.process import Job, Processes, Ran
from autopilot.sandbox.keeper.held_calls import KeptProcesses
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.sandbox.processes.launch import Ceilings
from support.waiting import PATIENCE_S, is_alive, soon

PATH = os.environ["PATH"]
# Other tests run at the same time, and a mark belongs to one job.
OURS = f"tests-{os.getpid()}"
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="marks are read from /proc, which only Linux has")


@pytest.fixture(params=["by launcher", "by hook", "by keeper"])
def processes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Processes:
    """Both ways of tying a child to us, the second for systems without the first one's program; and not tying it."""
    if request.param == "by keeper":
        if sys.platform != "linux":
            pytest.skip("keepers need Linux")
        return KeptProcesses(tmp_path_factory.mktemp("keep"), ChildProcesses(territory=OURS), boot="boot")
    if request.param == "by hook":
        return ChildProcesses(tools="/nonexistent", territory=OURS)
    return ChildProcesses(territory=OURS)


def shell(script: str, cwd: Path, mark: str = "", timeout_s: float = PATIENCE_S) -> Job:
    return Job(argv=("sh", "-c", script), cwd=str(cwd), env={"PATH": PATH}, mark=mark, timeout_s=timeout_s)


def once_begun(run: Callable[[float], Ran]) -> Ran:
    """Run with a limit in which the program has begun, and said so, however slow the machine is."""
    limit = 1.0
    while not (ran := run(limit)).stdout and limit < PATIENCE_S:
        limit *= 4
    return ran


@pytest.mark.parametrize("code", [0, 1, 75, 255])
def test_the_exit_code_is_the_programs(processes: Processes, tmp_path: Path, code: int) -> None:
    assert processes.run(shell(f"exit {code}", tmp_path)).exit_code == code


def test_a_signal_shows_as_its_negative(processes: Processes, tmp_path: Path) -> None:
    assert processes.run(shell("kill -9 $$", tmp_path)).exit_code == -9


def test_both_streams_are_kept_apart(processes: Processes, tmp_path: Path) -> None:
    ran = processes.run(shell("echo out; echo err >&2", tmp_path))

    assert (ran.stdout, ran.stderr) == (b"out\n", b"err\n")


def test_the_program_runs_in_its_folder_with_the_given_environment_and_no_other(
    processes: Processes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANTED_SECRET", "s3cret")
    ran = processes.run(Job(argv=("env",), cwd=str(tmp_path), env={"PATH": PATH, "A": "1"}, mark="run/1"))

    assert set(ran.stdout.decode().splitlines()) == {f"PATH={PATH}", "A=1", f"AUTOPILOT_MARK={OURS}/run/1"}
    assert processes.run(shell("pwd -P", tmp_path)).stdout.decode().strip() == str(tmp_path.resolve())


@pytest.mark.parametrize("size", [0, 1, 5_000_000], ids=["empty", "small", "larger than any pipe"])
def test_standard_input_is_given_whole_and_then_closed(processes: Processes, tmp_path: Path, size: int) -> None:
    job = Job(argv=("wc", "-c"), cwd=str(tmp_path), env={"PATH": PATH}, stdin=b"x" * size)

    assert int(processes.run(job).stdout) == size


def test_a_program_that_echoes_more_than_a_pipe_holds_does_not_deadlock(processes: Processes, tmp_path: Path) -> None:
    text = b"0123456789" * 300_000
    ran = processes.run(Job(argv=("cat",), cwd=str(tmp_path), env={"PATH": PATH}, stdin=text, timeout_s=PATIENCE_S))

    assert ran.stdout == text


def test_a_program_that_does_not_read_its_input_is_no_trouble(processes: Processes, tmp_path: Path) -> None:
    job = Job(argv=("true",), cwd=str(tmp_path), env={"PATH": PATH}, stdin=b"x" * 5_000_000)

    assert processes.run(job).exit_code == 0


def test_of_too_much_output_beginning_and_end_are_kept(processes: Processes, tmp_path: Path) -> None:
    job = Job(
        argv=("sh", "-c", "echo first; yes | head -c 30000000; echo last"),
        cwd=str(tmp_path),
        env={"PATH": PATH},
        max_output=10_000,
    )
    ran = processes.run(job)

    assert len(ran.stdout) <= 10_000
    assert ran.stdout.startswith(b"first\n")
    assert b" bytes left out " in ran.stdout
    assert ran.stdout.endswith(b"y\nlast\n")


def test_reopening_the_error_stream_by_name_loses_nothing(processes: Processes, tmp_path: Path) -> None:
    ran = processes.run(shell("echo one >&2; echo two > /dev/stderr; echo three >&2", tmp_path))

    assert ran.stderr == b"one\ntwo\nthree\n"


def test_at_the_time_limit_the_program_is_cut_off_and_its_output_kept(processes: Processes, tmp_path: Path) -> None:
    ran = once_begun(lambda limit: processes.run(shell("echo begun; sleep 3000", tmp_path, timeout_s=limit)))

    assert ran.exit_code is None
    assert ran.stdout == b"begun\n"
    assert 1.0 <= ran.seconds < PATIENCE_S


def test_a_program_that_ignores_every_polite_signal_is_cut_off_too(processes: Processes, tmp_path: Path) -> None:
    ran = processes.run(shell("trap '' TERM INT HUP; while :; do sleep 0.05; done", tmp_path, timeout_s=1.0))

    assert ran.exit_code is None
    assert ran.seconds < PATIENCE_S


def test_a_child_holding_the_output_open_does_not_keep_us_waiting(processes: Processes, tmp_path: Path) -> None:
    ran = processes.run(shell("sleep 3000 & echo done", tmp_path))

    assert ran.stdout == b"done\n"
    assert ran.seconds < PATIENCE_S


def test_the_rest_of_the_group_is_gone_after_a_normal_end(processes: Processes, tmp_path: Path) -> None:
    ran = processes.run(shell("sleep 3000 & echo $!", tmp_path))

    assert soon(lambda: not is_alive(int(ran.stdout)))


@on_linux
@pytest.mark.parametrize("wait", ["true", "sleep 3000"], ids=["normal end", "time limit"])
def test_a_daemon_in_a_session_of_its_own_does_not_survive(processes: Processes, tmp_path: Path, wait: str) -> None:
    script = f"setsid sh -c 'echo $$ > pid; exec sleep 3000' & while [ ! -s pid ]; do sleep 0.01; done; echo; {wait}"
    ran = once_begun(lambda limit: processes.run(shell(script, tmp_path, mark="run/daemon", timeout_s=limit)))

    assert not is_alive(int((tmp_path / "pid").read_text()))
    assert ran.seconds < PATIENCE_S


@on_linux
def test_a_daemon_whose_first_thread_has_ended_does_not_survive(processes: Processes, tmp_path: Path) -> None:
    """Its environment can no longer be read where that of a process is read."""
    code = (
        "import ctypes, os, threading, time\n"
        "os.fork() and os._exit(0)\n"
        "os.setsid()\n"
        "threading.Thread(target=time.sleep, args=(60,)).start()\n"
        "os.close(1), os.close(2), open('pid', 'w').write(str(os.getpid()))\n"
        "ctypes.CDLL(None).pthread_exit(None)\n"
    )
    ended = "test -s pid && grep -q '^State:.Z' /proc/$(cat pid)/status"
    run = f"{shlex.join((sys.executable, '-c', code))}; until {ended}; do sleep 0.01; done"
    processes.run(shell(run, tmp_path, mark="run/headless"))

    tasks = Path(f"/proc/{(tmp_path / 'pid').read_text()}/task")
    assert not tasks.exists() or len(list(tasks.iterdir())) == 1


@on_linux
def test_what_is_still_dying_holds_nothing_when_all_is_said_to_be_gone(processes: Processes, tmp_path: Path) -> None:
    """It has much memory to give back, and gives its locks back after that."""
    held = tmp_path / "held"
    code = (
        "import fcntl, time\n"
        "file = open('held', 'w')\n"
        "fcntl.flock(file, fcntl.LOCK_EX)\n"
        "memory = b'x' * 400_000_000\n"
        "open('ready', 'w').close()\n"
        "time.sleep(3000)\n"
    )
    run = f"{shlex.join((sys.executable, '-c', code))} & until test -e ready; do sleep 0.01; done; kill -9 $!"
    processes.run(shell(run, tmp_path, mark="run/heavy"))

    with held.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_the_started_program_is_named_while_it_runs(processes: Processes, tmp_path: Path) -> None:
    seen: list[bool] = []
    ran = processes.run(shell("echo $$; sleep 0.1", tmp_path), lambda pid: seen.append(is_alive(pid)))

    assert seen == [True]
    assert ran.exit_code == 0


@pytest.mark.parametrize("kind", [Interrupted, KeyboardInterrupt, RuntimeError])
def test_an_interruption_kills_the_program_before_it_goes_on(
    processes: Processes, tmp_path: Path, kind: type[BaseException]
) -> None:
    pids: list[int] = []

    def interrupt(pid: int) -> None:
        pids.append(pid)
        raise kind

    with pytest.raises(kind):
        processes.run(shell("sleep 3000", tmp_path, mark="run/interrupted"), interrupt)
    assert not is_alive(pids[0])


def test_a_signal_handler_that_raises_while_we_wait_leaves_nothing(processes: Processes, tmp_path: Path) -> None:
    pids: list[int] = []
    earlier = signal.signal(signal.SIGUSR1, lambda *_: (_ for _ in ()).throw(Interrupted))
    alarm = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGUSR1))
    alarm.start()
    try:
        with pytest.raises(Interrupted):
            processes.run(shell("sleep 3000", tmp_path), pids.append)
    finally:
        alarm.join()
        signal.signal(signal.SIGUSR1, earlier)

    assert not is_alive(pids[0])


@pytest.mark.parametrize("name", ["no-such-program", "./no-such-file", "/no/such/file"])
def test_a_missing_program_is_an_error_the_user_can_fix(processes: Processes, tmp_path: Path, name: str) -> None:
    with pytest.raises(AgentUnavailable, match="was not found") as raised:
        processes.run(Job(argv=(name,), cwd=str(tmp_path), env={"PATH": PATH}))
    assert raised.value.exit_code == 3
    assert raised.value.why
    assert raised.value.do


def test_a_missing_folder_is_not_taken_for_a_missing_program(processes: Processes, tmp_path: Path) -> None:
    with pytest.raises(StorageFailed, match="is gone"):
        processes.run(shell("true", tmp_path / "missing"))


def test_a_program_in_the_folder_is_found_by_its_path_only(processes: Processes, tmp_path: Path) -> None:
    program = tmp_path / "tool"
    program.write_text("#!/bin/sh\necho ran $0\n")
    program.chmod(0o755)

    ran = processes.run(Job(argv=("./tool",), cwd=str(tmp_path), env={"PATH": PATH}))
    assert ran.stdout.decode() == f"ran {program}\n"
    with pytest.raises(AgentUnavailable):
        processes.run(Job(argv=("tool",), cwd=str(tmp_path), env={"PATH": f".:{PATH}"}))


def test_a_file_cannot_grow_past_its_ceiling(tmp_path: Path) -> None:
    ran = ChildProcesses(Ceilings(file_bytes=100_000)).run(shell("sleep 0.3; yes > big", tmp_path))

    assert ran.exit_code != 0
    assert (tmp_path / "big").stat().st_size <= 100_000


@on_linux
def test_sweeping_a_mark_ends_what_lies_beneath_it_and_nothing_beside_it(processes: Processes) -> None:
    children = {
        mark: subprocess.Popen(["sleep", "60"], env={"AUTOPILOT_MARK": f"{OURS}/{mark}"})
        for mark in ("r1", "r1/2/plan/1", "r10", "r2/r1")
    }
    try:
        assert processes.sweep("r1") == 2
        assert {mark for mark, child in children.items() if is_alive(child.pid)} == {"r10", "r2/r1"}
        assert processes.sweep("r1") == 0
    finally:
        for child in children.values():
            child.kill()
            child.wait()


@on_linux
def test_a_sweep_spares_a_run_of_the_same_name_in_another_repository(tmp_path: Path) -> None:
    here, there = ChildProcesses(territory=f"{OURS}-here"), ChildProcesses(territory=f"{OURS}-there")
    swept: list[tuple[int, int]] = []

    def sweep_both(_: int) -> None:
        swept.append((there.sweep("run-1"), here.sweep("run-1")))

    assert here.run(shell("sleep 3000", tmp_path, mark="run-1/a"), sweep_both).exit_code == -9
    assert swept[0][0] == 0
    assert swept[0][1] > 0


@on_linux
def test_a_sweep_spares_ourselves_and_our_parents() -> None:
    code = f"from autopilot.sandbox.processes.children import ChildProcesses as C; print(C().sweep('{OURS}'))"
    script = f'{sys.executable} -c "{code}"; echo parent lives'
    ran = subprocess.run(
        ["sh", "-c", script], env={"AUTOPILOT_MARK": OURS, "PATH": PATH}, capture_output=True, text=True, check=True
    )

    assert ran.stdout.split("\n")[:2] == ["0", "parent lives"]


def test_sweeping_no_mark_at_all_touches_nobody(processes: Processes) -> None:
    assert processes.sweep("") == 0


@on_linux
def test_a_program_dies_with_us(tmp_path: Path) -> None:
    code = (
        "from autopilot.sandbox.processes.children import ChildProcesses; from autopilot.domain.process import Job\n"
        f"ChildProcesses().run(Job(argv=('sleep', '60'), cwd='/', env={{'PATH': {PATH!r}}}),"
        f" lambda pid: open({str(tmp_path / 'pid')!r}, 'w').write(str(pid)) and None)"
    )
    harness = subprocess.Popen([sys.executable, "-c", code])
    written = tmp_path / "pid"
    assert soon(lambda: written.exists() and bool(written.read_text()))
    pid = int(written.read_text())
    assert soon(lambda: Path(f"/proc/{pid}/comm").read_text() == "sleep\n")

    harness.kill()
    harness.wait()
    assert soon(lambda: not is_alive(pid))


def test_several_programs_at_once_do_not_disturb_each_other(processes: Processes, tmp_path: Path) -> None:
    codes: dict[int, int | None] = {}

    def one(number: int) -> None:
        codes[number] = processes.run(shell(f"sleep 0.1; exit {number}", tmp_path, mark=f"run/{number}")).exit_code

    threads = [threading.Thread(target=one, args=(number,)) for number in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == {number: number for number in range(1, 9)}


def test_while_halted_every_thread_is_interrupted_and_nothing_starts(tmp_path: Path) -> None:
    processes, met = ChildProcesses(territory=OURS), tmp_path / "met"
    ends: list[BaseException] = []

    def work() -> None:
        try:
            processes.run(shell(f"touch {met}; sleep 3000", tmp_path, mark="halted"))
        except Interrupted as end:
            ends.append(end)

    thread = threading.Thread(target=work)
    thread.start()
    assert soon(met.exists)
    with processes.halted():
        thread.join(10)
        with pytest.raises(Interrupted):
            processes.run(shell("exit 0", tmp_path))

    assert (len(ends), thread.is_alive(), processes.run(shell("exit 0", tmp_path)).exit_code) == (1, False, 0)
