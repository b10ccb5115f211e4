"""What an agent's program can do with sockets, terminals and its launcher: all it needs, and nothing beside its proxy."""

import errno
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from autopilot.domain.errors import SandboxUnavailable
from autopilot.domain.process import Job, Ran
from autopilot.sandbox.choose_tier import Ground, choose
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.sandbox.tiers.agent_view import AgentView
from autopilot.sandbox.tiers.agents import LandlockAgents
from autopilot.sandbox.tiers.landlock import DEVICES, Fences, launched, our_python, system_places
from autopilot.sandbox.toolchain import look
from escapes.users import as_nobody, environment
from support.waiting import PATIENCE_S, soon

pytestmark = pytest.mark.sandbox

PYTHON = os.path.realpath(sys.executable)


def ground_of(tier: str) -> Ground:
    try:
        return choose(tier, ChildProcesses(), open_network=False)  # type: ignore[arg-type] # a tier of the two below
    except SandboxUnavailable as error:
        pytest.skip(error.what)


@pytest.fixture(params=["bubblewrap", "landlock"])
def ground(request: pytest.FixtureRequest) -> Ground:
    return ground_of(request.param)


@pytest.fixture
def landlock() -> Ground:
    found = ground_of("landlock")
    if found.egress != "proxy":
        pytest.skip("the launcher cannot look into agents here")
    return found


@contextmanager
def proxy() -> Iterator[tuple[str, int]]:
    """Answers every connection with the same word."""
    with socket.create_server(("127.0.0.1", 0), backlog=200) as listener:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    with listener.accept()[0] as connection:
                        connection.sendall(b"hello")

        threading.Thread(target=serve, daemon=True).start()
        yield "127.0.0.1", listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


def run(ground: Ground, folder: Path, code: str, at: tuple[str, int] | None) -> Ran:
    view = AgentView(readable=(os.path.realpath(sys.base_prefix),))
    head = f"import ctypes, os, pty, signal, socket, sys, threading, time\nPROXY = {at!r}\n"
    job = Job(
        argv=(PYTHON, "-I", "-S", "-c", head + code), cwd=str(folder), env={"PATH": os.environ["PATH"]},
        timeout_s=PATIENCE_S, mark="network",
    )  # fmt: skip
    return ground.agents(view, None, at).run(job)


ASK = "def ask():\n    with socket.create_connection(PROXY) as s: return s.recv(10).decode()\n"


def test_many_threads_and_many_children_reach_the_proxy_at_the_same_time(landlock: Ground, tmp_path: Path) -> None:
    code = f"""{ASK}
heard, children = [], []
for _ in range(20):
    if (pid := os.fork()) == 0: os._exit(ask() != "hello")
    children.append(pid)
threads = [threading.Thread(target=lambda: heard.append(ask())) for _ in range(40)]
for t in threads: t.start()
for t in threads: t.join()
print(heard.count("hello"), [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children].count(0))
"""
    with proxy() as at:
        ran = run(landlock, tmp_path, code, at)

    assert ran.stdout == b"40 20\n", ran.stderr


def test_a_connection_that_waits_holds_up_no_other(landlock: Ground, tmp_path: Path) -> None:
    """Blocking connections to a listener whose queue is full wait for minutes; a refusal comes at once."""
    code = """
def wait():
    with socket.socket() as s: s.connect(PROXY)
for _ in range(10): threading.Thread(target=wait, daemon=True).start()
time.sleep(0.3)
with socket.socket() as s: print(s.connect_ex(("127.0.0.2", PROXY[1])))
sys.stdout.flush(); os._exit(0)
"""
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        ran = run(landlock, tmp_path, code, full.getsockname())

    assert (ran.exit_code, int(ran.stdout)) == (0, errno.EACCES), ran.stderr


def test_signals_do_not_disturb_a_connection(landlock: Ground, tmp_path: Path) -> None:
    """Of a program that has interrupted calls made again, as nearly all do."""
    code = f"""{ASK}
signal.signal(signal.SIGALRM, lambda *_: None); signal.siginterrupt(signal.SIGALRM, False)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
print({{ask() for _ in range(100)}})
"""
    with proxy() as at:
        ran = run(landlock, tmp_path, code, at)

    assert ran.stdout == b"{'hello'}\n", ran.stderr


def test_without_its_launcher_an_agent_reaches_nothing_and_does_not_hang(landlock: Ground, tmp_path: Path) -> None:
    """The launcher is killed while a child in a session of its own is at work."""
    code = f"""import os, socket, time
PROXY = ("127.0.0.1", int(os.environ["PORT"]))
{ASK}
if os.fork(): time.sleep(600)
os.setsid()
open("heard", "w").write(ask()); os.rename("heard", "ready")
while not os.path.exists("go"): time.sleep(0.01)
with socket.socket() as s: open("error", "w").write(str(s.connect_ex(PROXY)))
os.rename("error", "end")
"""
    cage = landlock.agents(AgentView())
    assert isinstance(cage, LandlockAgents)
    assert cage.to_proxy is not None
    with proxy() as (_, port):
        words = launched(
            (*system_places(), os.path.realpath(sys.base_prefix)), (str(tmp_path), *DEVICES), cage.to_proxy.filter,
            network=cage.to_proxy.words(port),
        )  # fmt: skip
        environment = {"PORT": str(port), "PATH": os.environ["PATH"]}
        with subprocess.Popen([*words, PYTHON, "-I", "-S", "-c", code], cwd=tmp_path, env=environment) as launcher:
            assert soon((tmp_path / "ready").exists)
            launcher.kill()
        (tmp_path / "go").touch()
        assert soon((tmp_path / "end").exists)

    assert (tmp_path / "ready").read_text() == "hello"
    assert int((tmp_path / "end").read_text()) == errno.ENOSYS


