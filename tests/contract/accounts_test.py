"""One account per call: what an agent finds in its home, what it can leave there for others, and what comes back."""

import json
import os
import signal
import stat
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

from autopilot.agents.accounts.homes import Homes
from autopilot.agents.backends.catalogue import BY_NAME
from autopilot.agents.choose_agent import choose
from autopilot.agents.cli_agent import CliAgent, Desk
from autopilot.domain.agent_call import Call, Reply, Role, Thread
from autopilot.domain.errors import SandboxUnavailable, StorageFailed
from autopilot.domain.settings import SandboxChoice
from autopilot.ports.agents import Agent
from autopilot.sandbox import choose_tier as grounds
from autopilot.sandbox.keeper.held_calls import KeptProcesses
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.sandbox.tiers.agent_view import AgentView
from support.homes import homes_at
from support.players import STREAMS
from support.transcripts import question
from support.waiting import soon

pytestmark = pytest.mark.sandbox

CREDENTIALS = ".claude/.credentials.json"
OAUTH = {"accessToken": "old", "refreshToken": "r1", "expiresAt": 1, "scopes": ["s"], "subscriptionType": "max"}
ACCOUNT = {"claudeAiOauth": OAUTH, "mcpOAuth": {"server": {"accessToken": "s3cret"}}}
RENEWED = {"claudeAiOauth": {**OAUTH, "accessToken": "new", "refreshToken": "r2", "expiresAt": 2}}
TOKEN_HOST = BY_NAME["claude"].token_hosts[0]
# What a user may have that no agent of a run is to see.
BELONGINGS = {
    CREDENTIALS: json.dumps(ACCOUNT), ".claude/CLAUDE.md": "user-memory", ".claude/settings.json": '{"hooks": "user-hook"}',
    ".claude/skills/mine/SKILL.md": "user-skill", ".claude.json": '{"mcpServers": "user-mcp"}', ".codex/auth.json": "{}",
    ".gemini/oauth_creds.json": "{}", ".ssh/id": "s3cret", ".gitconfig": "[user]\nname = Ada\n",
}  # fmt: skip


@dataclass
class Place:
    """A user's home, a workspace, and a program that plays Claude Code by a script of the test's."""

    base: Path
    tier: SandboxChoice

    @property
    def home(self) -> Path:
        return self.base / "home"

    @property
    def account(self) -> dict[str, Any]:
        held: dict[str, Any] = json.loads((self.home / CREDENTIALS).read_text())
        return held

    def snapshot(self) -> dict[str, Any]:
        paths = sorted(self.home.rglob("*"))
        return {
            str(path): (path.lstat().st_mode, path.lstat().st_ino, path.read_bytes() if path.is_file() else b"")
            for path in paths
        }

    def ask(self, script: str, homes: Homes | None = None, program: str = "claude", **changes: Any) -> Reply:
        """One call of a program that runs the script first, with `$1` for its home and `$2` for the user's."""
        agent = self.agent(script, homes or homes_at(self.base), program)
        call = msgspec.structs.replace(question(folder=str(self.base / "work")), **changes)
        return agent.call(call, lambda _: None)

    def agent(self, script: str, homes: Homes, program: str = "claude") -> Agent:
        events = "\n".join(json.dumps(event) for event in STREAMS[program])
        text = f"#!/bin/bash\nset -- \"$HOME\" '{self.home}'\n{{\n{script}\n}} >&2\ncat <<'END'\n{events}\nEND\n"
        file = self.base / "programs" / program
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)
        return choose(program, self.desk(homes), self.base)

    def desk(self, homes: Homes) -> Desk:
        processes = ChildProcesses(territory=str(self.base))
        try:
            ground = grounds.choose(self.tier, processes)
        except SandboxUnavailable as error:
            pytest.skip(error.what)
        confined = self.tier != "none"
        called = ground.agents(AgentView()) if confined else processes
        return Desk(called, self.base / "transcripts", "r1", confined=confined, homes=homes)


