"""A confined agent's way out: it reaches what it may and nothing else, and neither it nor its proxy outlives the other."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from autopilot.app.dependencies import set_up_in
from autopilot.domain.errors import SandboxUnavailable
from autopilot.domain.process import NOT_SHARED, Job, Ran, Try
from autopilot.sandbox import choose_tier as choose
from autopilot.sandbox.choose_tier import Ground
from autopilot.sandbox.egress.passage import passage
from autopilot.sandbox.keeper import keeper
from autopilot.sandbox.keeper.held_calls import KeptProcesses
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.sandbox.tiers.agent_view import AgentView
from autopilot.sandbox.tiers.bubblewrap import ALONE
from support.egress import Host, host
from support.waiting import PATIENCE_S, is_alive, soon

pytestmark = [pytest.mark.sandbox, pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")]

PATH = os.environ["PATH"]
NOBODY = 65534
RUN = """
import sys
from pathlib import Path
from autopilot.domain.process import Job
from autopilot.sandbox.keeper.held_calls import KeptProcesses
from autopilot.sandbox import choose_tier as choose
from autopilot.sandbox.tiers.agent_view import AgentView
from autopilot.sandbox.processes.children import ChildProcesses
keep, cwd, script, tier, host = sys.argv[1:]
others = ChildProcesses(territory=cwd)
kept = KeptProcesses(Path(keep), others, "boot", 600) if keep else others
caged = choose.choose(tier, others).agents(AgentView(), kept)
env = {"PATH": "/usr/bin:/bin"}
job = Job(argv=("bash", "-c", script), cwd=cwd, env=env, stdin=b"x", mark="call", timeout_s=1200, hosts=(host,))
ran = caged.run(job, lambda pid: print(pid, flush=True))
print(ran.stdout.decode(), ran.stderr.decode(), *(f"{t.host} {t.port} {t.verdict}" for t in ran.tries), sep="\\n")
"""
ASK = """
ask() {{ {{ exec 3<>/dev/tcp/${{1/:*}}/${{1/*:}}; }} 2>&- || return 1; printf '%s' "$2" >&3; timeout 20 cat <&3; exec 3>&-; }}
proxy=${{http_proxy#http://}}; account=${{proxy%@*}}; place=${{proxy#*@}}
token=; [ "$account" = "$place" ] || token=$'Proxy-Authorization: Basic '$(printf %s "$account" | base64 -w0)$'\\r\\n'
end=$'\\r\\n\\r\\n'
ask "$place" $'GET http://127.0.0.1:{port}/in HTTP/1.1\\r\\n'"$token"$'\\r\\n'
ask "$place" $'CONNECT evil.test:443 HTTP/1.1\\r\\n'"$token"$'\\r\\n'
ask 127.0.0.1:{port} $'GET /around HTTP/1.1'"$end" || echo refused
"""


@pytest.fixture
def upstream() -> Iterator[Host]:
    with host() as made:
        yield made


@pytest.fixture
def work() -> Iterator[Path]:
    """A folder that others can get to, unlike those of the tests."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.fixture(params=["bubblewrap", "landlock"])
def ground(request: pytest.FixtureRequest, tmp_path: Path) -> Ground:
    try:
        return choose.choose(request.param, ChildProcesses(territory=str(tmp_path)))
    except SandboxUnavailable as error:
        pytest.skip(error.what)


def run(ground: Ground, folder: Path, script: str, *hosts: str, **view: bool) -> Ran:
    work = folder / "work"
    work.mkdir(exist_ok=True)
    env = {"PATH": PATH, "HOME": str(folder), "HTTPS_PROXY": "http://the.users.own:1"}
    job = Job(argv=("bash", "-c", script), cwd=str(work), env=env, timeout_s=PATIENCE_S, mark="egress", hosts=hosts)
    return ground.agents(AgentView(**view)).run(job)  # type: ignore[arg-type] # a test names one switch


def test_an_agent_reaches_the_allowed_host_through_its_proxy_and_nothing_around_it(
    ground: Ground, tmp_path: Path, upstream: Host
) -> None:
    ran = run(ground, tmp_path, ASK.format(port=upstream.port), f"127.0.0.1:{upstream.port}")
    said = ran.stdout.decode()

    assert "hello" in said
    assert "X-Autopilot-Egress: host" in said
    assert said.endswith("refused\n")
    assert [known.split(b" ")[1] for known in upstream.heard] == [b"/in"]
    told = {(known.host, known.port, known.verdict, known.reason) for known in ran.tries}
    around = ("127.0.0.1", upstream.port, "refused", "loopback")
    assert told == {("127.0.0.1", upstream.port, "allowed", ""), ("evil.test", 443, "refused", "host"), around}
    assert ran.contacted == {"127.0.0.1"}
    assert b"the.users.own" not in ran.stdout


def test_an_agent_that_may_reach_nothing_reaches_nothing(ground: Ground, tmp_path: Path, upstream: Host) -> None:
    ran = run(ground, tmp_path, ASK.format(port=upstream.port))

    assert upstream.heard == []
    assert ran.contacted == frozenset()


TRY = """
for port in {served} {closed}; do {{ exec 3<>/dev/tcp/127.0.0.1/$port; }} 2>&- && echo reached; done
exit 0
"""
OWN = """
import socket, threading
with socket.create_server(("127.0.0.1", 0)) as own:
    threading.Thread(target=lambda: own.accept()[0].sendall(b"own server"), daemon=True).start()
    with socket.create_connection(own.getsockname()) as made:
        print(made.recv(100).decode())
"""


def test_a_service_of_this_machine_that_an_agent_tries_is_told_and_a_closed_port_is_not(
    ground: Ground, tmp_path: Path, upstream: Host
) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        ran = run(ground, tmp_path, TRY.format(served=upstream.port, closed=silent.getsockname()[1]))

    assert (ran.exit_code, ran.stdout, upstream.heard) == (0, b"", [])
    assert ran.tries == (Try(host="127.0.0.1", port=upstream.port, verdict="refused", reason="loopback"),)


def test_a_service_that_the_set_up_command_tries_is_told_too(ground: Ground, tmp_path: Path, upstream: Host) -> None:
    told: list[str] = []
    ran = set_up_in(ground, "set-up", tell=told.append)(TRY.format(served=upstream.port, closed=""), str(tmp_path))

    assert (ran.exit_code, ran.stdout) == (0, b"")
    assert len(told) == 1
    assert told[0].startswith(f"The set-up command was refused 127.0.0.1:{upstream.port}. ")
    assert told[0].endswith(NOT_SHARED)


def test_a_refusal_is_told_by_its_version_of_the_address(ground: Ground, tmp_path: Path) -> None:
    try:
        listener = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError as error:
        pytest.skip(f"no IPv6 here: {error}")
    with listener:
        port = listener.getsockname()[1]
        ran = run(
            ground, tmp_path, f"{{ exec 3<>/dev/tcp/::1/{port}; }} 2>&-; {{ exec 3<>/dev/tcp/127.0.0.1/{port}; }} 2>&-"
        )

    assert {(known.host, known.port) for known in ran.tries} == {("::1", port)}


def test_in_a_network_of_its_own_an_agent_reaches_its_own_server_and_nothing_is_told(tmp_path: Path) -> None:
    try:
        ground = choose.choose("bubblewrap", ChildProcesses(territory=str(tmp_path)))
    except SandboxUnavailable as error:
        pytest.skip(error.what)
    ran = run(ground, tmp_path, f"exec /usr/bin/python3 -c '{OWN}'")

    assert (ran.stdout, ran.tries) == (b"own server\n", ())


def test_with_an_open_network_an_agent_reaches_what_the_user_does(
    ground: Ground, tmp_path: Path, upstream: Host
) -> None:
    script = f"exec 3<>/dev/tcp/127.0.0.1/{upstream.port}; echo hi >&3; env"
    ran = run(ground, tmp_path, script, open_network=True)

    assert soon(lambda: upstream.heard == [b"hi\n"])
    assert b"http://the.users.own:1" in ran.stdout


def test_where_its_network_is_its_own_an_agent_calls_its_own_servers_directly(tmp_path: Path) -> None:
    try:
        ground = choose.choose("bubblewrap", ChildProcesses(territory=str(tmp_path)))
    except SandboxUnavailable as error:
        pytest.skip(error.what)
    ran = run(ground, tmp_path, 'echo "$NO_PROXY $no_proxy"', "api.example.test")

    assert ran.stdout.decode() == "localhost,127.0.0.1,::1 localhost,127.0.0.1,::1\n"


@pytest.mark.parametrize("tier", ["bubblewrap", "landlock"])
def test_it_is_the_same_for_an_ordinary_user(tier: str, work: Path, upstream: Host) -> None:
    setpriv = shutil.which("setpriv")
    if os.geteuid() != 0 or setpriv is None:
        pytest.skip("we are an ordinary user already, or cannot become one")
    os.chown(work, NOBODY, NOBODY)
    as_user = (setpriv, f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
    place = f"127.0.0.1:{upstream.port}"
    words = ("", str(work), ASK.format(port=upstream.port), tier, place)
    sources = (str(Path(msgspec.__file__).parents[1]), str(Path(choose.__file__).parents[2]))
    env = {"PATH": PATH, "HOME": "/nonexistent", "TMPDIR": str(work), "PYTHONPATH": os.pathsep.join(sources)}
    python = next((each for each in (sys.executable, "/usr/bin/python3") if can_run((*as_user, each), env)), None)
    if python is None:
        pytest.skip("no Python that an ordinary user can start knows what we need")
    ran = subprocess.run((*as_user, python, "-c", RUN, *words), capture_output=True, env=env, check=False)
    if b"SandboxUnavailable" in ran.stderr:
        pytest.skip(ran.stderr.decode().strip().splitlines()[-1])

    assert b"hello" in ran.stdout, ran.stderr
    assert f"127.0.0.1 {upstream.port} allowed\nevil.test 443 refused\n" in ran.stdout.decode()
    assert [known.split(b" ")[1] for known in upstream.heard] == [b"/in"]


@pytest.mark.parametrize("tier", ["bubblewrap", "landlock"])
@pytest.mark.parametrize("victim", ["egress", "keeper", "run"])
def test_no_agent_is_left_without_its_proxy_and_no_proxy_without_its_agent(
    victim: str, tier: str, tmp_path: Path, upstream: Host
) -> None:
    keep, work = tmp_path / "keep", tmp_path / "work"
    work.mkdir()
    sign = f"3600.{os.getpid()}{upstream.port}"
    words = ("" if victim == "run" else str(keep), str(work), f"sleep {sign}", tier, f"127.0.0.1:{upstream.port}")
    with begun(words, keep) as (process, proxy):
        assert soon(lambda: len(with_word(sign)) > 0)
        agents, spaces = with_word(sign), {network_of(pid) for pid in with_word(sign)}
        chosen = {"egress": lambda: proxy, "run": lambda: process.pid, "keeper": lambda: keeper_of(keep)}[victim]()
        os.kill(chosen, signal.SIGKILL)

        assert soon(lambda: not any(map(is_alive, (proxy, *agents))))
        if tier == "bubblewrap":
            assert soon(lambda: not [pid for pid in processes() if network_of(pid) in spaces])


def test_an_agent_that_outlives_its_run_keeps_its_way_out(tmp_path: Path, upstream: Host) -> None:
    keep, work = tmp_path / "keep", tmp_path / "work"
    work.mkdir()
    script = "while ! [ -e go ]; do sleep 0.05; done; " + ASK.format(port=upstream.port)
    words = (str(keep), str(work), script, "bubblewrap", f"127.0.0.1:{upstream.port}")
    with begun(words) as (process, _):
        process.kill()
    (work / "go").touch()
    assert soon(lambda: b"/in" in upstream.all)

    others = ChildProcesses(territory=str(work))
    kept = KeptProcesses(keep, others, "boot", 600)
    job = Job(
        argv=("bash", "-c", script), cwd=str(work), env={"PATH": PATH}, stdin=b"x", mark="call", timeout_s=PATIENCE_S
    )
    ran = kept.run(job)

    assert b"hello" in ran.stdout
    assert b"/around" not in upstream.all


def test_what_a_call_tried_is_known_to_the_run_that_takes_it_up(tmp_path: Path, upstream: Host) -> None:
    records, work = tmp_path / "records", tmp_path / "work"
    work.mkdir()
    try:
        ground = choose.choose("bubblewrap", ChildProcesses(territory=str(tmp_path)))
    except SandboxUnavailable as error:
        pytest.skip(error.what)
    script = ASK.format(port=upstream.port)
    job = Job(argv=("bash", "-c", script), cwd=str(work), env={"PATH": PATH}, mark="call", timeout_s=PATIENCE_S)
    ran = ground.agents(AgentView(records=str(records))).run(job)

    assert [path.stat().st_mode & 0o777 for path in records.iterdir()] == [0o600]
    assert {known.verdict for known in ran.tries} == {"refused"}
    again = ground.agents(AgentView(records=str(records))).run(job)
    assert [known.count for known in again.tries] == [known.count for known in ran.tries]


@contextmanager
def begun(words: tuple[str, ...], keep: Path | None = None) -> Iterator[tuple["subprocess.Popen[bytes]", int]]:
    """A run in a process of its own, and the program it has started for its agent; nothing of it is left."""
    process = subprocess.Popen((sys.executable, "-c", RUN, *words), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        told = process.stdout.readline()
        if not told:
            pytest.skip(process.stderr.read().decode().strip().splitlines()[-1])
        yield process, int(told)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()
        if keep:
            KeptProcesses(keep, ChildProcesses(territory=words[1]), "boot", 600).release_all()


def test_an_agent_that_only_talks_like_its_proxy_was_not_interrupted(ground: Ground, tmp_path: Path) -> None:
    ran = run(ground, tmp_path, "echo 'egress: no socket could be made' >&2; exit 125")

    assert (ran.exit_code, ran.interruption) == (125, "")


def test_a_proxy_that_cannot_start_starts_no_agent(tmp_path: Path) -> None:
    job = Job(argv=("/usr/bin/touch", str(tmp_path / "started")), cwd=str(tmp_path))
    with passage(job, "beside") as way_out:
        os.ftruncate(way_out.policy, 0)
        done = subprocess.run(way_out.leading(job.argv), pass_fds=way_out.inherited, capture_output=True, check=False)

        assert (done.returncode, way_out.served) == (125, False)
    assert not (tmp_path / "started").exists()


def test_a_sandbox_that_waits_for_a_proxy_that_cannot_start_is_killed(tmp_path: Path) -> None:
    bwrap = shutil.which("bwrap")
    try:
        choose.choose("bubblewrap", ChildProcesses(territory=str(tmp_path)))
    except SandboxUnavailable as error:
        pytest.skip(error.what)
    assert bwrap
    made = tmp_path / "started"
    command = (bwrap, *ALONE, "--unshare-net", "--dev-bind", "/", "/", "--", "/usr/bin/touch", str(made))
    with passage(Job(argv=command, cwd=str(tmp_path)), "inside") as way_out:
        os.ftruncate(way_out.policy, 0)
        done = subprocess.run(way_out.leading(command), pass_fds=way_out.inherited, capture_output=True, check=False)

        assert (done.returncode, way_out.served) == (125, False), done.stderr
        assert done.stderr.startswith(b"egress: ")
    assert soon(lambda: not [pid for pid in processes() if str(made) in command_of(pid)])
    assert not made.exists()


def keeper_of(keep: Path) -> int:
    (place,) = keep.iterdir()
    return int((place / keeper.KEEPER).read_text().split()[0])


def can_run(words: tuple[str, ...], env: dict[str, str]) -> bool:
    trial = (*words, "-c", "import os, sys, autopilot, msgspec; sys.exit(not os.access(sys.executable, os.X_OK))")
    return subprocess.run(trial, capture_output=True, env=env, check=False).returncode == 0


def processes() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit() and is_alive(int(path.name))]


def with_word(word: str) -> list[int]:
    """The processes that were started with the word, but not those that were told to start it."""
    return [pid for pid in processes() if command_of(pid).split("\0")[:2] == ["sleep", word]]


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
    except OSError:
        return ""


def network_of(pid: int) -> str:
    try:
        return str(Path(f"/proc/{pid}/ns/net").readlink())
    except OSError:
        return ""
