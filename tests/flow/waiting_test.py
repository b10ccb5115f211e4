"""Whole runs whose agents are not to be had for a while: they wait, go on, and can be stopped, killed and hurried."""

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from autopilot.app import prepare as app
from autopilot.domain.errors import AgentUnavailable, UsageLimited
from autopilot.domain.events import AgentAnswered, Entry, Noted, RunResumed, RunStopped, WaitEnded, WaitStarted
from autopilot.history.record import RunRecord
from autopilot.journal.sqlite import NoRun, SqliteJournal
from support.project import plan_answer, reviews, toml, work_answer
from support.repos import write
from support.runs import Drive, driven
from support.waiting import soon

PLAN = plan_answer("1", [("letter1.txt", "done")])
GOOD = work_answer("1", "01-01", "letter1.txt", "done 1\n")
AWAY = {"role": "execute", "phase": "1", "task": "01-01"}
QUICK = '{"limits": {"wait_margin_seconds": 0, "overload_seconds": 0.05, "overload_tries": 3}}'


def project(place: Path, *away: dict[str, Any]) -> Drive:
    """The executor is not to be had as told, and then does its work."""
    made = driven(place, [*away, *reviews(), PLAN, GOOD])
    write(made.root, {".planning/config.json": QUICK})
    return made


def waits(root: Path) -> list[Entry]:
    try:
        journal = SqliteJournal.read_only(root / ".autopilot" / "journal.db")
    except NoRun:
        return []  # it is being made at this moment
    entries = journal.load(journal.streams()[0]) if journal.streams() else ()
    return [entry for entry in entries if isinstance(entry.event, WaitStarted | WaitEnded)]


