"""What a run tells of its agents' network: whom they reached, whom they were refused, and that it was open."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from autopilot.app import prepare as app
from autopilot.domain.errors import ConfigInvalid, SandboxUnavailable
from autopilot.domain.events import AgentAnswered, StepFinished
from autopilot.domain.process import NOT_SHARED
from autopilot.domain.results import Verified
from autopilot.sandbox.choose_tier import choose
from autopilot.sandbox.processes.children import ChildProcesses
from support.egress import Host, host
from support.project import plan_answer, reviews
from support.repos import write
from support.runs import Drive, driven

pytestmark = pytest.mark.sandbox

PLAN = plan_answer("1", [("letter1.txt", "done")])
# Asks for two hosts through its proxy at every call, then answers what is written for its role.
AGENT = """
import json, os, socket, sys
here = os.path.dirname(os.path.abspath(__file__))
call = json.loads(sys.stdin.read())
script = json.load(open(os.path.join(here, "script.json")))
proxy = os.environ.get("http_proxy", "").rpartition(":")[2]
for url in script["urls"] if proxy else ():
    with socket.create_connection(("127.0.0.1", int(proxy))) as made:
        made.sendall(f"GET {url} HTTP/1.1\\r\\n\\r\\n".encode())
        while made.recv(4096): pass
for port in script.get(call["role"] + "_tries", ()):
    try: socket.create_connection(("127.0.0.1", port)).close()
    except OSError: pass
for name, text in script.get(call["role"] + "_writes", {}).items():
    name = name.replace("{dir}", call["phase"]["dir"])
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    open(name, "w").write(text)
print(json.dumps({"autopilot": 1, "result": script[call["role"]]}))
"""


@pytest.fixture
def upstream() -> Any:
    with host() as made:
        yield made


@pytest.fixture
def project(place: Path, upstream: Host) -> Drive:
    try:
        choose("bubblewrap", ChildProcesses(territory=str(place)))
    except SandboxUnavailable as error:
        pytest.skip(error.what)
    script: dict[str, Any] = {a["role"]: a["result"] for a in reviews()}
    script |= {"plan": {}, "execute": {"tasks_completed": "1/1"}, "debug": {"fixed": True}}
    script |= {"plan_writes": PLAN["write"], "execute_writes": {"letter1.txt": "done\n"}}
    script |= {"urls": [f"http://127.0.0.1:{upstream.port}/x", "http://evil.test:8080/"]}
    write(place / "agent", {"agent.py": AGENT, "script.json": json.dumps(script)})
    made = driven(place, [])
    made.agent = f"exec:{sys.executable} -S -E {place}/agent/agent.py"
    return made


def test_hosts_are_told_once_each_with_the_line_that_allows_them(project: Drive, upstream: Host) -> None:
    end = project.run(sandbox="bubblewrap", hosts=(f"127.0.0.1:{upstream.port}",))

    assert end.exit == 0, project.warnings
    told = [line for line in project.warnings if "evil.test" in line]
    line = 'hosts = ["evil.test:8080"]'
    assert len(told) == 1
    assert told[0].endswith(
        f"was refused evil.test:8080. To allow it, add it to the list in [network] of your config.toml: {line}"
    )
    for answer in project.of(AgentAnswered):
        tries = {(known.host, known.port, known.verdict): known.count for known in answer.tries}
        assert tries == {("127.0.0.1", upstream.port, "allowed"): 1, ("evil.test", 8080, "refused"): 1}
    report = next((project.root / ".autopilot").glob("completion-*.md")).read_text()
    assert "## Hosts refused" in report
    assert f'- evil.test:8080 ({len(project.of(AgentAnswered))}): `hosts = ["evil.test:8080"]`' in report
    assert not list((project.root / ".autopilot" / "egress").glob("*"))


def test_each_service_of_this_machine_that_agents_try_is_told_once(project: Drive, place: Path) -> None:
    with host() as first, host() as second:
        path = place / "agent" / "script.json"
        one, other = first.port, second.port
        tries = {"plan_tries": [one], "execute_tries": [one, other]}
        path.write_text(json.dumps(json.loads(path.read_text()) | tries | {"urls": []}))
        end = project.run(sandbox="bubblewrap")

    assert end.exit == 0, project.warnings
    for port in (one, other):
        (line,) = (line for line in project.warnings if f"127.0.0.1:{port}. " in line)
        assert line.endswith(NOT_SHARED)
    report = next((project.root / ".autopilot").glob("completion-*.md")).read_text()
    assert f"- 127.0.0.1:{one} (2): " in report
    assert NOT_SHARED in report


def test_an_open_network_is_told_and_facts_say_so(project: Drive) -> None:
    end = project.run(sandbox="bubblewrap", open_network=True)

    assert end.exit == 0, project.warnings
    assert any("The network is open to agents" in line for line in project.warnings)
    done = [event.result for event in project.of(StepFinished) if isinstance(event.result, Verified)]
    assert done
    assert all("agents had the open network" in repr(result) for result in done)
    report = next((project.root / ".autopilot").glob("completion-*.md")).read_text()
    assert "The network was open to agents" in report


def test_a_list_with_an_entry_that_is_no_host_starts_nothing(project: Drive) -> None:
    with pytest.raises(ConfigInvalid, match="http://evil"):
        project.run(sandbox="bubblewrap", hosts=("http://evil.test/",))

    assert not (project.root / ".autopilot" / "journal.db").exists()


def test_the_doctor_prints_the_list_in_force(project: Drive, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(place / "config", {"config.toml": '[network]\nhosts = ["docs.test"]\nregistries = ["pip.test"]\n'})
    monkeypatch.setenv("AUTOPILOT_CONFIG", str(place / "config"))

    (check,) = (check for check in app.examine(str(project.root)) if check.what == "network")

    assert check.level == "ok"
    assert "all: docs.test" in check.found
    assert "pip.test" in check.found
    assert "this machine: nothing that is not listed" in check.found