@pytest.fixture
def unconfined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    made = Place(tmp_path.resolve(), "none")
    for name, text in BELONGINGS.items():
        (made.home / name).parent.mkdir(parents=True, exist_ok=True)
        (made.home / name).write_text(text)
    (made.home / CREDENTIALS).chmod(0o600)
    (made.base / "work").mkdir()
    monkeypatch.setenv("HOME", str(made.home))
    monkeypatch.setenv("PATH", f"{made.base / 'programs'}:{os.environ['PATH']}")
    for name in list(os.environ):
        if name.startswith(("ANTHROPIC", "CLAUDE", "CODEX", "XDG_", "AWS_")):
            monkeypatch.delenv(name)
    return made


@pytest.fixture(params=["bubblewrap", "landlock", "none"])
def place(request: pytest.FixtureRequest, unconfined: Place) -> Place:
    return Place(unconfined.base, request.param)


LISTED = (
    'cd; find . -type f | sort > "$OLDPWD/listed"; cat "$1"/.claude/.credentials.json > "$OLDPWD/signed"; cd "$OLDPWD"'
)
POISON = """
for home in REACH; do
  mkdir -p "$home"/.claude/skills/x "$home"/.claude/projects/p "$home"/.codex/sessions "$home"/.gemini
  echo p0ison > "$home"/.claude/CLAUDE.md
  echo '{"hooks": {"PreToolUse": "p0ison"}}' > "$home"/.claude/settings.json
  echo p0ison > "$home"/.claude/skills/x/SKILL.md
  echo '{"mcpServers": {"p0ison": {}}}' > "$home"/.claude.json
  echo p0ison > "$home"/.claude/projects/p/other-thread.jsonl
  echo p0ison > "$home"/.codex/AGENTS.md
  echo p0ison > "$home"/.gemini/GEMINI.md
  echo p0ison > "$home"/.profile
done
[ -s "$1"/.claude/CLAUDE.md ] && echo planted > planted
"""


def test_a_home_has_the_account_of_its_own_program_and_nothing_else(place: Place) -> None:
    place.ask(LISTED)

    work = place.base / "work"
    assert (work / "listed").read_text().split() == [f"./{CREDENTIALS}"]
    assert json.loads((work / "signed").read_text()) == {"claudeAiOauth": OAUTH}, "the rest is signed in elsewhere"


@pytest.mark.parametrize("role", ["judge", "verify", "rate"])
def test_nothing_an_executor_leaves_outside_the_workspace_reaches_a_reviewer_or_the_user(
    place: Place, role: Role
) -> None:
    before, homes = place.snapshot(), homes_at(place.base)
    # Nothing keeps an unconfined program from writing to a path it knows: the user chose that.
    reach = '"$1"' if place.tier == "none" else '"$1" "$2"'
    executor = place.ask(POISON.replace("REACH", reach), homes)
    place.ask(LISTED, homes, role=role, id=f"r1/2/{role}/1", thread=executor.thread)

    work = place.base / "work"
    assert (work / "planted").exists(), "the executor could write to its own home"
    assert (work / "listed").read_text().split() == [f"./{CREDENTIALS}"]
    assert place.snapshot() == before


def test_a_conversation_goes_on_in_its_home_in_the_same_run_and_role_only(place: Place) -> None:
    homes = homes_at(place.base)
    first = place.ask('echo "$1" > first; echo mine > ~/.claude/session', homes)
    assert first.thread is not None

    def session(**changes: Any) -> str:
        place.ask("cat ~/.claude/session > seen || : > seen", homes, **{"thread": first.thread, **changes})
        return (place.base / "work/seen").read_text()

    assert session(id="r1/2/execute/2") == "mine\n"
    assert session(id="r1/2/verify/1", role="verify") == ""
    assert session(id="r1/2/execute/3", thread=None) == ""
    assert session(id="r1/2/execute/4", thread=Thread(id="another")) == ""
    assert stat.S_IMODE(Path((place.base / "work/first").read_text().strip()).stat().st_mode) == 0o700