def started(drive: Drive, *words: str) -> subprocess.Popen[bytes]:
    command = ["run", "1", "--agent", f"scripted:{drive.script}", "--unsandboxed", *words]
    return subprocess.Popen(
        [sys.executable, "-m", "autopilot", *command],
        cwd=drive.root,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def test_a_run_waits_for_a_window_and_passes(place: Path) -> None:
    drive = project(place, {**AWAY, "tries": 1, "outcome": "usage_limited", "resets_in": 1.5})

    assert drive.run().exit == 0
    assert [a.outcome for a in drive.of(AgentAnswered) if a.role == "execute"] == ["usage_limited", "ok"]
    assert [wait.how for wait in drive.of(WaitEnded)] == ["due"]
    told = "\n".join(drive.told())
    assert "Waiting: usage limit of scripted:project.toml. The step execute goes on at" in told
    assert "waiting" not in drive.state()


def test_services_in_trouble_are_asked_again_and_no_try_is_counted(place: Path) -> None:
    troubles = [{**AWAY, "tries": n, "outcome": word} for n, word in ((1, "overloaded"), (2, "rate_limited"))]
    drive = project(place, *troubles)

    assert drive.run().exit == 0
    assert drive.steps.count("execute") == 1
    assert drive.state()["circuit_breaker"]["retries"] == 0


def test_a_service_that_stays_in_trouble_stops_the_run_which_can_be_resumed(place: Path) -> None:
    drive = project(place, {**AWAY, "outcome": "overloaded"})

    end = drive.run()
    assert (end.exit, drive.of(RunStopped)[-1].brake) == (21, "overload_tries")

    drive.rewrite([*reviews(), PLAN, GOOD])
    assert drive.resume(now=True).exit == 0


def test_another_agent_stands_in_and_the_journal_says_who_answered(place: Path) -> None:
    drive = project(place, {**AWAY, "outcome": "usage_limited", "resets_in": 3000})
    other = drive.root.parent / "other.toml"
    other.write_text(toml([GOOD, *reviews()]), encoding="utf-8")

    assert drive.run(failover=(f"scripted:{other}",)).exit == 0
    answers = [answer for answer in drive.of(AgentAnswered) if answer.role == "execute"]
    assert [answer.backend.rpartition("/")[2] for answer in answers] == ["project.toml", "other.toml"]
    assert [note.event for note in drive.of(Noted)] == ["agent_failover"]
    assert drive.of(WaitStarted) == []


def test_one_who_cannot_stand_in_is_told_and_left_out(place: Path) -> None:
    drive = project(place)

    assert drive.run(failover=("exec:no-such-program-here",)).exit == 0
    assert any("will not stand in" in warning for warning in drive.warnings)


def test_no_wait_stops_the_run_and_says_how_to_go_on(place: Path) -> None:
    drive = project(place, {**AWAY, "tries": 1, "outcome": "usage_limited", "resets_in": 3000})

    with pytest.raises(UsageLimited) as stopped:
        drive.run(wait=False)
    assert (stopped.value.exit_code, "autopilot resume --now" in stopped.value.do) == (22, True)

    assert drive.resume(now=True).exit == 0
    assert drive.of(RunResumed)[-1].at_once


def test_an_account_that_is_refused_stops_the_run_at_once(place: Path) -> None:
    drive = project(place, {**AWAY, "tries": 1, "outcome": "auth", "text": "invalid api key"})

    with pytest.raises(AgentUnavailable, match="invalid api key") as stopped:
        drive.run()
    assert "then run `autopilot resume`" in stopped.value.do

    assert drive.resume().exit == 0


def test_a_killed_wait_goes_on_until_the_same_moment(place: Path) -> None:
    drive = project(place, {**AWAY, "tries": 1, "outcome": "usage_limited", "resets_in": 3})
    with started(drive) as run:
        assert soon(lambda: len(waits(drive.root)) == 1)
        run.send_signal(signal.SIGKILL)

    assert drive.resume().exit == 0
    begun, over = waits(drive.root)
    assert isinstance(begun.event, WaitStarted)
    assert begun.event.until <= over.at


def test_a_waiting_run_can_be_hurried_from_another_terminal(place: Path) -> None:
    drive = project(place, {**AWAY, "tries": 1, "outcome": "usage_limited", "resets_in": 3000})
    with started(drive) as run:
        try:
            assert soon(lambda: bool(waits(drive.root)))
            shown = app.retry(str(drive.root))
            assert run.wait() == 0
        finally:
            run.kill()
    assert shown.endswith("asks scripted:" + str(drive.script) + " again at once.")
    over = waits(drive.root)[-1].event
    assert isinstance(over, WaitEnded)
    assert over.how == "retried"


def test_a_run_can_be_hurried_the_moment_it_begins_to_wait(place: Path) -> None:
    drive = project(place, {**AWAY, "tries": 1, "outcome": "usage_limited", "resets_in": 3000})

    def hurries(entry: Entry) -> None:
        if isinstance(entry.event, WaitStarted):
            shown.append(app.retry(str(drive.root)))

    shown: list[str] = []
    drive.meanwhile = hurries

    assert drive.run().exit == 0
    assert [text.endswith("again at once.") for text in shown] == [True]
    assert [wait.how for wait in drive.of(WaitEnded)] == ["retried"]


def test_a_waiting_run_is_stopped_at_once_and_still_waits_when_resumed(place: Path) -> None:
    drive = project(place, {**AWAY, "tries": 1, "outcome": "usage_limited", "resets_in": 3000})
    with started(drive) as run:
        try:
            assert soon(lambda: bool(waits(drive.root)))
            assert app.stop(str(drive.root), now=False).startswith("Stopped run-")
        finally:
            run.kill()
    journal = SqliteJournal.read_only(drive.root / ".autopilot" / "journal.db")
    record = RunRecord(entries=journal.load(journal.streams()[0]))
    assert isinstance(record.end, RunStopped)
    assert [wait.end for wait in record.waits] == [""]
    assert drive.resume(now=True).exit == 0


def test_where_nothing_waits_there_is_nothing_to_hurry(place: Path) -> None:
    drive = project(place)

    assert app.retry(str(drive.root)).startswith("No run is going on here.")
