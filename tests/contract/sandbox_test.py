"""What every sandbox promises, what a confining one promises on top, and how one is chosen."""

import os
import platform
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from autopilot.domain.errors import SandboxUnavailable
from autopilot.domain.process import Ran, Sandbox
from autopilot.domain.settings import SandboxChoice
from autopilot.sandbox.choose_tier import Candidate, Ground, choose
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.sandbox.self_attack import ATTACKS, Attack, Cage, weakness
from autopilot.sandbox.tiers.bubblewrap import Bubblewrap, Walls
from autopilot.sandbox.tiers.unconfined import PlainProcess
from autopilot.sandbox.toolchain import look
from support.waiting import PATIENCE_S
from support.worlds import start_of

pytestmark = pytest.mark.sandbox

TICKING = (
    "setsid bash -c 'while :; do echo x >> ticks; sleep 0.002; done' >/dev/null 2>&1 &"
    " while [ ! -s ticks ]; do sleep 0.01; done;"
)
CONFINING: tuple[SandboxChoice, ...] = ("bubblewrap", "landlock")


def ground_of(tier: SandboxChoice) -> Ground:
    """The tier as it holds here, or the test is skipped."""
    try:
        return choose(tier, ChildProcesses())
    except SandboxUnavailable as error:
        pytest.skip(error.what)


@pytest.fixture(params=CONFINING)
def ground(request: pytest.FixtureRequest) -> Ground:
    return ground_of(request.param)


@pytest.fixture
def confined(ground: Ground) -> Sandbox:
    return ground.sandbox()


@pytest.fixture(params=[*CONFINING, "none"])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    return ground_of(request.param).sandbox()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "checkout"
    made.mkdir()
    return made


def still_ticks(folder: Path) -> bool:
    before = (folder / "ticks").read_bytes()
    time.sleep(0.1)  # fifty times what it takes to tick once more
    return (folder / "ticks").read_bytes() != before


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("true", 0),
        ("exit 7", 7),
        ("false | true", 1),
        ("false; true", 1),
        ("echo $UNSET_VARIABLE", 1),
        ("no-such-program", 127),
        ("kill -9 $$", 137),
        ("x" * 200_000, 126),
        ("echo a\0b", 126),
    ],
    ids=["success", "failure", "in a pipe", "in a list", "unset", "missing", "killed", "too long", "zero byte"],
)
def test_the_exit_code_is_what_a_strict_shell_says(sandbox: Sandbox, folder: Path, command: str, code: int) -> None:
    assert sandbox.run(command, str(folder), PATIENCE_S).exit_code == code


def test_both_streams_are_captured(sandbox: Sandbox, folder: Path) -> None:
    ran = sandbox.run("echo out; echo err >&2", str(folder), PATIENCE_S)

    assert (ran.stdout, ran.stderr) == (b"out\n", b"err\n")


def test_a_flood_of_output_is_cut_and_its_end_kept(sandbox: Sandbox, folder: Path) -> None:
    ran = sandbox.run("head -c 20000000 /dev/zero | tr '\\0' x; echo last", str(folder), PATIENCE_S)

    assert len(ran.stdout) <= 4_000_000
    assert ran.stdout.endswith(b"last\n")


def test_the_command_runs_in_its_folder_and_can_write_there(sandbox: Sandbox, folder: Path) -> None:
    ran = sandbox.run("pwd -P; echo made > made.txt", str(folder), PATIENCE_S)

    assert ran.stdout.decode().strip() == str(folder.resolve())
    assert (folder / "made.txt").read_text() == "made\n"


def test_standard_input_is_closed(sandbox: Sandbox, folder: Path) -> None:
    ran = sandbox.run("cat; echo end", str(folder), 5)

    assert (ran.exit_code, ran.stdout) == (0, b"end\n")


def test_the_environment_is_cleared(sandbox: Sandbox, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANTED_SECRET", "s3cret")
    ran = sandbox.run("env; cat /proc/self/environ", str(folder), PATIENCE_S)

    assert b"s3cret" not in ran.stdout
    assert b"LANG=C.UTF-8" in ran.stdout


def test_home_and_temporary_folder_are_private_empty_and_writable(sandbox: Sandbox, folder: Path) -> None:
    ran = sandbox.run('ls -A "$HOME"; echo x > "$HOME/x"; echo y > "$TMPDIR/y"; echo "$HOME"', str(folder), PATIENCE_S)

    assert ran.exit_code == 0
    assert ran.stdout.decode().strip() not in {"", str(Path.home())}
    assert not Path(ran.stdout.decode().strip()).exists()


@pytest.mark.parametrize("tier", [*CONFINING, "none"])
def test_programs_inside_the_folder_do_not_shadow_the_users(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tier: SandboxChoice
) -> None:
    (folder / "bin").mkdir()
    (folder / "bin" / "true").write_text("#!/bin/sh\nexit 9\n")
    (folder / "bin" / "true").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}/bin:{os.environ['PATH']}")

    assert ground_of(tier).sandbox().run("env true", str(folder), PATIENCE_S).exit_code == 0


