"""Real programs with one host in reach: their service, as a user's settings name it. All else they try is refused."""

from pathlib import Path

import msgspec
import pytest

from autopilot.agents.backends.catalogue import BY_NAME
from support.fake_models.script import Script, Tool, Turn
from support.fake_models.server import FakeModels
from support.real_programs import agent, at_home
from support.set_ups import SET_UPS
from support.transcripts import question

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.timeout(600)]
TOOLS = {"claude": {"command": "echo made > made.txt", "description": "make"}, "codex": {"cmd": "echo made > made.txt"}}


@pytest.mark.parametrize("tier", ["bubblewrap", "landlock"])
@pytest.mark.parametrize("name", ["claude", "codex", "gemini"])
def test_a_program_works_with_nothing_but_its_service_in_reach(
    name: str, tier: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_up, work, home = SET_UPS[name], tmp_path / "work", tmp_path / "home"
    work.mkdir()
    tool = Tool(name=set_up.tool, input=TOOLS.get(name) or {"command": "echo made > made.txt", **set_up.more})
    with FakeModels(Script(turn=(Turn(tools=(tool,)),), rest=set_up.answer)) as models:
        at_home(monkeypatch, home, **set_up.furnish(home, models.url))
        call = msgspec.structs.replace(question("execute", folder=str(work)), model=set_up.model, seconds=300)
        reply = agent(BY_NAME[name], tmp_path, tier).call(call, lambda _: None)  # type: ignore[arg-type] # a parameter

    assert reply.outcome == "ok", reply.text
    assert (work / "made.txt").read_text() == "made\n"
    assert reply.contacted == {"127.0.0.1"}
    allowed = {(known.host, known.port) for known in reply.tries if known.verdict == "allowed"}
    assert allowed == {("127.0.0.1", int(models.url.rpartition(":")[2]))}
    assert {known.verdict for known in reply.tries} <= {"allowed", "refused"}