def test_a_renewed_sign_in_comes_home_while_the_call_goes_on(place: Place) -> None:
    homes = homes_at(place.base, contacted=lambda _: frozenset({TOKEN_HOST}))
    script = f"""
    echo '{json.dumps(RENEWED)}' > ~/.claude/new && mv ~/.claude/new ~/{CREDENTIALS}
    until [ -e go ]; do sleep 0.05; done
    """
    seen: list[dict[str, Any]] = []

    def look() -> None:
        soon(lambda: place.account["claudeAiOauth"]["accessToken"] == "new")
        seen.append(place.account)
        (place.base / "work/go").touch()

    watcher = threading.Thread(target=look)
    watcher.start()
    reply = place.ask(script, homes)
    watcher.join()

    assert (reply.outcome, reply.issues) == ("ok", ())
    assert seen == [{**RENEWED, "mcpOAuth": ACCOUNT["mcpOAuth"]}]
    assert stat.S_IMODE((place.home / CREDENTIALS).stat().st_mode) == 0o600
    assert [path.name for path in (place.home / ".claude").glob(".*")] == [".credentials.json"]


ATTACKS = {
    "a link": f"ln -sf /etc/hostname ~/{CREDENTIALS}",
    "a link to the user's own": f'ln -sf "$2"/.ssh/id ~/{CREDENTIALS}',
    "a pipe": f"rm ~/{CREDENTIALS}; mkfifo ~/{CREDENTIALS}",
    "a folder": f"rm ~/{CREDENTIALS}; mkdir ~/{CREDENTIALS}",
    "a second name": f"echo '{json.dumps(RENEWED)}' > ~/x; ln -f ~/x ~/{CREDENTIALS}",
    "a gigabyte": f"truncate -s 1G ~/{CREDENTIALS}",
    "a folder's link": f"mv ~/.claude ~/real; echo '{json.dumps(RENEWED)}' > ~/real/.credentials.json; ln -s real ~/.claude",
    "no JSON": f"echo renewed > ~/{CREDENTIALS}",
    "nothing": f": > ~/{CREDENTIALS}",
    "other fields": f"""echo '{json.dumps({**RENEWED, "apiKeyHelper": "evil"})}' > ~/{CREDENTIALS}""",
    "other account": f"""echo '{json.dumps({"claudeAiOauth": {**RENEWED["claudeAiOauth"], "subscriptionType": "pro"}})}' > ~/{CREDENTIALS}""",
    "tokens gone": f"""echo '{json.dumps({"claudeAiOauth": {**OAUTH, "refreshToken": ""}})}' > ~/{CREDENTIALS}""",
}  # fmt: skip


@pytest.mark.parametrize("attack", sorted(ATTACKS))
def test_what_is_no_renewal_never_reaches_the_user_and_is_told(place: Place, attack: str) -> None:
    before = place.snapshot()
    reply = place.ask(ATTACKS[attack], homes_at(place.base, contacted=lambda _: frozenset({TOKEN_HOST})))

    assert place.snapshot() == before
    assert ["was not taken over" in issue for issue in reply.issues] == [True], reply.issues


def test_a_sign_in_that_was_renewed_nowhere_is_kept_aside(place: Place) -> None:
    before = place.snapshot()
    homes = homes_at(place.base, contacted=lambda _: frozenset({"api.anthropic.com"}))
    reply = place.ask(f"echo '{json.dumps(RENEWED)}' > ~/{CREDENTIALS}", homes)

    assert place.snapshot() == before
    assert [f"never reached {TOKEN_HOST}" in issue for issue in reply.issues] == [True]
    (kept,) = (place.base / "vault/aside").iterdir()
    assert json.loads(kept.read_text()) == RENEWED
    assert str(kept) in reply.issues[0]
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_a_sign_in_of_the_users_own_is_never_overwritten(unconfined: Place) -> None:
    theirs = json.dumps({"claudeAiOauth": {**OAUTH, "refreshToken": "theirs"}})
    script = f"echo '{theirs}' > \"$2\"/{CREDENTIALS}; echo '{json.dumps(RENEWED)}' > ~/{CREDENTIALS}"
    reply = unconfined.ask(script)

    assert unconfined.account["claudeAiOauth"]["refreshToken"] == "theirs"
    assert ["changed in the meantime" in issue for issue in reply.issues] == [True]


