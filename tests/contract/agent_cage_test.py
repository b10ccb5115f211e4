"""What an agent's own program can see: its workspace and its own home, and nothing of the user's."""

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from autopilot.domain.errors import AgentUnavailable, SandboxUnavailable
from autopilot.domain.process import TOOL_DATA, Job, Processes, Ran
from autopilot.sandbox.choose_tier import Ground, choose
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.sandbox.tiers.agent_view import AgentView, repository_config, sight
from support.waiting import PATIENCE_S, soon

pytestmark = pytest.mark.sandbox


@dataclass(frozen=True, slots=True)
class Cage:
    """The user's home, a project with its state, and an agent's workspace and home elsewhere."""

    base: Path
    ground: Ground

    @property
    def home(self) -> Path:
        return self.base / "home"

    @property
    def project(self) -> Path:
        return self.home / "project"

    @property
    def workspace(self) -> Path:
        return self.base / "cache" / "clone"

    @property
    def lent(self) -> Path:
        return self.base / "cache" / "lent"

    def agents(self, **more: bool | tuple[str, ...]) -> Processes:
        return self.ground.agents(AgentView(**more))  # type: ignore[arg-type] # each test names what it needs

    def run(self, script: str, processes: Processes | None = None, *words: str, home: str | None = None) -> Ran:
        job = Job(
            argv=("bash", "-c", script, *words),
            cwd=str(self.workspace),
            env={"PATH": os.environ["PATH"], "HOME": str(self.home)},
            timeout_s=PATIENCE_S,
            mark="cage",
            home=str(self.lent) if home is None else home,
        )
        return (processes or self.agents()).run(job)


