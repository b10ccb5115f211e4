"""Programs that come with npm, driven by their adapters against a model service of this machine, where they are installed."""

import json
from pathlib import Path

import msgspec
import pytest

from autopilot.agents.backends.catalogue import BY_NAME
from autopilot.domain.agent_call import Reply
from support.fake_models.script import Script, Tool, Turn
from support.fake_models.server import FakeModels
from support.real_programs import agent, at_home
from support.set_ups import SET_UPS
from support.transcripts import question

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.timeout(180)]
COMMAND = "echo made > made.txt"
NAMES = ("gemini", "qwen", "opencode", "goose", "copilot", "pi")


def ask(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, models: FakeModels) -> Reply:
    set_up, work, home = SET_UPS[name], tmp_path / "work", tmp_path / "home"
    work.mkdir()
    at_home(monkeypatch, home, **set_up.furnish(home, models.url))
    call = msgspec.structs.replace(question("execute", folder=str(work)), model=set_up.model, seconds=90)
    return agent(BY_NAME[name], tmp_path).call(call, lambda _: None)


@pytest.mark.parametrize("name", NAMES)
def test_a_command_runs_and_the_answer_comes(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = Tool(name=SET_UPS[name].tool, input={"command": COMMAND, **SET_UPS[name].more})
    with FakeModels(Script(turn=(Turn(tools=(tool,)),), rest=SET_UPS[name].answer)) as models:
        reply = ask(name, tmp_path, monkeypatch, models)

    assert (reply.outcome, reply.answer) == ("ok", '{"done": true}')
    assert (tmp_path / "work/made.txt").read_text() == "made\n"
    assert (reply.commands, reply.observes) == ((COMMAND,), True)
    assert any("Do it." in json.dumps(asked.body) for asked in models.main_requests)


@pytest.mark.parametrize("name", NAMES)
def test_a_refused_key_is_told_as_such(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = Turn(status=401, message="bad key")
    with FakeModels(Script(rest=refusal, aside=refusal)) as models:
        reply = ask(name, tmp_path, monkeypatch, models)

    assert (reply.outcome, reply.answer) == ("auth", None)
