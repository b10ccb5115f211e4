"""Runs go on by their grant and not by their journal; what was moved or lost its key is adopted first."""

import os
import pty
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from autopilot import __version__
from autopilot.app import prepare as app
from autopilot.authority.grants import Grant, Grants
from autopilot.authority.user_folder import user_folder_path
from autopilot.domain.errors import AutopilotError, ConsentMissing, Interrupted, TrustMissing, UsageInvalid
from autopilot.domain.events import AgentAnswered, Entry, StepFinished
from autopilot.domain.request import Resumption, RunRequest
from support.project import honest
from support.repos import git
from support.runs import Drive, driven, snapshot
from support.trusting import trust


@pytest.fixture
def drive(place: Path, monkeypatch: pytest.MonkeyPatch) -> Drive:
    """A run that was interrupted after its first step, by a user of its own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(place / "state"))
    made = driven(place, honest(), "1")

    def interrupt(entry: Entry) -> None:
        if isinstance(entry.event, StepFinished):
            raise Interrupted

    made.meanwhile = interrupt
    with pytest.raises(Interrupted):
        made.run()
    made.meanwhile = lambda _: None
    return made


def grant_of(drive: Drive) -> Grant:
    return next(grant for run in drive_runs(drive) if (grant := Grants().read(run, drive.root)))


def drive_runs(drive: Drive) -> set[str]:
    return {stream for stream, _ in drive.entries if "/" not in stream}


def refusal(drive: Drive) -> AutopilotError:
    before = snapshot(drive.root)
    with pytest.raises(ConsentMissing) as refused:
        drive.resume()
    assert snapshot(drive.root) == before
    return refused.value


def test_a_run_is_granted_what_it_started_with(drive: Drive) -> None:
    grant = grant_of(drive)

    assert (grant.version, grant.root, grant.launch) == (__version__, str(drive.root), str(drive.root))
    assert (grant.settings.agent, grant.tier, grant.confined) == (f"scripted:{drive.script}", "none", True)
    assert [(agent.name, agent.roles) for agent in grant.agents] == [
        (f"scripted:{drive.script}", ("agent", "reviewer"))
    ]
    files = [path for path in user_folder_path().rglob("*") if path.is_file()]
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}


def test_a_resume_goes_by_the_grant(drive: Drive) -> None:
    """The journal names the first script still; the user's folder says another one."""
    other = drive.root.parent / "other.toml"
    shutil.copy(drive.script, other)
    drive.rewrite([{"role": "plan", "outcome": "timeout"}])
    grant = grant_of(drive)
    settings = msgspec.structs.replace(grant.settings, agent=f"scripted:{other}")
    Grants().write(msgspec.structs.replace(grant, settings=settings))

    assert drive.resume().exit == 0
    assert {answer.outcome for answer in drive.of(AgentAnswered)} == {"ok"}


def test_without_a_grant_the_user_names_the_agent_again(drive: Drive) -> None:
    shutil.rmtree(user_folder_path() / "grants")

    assert f"autopilot resume --agent scripted:{drive.script} --unsandboxed" in refusal(drive).do
    assert drive.resume(agent=f"scripted:{drive.script}", sandbox="none").exit == 0
    assert grant_of(drive).settings.agent == f"scripted:{drive.script}"


def test_without_a_grant_the_sandbox_of_today_is_what_is_asked_about(
    drive: Drive, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(user_folder_path() / "grants")
    app.revoke_trust(str(drive.root))
    app.keep_trust(str(drive.root), app.trust_of(str(drive.root)).sha256)
    monkeypatch.setenv("AUTOPILOT_SANDBOX", "none")

    with pytest.raises(TrustMissing) as missing:
        app.resume(str(drive.root), drive.hear, print, Resumption(agent=f"scripted:{drive.script}"))
    assert any("WITHOUT A SANDBOX" in line for line in missing.value.table)


def test_a_run_without_a_grant_is_foreseen_as_refused(drive: Drive) -> None:
    shutil.rmtree(user_folder_path() / "grants")
    seen = app.foresee(RunRequest(folder=str(drive.root)))

    assert any("no grant" in str(problem) for problem in seen.problems)


def test_a_moved_project_is_adopted_with_its_grants(drive: Drive) -> None:
    moved = drive.root.parent / "moved"
    drive.root.rename(moved)
    shutil.move(drive.script, moved.parent / "moved.toml")
    here = Drive(moved, entries=drive.entries)
    assert f"written for {drive.root}" in refusal(here).what

    offer = app.adoption_of(str(moved))
    assert any("every entry checked" in line for line in offer.lines)
    assert any("grant for its run comes along" in line for line in offer.lines)
    assert "autopilot resume" in app.adopt(offer)
    trust(moved)
    assert here.resume(agent=f"scripted:{moved}.toml").exit == 0
    assert git(moved, "show", "HEAD:letter1.txt") == "done 1"
    assert app.adoption_of(str(moved)).own


def test_a_lost_key_is_adopted_without_grants(drive: Drive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(drive.root.parent / "fresh"))
    assert "not written with your key" in refusal(drive).what

    offer = app.adoption_of(str(drive.root))
    assert any("NOT checked" in line for line in offer.lines)
    assert any("No grant comes with it" in line for line in offer.lines)
    assert "--agent" in app.adopt(offer)
    assert "no grant" in refusal(drive).what
    assert drive.resume(agent=f"scripted:{drive.script}", sandbox="none").exit == 0


def test_a_journal_that_was_changed_is_not_adopted(drive: Drive) -> None:
    with closing(sqlite3.connect(drive.root / ".autopilot" / "journal.db")) as db:
        db.execute("update entries set body = replace(body, 'letter', 'better') where seq = 1")
        db.commit()

    with pytest.raises(AutopilotError, match="journal was changed") as refused:
        app.adoption_of(str(drive.root))
    assert refused.value.exit_code == 5


def adopt_at(terminal: int, drive: Drive) -> tuple[int, str]:
    command = [sys.executable, "-P", "-m", "autopilot", "adopt"]
    done = subprocess.run(command, cwd=drive.root, stdin=terminal, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_only_a_yes_typed_at_a_terminal_adopts(drive: Drive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(drive.root.parent / "fresh"))
    before = snapshot(drive.root)
    code, told = adopt_at(subprocess.DEVNULL, drive)
    assert (code, "nobody confirmed it" in told, snapshot(drive.root) == before) == (5, True, True), told

    for answer, expected in (("y", 5), ("yes", 0)):
        master, slave = pty.openpty()
        os.write(master, f"{answer}\n".encode())
        code, told = adopt_at(slave, drive)
        os.close(master)
        os.close(slave)
        assert code == expected, told
        assert "It says it was started with the agent" in told
    assert app.adoption_of(str(drive.root)).own


def test_no_agent_can_adopt(drive: Drive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(drive.root.parent / "fresh"))
    assert not app.adoption_of(str(drive.root)).own

    monkeypatch.setenv("AUTOPILOT_CALL", "run/1/execute/1")
    with pytest.raises(UsageInvalid, match="An agent may not"):
        app.adoption_of(str(drive.root))
