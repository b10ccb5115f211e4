"""A secret that an agent or a command prints is written nowhere, and reaches only whom the user named."""

import json
import sys
from pathlib import Path

import pytest

from support.repos import git, write
from support.runs import Drive, driven

LEAKED, LISTED, PLANTED = "ghp_" + "a1B2" * 9, "hunter2-hunter2", "correct-horse-battery"
AGENT = """
import json, os, sys
document = json.load(sys.stdin)
here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "env.json"), "w") as file:
    json.dump(dict(os.environ), file)
print("my key is", os.environ.get("DEPLOY_TOKEN"), "and theirs", LEAKED, file=sys.stderr)
print(LEAKED, file=sys.stderr)
print(json.dumps({"key_findings": ["found " + LEAKED, "behind a line's end\\n" + LEAKED], "issues": [os.environ.get("DEPLOY_TOKEN", "")]}))
"""
ROADMAP = """# Roadmap

### Phase 1: Letter 1
**Goal**: Write letter 1.
**Success Criteria** (what must be TRUE):
  1. The letter is there -- verified by: `cat leaked.txt; echo "token ${DEPLOY_TOKEN:-absent}"; test -e letter1.txt`
"""


@pytest.fixture
def project(place: Path, monkeypatch: pytest.MonkeyPatch) -> Drive:
    monkeypatch.setenv("DEPLOY_TOKEN", LISTED)
    monkeypatch.setenv("OTHER_PASSWORD", PLANTED)
    drive = driven(place, [])
    write(place / "agent", {"agent.py": AGENT.replace("LEAKED", repr(LEAKED))})
    write(place / "mine", {"config.toml": '[agent]\nenv = ["DEPLOY_TOKEN"]\n'})
    monkeypatch.setenv("AUTOPILOT_CONFIG", str(place / "mine"))
    theirs = json.dumps({"agent": {"env": ["OTHER_PASSWORD"]}})
    write(drive.root, {"leaked.txt": f"{LEAKED}\n", ".planning/config.json": theirs, ".planning/ROADMAP.md": ROADMAP})
    git(drive.root, "add", "-A")
    git(drive.root, "commit", "-q", "-m", "a leak")
    drive.agent = f"exec:{sys.executable} -S -E {place}/agent/agent.py"
    return drive


def test_no_secret_is_written_anywhere(project: Drive) -> None:
    assert project.run().exit == 10
    files = [*(project.root / ".autopilot").rglob("*"), *(project.root / ".planning" / "phases").rglob("*")]
    texts = {path: path.read_bytes() for path in files if path.is_file() and "repo.git" not in path.parts}
    told = b"".join(texts.values())

    assert not [path for path, text in texts.items() if LEAKED.encode() in text or LISTED.encode() in text]
    assert b"my key is [redacted:env:DEPLOY_TOKEN] and theirs [redacted:github]" in told
    assert b"found [redacted:github]" in told


def test_a_variable_reaches_an_agent_only_if_the_user_lists_it_and_a_command_never(place: Path, project: Drive) -> None:
    project.run()
    env = json.loads((place / "agent" / "env.json").read_text())
    (checked,) = json.loads(project.reads(".planning/phases/01-letter-1/TRIAGE.json"))["criteria_checked"]

    assert env["DEPLOY_TOKEN"] == LISTED
    assert "OTHER_PASSWORD" not in env
    assert checked["output"] == "[redacted:github]\ntoken absent\n"
