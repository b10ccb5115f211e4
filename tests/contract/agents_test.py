"""What every agent promises: the same call gets the same reply, written or executed."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from autopilot.agents.choose_agent import choose
from autopilot.agents.cli_agent import Desk
from autopilot.domain.agent_call import Call, PhaseRef, TaskRef
from autopilot.domain.errors import AgentUnavailable, SandboxUnavailable
from autopilot.domain.evidence import Usage
from autopilot.domain.settings import SandboxChoice
from autopilot.ports.agents import Agent
from autopilot.sandbox import choose_tier as grounds
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.sandbox.tiers.agent_view import AgentView
from support.homes import homes_at

pytestmark = pytest.mark.sandbox

# What an agent does, told to both kinds: files to write, text to print, how to end.
PLAYER = """
import json, os, pathlib, sys, time
question, play = json.load(sys.stdin), json.loads(pathlib.Path(sys.argv[1]).read_text())
time.sleep(play.get("sleep", 0))
for name, text in play.get("write", {}).items():
    path = pathlib.Path(name.replace("{dir}", question["phase"]["dir"]))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
sys.stdout.buffer.write(play.get("text", "").encode())
sys.exit(play.get("exit", 0))
"""
OUTCOMES = {75: "usage_limited", 1: "crashed"}
Make = Callable[[dict[str, Any]], Agent]


def at(folder: Path, agent: str, tier: SandboxChoice = "none") -> Agent:
    try:
        ground = grounds.choose(tier, ChildProcesses(territory=str(folder)))
    except SandboxUnavailable as error:
        pytest.skip(error.what)
    called, homes = ground.agents(AgentView()), homes_at(folder)
    return choose(agent, Desk(called, folder / "transcripts", "r1", tier != "none", homes=homes), folder)


@pytest.fixture(params=["scripted", "exec", "exec in bubblewrap", "exec in landlock"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    tier: SandboxChoice = request.param.rpartition(" ")[2] if " " in request.param else "none"

    def scripted(play: dict[str, Any]) -> Agent:
        entry = {key: value for key, value in play.items() if key not in {"exit", "write"}}
        lines = [f"{key} = {json.dumps(value)}" for key, value in entry.items()]
        if play.get("exit"):
            lines.append(f'outcome = "{OUTCOMES[play["exit"]]}"')
        edits = [f"{json.dumps(name)} = {json.dumps(text)}" for name, text in play.get("write", {}).items()]
        script = "\n".join(['[[answer]]\nrole = "execute"', *lines, "[answer.write]", *edits])
        (tmp_path / "script.toml").write_text(script, encoding="utf-8")
        return at(tmp_path, "scripted:script.toml")

    def executed(play: dict[str, Any]) -> Agent:
        (tmp_path / "player.py").write_text(PLAYER)
        (tmp_path / "play.json").write_text(json.dumps(play))
        return at(tmp_path, f"exec:{sys.executable} player.py play.json", tier)

    return scripted if request.param == "scripted" else executed


def question(tmp_path: Path, seconds: int = 20) -> Call:
    folder = tmp_path / "workspace"
    folder.mkdir(exist_ok=True)
    return Call(
        id="r1/2/execute/1",
        role="execute",
        prompt="Do it.",
        answer_schema={"type": "object"},
        phase=PhaseRef(id="2", name="Two", type="mixed", dir=".planning/phases/02-two"),
        task=TaskRef(id="02-01", title="Add", files=("a.py",)),
        folder=str(folder),
        seconds=seconds,
    )


def test_an_object_among_prose_is_the_answer(make: Make, tmp_path: Path) -> None:
    reply = make({"text": 'Thinking {hard}.\n```json\n{"confidence": 9.0}\n```\n'}).call(question(tmp_path), print)

    assert (reply.outcome, reply.answer) == ("ok", '{"confidence": 9.0}')
    assert reply.usage == Usage()


def test_an_envelope_carries_cost_and_commands(make: Make, tmp_path: Path) -> None:
    text = '{"autopilot": 1, "result": {"a": 1}, "usage": {"input_tokens": 5, "cost_usd": 0.25}, "commands": ["ls"]}'
    reply = make({"text": text}).call(question(tmp_path), print)

    assert reply.answer == '{"a": 1}'
    assert reply.usage == Usage(input_tokens=5, cost_usd=0.25)
    assert reply.commands == ("ls",)


@pytest.mark.parametrize("text", ["", "no object here", '{"half": '], ids=["nothing", "prose", "half an object"])
def test_no_object_is_bad_output(make: Make, tmp_path: Path, text: str) -> None:
    reply = make({"text": text}).call(question(tmp_path), print)

    assert (reply.outcome, reply.answer, reply.text) == ("bad_output", None, text.strip())


def test_a_failed_call_has_no_answer_but_its_cost(make: Make, tmp_path: Path) -> None:
    text = '{"autopilot": 1, "result": {"a": 1}, "usage": {"output_tokens": 7}}'
    reply = make({"text": text, "exit": 1}).call(question(tmp_path), print)

    assert (reply.outcome, reply.answer) == ("crashed", None)
    assert reply.usage == Usage(output_tokens=7)


def test_a_usage_limit_says_when_it_ends(make: Make, tmp_path: Path) -> None:
    text = '{"autopilot": 1, "rate_limit": {"resets_at": "2026-01-01T05:00:00Z"}}'
    reply = make({"text": text, "exit": 75}).call(question(tmp_path), print)

    assert (reply.outcome, reply.answer, reply.resets_at) == ("usage_limited", None, "2026-01-01T05:00:00Z")


def test_a_call_past_its_limit_is_a_timeout(make: Make, tmp_path: Path) -> None:
    reply = make({"text": "{}", "sleep": 30}).call(question(tmp_path, seconds=1), print)

    assert (reply.outcome, reply.answer) == ("timeout", None)


def test_files_are_written_in_the_calls_folder(make: Make, tmp_path: Path) -> None:
    call = question(tmp_path)
    make({"text": "{}", "write": {"src/a.py": "A = 1\n", "{dir}/PLAN.md": "# Plan\n"}}).call(call, print)

    assert Path(call.folder, "src/a.py").read_text() == "A = 1\n"
    assert Path(call.folder, ".planning/phases/02-two/PLAN.md").read_text() == "# Plan\n"


def test_control_codes_do_not_reach_the_reader(make: Make, tmp_path: Path) -> None:
    reply = make({"text": "\u001b]0;evil\u0007\u001b[31mred\u001b[0m {}\u009b2J"}).call(question(tmp_path), print)

    assert (reply.text, reply.answer) == ("red {}", "{}")


def test_the_same_call_again_gets_the_same_reply(make: Make, tmp_path: Path) -> None:
    agent, call = make({"text": '{"a": 1}'}), question(tmp_path)

    first, second = (msgspec.structs.replace(agent.call(call, print), seconds=0) for _ in range(2))
    assert first == second


def echoing(tmp_path: Path) -> Agent:
    code = "import json, os, sys; print(json.dumps({'in': json.load(sys.stdin), 'env': dict(os.environ), 'cwd': os.getcwd()}))"
    (tmp_path / "echo.py").write_text(code)
    return at(tmp_path, f"exec:{sys.executable} echo.py")


def test_an_executed_agent_gets_the_whole_question(tmp_path: Path) -> None:
    call = question(tmp_path)
    reply = echoing(tmp_path).call(call, print)

    seen = json.loads(reply.answer or "")
    assert seen["in"] == {
        "protocol": 1,
        "call": "r1/2/execute/1",
        "role": "execute",
        "prompt": "Do it.",
        "schema": {"type": "object"},
        "phase": {"id": "2", "name": "Two", "type": "mixed", "dir": ".planning/phases/02-two"},
        "task": {"id": "02-01", "title": "Add", "files": ["a.py"]},
        "model": None,
        "limits": {"seconds": 20},
    }
    assert Path(seen["cwd"]) == Path(call.folder).resolve()


def test_an_executed_agent_gets_its_names_and_none_of_our_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANTED_SECRET", "s3cret")
    monkeypatch.setenv("WANTED_KEY", "k")
    monkeypatch.setenv("AUTOPILOT_PASS_ENV", "WANTED_KEY")
    seen = json.loads(echoing(tmp_path).call(question(tmp_path), print).answer or "")["env"]

    assert "PLANTED_SECRET" not in seen
    assert (seen["WANTED_KEY"], seen["PATH"]) == ("k", os.environ["PATH"])
    names = {name: seen[name] for name in ("AUTOPILOT_CALL", "AUTOPILOT_ROLE", "AUTOPILOT_RUN")}
    assert names == {"AUTOPILOT_CALL": "r1/2/execute/1", "AUTOPILOT_ROLE": "execute", "AUTOPILOT_RUN": "r1"}


def test_bud_02_lines_are_counted_over_all_that_was_printed(make: Make, tmp_path: Path) -> None:
    reply = make({"text": "talk and talk\n" * 3000 + '{"tasks_completed": "1/1"}\n'}).call(question(tmp_path), print)

    assert (reply.lines, reply.answer) == (3001, '{"tasks_completed": "1/1"}')
    assert len(reply.text.splitlines()) < 3001


def test_bud_02_the_transcript_of_a_long_answer_stays_whole(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("print('talk and talk\\n' * 3000 + '{}')")
    at(tmp_path, f"exec:{sys.executable} agent.py").call(question(tmp_path), print)

    stored = msgspec.json.decode((tmp_path / "transcripts/r1/2/execute/1.json").read_bytes())
    assert stored["stdout"].count("talk and talk") == 3000


def test_an_executed_call_leaves_its_transcript(tmp_path: Path) -> None:
    agent = at(tmp_path, "exec:sh -c 'cat >/dev/null; echo out; echo err >&2; exit 3'")
    reply = agent.call(question(tmp_path), print)

    stored = msgspec.json.decode((tmp_path / "transcripts/r1/2/execute/1.json").read_bytes())
    assert (reply.outcome, reply.text) == ("crashed", "out\nerr")
    assert (stored["stdout"], stored["stderr"], stored["exit"]) == ("out\n", "err\n", 3)
    assert stored["stdin"]["prompt"] == "Do it."
    assert stored["seconds"] > 0


def test_an_executed_agent_that_prints_rubbish_without_end_ends_in_a_named_state(tmp_path: Path) -> None:
    agent = at(tmp_path, "exec:sh -c 'head -c 30000000 /dev/urandom; echo; echo {}'")

    assert agent.call(question(tmp_path), print).outcome == "ok"


def test_a_program_that_vanished_is_reported_as_such(tmp_path: Path) -> None:
    program = tmp_path / "agent"
    program.write_text("#!/bin/sh\necho {}\n")
    program.chmod(0o755)
    agent = at(tmp_path, "exec:./agent")
    assert agent.call(question(tmp_path), print).outcome == "ok"

    program.unlink()
    with pytest.raises(AgentUnavailable):
        agent.call(question(tmp_path), print)
