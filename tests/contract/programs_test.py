"""What every adapter of a coding agent's program promises, whatever that program prints."""

import json
import os
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from autopilot.agents.backend import Backend
from autopilot.agents.backends import acp
from autopilot.agents.backends.catalogue import BY_NAME
from autopilot.agents.choose_agent import choose
from autopilot.agents.cli_agent import Desk
from autopilot.domain.agent_call import Call, Reply, Thread
from autopilot.domain.errors import SandboxUnavailable
from autopilot.domain.evidence import Usage
from autopilot.domain.settings import SandboxChoice
from autopilot.sandbox import choose_tier as grounds
from autopilot.sandbox.keeper.held_calls import KeptProcesses
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.sandbox.tiers.agent_view import AgentView
from support.homes import homes_at
from support.players import LIMITS, STREAMS, install, seen
from support.transcripts import question
from support.waiting import PATIENCE_S

pytestmark = pytest.mark.sandbox

NAMES = sorted(STREAMS)
TALKING = ("acp", "codex:app-server")


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    assert isinstance(request.param, str)
    return request.param


@pytest.fixture(autouse=True)
def _path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path / 'programs'}:{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path))


def backend_of(name: str) -> Backend:
    return acp.backend(("acp",)) if name == "acp" else BY_NAME[name]


def ask(folder: Path, name: str, call: Call | None = None, **play: Any) -> Reply:
    chosen = install(folder, name, **play)
    (folder / "work").mkdir(exist_ok=True)
    agent = choose(
        chosen,
        Desk(ChildProcesses(territory=str(folder)), folder / "transcripts", "r1", homes=homes_at(folder)),
        folder,
    )
    return agent.call(msgspec.structs.replace(call or question(), folder=str(folder / "work")), lambda _: None)


def test_a_call_tells_answer_cost_commands_and_thread(name: str, tmp_path: Path) -> None:
    reply, able = ask(tmp_path, name), backend_of(name).capabilities

    assert (reply.outcome, reply.answer, reply.commands) == ("ok", '{"ok": true}', ("ls",))
    told = Usage(input_tokens=7, output_tokens=3, cost_usd=0.5 if able.cost else None) if able.usage else Usage()
    assert (reply.usage, reply.observes, reply.issues) == (told, able.observes, ())
    assert reply.thread is not None
    assert reply.thread.usage == told


def test_the_prompt_comes_on_standard_input_and_never_among_the_words(name: str, tmp_path: Path) -> None:
    call = msgspec.structs.replace(question(), prompt="Straße " * 40_000)
    ask(tmp_path, name, call)

    told = seen(tmp_path)
    assert call.prompt[:2000] in json.dumps(told["heard"], ensure_ascii=False)
    assert not any("Straße" in word for word in told["argv"])
    assert Path(told["cwd"]) == (tmp_path / "work").resolve()


