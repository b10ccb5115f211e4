"""Telling a person: by bell, desktop and account, never holding the run up, and what fails is a note only."""

import json
import threading
from pathlib import Path

import pytest

from autopilot.app import notify as notifying
from autopilot.domain.errors import ConfigInvalid
from autopilot.domain.events import Entry, RunFinished, RunStopped
from autopilot.planning.config.user_config import NotifyChoices, read
from autopilot.policy.notification_rules import Notice, Occasion
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.views.export import notifications
from autopilot.views.export.notifications import Account, Bell, Desktop, Notifier, Untold, Way
from support.receivers import receiving

OVER = Entry(number=0, at="", event=RunFinished(status="completed", exit_code=0, reason="all passed"))
CAPPED = Entry(number=0, at="", event=RunStopped(exit_code=20, reason="the key is sk-ant-" + "a1" * 20))
NOTICE = Notice(occasion="finished", title="letters: <b>done</b>", text="a & b\n'$(id)'")


class Heard:
    """A way that keeps what it was given, or fails."""

    def __init__(self, fails: str = "") -> None:
        self.name, self.fails, self.notices = "heard", fails, list[Notice]()

    def tell(self, notice: Notice) -> None:
        if self.fails:
            raise Untold(self.fails)
        self.notices.append(notice)


def notifier(*ways: Way, notes: list[str], on: tuple[Occasion, ...] = ("finished", "cap"), quiet: str = "") -> Notifier:
    return Notifier(
        ways=ways, project="letters", note=notes.append, occasions=frozenset(on), quiet=quiet, now=lambda: "23:00"
    )


def test_each_thing_is_told_once_by_every_way() -> None:
    first, second, notes = Heard(), Heard(), list[str]()
    told = notifier(first, Heard("it is full"), second, notes=notes)
    for _ in range(3):
        told("run", OVER)
    told.close()

    assert [n.title for n in first.notices] == ["letters: the run is finished"]
    assert first.notices == second.notices
    assert notes == ["You were not told by heard that 'letters: the run is finished': it is full."]


def test_a_way_that_hangs_is_left_behind_and_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    class Hanging:
        name, go_on = "hanging", threading.Event()

        def tell(self, notice: Notice) -> None:
            self.go_on.wait()

    monkeypatch.setattr(notifications, "PATIENCE_S", 0.05)
    hanging, notes = Hanging(), list[str]()
    told = notifier(hanging, notes=notes)
    told("run", OVER)
    told.close()
    hanging.go_on.set()

    assert notes == ["You may not have been told of everything: no answer came within 0 s."]


@pytest.mark.parametrize(
    ("on", "quiet"), [(("failed",), ""), (("finished",), "22:00-07:00")], ids=["not-wanted", "quiet-hours"]
)
def test_nobody_is_told_what_they_do_not_want_to_hear(on: tuple[Occasion, ...], quiet: str) -> None:
    heard = Heard()
    told = notifier(heard, notes=[], on=on, quiet=quiet)
    told("run", OVER)
    told.close()

    assert heard.notices == []


def test_an_account_is_told_through_apprise() -> None:
    with receiving() as received:
        Account(f"json://127.0.0.1:{received.port}/here").tell(NOTICE)

    path, body = received.posts[0]
    assert (path, json.loads(body)["type"]) == ("/here", "success")
    assert "done" in json.loads(body)["title"]


@pytest.mark.parametrize("url", ["nonsense", "unknown-kind://key"])
def test_an_address_that_is_not_understood_is_not_repeated(url: str) -> None:
    with pytest.raises(Untold) as found:
        Account(url).tell(NOTICE)

    assert url not in str(found.value)


def test_an_account_that_refuses_is_told_of() -> None:
    with receiving(status=500) as received, pytest.raises(Untold, match="not accepted"):
        Account(f"json://127.0.0.1:{received.port}").tell(NOTICE)


def test_the_desktop_gets_texts_as_they_are(tmp_path: Path) -> None:
    program = tmp_path / "notify-send"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/said\n')
    program.chmod(0o755)
    Desktop(ChildProcesses(), {"PATH": "/usr/bin:/bin"}, str(program)).tell(NOTICE)

    said = (tmp_path / "said").read_text().splitlines()
    assert said == ["--app-name=Autopilot", "--", "letters: <b>done</b>", "a &amp; b", "'$(id)'"]
    assert Desktop(ChildProcesses(), {}, "/usr/bin/osascript").command(NOTICE)[3:] == (NOTICE.title, NOTICE.text)


def test_a_desktop_or_terminal_that_is_not_there_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(Untold):
        Desktop(ChildProcesses(), {}, str(tmp_path / "none")).tell(NOTICE)
    with pytest.raises(Untold, match="no terminal"):
        Bell(tmp_path / "no" / "tty").tell(NOTICE)
    Bell(tmp_path / "tty").tell(NOTICE)
    assert (tmp_path / "tty").read_text() == "\a"


def test_the_test_of_doctor_names_every_way() -> None:
    with receiving() as received:
        url = f"json://127.0.0.1:{received.port}"
        checks = notifying.trial(NotifyChoices(urls=(url, "nonsense")))

    assert [(check.level, check.found.partition(":")[0]) for check in checks] == [("ok", "json"), ("warn", "nonsense")]
    assert [check.level for check in notifying.trial(NotifyChoices())] == ["warn"]


@pytest.mark.parametrize(
    "text",
    ['[notify]\nquiet = "10-11"', '[notify]\non = ["always"]', '[notify]\nurls = "x"', "[notify]\nmail = true"],
    ids=["hours", "occasion", "urls", "unknown"],
)
def test_what_is_not_understood_is_refused(text: str) -> None:
    with pytest.raises(ConfigInvalid):
        read(text, "config.toml")


def test_secrets_are_told_to_nobody() -> None:
    heard, notes = Heard(), list[str]()
    told = notifier(heard, notes=notes)
    told.redact = lambda text: text.replace("sk-ant-" + "a1" * 20, "[redacted]")
    told("run", CAPPED)
    told.close()

    assert "[redacted]" in heard.notices[0].text
    assert "sk-ant" not in heard.notices[0].text