def test_at_the_time_limit_nothing_survives(sandbox: Sandbox, folder: Path) -> None:
    ran = sandbox.run(f"{TICKING} echo begun; sleep 60", str(folder), 1.5)

    assert ran.exit_code is None
    assert ran.stdout == b"begun\n"
    assert ran.seconds < 30
    assert not still_ticks(folder)


def test_a_daemon_does_not_outlive_a_command_that_ends_well(sandbox: Sandbox, folder: Path) -> None:
    ran = sandbox.run(f"{TICKING} true", str(folder), PATIENCE_S)

    assert ran.exit_code == 0
    assert not still_ticks(folder)


def test_the_usual_tools_work(sandbox: Sandbox, folder: Path) -> None:
    ran = sandbox.run("git init -q . && git status --short && python3 -c 'print(6 * 7)'", str(folder), 30)

    assert (ran.exit_code, ran.stdout) == (0, b"42\n"), ran.stderr


@pytest.mark.parametrize("command", ["true", "sleep 30"], ids=["normal end", "time limit"])
def test_a_daemon_that_sheds_its_mark_is_gone_when_the_command_is(
    confined: Sandbox, folder: Path, command: str
) -> None:
    confined.run(f"env -i {TICKING} {command}", str(folder), 1.5)

    assert not still_ticks(folder)


def test_a_confined_command_cannot_write_outside_its_folder(confined: Sandbox, folder: Path, tmp_path: Path) -> None:
    """SBOX-03."""
    targets = [tmp_path / "beside", Path.home() / "autopilot-probe", Path("/usr/autopilot-probe"), Path("/probe")]
    for target in targets:
        confined.run(f"mkdir -p '{target.parent}' && echo x > '{target}'", str(folder), PATIENCE_S)

    assert [target for target in targets if target.exists()] == []


