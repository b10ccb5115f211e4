"""Real programs under Landlock with sockets that lead to the one service they need, and with no proxy of ours."""

from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import pytest

from autopilot.agents.backends.catalogue import BY_NAME
from support.fake_models.script import Script, Turn
from support.fake_models.server import FakeModels
from support.real_programs import agent, at_home
from support.set_ups import SET_UPS
from support.transcripts import question

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.timeout(300)]
COMMAND = "echo made > made.txt"


@pytest.mark.parametrize("name", SET_UPS)
def test_a_program_does_its_work_without_any_other_socket(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_up, work, home = SET_UPS[name], tmp_path / "work", tmp_path / "home"
    work.mkdir()
    with FakeModels(Script(turn=(Turn(tools=(set_up.running(COMMAND),)),), rest=set_up.answer)) as models:
        at_home(monkeypatch, home, **set_up.furnish(home, models.url))
        service = urlsplit(models.url)
        assert service.hostname == "127.0.0.1"
        proxy = (service.hostname, service.port or 0)
        call = msgspec.structs.replace(question("execute", folder=str(work)), model=set_up.model, seconds=240)
        reply = agent(BY_NAME[name], tmp_path, "landlock", proxy=proxy).call(call, lambda _: None)

    assert reply.outcome == "ok", reply.text
    assert (work / "made.txt").read_text() == "made\n"
