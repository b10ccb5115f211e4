"""The real Codex, by `exec` and by its app server, against a model service of this machine."""

import json
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from autopilot.agents.backend import Backend
from autopilot.agents.backends.catalogue import BY_NAME
from autopilot.domain.agent_call import Reply
from support.fake_models.script import Script, Tool, Turn
from support.fake_models.server import FakeModels
from support.real_programs import agent, at_home
from support.set_ups import SET_UPS
from support.transcripts import question

pytestmark = [pytest.mark.real, pytest.mark.slow]
SCHEMA = {
    "type": "object",
    "properties": {"done": {"type": "boolean"}, "notes": {"type": "array", "items": {"type": "string"}}},
    "required": ["done"],
}
SAID = Turn(text='{"done": true, "notes": null}', input_tokens=2000, output_tokens=77, cached_tokens=500)


@pytest.fixture(params=["codex", "codex:app-server"])
def backend(request: pytest.FixtureRequest) -> Backend:
    return BY_NAME[request.param]


def shell(command: str) -> Tool:
    return Tool(name="exec_command", input={"cmd": command})


def ask(backend: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, models: FakeModels, **changes: Any) -> Reply:
    work, home = tmp_path / "work", tmp_path / "home"
    work.mkdir(exist_ok=True)
    at_home(monkeypatch, home, **SET_UPS["codex"].furnish(home, models.url))
    tier = changes.pop("tier", "none")
    call = msgspec.structs.replace(question(folder=str(work)), answer_schema=SCHEMA, **changes)
    return agent(backend, tmp_path, tier).call(call, lambda _: None)


def test_tools_run_and_the_schema_is_the_services(
    backend: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeModels(Script(turn=(Turn(tools=(shell("echo made > made.txt"),)),), rest=SAID)) as models:
        reply = ask(backend, tmp_path, monkeypatch, models)

    assert (reply.outcome, reply.answer) == ("ok", '{"done":true}')
    assert (tmp_path / "work/made.txt").read_text() == "made\n"
    assert (reply.commands, reply.observes) == (("echo made > made.txt",), True)
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (3000, 127)
    asked = models.main_requests[0].body["text"]["format"]
    assert (asked["strict"], asked["schema"]["required"]) == (True, ["done", "notes"])
    assert list((tmp_path / "scratch").glob("*.json")) == [], "the schema was handed over without leaving a file"


@pytest.mark.parametrize("tier", ["bubblewrap", "landlock"])
def test_it_works_in_our_sandbox(backend: Backend, tier: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeModels(Script(turn=(Turn(tools=(shell("echo made > made.txt"),)),), rest=SAID)) as models:
        reply = ask(backend, tmp_path, monkeypatch, models, tier=tier)

    assert (reply.outcome, reply.commands) == ("ok", ("echo made > made.txt",))
    assert (tmp_path / "work/made.txt").read_text() == "made\n"


def test_a_reader_cannot_write(backend: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeModels(Script(turn=(Turn(tools=(shell("echo made > made.txt"),)),), rest=SAID)) as models:
        reply = ask(backend, tmp_path, monkeypatch, models, role="plan_check")

    assert reply.outcome == "ok"
    assert list((tmp_path / "work").iterdir()) == []


def test_a_conversation_goes_on_and_is_paid_once(
    backend: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeModels(Script(rest=SAID)) as models:
        first = ask(backend, tmp_path, monkeypatch, models)
        second = ask(backend, tmp_path, monkeypatch, models, thread=first.thread)

    assert (first.usage.output_tokens, second.usage.output_tokens) == (77, 77)
    assert len(models.main_requests[-1].body["input"]) > len(models.main_requests[0].body["input"])


@pytest.mark.parametrize(
    ("turns", "outcome", "changes"),
    [
        ((Turn(status=429, message="slow down", times=9),), "rate_limited", {}),
        ((Turn(status=500, times=9),), "overloaded", {}),
        ((Turn(status=401, message="bad key", times=9),), "auth", {}),
        ((Turn(hang=60.0),), "timeout", {"seconds": 4}),
        ((Turn(text="x" * 80, stall=60.0),), "timeout", {"seconds": 4}),
        ((Turn(text="x" * 80, garbage=True),), "ok", {}),
        ((Turn(text="x" * 80, disconnect=True),), "ok", {}),
    ],
    ids=["429", "500 burst", "401", "hang", "stall", "garbage", "disconnect"],
)
def test_trouble_has_its_name(
    backend: Backend,
    turns: tuple[Turn, ...],
    outcome: str,
    changes: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun = time.monotonic()
    with FakeModels(Script(turn=turns, rest=SAID)) as models:
        reply = ask(backend, tmp_path, monkeypatch, models, **{"seconds": 30, **changes})

    assert reply.outcome == outcome
    assert time.monotonic() - begun < 25


def test_a_usage_limit_says_until_when(backend: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reset = int(time.time()) + 3600
    limited = Turn(
        status=429,
        message="The usage limit has been reached",
        kind="usage_limit_reached",
        details={"plan_type": "plus", "resets_at": reset},
        times=9,
    )
    with FakeModels(Script(turn=(limited,), rest=SAID)) as models:
        reply = ask(backend, tmp_path, monkeypatch, models)

    assert reply.outcome == "usage_limited"
    assert reply.resets_at is not None
    assert json.dumps(reply.resets_at)
