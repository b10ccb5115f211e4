"""Somebody at a real terminal: lines typed, Ctrl-C, and a kill in the middle of the questions."""

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from support.asking import calls, follow_up, gray_areas, paper, questions
from support.project import honest
from support.runs import Drive, driven
from support.waiting import soon

ASKED = questions("Which colour?", "How long?")


@dataclass
class Terminal:
    """A program with a terminal of its own; `shown` is where its screen goes."""

    process: subprocess.Popen[bytes]
    master: int
    shown: Path

    def type(self, *lines: str) -> None:
        for line in lines:
            os.write(self.master, f"{line}\n".encode())

    def until(self, holds: Callable[[], bool]) -> None:
        assert soon(holds), self.screen

    def until_shown(self, text: str) -> None:
        self.until(lambda: text in self.screen)

    @property
    def screen(self) -> str:
        return self.shown.read_text(encoding="utf-8", errors="replace")


@contextmanager
def at_terminal(drive: Drive, *words: str) -> Iterator[Terminal]:
    master, slave = pty.openpty()
    shown = drive.root.parent / "screen.txt"
    with shown.open("wb") as screen:
        command = [sys.executable, "-m", "autopilot", *words, "--agent", f"scripted:{drive.script}", "--unsandboxed"]
        process = subprocess.Popen(command, cwd=drive.root, stdin=slave, stdout=screen, stderr=screen)
    try:
        yield Terminal(process, master, shown)
        process.wait()
    finally:
        process.kill()
        process.wait()
        os.close(master)
        os.close(slave)


def kept(drive: Drive) -> dict[str, str | None]:
    asked = paper(drive, "context-map.json")["phases"]["1"]["questions"]
    return {question["question"]: question["answer"] for question in asked}


def test_cmap_03b_answers_are_typed_by_phase_and_number(place: Path) -> None:
    drive = driven(place, [ASKED])
    with at_terminal(drive, "map", "1") as terminal:
        terminal.until_shown("Ctrl-C leaves")
        terminal.type("what?", "Phase 1, Q7: no", "Phase 1, Q2: a page", "Q1: blue")

    assert (terminal.process.returncode, kept(drive)) == (0, {"Which colour?": "blue", "How long?": "a page"})
    assert "Not understood; write it as: Phase 3, Q1: your answer" in terminal.screen
    assert "Phase 1 has no open question 7" in terminal.screen
    assert terminal.screen.endswith("Mapped 1 phase: 2 of 2 questions answered.\n")


def test_a_kill_in_the_middle_of_the_questions_loses_no_answer_and_pays_nobody_twice(place: Path) -> None:
    drive = driven(place, [ASKED])
    with at_terminal(drive, "map", "1") as terminal:
        terminal.until_shown("Ctrl-C leaves")
        terminal.type("Q1: blue")
        terminal.until(lambda: kept(drive)["Which colour?"] == "blue")
        terminal.process.kill()

    with at_terminal(drive, "map", "1") as again:
        again.until_shown("Ctrl-C leaves")
        again.type("Q2: a page")
    assert (again.process.returncode, kept(drive)) == (0, {"Which colour?": "blue", "How long?": "a page"})
    assert ("1. Which colour?" in again.screen, calls(drive)) == (False, ["1/question/1"])


def test_ctrl_c_keeps_what_was_answered_in_a_discussion_that_a_run_then_knows(place: Path) -> None:
    drive = driven(place, [*honest(), gray_areas(), follow_up()])
    with at_terminal(drive, "--discuss", "1") as terminal:
        terminal.until_shown("to discuss everything")
        terminal.type("1", "b)")
        terminal.until_shown("Question 2")
        terminal.process.send_signal(signal.SIGINT)
    assert (terminal.process.returncode, terminal.screen.splitlines()[-3:]) == (
        130,
        [
            "autopilot: Stopped.",
            "  What was answered is kept.",
            "  Run the same command again: it goes on where it was left.",
        ],
    )

    with at_terminal(drive, "--discuss", "1", "--json") as again:
        again.until_shown("Question 2")
        again.type("only the first one", "b", "a")
    assert json.loads(again.screen.splitlines()[-1])["exit"] == 0
    text = drive.reads(".planning/phases/01-letter-1/CONTEXT.md")
    assert "- Dear or hello? Hello\n- With a name? only the first one\n" in text
    assert [call for call in calls(drive) if "gray" in call] == ["1/gray_areas/1"]