def test_servers_of_an_agent_are_for_this_machine_alone(landlock: Ground, tmp_path: Path) -> None:
    """Whatever it binds to, and also if it does not bind at all."""
    code = """
def served(family, address):
    with socket.socket(family) as s:
        if address: s.bind(address)
        s.listen(); return s.getsockname()[0]
print(served(2, ("0.0.0.0", 0)), served(2, ("127.0.0.1", 0)), served(2, None))
with socket.socket() as s: print(s.connect_ex(("192.0.2.1", 80)), s.bind(("127.0.0.1", 0)))
try: socket.socket().bind(("192.0.2.1", 0))
except OSError as e: print(e.errno)
print(bool(socket.if_nameindex()))
"""
    with proxy() as at:
        ran = run(landlock, tmp_path, code, at)

    first, refused, elsewhere, interfaces = ran.stdout.decode().splitlines()
    assert first == "127.0.0.1 127.0.0.1 127.0.0.1", ran.stderr
    assert refused == f"{errno.EACCES} None"
    assert (int(elsewhere), interfaces) == (errno.EADDRNOTAVAIL, "True")


@pytest.mark.parametrize(
    "arguments",
    ["s, 0, 16", "s, 2**64 - 1, 16", "s, 2**47 - 8, 16", "s, good, 2**31", "s, good, -1", "s, good, 4", "-1, good, 16", "9999, good, 16"],
)  # fmt: skip
def test_a_call_that_makes_no_sense_is_answered_with_an_error(landlock: Ground, tmp_path: Path, arguments: str) -> None:
    code = f"""{ASK}
libc = ctypes.CDLL(None, use_errno=True)
room = ctypes.create_string_buffer(bytes(16)); good = ctypes.addressof(room)
s = socket.socket().detach()
print(libc.connect(*(ctypes.c_long(word) if word < 2**63 else ctypes.c_ulong(word) for word in ({arguments}))), ask())
"""
    with proxy() as at:
        ran = run(landlock, tmp_path, code, at)

    assert ran.stdout == b"-1 hello\n", ran.stderr


def test_a_program_that_hides_its_memory_still_reaches_its_proxy() -> None:
    """As an ordinary user: the superuser's launcher may be able to look into it anyway."""
    code = (
        "import tempfile; from pathlib import Path; from contract import agent_network_test as t\n"
        "with t.proxy() as at, tempfile.TemporaryDirectory() as folder:\n"
        "    ground = t.choose('landlock', t.ChildProcesses(), open_network=False)\n"
        "    code = 'print(ctypes.CDLL(None).prctl(4, 0, 0, 0, 0))\\n' + t.ASK + 'print(ask())'\n"
        "    print(ground.egress, t.run(ground, Path(folder), code, at).stdout)"
    )
    ground_of("landlock")
    words = as_nobody() if os.getuid() == 0 else (sys.executable,)
    if not words:
        pytest.skip("no ordinary user can read this checkout and run its Python")
    libraries = f"{environment()['PYTHONPATH']}{os.pathsep}{Path(pytest.__file__).parents[1]}"
    done = subprocess.run(
        [*words, "-c", code], env={**environment(), "PYTHONPATH": libraries}, cwd="/", capture_output=True, text=True,
        check=False,
    )  # fmt: skip

    assert done.stdout == "proxy b'0\\nhello\\n'\n", done.stderr


def test_an_agent_gets_a_pseudo_terminal(ground: Ground, tmp_path: Path) -> None:
    code = """
pid, master = pty.fork()
if pid == 0: os.execv("/bin/sh", ["sh", "-c", "test -t 0 && test -t 1 && tty >/dev/null && echo in a terminal"])
heard = b""
try:
    while piece := os.read(master, 100): heard += piece
except OSError: pass
print(heard.decode().strip())
"""
    assert run(ground, tmp_path, code, None).stdout == b"in a terminal\n"


def test_a_machine_that_cannot_close_the_network_refuses_to_hold_an_agent_to_a_proxy(tmp_path: Path) -> None:
    fences = Fences(toolchain=look(os.environ), filter=b"", shown=())
    job = Job(argv=("true",), cwd=str(tmp_path), env={"PATH": os.environ["PATH"]})

    with pytest.raises(SandboxUnavailable, match="ABI 4") as refused:
        LandlockAgents(ChildProcesses(), fences, AgentView(), None, ("127.0.0.1", 1)).run(job)
    assert "--open-network" in refused.value.do


def test_our_own_python_may_be_installed_anywhere(landlock: Ground, tmp_path: Path) -> None:
    """With nothing of it on the PATH: the launcher must not need it once a program is confined."""
    if sys.base_prefix.startswith("/usr"):
        pytest.skip("this Python is where the system's programs are, which are shown anyway")
    code = (
        "from autopilot.sandbox.choose_tier import choose; from autopilot.sandbox.processes.children import ChildProcesses\n"
        "from autopilot.sandbox.tiers.agent_view import AgentView; from autopilot.domain.process import Job\n"
        f"job = Job(argv=('sh', '-c', 'echo here'), cwd={str(tmp_path)!r}, env={{'PATH': '/usr/bin:/bin'}})\n"
        "ground = choose('landlock', ChildProcesses())\n"
        f"print(ground.agents(AgentView()).run(job).stdout, ground.sandbox().run('echo here', {str(tmp_path)!r}, 60).stdout)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip

    assert done.stdout == "b'here\\n' b'here\\n'\n", done.stderr


def test_a_home_is_never_shown_because_python_is_installed_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", f"{sys.base_prefix}/home")

    assert os.path.realpath(sys.base_prefix) not in set(our_python())
