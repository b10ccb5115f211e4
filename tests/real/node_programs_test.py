"""Programs that come with npm, driven by their adapters against a model service of this machine, where they are installed."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest

from autopilot.agents.backends.catalogue import BY_NAME
from autopilot.domain.agent import Reply
from support.fake_models.script import Script, Tool, Turn
from support.fake_models.server import FakeModels
from support.real_programs import agent, at_home
from support.transcripts import question

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.timeout(180)]
COMMAND = "echo made > made.txt"
SAID = Turn(text='All done. {"done": true}', input_tokens=2000, output_tokens=77)


@dataclass(frozen=True)
class SetUp:
    """What points a program at the service: variables, files below the home, its tool for commands, a model, and how it answers."""

    tool: str
    variables: Callable[[str], dict[str, str]]
    files: Callable[[str], dict[str, Any]] = lambda _: {}
    more: dict[str, Any] = field(default_factory=dict)
    model: str | None = None
    answer: Turn = SAID


SET_UPS = {
    "gemini": SetUp(
        "run_shell_command",
        lambda url: {"GEMINI_API_KEY": "no-key", "GOOGLE_GEMINI_BASE_URL": url},
        lambda _: {".gemini/settings.json": {"security": {"auth": {"selectedType": "gemini-api-key"}}}},
        model="gemini-2.5-pro",
    ),
    "qwen": SetUp(
        "run_shell_command",
        lambda url: {"OPENAI_API_KEY": "no-key", "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_MODEL": "fake-model"},
        lambda _: {".qwen/settings.json": {"security": {"auth": {"selectedType": "openai"}}}},
        {"is_background": False},
        "fake-model",
        Turn(tools=(Tool(name="structured_output", input={"done": True}),)),
    ),
    "opencode": SetUp(
        "bash",
        lambda url: {
            "OPENCODE_DISABLE_MODELS_FETCH": "true",
            "OPENCODE_CONFIG_CONTENT": json.dumps(
                {
                    "provider": {
                        "fake": {
                            "npm": "@ai-sdk/openai-compatible",
                            "options": {"baseURL": f"{url}/v1", "apiKey": "no-key"},
                            "models": {"fake-model": {"name": "fake"}},
                        }
                    }
                }
            ),
        },
        more={"description": "make"},
        model="fake/fake-model",
    ),
    "goose": SetUp(
        "shell",
        lambda url: {
            "OPENAI_API_KEY": "no-key",
            "GOOSE_PROVIDER": "openai",
            "GOOSE_MODEL": "fake-model",
            "OPENAI_HOST": url,
            "OPENAI_BASE_PATH": "v1/chat/completions",
        },
    ),
    "copilot": SetUp(
        "bash",
        lambda url: {
            "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_PROVIDER_API_KEY": "no-key",
            "COPILOT_MODEL": "fake-model",
            "COPILOT_OFFLINE": "true",
        },
        more={"description": "make", "mode": "sync", "initial_wait": 10},
    ),
    "pi": SetUp(
        "bash",
        lambda _: {},
        lambda url: {
            ".pi/agent/models.json": {
                "providers": {
                    "fake": {
                        "baseUrl": f"{url}/v1",
                        "api": "openai-completions",
                        "apiKey": "no-key",
                        "models": [{"id": "fake-model", "name": "fake", "contextWindow": 100000, "maxTokens": 4000}],
                    }
                }
            }
        },
        model="fake/fake-model",
    ),
}


def ask(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, models: FakeModels) -> Reply:
    set_up, work, home = SET_UPS[name], tmp_path / "work", tmp_path / "home"
    work.mkdir()
    at_home(monkeypatch, home, **set_up.variables(models.url))
    for path, content in set_up.files(models.url).items():
        (home / path).parent.mkdir(parents=True)
        (home / path).write_text(json.dumps(content))
    call = msgspec.structs.replace(question("execute", folder=str(work)), model=set_up.model, seconds=90)
    return agent(BY_NAME[name], tmp_path).call(call, lambda _: None)


@pytest.mark.parametrize("name", SET_UPS)
def test_a_command_runs_and_the_answer_comes(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = Tool(name=SET_UPS[name].tool, input={"command": COMMAND, **SET_UPS[name].more})
    with FakeModels(Script(turn=(Turn(tools=(tool,)),), rest=SET_UPS[name].answer)) as models:
        reply = ask(name, tmp_path, monkeypatch, models)

    assert (reply.outcome, reply.answer) == ("ok", '{"done": true}')
    assert (tmp_path / "work/made.txt").read_text() == "made\n"
    assert (reply.commands, reply.observes) == ((COMMAND,), True)
    assert any("Do it." in json.dumps(asked.body) for asked in models.main_requests)


@pytest.mark.parametrize("name", SET_UPS)
def test_a_refused_key_is_told_as_such(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = Turn(status=401, message="bad key")
    with FakeModels(Script(rest=refusal, aside=refusal)) as models:
        reply = ask(name, tmp_path, monkeypatch, models)

    assert (reply.outcome, reply.answer) == ("auth", None)