@pytest.mark.parametrize("trouble", ["a link", "a second name", "too large", "a pipe"])
def test_a_file_of_the_users_that_is_not_plain_is_not_copied_and_told(unconfined: Place, trouble: str) -> None:
    own, elsewhere = unconfined.home / CREDENTIALS, unconfined.base / "elsewhere"
    own.rename(elsewhere)
    match trouble:
        case "a link":
            own.symlink_to(elsewhere)
        case "a second name":
            own.hardlink_to(elsewhere)
        case "a pipe":
            os.mkfifo(own)
        case _:
            own.write_text(elsewhere.read_text() + " " * 65_536)
    reply = unconfined.ask("find ~ -type f > listed")

    assert (unconfined.base / "work/listed").read_text() == ""
    assert ["was not given" in issue for issue in reply.issues] == [True]


def test_no_file_is_copied_where_a_variable_holds_the_key(unconfined: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-no-real-key")
    unconfined.ask("find ~ -type f > listed")

    assert (unconfined.base / "work/listed").read_text() == ""


def test_credentials_are_taken_from_where_the_user_put_them(unconfined: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    moved = unconfined.base / "moved"
    (unconfined.home / ".claude").rename(moved)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(moved))
    placed = '[ "$CLAUDE_CONFIG_DIR" = "$1/.claude" ] && [ "$XDG_DATA_HOME" = "$1/.local/share" ]'
    unconfined.ask(f"{placed} && cp ~/{CREDENTIALS} signed; echo '{json.dumps(RENEWED)}' > ~/{CREDENTIALS}")

    assert json.loads((unconfined.base / "work/signed").read_text()) == {"claudeAiOauth": OAUTH}
    assert json.loads((moved / ".credentials.json").read_text())["claudeAiOauth"]["refreshToken"] == "r2"


def test_a_refused_account_that_another_call_renewed_is_asked_again(unconfined: Place) -> None:
    """The loser of two renewals: its token was used up by the other, whose sign-in is the user's by now."""
    homes, renewal = homes_at(unconfined.base), f"echo '{json.dumps(RENEWED)}' > ~/{CREDENTIALS}"
    refused = {"type": "result", "is_error": True, "api_error_status": 401, "result": "OAuth token has expired"}
    waits = "until [ -e lost ]; do sleep 0.05; done", "until [ -e over ]; do sleep 0.05; done"
    winner = unconfined.agent(f"{waits[0]}; {renewal}; touch renewed; {waits[1]}", homes)
    done: list[Reply] = []
    call = question(folder=str(unconfined.base / "work"))
    first = threading.Thread(target=lambda: done.append(winner.call(call, lambda _: None)))
    first.start()
    assert soon(lambda: any((unconfined.base / "lent").rglob(".credentials.json")))
    loses = "touch lost; until [ -e renewed ]; do sleep 0.05; done"
    loser = call_with(unconfined, homes, loses, refused, id="r1/2/execute/2")
    (unconfined.base / "work/over").touch()
    first.join()

    assert (done[0].outcome, loser.outcome) == ("ok", "cancelled")
    assert "renewed meanwhile" in loser.text
    assert unconfined.account["claudeAiOauth"]["refreshToken"] == "r2"
    again = call_with(unconfined, homes, f"cp ~/{CREDENTIALS} signed", refused, id="r1/2/execute/2")
    assert again.outcome == "auth", "refused with the newest sign-in, it is believed"
    assert json.loads((unconfined.base / "work/signed").read_text()) == RENEWED


def call_with(place: Place, homes: Homes, script: str, event: dict[str, Any], **changes: Any) -> Reply:
    """A call of another copy of the program, which prints this one event: the first may still be running."""
    other = Place(place.base, place.tier)
    file = place.base / "others" / "claude"
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"#!/bin/bash\n{script}\ncat <<'END'\n{json.dumps(event)}\nEND\n")
    file.chmod(0o755)
    agent = CliAgent(BY_NAME["claude"], str(file), other.desk(homes))
    call = msgspec.structs.replace(question(folder=str(place.base / "work")), **changes)
    return agent.call(call, lambda _: None)


