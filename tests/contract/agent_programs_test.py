"""An exec agent's program loads what it would load in a shell, in every tier, and nothing of the run's state."""

import json
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from autopilot.agents.exec_agent import ExecAgent
from autopilot.domain.agent_call import Call, PhaseRef, Reply
from autopilot.domain.errors import SandboxUnavailable
from autopilot.domain.settings import SandboxChoice
from autopilot.sandbox.choose_tier import choose
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.sandbox.tiers.agent_view import AgentView
from support.homes import homes_at
from support.repos import write

pytestmark = pytest.mark.sandbox

# Every program answers with the word that it can only have from the module beside it.
ANSWER = "import json\nprint(json.dumps({'word': WORD, 'argv': sys.argv[1:]}))\n"
UP = "import sys, pathlib\nsys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))\n"
SHARED = {"shared/words.py": "WORD = 'found'\n"}
PYTHON = sys.executable
CALL = Call(
    id="run/1/execute/1",
    role="execute",
    prompt="Do.",
    answer_schema={},
    phase=PhaseRef(id="1", name="One", type="mixed", dir="d"),
    folder="",
    seconds=600,
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path.resolve() / "home"
    write(place, {".ssh/id": "s3cret"})
    monkeypatch.setenv("HOME", str(place))
    return place


@pytest.fixture(params=["bubblewrap", "landlock", "none"])
def tier(request: pytest.FixtureRequest) -> SandboxChoice:
    chosen: SandboxChoice = request.param
    try:
        choose(chosen, ChildProcesses())
    except SandboxUnavailable as error:
        pytest.skip(error.what)
    return chosen


def asked(command: str, stands: Path, tier: SandboxChoice) -> Reply:
    """What the command answers in a clone of its own, for a user who stands in that folder."""
    work = stands.parents[1] / "clone"
    write(work, {"words.py": "WORD = 'a clone is no place to load an agent from'\n", "my_agents/coder.py": "1/0\n"})
    hidden = (str(stands / ".autopilot"), str(stands / ".planning"))
    processes = choose(tier, ChildProcesses(territory=str(stands))).agents(AgentView(hidden=hidden))
    agent = ExecAgent(command, processes, stands.parents[1] / "transcripts", "run", stands, homes_at(stands.parents[1]))
    return agent.call(msgspec.structs.replace(CALL, folder=str(work)), lambda _: None)


def word_of(reply: Reply) -> str:
    assert reply.outcome == "ok", reply.text
    return str(json.loads(reply.answer or "{}")["word"])


def repository(folder: Path, files: dict[str, str]) -> Path:
    write(folder, {**files, ".planning/ROADMAP.md": "s3cret", ".autopilot/journal.db": "s3cret", ".env": "KEY=s3cret"})
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


def test_a_module_is_loaded_from_where_the_user_stands(home: Path, tier: SandboxChoice) -> None:
    code = f"import sys\nfrom shared.words import WORD\n{ANSWER}"
    root = repository(home / "project", {"my_agents/coder.py": code, **SHARED})
    reply = asked(f"{PYTHON} -u -m my_agents.coder --fast -m x", root, tier)

    assert word_of(reply) == "found"
    assert json.loads(reply.answer or "{}")["argv"] == ["--fast", "-m", "x"]


def test_a_package_is_started_by_its_main_module_with_relative_imports(home: Path, tier: SandboxChoice) -> None:
    package = {
        "__init__.py": "",
        "__main__.py": f"import sys\nfrom .words import WORD\n{ANSWER}",
        "words.py": "WORD = 'own'\n",
    }
    root = repository(home / "project", {f"my_agents/{name}": text for name, text in package.items()})

    assert word_of(asked(f"{PYTHON} -m my_agents", root, tier)) == "own"


def test_a_script_in_a_folder_of_the_project_imports_from_its_root(home: Path, tier: SandboxChoice) -> None:
    code = f"{UP}from shared.words import WORD\n{ANSWER}"
    root = repository(home / "project", {"tools/agent.py": code, **SHARED})

    assert word_of(asked(f"{PYTHON} tools/agent.py", root, tier)) == "found"


def test_an_agent_of_another_project_imports_its_siblings(home: Path, tier: SandboxChoice) -> None:
    root = repository(home / "project", {})
    write(
        home / "agents",
        {"pyproject.toml": "", "coder/main.py": f"{UP}from shared.words import WORD\n{ANSWER}", **SHARED},
    )

    assert word_of(asked(f"{PYTHON} {home}/agents/coder/main.py", root, tier)) == "found"


def test_a_package_without_any_manifest_is_found_by_its_own_signs(home: Path, tier: SandboxChoice) -> None:
    root = repository(home / "project", {})
    files = {
        "coder/__init__.py": "",
        "coder/main.py": f"{UP}from coder.words import WORD\n{ANSWER}",
        "coder/words.py": "WORD = 'own'\n",
    }
    write(home / "agents", files)

    assert word_of(asked(f"{PYTHON} {home}/agents/coder/main.py", root, tier)) == "own"


LOOKS = """
import json, os, sys, pathlib
root = pathlib.Path(__file__).resolve().parents[1]
seen = []
for path in (".planning/ROADMAP.md", ".autopilot/journal.db", ".git/HEAD", ".env", "../.ssh/id", "../other/secret"):
    try:
        seen.append((root / path).read_text() and path)
    except OSError:
        pass
print(json.dumps({"word": ",".join(seen)}))
"""


def test_state_history_keys_and_neighbors_of_the_project_stay_out_of_reach(home: Path, tier: SandboxChoice) -> None:
    if tier == "none":
        pytest.skip("without a sandbox an agent reads what the user can read")
    root = repository(home / "project", {"tools/agent.py": LOOKS})
    write(home / "other", {"secret": "s3cret"})

    assert word_of(asked(f"{PYTHON} tools/agent.py", root, tier)) == ""


def test_a_folder_that_everybody_writes_to_is_no_project(home: Path, tier: SandboxChoice) -> None:
    if tier == "none":
        pytest.skip("without a sandbox an agent reads what the user can read")
    root = repository(home / "project", {})
    shared = home.parent / "tmp"
    write(
        shared,
        {
            "package.json": "{}",
            "secret": "s3cret",
            "mine/agent.py": f"import sys, os\nWORD = str(os.path.exists('{shared}/secret') and open('{shared}/secret').read())\n{ANSWER}",
        },
    )
    shared.chmod(0o1777)

    reply = asked(f"{PYTHON} {shared}/mine/agent.py", root, tier)
    assert "s3cret" not in (reply.answer or "")
