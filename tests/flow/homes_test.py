"""Whole runs: agents work in homes of their own, which go with the run, and nothing of them reaches the next role."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from autopilot.agents.accounts.homes import Homes
from autopilot.agents.backends import claude
from autopilot.app import prepare as app
from autopilot.app.run_grant import tightened
from autopilot.app.wiring import cache_folder, homes_of
from autopilot.authority.grants import Grant
from autopilot.domain.errors import SandboxUnavailable
from autopilot.domain.request import Resumption
from autopilot.domain.settings import SandboxChoice, Settings
from autopilot.planning.config.user_config import UserChoices, read
from autopilot.sandbox.choose_tier import choose
from autopilot.sandbox.keeper.held_calls import KeptProcesses
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.workspace.git_workspace import Places
from support.homes import homes_at
from support.project import plan_answer, reviews
from support.repos import write
from support.runs import Drive, driven
from support.transcripts import question

PLAN = plan_answer("1", [("letter1.txt", "done")])
# Tells what is in its home, then leaves there what a later role must not find.
AGENT = """
import json, os, sys
call, home = json.load(sys.stdin), os.path.expanduser("~")
script = json.load(open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "script.json")))
found = sorted(os.path.relpath(os.path.join(top, name), home) for top, _, names in os.walk(home) for name in names)
for place in (home, script["user"]):
    for name in (".claude/CLAUDE.md", ".claude/settings.json", ".claude.json", ".codex/AGENTS.md", ".profile"):
        try:
            os.makedirs(os.path.dirname(os.path.join(place, name)), exist_ok=True)
            open(os.path.join(place, name), "w").write("p0ison")
        except OSError:
            pass
for name, text in script.get(call["role"] + "_writes", {}).items():
    path = name.replace("{dir}", call["phase"]["dir"])
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    open(path, "w").write(text)
print(json.dumps({"found": found, "home": home}))
print(json.dumps(script[call["role"]]))
"""


@pytest.fixture(params=["bubblewrap", "landlock"])
def tier(request: pytest.FixtureRequest) -> SandboxChoice:
    try:
        choose(request.param, ChildProcesses())
    except SandboxUnavailable as error:
        pytest.skip(error.what)
    chosen: SandboxChoice = request.param
    return chosen


@pytest.fixture
def project(place: Path, monkeypatch: pytest.MonkeyPatch) -> Drive:
    home = place / "user"
    write(home, {".claude/CLAUDE.md": "mine", ".claude/.credentials.json": "{}", ".gitconfig": "[user]\nname = Ada\n"})
    monkeypatch.setenv("HOME", str(home))
    script: dict[str, Any] = {a["role"]: a["result"] for a in reviews()} | {"user": str(home)}
    script |= {"plan": {}, "execute": {"tasks_completed": "1/1"}, "plan_writes": PLAN["write"]}
    script |= {"execute_writes": {"letter1.txt": "done\n"}}
    write(place / "agent", {"agent.py": AGENT, "script.json": json.dumps(script)})
    made = driven(place, [])
    made.agent = f"exec:{sys.executable} -S -E {place}/agent/agent.py"
    return made


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def told(project: Drive) -> list[dict[str, Any]]:
    """What each call said of its home."""
    calls = sorted((project.root / ".autopilot/transcripts").rglob("*.json"))
    said = (json.loads(path.read_text())["stdout"] for path in calls)
    return [json.loads(text.splitlines()[0]) for text in said]


@pytest.mark.sandbox
def test_every_role_begins_in_an_empty_home_and_the_users_is_as_it_was(
    place: Path, project: Drive, tier: SandboxChoice
) -> None:
    before = contents(place / "user")
    end = project.run(sandbox=tier)

    assert end.exit == 0, end.reason
    homes = told(project)
    assert len({seen["home"] for seen in homes}) == len(homes) > 5
    assert {tuple(seen["found"]) for seen in homes} == {()}
    assert contents(place / "user") == before
    assert not any(Path(seen["home"]).exists() for seen in homes), "they go with the run"


def test_a_run_says_which_files_of_the_users_its_agents_had(
    place: Path, project: Drive, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(place / "config", {"config.toml": '[agents.exec]\ncarry = [".gitconfig"]\n'})
    monkeypatch.setenv("AUTOPILOT_CONFIG", str(place / "config"))
    project.run()

    assert [tuple(seen["found"]) for seen in told(project)] == [(".gitconfig",)] * len(told(project))
    assert "Agents get files of yours, as your config.toml says (exec: .gitconfig)." in project.warnings
    page = Path(app.reports(str(project.root)).page(None, None)).read_text()
    assert "exec: .gitconfig" in page


def test_the_next_start_brings_home_what_a_killed_run_renewed(
    place: Path, project: Drive, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in list(os.environ):
        if name.startswith(("ANTHROPIC", "CLAUDE", "AWS_")):
            monkeypatch.delenv(name)
    own = place / "user/.claude/.credentials.json"
    own.write_text('{"claudeAiOauth": {"refreshToken": "r1"}}')
    kept = KeptProcesses(project.root / ".autopilot/keep", ChildProcesses(), "boot")
    homes = homes_of(Places(root=project.root, cache=cache_folder()), {}, kept)
    leave_renewed(homes_at(place), homes.folder, place)

    project.run()
    assert json.loads(own.read_text()) == {"claudeAiOauth": {"refreshToken": "r2"}}
    assert not list(homes.folder.iterdir())


def leave_renewed(elsewhere: Homes, folder: Path, place: Path) -> None:
    """The home of a call whose process was killed before it brought home what the program renewed."""
    with elsewhere.lend(question(), "old", elsewhere.plan(claude.BACKEND)) as home:
        home.take_down("s1")
    (home.path / ".claude/.credentials.json").write_text('{"claudeAiOauth": {"refreshToken": "r2"}}')
    folder.parent.mkdir(parents=True, exist_ok=True)
    (place / "lent").rename(folder)


def test_a_resume_carries_what_was_granted_and_is_still_wanted() -> None:
    settings = Settings(agent="claude", carry={"claude": ("settings.json", "skills"), "codex": ("config.toml",)})
    grant = Grant(run="r1", root="/r", version="1", settings=settings, tier="none")
    today = read('[agents.claude]\ncarry = ["skills", "CLAUDE.md"]\n', "config.toml")

    assert tightened(grant, today, None, Resumption()).carry == {"claude": ("skills",)}
    assert tightened(grant, UserChoices(), None, Resumption()).carry == {}