DYING = """
import sys
from pathlib import Path
sys.path[:0] = {path!r}
from contract.accounts_test import Place
from support.homes import homes_at
place = Place(Path({base!r}), "none")
place.ask({script!r}, homes_at(place.base))
"""


def test_a_run_killed_between_renewal_and_copying_loses_no_token(unconfined: Place) -> None:
    script = f"echo '{json.dumps(RENEWED)}' > ~/{CREDENTIALS}; sync; kill -KILL $PPID; sleep 60"
    code = DYING.format(path=sys.path, base=str(unconfined.base), script=script)
    died = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
    assert died.returncode == -signal.SIGKILL, died.stderr.decode()

    assert homes_at(unconfined.base).bring_home() == ()
    assert unconfined.account["claudeAiOauth"]["refreshToken"] == "r2"
    before = unconfined.snapshot()
    assert homes_at(unconfined.base).bring_home() == ()
    assert unconfined.snapshot() == before


def test_a_crash_between_the_two_ends_of_copying_back_is_made_good(unconfined: Place) -> None:
    """The user's file was replaced and the papers not yet: nothing is told, nothing done twice."""
    script = f"echo '{json.dumps(RENEWED)}' > ~/{CREDENTIALS}; kill -KILL $PPID; sleep 60"
    code = DYING.format(path=sys.path, base=str(unconfined.base), script=script)
    subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
    papers = {
        path: path.read_bytes() for path in (unconfined.base / "lent").rglob("*.json") if path.parent.name == "r1"
    }
    homes_at(unconfined.base).bring_home()
    for path, held in papers.items():
        path.write_bytes(held)
    before = unconfined.snapshot()

    assert homes_at(unconfined.base).bring_home() == ()
    assert unconfined.snapshot() == before


def test_what_a_killed_run_saw_of_the_network_is_remembered(unconfined: Place) -> None:
    """A later process that cannot tell what the call reached goes by what was put down while it ran."""
    homes = homes_at(unconfined.base, contacted=lambda _: frozenset[str]())
    with homes.lend(question(), "r1", homes.plan(BY_NAME["claude"])) as home:
        home.take_down("s1")
    (home.path / CREDENTIALS).write_text(json.dumps(RENEWED))

    (told,) = homes_at(unconfined.base).bring_home()
    assert "never reached" in told
    assert unconfined.account["claudeAiOauth"]["refreshToken"] == "r1"
    assert homes_at(unconfined.base).bring_home() == (), "it is told once"


