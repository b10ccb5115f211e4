"""From a name to an agent."""

from pathlib import Path

import pytest

from autopilot.agents.choose_agent import choose, other_vendor, resolved, staffed
from autopilot.agents.cli_agent import CliAgent, Desk
from autopilot.agents.exec_agent import ExecAgent, argv_of, passed_on
from autopilot.agents.scripted import ScriptedAgent
from autopilot.domain.errors import AgentUnavailable, UsageInvalid
from autopilot.domain.process import TOOL_DATA
from autopilot.domain.settings import Settings
from autopilot.ports.agents import Agent
from support.homes import homes_at
from support.processes import PlainProcesses


def named(name: str, folder: Path) -> Agent:
    return choose(name, Desk(PlainProcesses(), folder / "transcripts", "r1", homes=homes_at(folder)), folder)


def test_written_answers_are_looked_for_where_the_user_stands(tmp_path: Path) -> None:
    (tmp_path / "demo.toml").write_text("")

    assert isinstance(named("scripted:demo.toml", tmp_path), ScriptedAgent)


def test_a_command_becomes_an_exec_agent(tmp_path: Path) -> None:
    assert isinstance(named("exec:sh agent.sh", tmp_path), ExecAgent)


@pytest.mark.parametrize("name", ["clod", "codex:", "scripted", "scripted:", "replay:", "acp:", ""])
def test_any_other_name_says_how_to_reach_an_agent(name: str, tmp_path: Path) -> None:
    with pytest.raises(AgentUnavailable, match="is not built in") as raised:
        named(name, tmp_path)
    assert "exec:" in raised.value.do


@pytest.mark.parametrize("command", ["", "   ", "sh 'unfinished"])
def test_a_command_without_words_is_bad_usage(command: str, tmp_path: Path) -> None:
    with pytest.raises(UsageInvalid, match="cannot be used"):
        named(f"exec:{command}", tmp_path)


def test_a_program_that_does_not_exist_is_noticed_before_anything_is_asked(tmp_path: Path) -> None:
    with pytest.raises(AgentUnavailable, match="no-such-agent"):
        named("exec:no-such-agent --fast", tmp_path)


def test_files_where_the_user_stands_are_made_absolute_and_other_words_are_not(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    for name in ("agent.py", "sh", "tools/run"):
        (tmp_path / name).touch()

    assert argv_of("sh agent.py 'a b' tools --x=agent.py", tmp_path) == (
        "sh", str(tmp_path / "agent.py"), "a b", "tools", "--x=agent.py",
    )  # fmt: skip
    assert argv_of("tools/run ./tools/../agent.py", tmp_path) == (
        str(tmp_path / "tools/run"), str(tmp_path / "agent.py"),
    )  # fmt: skip


def test_agents_find_their_tools_where_our_own_commands_do() -> None:
    places = {name: f"/opt/{name.lower()}" for name in TOOL_DATA}

    assert passed_on(places) == places


def test_of_the_users_environment_only_named_parts_are_passed_on() -> None:
    everything = {
        "PATH": "/bin", "HOME": "/h", "LC_ALL": "C", "API_KEY": "k", "TOKEN": "t", "OTHER": "o", "LD_PRELOAD": "x",
        "AUTOPILOT_PASS_ENV": "API_KEY, TOKEN,",
    }  # fmt: skip

    assert passed_on(everything).keys() == {"PATH", "HOME", "LC_ALL", "API_KEY", "TOKEN"}


def machine(folder: Path, *programs: str, **variables: str) -> dict[str, str]:
    """The environment of a machine with these programs on its PATH."""
    for name in programs:
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    return {"PATH": str(folder), "HOME": str(folder), **variables}


def test_auto_is_the_first_that_is_installed_and_signed_in(tmp_path: Path) -> None:
    here = machine(tmp_path, "claude", "codex", "gemini", OPENAI_API_KEY="k", GEMINI_API_KEY="k")

    assert (resolved("auto", here), resolved("pi", here)) == ("codex", "pi")


def test_auto_with_nobody_signed_in_says_how_to(tmp_path: Path) -> None:
    with pytest.raises(AgentUnavailable, match="no agent is signed in; installed: claude, pi") as raised:
        resolved("auto", machine(tmp_path, "pi", "claude"))
    assert "start `claude` once" in raised.value.do


def test_auto_with_nobody_there_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(AgentUnavailable, match="no coding agent is installed"):
        resolved("auto", machine(tmp_path))


def test_another_vendor_reviews_where_one_is_signed_in(tmp_path: Path) -> None:
    here = machine(tmp_path, "claude", "codex", OPENAI_API_KEY="k", ANTHROPIC_API_KEY="k")
    chosen = staffed(Settings(agent="auto"), here)

    assert (chosen.agent, chosen.reviewer) == ("claude", "codex")
    assert staffed(Settings(agent="auto", reviewer="claude"), here).reviewer == "claude"
    assert other_vendor("codex:app-server", here) == "claude"
    assert other_vendor("exec:x", here) is None


def test_a_program_by_its_name_is_found_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", machine(tmp_path, "gemini")["PATH"])

    assert isinstance(named("gemini", tmp_path), CliAgent)
    with pytest.raises(AgentUnavailable, match="'codex' is not installed"):
        named("codex", tmp_path)


def test_a_run_that_left_no_transcripts_cannot_be_replayed(tmp_path: Path) -> None:
    with pytest.raises(AgentUnavailable, match="no run 'r9' to replay"):
        named("replay:r9", tmp_path)