def test_nothing_of_the_users_environment_but_its_own_account_is_handed_on(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = backend_of(name)
    monkeypatch.setenv("PLANTED_SECRET", "s3cret")
    for variable in backend.sign_in.variables:
        monkeypatch.setenv(variable, "account")
    ask(tmp_path, name)

    environment = seen(tmp_path)["env"]
    assert "PLANTED_SECRET" not in environment
    assert all(environment[variable] == "account" for variable in backend.sign_in.variables)
    assert backend.env.items() <= environment.items()
    assert environment["AUTOPILOT_CALL"] == "r1/2/execute/1"


def test_a_used_up_window_says_until_when(name: str, tmp_path: Path) -> None:
    reply = ask(tmp_path, name, lines=LIMITS[name])

    assert (reply.outcome, reply.answer) == ("usage_limited", None)
    assert reply.resets_at is not None
    left = datetime.fromisoformat(reply.resets_at) - datetime.now(UTC)
    assert timedelta(hours=1, minutes=58) < left <= timedelta(hours=2)


def test_a_limit_in_what_the_model_or_a_tool_says_is_none(name: str, tmp_path: Path) -> None:
    """Echoed file content and talk of limits are in the same stream, and mean nothing."""
    echoed = json.dumps(STREAMS[name]).replace("Done. ", "usage limit reached, try again in 2h ")
    reply = ask(tmp_path, name, lines=json.loads(echoed))

    assert (reply.outcome, reply.resets_at) == ("ok", None)


def test_unknown_kinds_are_skipped_and_broken_lines_reported(name: str, tmp_path: Path) -> None:
    lines: list[Any] = [{"type": "from.the.future", "method": "new/thing"}, '{"type": "half', *STREAMS[name]]
    reply = ask(tmp_path, name, lines=lines)

    assert (reply.outcome, reply.answer) == ("ok", '{"ok": true}')
    assert ["is broken" in issue for issue in reply.issues] == [True]
    assert not reply.observes


def test_a_program_that_fails_at_once_has_crashed(name: str, tmp_path: Path) -> None:
    reply = ask(tmp_path, name, lines=[], answers={}, exit=3, stderr="no such option\n")

    assert (reply.outcome, reply.text) == ("crashed", "no such option")


@pytest.mark.parametrize("name", ["claude", *TALKING], indirect=True)
def test_a_call_past_its_limit_is_a_timeout(name: str, tmp_path: Path) -> None:
    call = msgspec.structs.replace(question(), seconds=1)
    begun = time.monotonic()
    reply = ask(tmp_path, name, call, lines=STREAMS[name][:1], sleep=3000)

    assert (reply.outcome, reply.answer) == ("timeout", None)
    assert time.monotonic() - begun < PATIENCE_S


def test_a_recorded_call_is_replayed_as_it_was(name: str, tmp_path: Path) -> None:
    first = ask(tmp_path, name)
    replayed = choose(
        "replay:r1", Desk(ChildProcesses(), tmp_path / "transcripts", "r2", homes=homes_at(tmp_path)), tmp_path
    )
    again = replayed.call(msgspec.structs.replace(question(), id="r2/2/execute/1"), lambda _: None)

    assert again == msgspec.structs.replace(first, thread=None, seconds=0.0)


@pytest.mark.parametrize("name", ["claude"], indirect=True)
def test_a_call_is_over_with_its_result_and_not_with_its_process(name: str, tmp_path: Path) -> None:
    begun = time.monotonic()
    reply = ask(tmp_path, name, sleep=3000)

    assert (reply.outcome, reply.answer) == ("ok", '{"ok": true}')
    assert time.monotonic() - begun < PATIENCE_S


@pytest.mark.parametrize("name", ["codex"], indirect=True)
def test_a_line_of_ten_megabytes_is_survived(name: str, tmp_path: Path) -> None:
    long = {"type": "item.completed", "item": {"id": "l", "type": "reasoning", "text": "x" * 10_000_000}}
    reply = ask(tmp_path, name, lines=[long, *STREAMS[name]])

    assert (reply.outcome, reply.commands, reply.issues) == ("ok", ("ls",), ())


@pytest.mark.parametrize("name", ["codex:app-server"], indirect=True)
def test_a_program_that_can_be_asked_to_leave_off_is_asked(name: str, tmp_path: Path) -> None:
    for limit in (1, 8, 64, 512):  # a busy machine may not even have started it when its time is up
        reply = ask(tmp_path, name, msgspec.structs.replace(question(), seconds=limit), lines=[])
        assert reply.outcome == "timeout"
        if [event.get("method") for event in seen(tmp_path)["heard"]][-1:] == ["turn/interrupt"]:
            return
    pytest.fail("it was never asked to leave off")


@pytest.mark.parametrize("name", TALKING, indirect=True)
def test_a_conversation_that_cannot_be_gone_on_with_is_told(name: str, tmp_path: Path) -> None:
    call = question(thread=Thread(id="gone"))
    refused = {"thread/resume": None, "session/load": None}
    reply = ask(tmp_path, name, call, answers={"initialize": {}, **refused}, lines=[])

    assert (reply.outcome, reply.text) == ("crashed", "no such thread")
    assert "gone" in json.dumps(seen(tmp_path)["heard"])


@pytest.mark.skipif(sys.platform != "linux", reason="keepers and these sandboxes need Linux")
@pytest.mark.parametrize("tier", ["bubblewrap", "landlock"])
@pytest.mark.parametrize("name", ["claude", *TALKING], indirect=True)
def test_a_program_can_be_talked_to_through_a_sandbox(
    name: str, tier: SandboxChoice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.setenv("PATH", f"{work / 'programs'}:{os.environ['PATH']}:{Path(sys.executable).parent}")
    chosen = install(work, name)
    processes = ChildProcesses(territory=str(tmp_path))
    kept = KeptProcesses(tmp_path / "keep", processes, "boot")
    try:
        ground = grounds.choose(tier, processes)
    except SandboxUnavailable as error:
        pytest.skip(error.what)
    processes_of_agents = ground.agents(AgentView(), kept)
    desk = Desk(processes_of_agents, tmp_path / "transcripts", "r1", confined=True, homes=homes_at(tmp_path))
    reply = choose(chosen, desk, tmp_path).call(msgspec.structs.replace(question(), folder=str(work)), lambda _: None)

    assert (reply.outcome, reply.answer, reply.commands) == ("ok", '{"ok": true}', ("ls",))
