"""From a name to an agent."""

from pathlib import Path

import pytest

from autopilot.agents.choose import choose
from autopilot.agents.cli_agent import Desk
from autopilot.agents.exec_agent import ExecAgent, argv_of, passed_on
from autopilot.agents.scripted import ScriptedAgent
from autopilot.domain.errors import AgentUnavailable, UsageInvalid
from autopilot.domain.protocols import Agent
from support.processes import PlainProcesses


def named(name: str, folder: Path) -> Agent:
    return choose(name, Desk(PlainProcesses(), folder / "transcripts", "r1"), folder)


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


def test_of_the_users_environment_only_named_parts_are_passed_on() -> None:
    everything = {
        "PATH": "/bin", "HOME": "/h", "LC_ALL": "C", "API_KEY": "k", "TOKEN": "t", "OTHER": "o", "LD_PRELOAD": "x",
        "AUTOPILOT_PASS_ENV": "API_KEY, TOKEN,",
    }  # fmt: skip

    assert passed_on(everything).keys() == {"PATH", "HOME", "LC_ALL", "API_KEY", "TOKEN"}