def test_homes_go_with_their_run_and_do_not_pile_up(unconfined: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autopilot.agents.accounts.homes.MOST_KEPT", 2)
    homes = homes_at(unconfined.base)
    for number in range(4):
        unconfined.ask("mkdir -p ~/deep; chmod 0 ~/deep", homes, id=f"r1/2/execute/{number}")
    assert len([path for path in (unconfined.base / "lent/r1").iterdir() if path.is_dir()]) == 2

    homes.clear(sparing="r1")
    assert (unconfined.base / "lent/r1").exists()
    homes.end("r1")
    assert list((unconfined.base / "lent").iterdir()) == []


def test_a_renewed_sign_in_that_can_be_put_nowhere_stays_where_it_is(unconfined: Place) -> None:
    """As on a full disk: neither the user's file nor a copy aside can be written."""
    (unconfined.base / "vault").write_text("in the way")
    homes = homes_at(unconfined.base)
    reply = unconfined.ask(f"echo '{json.dumps(RENEWED)}' > ~/{CREDENTIALS}", homes)
    assert ["cannot be replaced" in issue for issue in reply.issues] == [True]
    with pytest.raises(StorageFailed):
        unconfined.ask("true", homes)

    homes.end("r1")
    (kept,) = (unconfined.base / "lent").rglob(".credentials.json")
    assert json.loads(kept.read_text()) == RENEWED
    (unconfined.base / "vault").unlink()
    assert homes_at(unconfined.base).bring_home() == ()
    assert unconfined.account["claudeAiOauth"]["refreshToken"] == "r2"
    homes.end("r1")
    assert not (unconfined.base / "lent/r1").exists()


def test_a_known_program_behind_the_agent_client_protocol_has_its_own_account(unconfined: Place) -> None:
    file = unconfined.base / "programs/gemini"
    file.parent.mkdir()
    file.write_text('#!/bin/sh\ncd && find . -type f | sort > "$OLDPWD/listed"\n')
    file.chmod(0o755)
    homes = homes_at(unconfined.base, {"acp": (".gitconfig", CREDENTIALS)})
    call = question(folder=str(unconfined.base / "work"))
    choose(f"acp:{file} --acp", unconfined.desk(homes), unconfined.base).call(call, lambda _: None)

    assert (unconfined.base / "work/listed").read_text().split() == [
        f"./{CREDENTIALS}", "./.gemini/oauth_creds.json", "./.gemini/settings.json", "./.gitconfig",
    ]  # fmt: skip


def test_files_the_user_names_are_carried_and_never_changed(place: Place) -> None:
    homes = homes_at(place.base, {"claude": ("settings.json", "skills", "~/.gitconfig", "missing")})
    before = place.snapshot()
    script = f"{LISTED}; chmod -R u+w ~; echo x > ~/.claude/settings.json; echo x > ~/.claude/skills/mine/SKILL.md"
    reply = place.ask(script, homes)
    place.ask("cat ~/.claude/settings.json ~/.claude/skills/mine/SKILL.md > seen", homes, thread=reply.thread)

    assert (place.base / "work/listed").read_text().split() == [
        f"./{CREDENTIALS}", "./.claude/settings.json", "./.claude/skills/mine/SKILL.md", "./.gitconfig",
    ]  # fmt: skip
    assert (place.base / "work/seen").read_text() == '{"hooks": "user-hook"}user-skill'
    assert place.snapshot() == before
    assert ["missing was not carried" in issue for issue in reply.issues] == [True]


def test_a_command_of_the_users_has_an_empty_home_with_what_they_list(place: Place) -> None:
    command = 'exec:bash -c "find ~ -type f | sort > listed; echo new > ~/left; echo {}"'
    call = question(folder=str(place.base / "work"))

    def listed(*carry: str) -> list[str]:
        homes = homes_at(place.base, {"exec": carry})
        assert choose(command, place.desk(homes), place.base).call(call, lambda _: None).outcome == "ok"
        found = (place.base / "work/listed").read_text().split()
        return [path.partition("/lent/")[2].split("/", 2)[2] for path in found]

    assert listed() == []
    assert listed(".gitconfig", ".claude/skills") == [".claude/skills/mine/SKILL.md", ".gitconfig"]
    assert listed() == [], "what an earlier call left is gone"


def test_a_command_that_wraps_a_known_program_loses_no_renewed_token(
    unconfined: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a key that the command does not get")
    renewal = unconfined.base / "work/renew.sh"
    renewal.write_text(f"echo '{json.dumps(RENEWED)}' > ~/{CREDENTIALS}; echo '{{}}'\n")
    homes = homes_at(unconfined.base, {"exec": (CREDENTIALS,)})
    agent = choose(f"exec:sh {renewal}", unconfined.desk(homes), unconfined.base)
    reply = agent.call(question(folder=str(unconfined.base / "work")), lambda _: None)

    assert (reply.outcome, reply.issues) == ("ok", ())
    assert unconfined.account == {**RENEWED, "mcpOAuth": ACCOUNT["mcpOAuth"]}


@pytest.mark.parametrize(
    ("settings", "variables", "kind", "signed"),
    [
        ({}, {}, "oauth-personal", True),
        ({}, {"GEMINI_API_KEY": "k"}, "gemini-api-key", False),
        ({"security": {"auth": {"selectedType": "oauth-personal"}}}, {"GEMINI_API_KEY": "k"}, "oauth-personal", True),
        ({"security": {"auth": {"selectedType": "vertex-ai"}}, "mcpServers": {"x": {}}}, {}, "vertex-ai", False),
    ],
)
def test_only_the_kind_of_account_is_taken_from_the_users_settings(
    unconfined: Place,
    monkeypatch: pytest.MonkeyPatch,
    settings: dict[str, Any],
    variables: dict[str, str],
    kind: str,
    *,
    signed: bool,
) -> None:
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    (unconfined.home / ".gemini/settings.json").write_text(json.dumps(settings))
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    script = "cp ~/.gemini/settings.json seen; [ ! -e ~/.gemini/oauth_creds.json ] || touch signed"
    unconfined.ask(script, program="gemini")

    assert json.loads((unconfined.base / "work/seen").read_text()) == {
        "security": {"auth": {"selectedType": kind}}, "privacy": {"usageStatisticsEnabled": False},
    }  # fmt: skip
    assert (unconfined.base / "work/signed").exists() == signed


def test_goose_is_told_which_service_it_asks_and_starts_no_servers(unconfined: Place) -> None:
    own = unconfined.home / ".config/goose/config.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("GOOSE_PROVIDER: anthropic\nextensions:\n  evil:\n    cmd: sh\nGOOSE_MODEL: m\nGOOSE_MODE: chat\n")
    unconfined.ask("cp ~/.config/goose/config.yaml seen", program="goose")

    assert (unconfined.base / "work/seen").read_text() == "GOOSE_PROVIDER: anthropic\nGOOSE_MODEL: m\n"


@pytest.mark.skipif(sys.platform != "linux", reason="keepers need Linux")
def test_a_call_that_outlived_its_run_is_taken_up_in_its_home_as_it_is(unconfined: Place) -> None:
    """The user's older sign-in must not overwrite the one that the program renewed meanwhile."""
    children = ChildProcesses(territory=str(unconfined.base))
    kept = KeptProcesses(unconfined.base / "keep", children, "boot")

    def desk() -> Desk:
        homes = Homes(unconfined.base / "lent", unconfined.base / "vault", keeping=kept)
        return Desk(kept, unconfined.base / "transcripts", "r1", homes=homes)

    script = f"""
    echo mine > ~/session
    until [ -e go ]; do sleep 0.05; done
    echo '{json.dumps(RENEWED)}' > ~/{CREDENTIALS}
    until [ -e end ]; do sleep 0.05; done
    cp ~/{CREDENTIALS} signed; cp ~/session session
    """
    unconfined.agent(script, homes_at(unconfined.base))
    call: Call = question(folder=str(unconfined.base / "work"))
    code = HELD.format(path=sys.path, base=str(unconfined.base))
    with subprocess.Popen([sys.executable, "-c", code]) as first:
        assert soon(lambda: any((unconfined.base / "keep").glob("*/keeper")) or first.poll() is not None)
        assert soon(lambda: kept.place(call.id, call.prompt) is not None)
        first.kill()
    (unconfined.base / "work/go").touch()
    assert soon(lambda: "r2" in next((unconfined.base / "lent").rglob(".credentials.json")).read_text())
    threading.Timer(0.5, (unconfined.base / "work/end").touch).start()
    reply = choose("claude", desk(), unconfined.base).call(call, lambda _: None)
    kept.release_all()

    assert (reply.outcome, reply.issues) == ("ok", ())
    assert json.loads((unconfined.base / "work/signed").read_text()) == RENEWED
    assert (unconfined.base / "work/session").read_text() == "mine\n"
    assert unconfined.account["claudeAiOauth"]["refreshToken"] == "r2"


HELD = """
import sys
from pathlib import Path
sys.path[:0] = {path!r}
from autopilot.agents.choose_agent import choose
from autopilot.agents.cli_agent import Desk
from autopilot.agents.accounts.homes import Homes
from autopilot.sandbox.keeper.held_calls import KeptProcesses
from autopilot.sandbox.processes.children import ChildProcesses
from support.transcripts import question
base = Path({base!r})
kept = KeptProcesses(base / "keep", ChildProcesses(territory=str(base)), "boot")
desk = Desk(kept, base / "transcripts", "r1", homes=Homes(base / "lent", base / "vault", keeping=kept))
choose("claude", desk, base).call(question(folder=str(base / "work")), lambda _: None)
"""