def test_a_confined_command_has_no_network(confined: Sandbox, folder: Path) -> None:
    """SBOX-03."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ran = confined.run(f"exec 3<>/dev/tcp/127.0.0.1/{listener.getsockname()[1]}", str(folder), PATIENCE_S)

    assert ran.exit_code != 0
    assert b"refused" in ran.stderr or b"not permitted" in ran.stderr


def test_a_command_in_bubblewrap_may_serve_and_call_itself(folder: Path) -> None:
    code = (
        "import socket as s; a = s.create_server(('127.0.0.1', 0)); b = s.create_connection(a.getsockname());"
        " a.accept()[0].sendall(b'ok'); print(b.recv(2).decode())"
    )
    assert ground_of("bubblewrap").sandbox().run(f'python3 -c "{code}"', str(folder), PATIENCE_S).stdout == b"ok\n"


def test_a_confined_command_does_not_see_the_users_home(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ground: Ground
) -> None:
    home = tmp_path / "home"
    (home / "bin").mkdir(parents=True)
    (home / "secret.txt").write_text("s3cret")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", f"{home}/bin:{os.environ['PATH']}")

    ran = ground_of(ground.tier).sandbox().run(f"cat '{home}/secret.txt' ~/secret.txt", str(folder), PATIENCE_S)  # type: ignore[arg-type] # a tier's name is a choice
    assert ran.exit_code != 0
    assert b"s3cret" not in ran.stdout


def test_a_command_in_bubblewrap_sees_no_process_of_ours(folder: Path) -> None:
    ran = ground_of("bubblewrap").sandbox().run("ls /proc | grep -cE '^[0-9]+$'", str(folder), PATIENCE_S)

    assert int(ran.stdout) < 8


def test_a_confined_command_dies_with_us(folder: Path, ground: Ground) -> None:
    code = (
        "import sys; from autopilot.sandbox.choose_tier import choose; from autopilot.sandbox.processes.children import ChildProcesses\n"
        "s = choose(sys.argv[2], ChildProcesses()).sandbox()\n"
        "s.run('while :; do date +%N > tick; sleep 0.02; done', sys.argv[1], 30)"
    )
    harness = subprocess.Popen([sys.executable, "-c", code, str(folder), ground.tier])
    while not (folder / "tick").exists():
        time.sleep(0.01)
    harness.kill()
    harness.wait()

    time.sleep(0.3)
    last = (folder / "tick").read_text()
    time.sleep(0.2)
    assert (folder / "tick").read_text() == last


def test_readable_folders_can_be_read_and_not_written(ground: Ground, folder: Path, tmp_path: Path) -> None:
    objects = tmp_path / "objects"
    objects.mkdir()
    (objects / "pack").write_text("packed")
    sandbox = ground.sandbox((str(objects), str(tmp_path / "missing")))

    assert sandbox.run(f"cat '{objects}/pack'", str(folder), PATIENCE_S).stdout == b"packed"
    assert sandbox.run(f"echo x > '{objects}/pack'", str(folder), PATIENCE_S).exit_code != 0
    assert (objects / "pack").read_text() == "packed"


@pytest.mark.parametrize(
    ("said", "code"), [("bwrap: setting up uid map", 1), ("confine: landlock_create_ruleset", 125)]
)
def test_a_command_that_pretends_the_sandbox_broke_has_simply_failed(
    confined: Sandbox, folder: Path, said: str, code: int
) -> None:
    assert confined.run(f"echo '{said}' >&2; exit {code}", str(folder), PATIENCE_S).exit_code == code


def as_command(sandbox: Sandbox) -> Cage:
    return lambda field, script: sandbox.run(script, str(field.inside), PATIENCE_S)


def test_the_canary_catches_what_does_not_confine() -> None:
    plain = as_command(PlainProcess(ChildProcesses(), look(os.environ)))

    caught = {attack.what for attack in ATTACKS if weakness(plain, (attack,)) is not None}
    # Tier none has no means against a daemon that sheds its mark, and none against anything else.
    assert caught == {attack.what for attack in ATTACKS if can_be_tried(attack)}


def can_be_tried(attack: Attack) -> bool:
    """Some containers have no IPv6, and some kernels no multipath TCP."""
    made: dict[str, tuple[int, int]] = {"tcp6": (socket.AF_INET6, 0), "multipath": (socket.AF_INET, 262)}
    if attack.door not in made:
        return True
    family, protocol = made[attack.door]
    try:
        with socket.socket(family, socket.SOCK_STREAM, protocol) as door:
            door.bind(("::1" if family == socket.AF_INET6 else "127.0.0.1", 0))
    except OSError:
        return False
    return True


def test_the_canary_catches_a_sandbox_that_does_not_run() -> None:
    broken = as_command(Bubblewrap(ChildProcesses(), Walls(bwrap="/no/such/bwrap", toolchain=look(os.environ))))

    assert "was not found" in (weakness(broken) or "")


def test_the_canary_catches_a_sandbox_in_which_the_attacks_did_not_run() -> None:
    idle: Cage = lambda field, script: Ran(exit_code=0, stdout=b"", stderr=b"not me", seconds=0.0)

    assert weakness(idle) == "a plain command failed: not me"


def test_the_canary_attacks_the_cage_of_agents_too(ground: Ground) -> None:
    """Commands are confined here, and agents not at all."""
    candidate = Candidate(
        tier=ground.tier,
        commands=ground.commands,
        agents=lambda view, processes=None, proxy=None: ChildProcesses(),
        commands_lack=frozenset({"own sockets"}),
        egress="proxy",
    )

    assert (candidate.weakness() or "").startswith("an agent ")


def test_a_proxy_that_agents_cannot_reach_is_a_weakness() -> None:
    ground = ground_of("bubblewrap")
    candidate = Candidate(
        tier="bubblewrap", commands=ground.commands, agents=ground.agents, commands_lack=frozenset({"own sockets"}),
        egress="proxy", lets_through=True,
    )  # fmt: skip

    assert candidate.weakness() == "an agent did not reach its proxy"


def test_where_the_launcher_cannot_look_into_agents_the_label_and_the_doctor_say_so() -> None:
    if not (beginning := start_of("blind")):
        pytest.skip("such a machine is made by a seccomp filter, for which the system calls must be known")
    code = (
        "from autopilot.sandbox.choose_tier import choose; from autopilot.sandbox.processes.children import ChildProcesses\n"
        "from autopilot.app.sandbox_checkup import sandbox_check\n"
        "ground = choose('auto', ChildProcesses(), open_network=False)\n"
        "check = sandbox_check(ChildProcesses(), 'auto', open_network=False)\n"
        "print(ground.tier, ground.egress, 'egress by port only' in ground.label, check.level, sep='|')\n"
        "print(ground.warning)\nprint(check.fix)"
    )
    ground_of("landlock")
    done = subprocess.run([*beginning, sys.executable, "-c", code], capture_output=True, text=True, check=False)

    told, warning, fix = done.stdout.splitlines()
    assert told == "landlock|port|True|warn", done.stderr
    assert "not to its address" in warning
    assert "bubblewrap" in fix


def test_a_label_tells_kernel_and_proof(ground: Ground) -> None:
    """Every fact carries it."""
    assert ground.label.startswith(f"{ground.tier} (kernel {platform.release()}")
    assert re.search(r"withstood [23]\d attacks\)$", ground.label), "those of commands and those of agents"
    assert ground.sandbox().label == ground.label


def test_switching_the_sandbox_off_is_never_silent() -> None:
    ground = choose("none", ChildProcesses())

    assert (ground.tier, ground.label) == ("none", "none (unsandboxed)")
    assert "unconfined" in (ground.warning or "")


def test_without_any_tier_nothing_is_chosen_instead() -> None:
    with pytest.raises(SandboxUnavailable) as refused:
        choose("seatbelt" if sys.platform == "linux" else "landlock", ChildProcesses())

    assert (refused.value.exit_code, refused.value.what.count("does not hold here")) == (4, 1)
    assert "--unsandboxed" in refused.value.do
