"""Real programs with one host in reach: their service, as a user's settings name it. All else they try is refused."""

import json
import os
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import pytest

from autopilot.agents.backends.catalogue import BY_NAME
from autopilot.domain.process import refusals, refused
from autopilot.domain.settings import SandboxChoice
from support.fake_models.script import Script, Turn
from support.fake_models.server import FakeModels
from support.real_programs import agent, at_home
from support.set_ups import SET_UPS
from support.transcripts import question

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.timeout(600)]
COMMAND, OUTPUT = "echo made > made.txt; wc -c made.txt", "5 made.txt"


@pytest.mark.parametrize("tier", ["bubblewrap", "landlock"])
@pytest.mark.parametrize("name", SET_UPS)
def test_a_program_works_with_nothing_but_its_service_in_reach(
    name: str, tier: SandboxChoice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_up, work, home = SET_UPS[name], tmp_path / "work", tmp_path / "home"
    work.mkdir()
    with FakeModels(Script(turn=(Turn(tools=(set_up.running(COMMAND),)),), rest=set_up.answer)) as models:
        at_home(monkeypatch, home, **set_up.furnish(home, models.url))
        call = msgspec.structs.replace(question("execute", folder=str(work)), model=set_up.model, seconds=300)
        reply = agent(BY_NAME[name], tmp_path, tier).call(call, lambda _: None)
        service = urlsplit(models.url)

    assert reply.outcome == "ok", reply.text
    assert (work / "made.txt").read_text() == "made\n"
    assert OUTPUT in json.dumps(models.main_requests[-1].body)
    assert {(known.host, known.port) for known in reply.tries if known.verdict == "allowed"} == {
        (service.hostname, service.port)
    }
    assert {known.verdict for known in reply.tries} <= {"allowed", "refused"}
    asked, known = set(refused(reply.tries)), {*set_up.asks, *((npm_registry(),) if set_up.asks_npm else ())}
    assert asked <= known, f"{name} asks for hosts that are not in its table:\n{difference(known, asked)}"
    told = list(refusals(reply.tries, name))
    assert sorted(line.split(". ")[0] for line in told) == sorted(f"{name} was refused {place}" for place in asked)


def difference(known: set[str], asked: set[str]) -> str:
    """The table of hosts as a diff; one that was not asked for this time may be asked for the next."""
    return "\n".join(
        f"{'+' if host not in known else '-' if host not in asked else ' '} {host}" for host in sorted(known | asked)
    )


def npm_registry() -> str:
    """Where npm looks for packages if nobody says otherwise."""
    files = [f"--{kind}config=/nonexistent/{kind}" for kind in ("user", "global")]
    plain = {name: value for name, value in os.environ.items() if not name.lower().startswith("npm_config_")}
    words = ("npm", "config", "get", "registry", *files)
    found = subprocess.run(words, capture_output=True, text=True, check=True, env=plain, cwd="/").stdout
    return str(urlsplit(found.strip()).hostname)
