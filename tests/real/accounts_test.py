"""Real programs with expired dummy accounts: each renews its sign-in, the next call goes on with it, and so may the user."""

import json
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from autopilot.agents.backends.catalogue import BY_NAME
from autopilot.domain.agent_call import Reply
from autopilot.domain.settings import SandboxChoice
from support.fake_models.accounts import FakeAccounts, expired
from support.fake_models.script import Script, Turn
from support.fake_models.server import FakeModels
from support.real_programs import agent, at_home
from support.set_ups import SET_UPS
from support.transcripts import question

pytestmark = [
    pytest.mark.real,
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(shutil.which("openssl") is None, reason="certificates are made with openssl"),
]
SAID = Turn(text='{"done": true}', input_tokens=2000, output_tokens=77)
# The service of this machine reads no compressed questions.
PLAIN = {"codex": {"config.toml": "[features]\nenable_request_compression = false\n"}}
# What a user may have in a program's folder and no call is to load.
MEMORY = {
    "claude": {".claude/CLAUDE.md": "us3r-memory", ".claude/rules/r.md": "us3r-memory",
               ".claude/skills/s/SKILL.md": "---\nname: us3r-skill\ndescription: us3r-skill\n---\nx"},
    "codex": {".codex/AGENTS.md": "us3r-memory", ".codex/skills/s/SKILL.md": "---\nname: us3r-skill\ndescription: us3r-skill\n---\nx"},
    "gemini": {".gemini/GEMINI.md": "us3r-memory", ".gemini/skills/s/SKILL.md": "---\nname: us3r-skill\ndescription: us3r-skill\n---\nx"},
}  # fmt: skip


def files(home: Path) -> dict[str, bytes]:
    return {str(path.relative_to(home)): path.read_bytes() for path in home.rglob("*") if path.is_file()}


@pytest.mark.parametrize("tier", ["none", "bubblewrap"])
@pytest.mark.parametrize("name", ["claude", "codex", "gemini"])
def test_an_expired_sign_in_is_renewed_once_and_a_conversation_goes_on(
    name: str, tier: SandboxChoice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    work.mkdir()
    path, account = expired(name)
    carried = {f"{BY_NAME[name].folder}/{file}": text for file, text in PLAIN.get(name, {}).items()}
    for below, text in {path: json.dumps(account), **MEMORY[name], **carried}.items():
        (home / below).parent.mkdir(parents=True, exist_ok=True)
        (home / below).write_text(text)
    before = files(home)
    with FakeModels(Script(rest=SAID, aside=SAID)) as models, FakeAccounts(models, tmp_path) as accounts:
        at_home(monkeypatch, home, **accounts.variables)
        asked = agent(BY_NAME[name], tmp_path, tier, readable=(str(accounts.ca),), carry=tuple(PLAIN.get(name, {})))

        def ask(**changes: Any) -> Reply:
            call = msgspec.structs.replace(question(folder=str(work)), model=SET_UPS[name].model, **changes)
            return asked.call(msgspec.structs.replace(call, seconds=120), lambda _: None)

        first = ask(role="rate")
        renewed = json.loads((home / path).read_text())
        second = ask(role="rate", id="r1/2/rate/2", thread=first.thread)

    assert (first.outcome, first.issues) == ("ok", ()), (first.text, accounts.hosts)
    assert (second.outcome, second.issues) == ("ok", ()), second.text
    assert accounts.renewals == ["refresh-0"], "one renewal served both calls"
    assert "access-0" not in json.dumps(renewed)
    assert {p: held for p, held in files(home).items() if p != path} == {p: h for p, h in before.items() if p != path}
    requests = [text for request in models.asked if "Do it." in (text := json.dumps(request.body))]
    assert not [text for text in requests if "us3r" in text]
    assert requests[-1].count("Do it.") > requests[0].count("Do it."), "the second call knows of the first"