@pytest.fixture(params=["bubblewrap", "landlock"])
def cage(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cage:
    try:
        made = Cage(tmp_path.resolve(), choose(request.param, ChildProcesses(territory=str(tmp_path))))
    except SandboxUnavailable as error:
        pytest.skip(error.what)
    monkeypatch.setenv("HOME", str(made.home))
    texts = {
        made.home / ".ssh/id": "s3cret", made.home / ".claude/token": "s3cret", made.lent / ".claude/token": "old", made.workspace / "a.txt": "a\n",
        made.project / ".autopilot/journal.db": "s3cret", made.project / ".planning/ROADMAP.md": "s3cret",
        made.project / "agent.sh": "echo mine", made.workspace / ".claude/settings.json": "hooks",
        made.workspace / ".env": "KEY=1",
    }  # fmt: skip
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return made


def test_an_agent_works_in_its_workspace_with_a_temporary_folder_of_its_own(cage: Cage) -> None:
    ran = cage.run('cat a.txt; echo b > b.txt; rm a.txt; echo t > "$TMPDIR/t"; pwd -P')

    assert (ran.exit_code, ran.stdout.decode()) == (0, f"a\n{cage.workspace}\n")
    assert (cage.workspace / "b.txt").read_text() == "b\n"
    assert not (cage.workspace / "a.txt").exists()


@pytest.mark.parametrize("lent", [None, ""], ids=["with a home", "without"])
def test_nothing_of_the_users_home_is_seen_or_written(cage: Cage, lent: str | None) -> None:
    ran = cage.run(
        f"cat '{cage.home}/.ssh/id' ~/.ssh/id '{cage.home}/.claude/token'; echo x > '{cage.home}/new'; echo x > ~/new; "
        f"echo x > '{cage.home}/.claude/CLAUDE.md'; echo x >> ~/.profile && echo wrote",
        home=lent,
    )

    assert ran.stdout == b"wrote\n"
    assert sorted(path.name for path in cage.home.iterdir()) == [".claude", ".ssh", "project"]
    assert [path.name for path in (cage.home / ".claude").iterdir()] == ["token"]
    assert (cage.lent / ".profile").exists() == (lent is None)


def test_journal_and_planning_files_are_out_of_reach_even_where_the_agents_own_folder_is_shown(cage: Cage) -> None:
    script = f"bash '{cage.project}/agent.sh'; cat '{cage.project}'/.autopilot/* '{cage.project}'/.planning/*"
    ran = cage.run(script, None, "bash", str(cage.project / "agent.sh"))

    assert ran.stdout == b"mine\n"
    listed = cage.run(f"ls '{cage.project}/.autopilot'", None, "bash", str(cage.project / "agent.sh")).stdout
    assert listed == b"" or cage.ground.tier == "landlock", "Landlock can keep back content and no names"
    cage.run(
        f"echo x > '{cage.project}/.autopilot/journal.db'; echo x > '{cage.project}/agent.sh'",
        None,
        "x",
        str(cage.project / "agent.sh"),
    )
    assert (cage.project / ".autopilot/journal.db").read_text() == "s3cret"
    assert (cage.project / "agent.sh").read_text() == "echo mine"


def test_the_state_of_the_run_is_hidden_in_whatever_folder_it_lies(cage: Cage) -> None:
    (cage.home / "work").mkdir()
    cage.project.rename(cage.home / "work/project")
    state = cage.home / "work/project/.autopilot"
    ran = cage.run(
        f"cat '{state}'/*; ls '{state.parent}'", cage.agents(readable=(str(cage.home / "work"),), hidden=(str(state),))
    )

    assert b"s3cret" not in ran.stdout
    assert b"agent.sh" in ran.stdout or cage.ground.tier == "landlock"


def test_an_agent_renews_the_account_in_the_home_it_was_lent(cage: Cage) -> None:
    ran = cage.run("cat ~/.claude/token; echo new > ~/.claude/token")

    assert ran.stdout == b"old"
    assert (cage.lent / ".claude/token").read_text() == "new\n"


def test_tools_below_the_users_home_are_found_though_the_home_is_another(
    cage: Cage, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in TOOL_DATA:
        monkeypatch.delenv(name, raising=False)
    tool = cage.home / ".pyenv/shims/mine"
    for path, text in {
        tool: f"#!/bin/sh\ncat '{cage.home}/.rustup/word'\n",
        cage.home / ".rustup/word": "w0rd",
    }.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    tool.chmod(0o755)

    assert cage.run(f"'{tool}'").stdout == b"w0rd"


def test_nothing_an_agent_started_outlives_its_call(cage: Cage) -> None:
    cage.run("env -i setsid bash -c 'for i in {1..99}; do echo x >> ticks; sleep 0.01; done' & sleep 0.1")

    before = (cage.workspace / "ticks").read_bytes()
    time.sleep(0.1)
    assert (cage.workspace / "ticks").read_bytes() == before


def test_settings_that_come_with_the_repository_are_hidden_unless_the_user_trusts_them(cage: Cage) -> None:
    if not cage.ground.hides:
        pytest.skip("Landlock cannot hide what lies in the workspace; the run warns")
    shown = "cat .claude/settings.json .env; echo x > .claude/new; echo x >> .env"

    assert cage.run(shown).stdout == b""
    assert (cage.workspace / ".claude/settings.json").read_text() == "hooks"
    assert (cage.workspace / ".env").read_text() == "KEY=1"
    assert cage.run(shown, cage.agents(trusts_repository=True)).stdout == b"hooksKEY=1"


@pytest.mark.skipif(os.getuid() != 0, reason="only the superuser could change them anyway")
def test_an_agent_of_the_superuser_cannot_change_the_kernels_settings(cage: Cage) -> None:
    ran = cage.run('f=/proc/sys/kernel/core_pattern; v=$(cat $f) && printf %s "$v" > $f && echo changed')

    assert (ran.stdout, b"ead-only" in ran.stderr or b"denied" in ran.stderr) == (b"", True)


def test_an_agent_may_bring_a_sandbox_of_its_own_into_bubblewrap(cage: Cage) -> None:
    if cage.ground.tier != "bubblewrap" or os.getuid() == 0:
        pytest.skip("there are no namespaces to make, or it is the superuser without capabilities who would make them")

    assert cage.run("unshare --user --map-root-user --mount true && echo nested").stdout == b"nested\n"


def test_a_program_that_is_not_there_is_told_as_such(cage: Cage) -> None:
    with pytest.raises(AgentUnavailable):
        cage.agents().run(Job(argv=("no-such-agent",), cwd=str(cage.workspace), env={"PATH": os.environ["PATH"]}))


def test_a_link_in_the_place_of_settings_hides_what_it_points_to_and_never_leads_out(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / ".claude").symlink_to("real")
    (tmp_path / ".env").symlink_to("/etc/passwd")
    (tmp_path / ".mcp.json").symlink_to("missing")

    assert list(repository_config(str(tmp_path.resolve()))) == [str(tmp_path.resolve() / "real")]


def test_a_program_right_in_the_home_folder_does_not_open_the_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "agent.sh").write_text("echo\n")
    seen = sight(Job(argv=("bash", f"{tmp_path}/agent.sh"), cwd="/", env={"HOME": str(tmp_path)}), AgentView())

    assert f"{tmp_path}/agent.sh" in seen.readable
    assert str(tmp_path) not in seen.readable


def test_a_program_of_a_package_sees_the_packages_it_was_installed_with(cage: Cage) -> None:
    packages = cage.home / "tools/node_modules"
    for name, text in {"agent/bin/agent.sh": 'cat "$(dirname "$0")/../../lib/word"', "lib/word": "found"}.items():
        (packages / name).parent.mkdir(parents=True)
        (packages / name).write_text(text)
    (cage.home / "tools/secret").write_text("s3cret")

    ran = cage.run(
        f"sh {packages}/agent/bin/agent.sh; cat '{cage.home}/tools/secret'", None, f"{packages}/agent/bin/agent.sh"
    )
    assert ran.stdout == b"found"


def test_an_agent_makes_settings_files_that_the_user_s_repository_did_not_have(cage: Cage) -> None:
    if not cage.ground.hides:
        pytest.skip("Landlock cannot hide what lies in the workspace; the run warns")
    agents = cage.ground.agents(AgentView(settings=lambda _: (".claude",)))
    ran = cage.run("cat .claude/settings.json; echo MORE=2 >> .env; echo '{}' > .mcp.json; cat .env", agents)

    assert ran.stdout == b"KEY=1MORE=2\n"
    assert (cage.workspace / ".mcp.json").read_text() == "{}\n"


def test_what_is_beside_one_folder_is_not_shown_in_another(cage: Cage) -> None:
    note = cage.base / "notes" / "note"
    note.parent.mkdir()
    note.write_text("n0te")
    for beside, seen in ((str(cage.workspace), b"n0te"), ("/elsewhere", b"")):
        view = AgentView(beside=lambda folder, own=beside: (str(note.parent),) if folder == own else ())  # type: ignore[misc] # a default binds the loop's value
        assert cage.run(f"cat '{note}' || :", cage.ground.agents(view)).stdout == seen


def test_no_process_list_ever_shows_a_value_of_the_agent_s_environment(cage: Cage) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(cage.home), "API_KEY": "pl4nted-value"}
    script = "echo ${#API_KEY}; until [ -e seen ]; do sleep 0.02; done"
    job = Job(argv=("bash", "-c", script), cwd=str(cage.workspace), env=env, timeout_s=PATIENCE_S, mark="cage")
    seen: set[bytes] = set()

    def agent_seen() -> bool:
        seen.update(command_lines())
        return any(b"API_KEY" in line for line in seen)

    def look(_pid: int) -> None:
        soon(agent_seen)
        for _ in range(10):
            agent_seen()
        (cage.workspace / "seen").touch()

    ran = cage.agents().run(job, look)

    assert ran.stdout == b"13\n"
    assert any(b"API_KEY" in line for line in seen), "the agent itself was seen"
    assert not [line for line in seen if b"pl4nted-value" in line]


def command_lines() -> set[bytes]:
    """Every command line on the machine."""
    found: set[bytes] = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found.add(path.read_bytes())
    return found
