"""Whole commands on a pseudo terminal: what is left on the screen, and that the terminal is left as it was."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.project import honest, make_project, reviews
from support.screens import Screen, Terminal

COMMAND = [sys.executable, "-m", "autopilot"]


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    unset = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "COLUMNS", "LINES"}}
    cache = str(tmp_path_factory.mktemp("cache"))
    return unset | {"AUTOPILOT_CACHE": cache, "GIT_CONFIG_GLOBAL": os.devnull, "TERM": "xterm-256color"}


def words(root: Path, *more: str) -> list[str]:
    return [*COMMAND, "1-2", "--agent", f"scripted:{root}.toml", "--sandbox", "none", *more]


@pytest.fixture(scope="module")
def run_once(tmp_path_factory: pytest.TempPathFactory, env: dict[str, str]) -> Path:
    """A project in which phase 1 has been run; nobody changes anything in it."""
    root = make_project(tmp_path_factory.mktemp("once") / "letters", honest())
    command = [*COMMAND, "1", "--agent", f"scripted:{root}.toml", "--sandbox", "none"]
    subprocess.run(command, cwd=root, env=env, capture_output=True, check=True)
    return root


def test_a_run_leaves_its_last_frame_and_its_last_words(tmp_path: Path, env: dict[str, str]) -> None:
    root = make_project(tmp_path / "letters", honest())
    shown = Terminal(words(root), root, env, (100, 60))

    assert shown.end() == 0
    text = shown.screen.text
    last = text[text.index("Autopilot run-") :]
    assert re.match(
        r"Autopilot run-[\d-]+  scripted:letters.toml.* on main +completed \d+s\n2/2 phases completed\n", last
    )
    assert re.search(r"^ ✓ 1 Letter 1 +9\.4 .*\n ✓ 2 Letter 2 +9\.4 .*\n · 3 Letter 3$", last, re.MULTILINE)
    assert "\n\nAutopilot Complete\n\nPhases: 2/2 succeeded" in last
    assert text.count("Autopilot run-") == 1
    assert shown.screen.cursor_shown


def test_ctrl_c_ends_the_view_and_tells_how_to_go_on(tmp_path: Path, env: dict[str, str]) -> None:
    root = make_project(tmp_path / "letters", reviews())
    shown = Terminal([*COMMAND, "1", "--agent", "exec:sleep 60", "--sandbox", "none"], root, env)
    assert shown.look(lambda screen: "research phase 1" in screen.text)
    shown.interrupt()

    assert shown.end() == 130
    assert re.search(r"^Autopilot run-.* paused \d+s\n.*\n.*\ninterrupted\n", shown.screen.text, re.MULTILINE)
    assert shown.screen.text.endswith(
        "autopilot: Interrupted.\n  Every finished step is kept.\n  Go on with: autopilot resume\n"
    )
    assert shown.screen.cursor_shown


@pytest.mark.parametrize(
    ("more", "changed"), [(["--plain"], {}), ([], {"TERM": "dumb"}), (["--json"], {})], ids=["plain", "dumb", "json"]
)
def test_plain_lines_are_written_where_they_are_wanted(
    more: list[str], changed: dict[str, str], tmp_path: Path, env: dict[str, str]
) -> None:
    root = make_project(tmp_path / "letters", honest())
    shown = Terminal([*COMMAND, "3", "--agent", "exec:false", "--sandbox", "none", *more], root, env | changed)
    shown.end()

    assert "\x1b" not in shown.seen
    assert "Autopilot: Phases 3 | Spec: " in shown.seen


def test_status_watch_follows_a_run_to_its_end(tmp_path: Path, env: dict[str, str]) -> None:
    root = make_project(tmp_path / "letters", honest())
    with subprocess.Popen(words(root), cwd=root, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        while not (root / ".autopilot" / "journal.head").exists() and run.poll() is None:
            time.sleep(0.01)
        shown = Terminal([*COMMAND, "status", "--watch"], root, env)
        assert shown.end() == 0

    assert run.returncode == 0
    assert "2/2 phases completed" in shown.screen.text
    assert "every target phase passed" in shown.screen.text


def test_a_run_that_was_killed_is_shown_as_interrupted(tmp_path: Path, env: dict[str, str]) -> None:
    root = make_project(tmp_path / "letters", reviews())
    command = [*COMMAND, "1", "--agent", "exec:sleep 60", "--sandbox", "none"]
    run = Terminal(command, root, env)
    assert run.look(lambda screen: "research phase 1" in screen.text)
    watching = Terminal([*COMMAND, "status", "--watch"], root, env)
    assert watching.look(lambda screen: "research phase 1" in screen.text)
    run.program.send_signal(signal.SIGKILL)
    run.end()

    assert watching.end() == 0
    assert "interrupted" in watching.screen.text.splitlines()[0]
    assert "go on with: autopilot resume" in watching.screen.text
    assert run.screen.cursor_shown


def test_q_leaves_and_the_keyboard_is_as_it_was(run_once: Path, env: dict[str, str]) -> None:
    line = f"stty -a | grep -c -- -icanon; {' '.join(COMMAND)} replay --speed 0.001; stty -a | grep -c -- -icanon"
    shown = Terminal(["bash", "-c", line], run_once, env)
    assert shown.look(lambda screen: "PHASE 1" in screen.text)
    shown.press("xq")

    shown.end()
    assert re.search(r"^0\r?\n", shown.seen)
    assert shown.screen.text.splitlines()[-1] == "0"


def test_a_replay_ends_with_the_last_frame(run_once: Path, env: dict[str, str]) -> None:
    shown = Terminal([*COMMAND, "replay", "--speed", "1000"], run_once, env)

    assert shown.end() == 0
    assert "1/1 phases completed" in shown.screen.text
    assert "1000 times as fast as it happened" in shown.screen.text


@pytest.mark.parametrize("words", [["replay"], ["status", "--watch"]], ids=" ".join)
def test_without_a_terminal_a_run_is_told_in_plain_lines(words: list[str], run_once: Path, env: dict[str, str]) -> None:
    done = subprocess.run([*COMMAND, *words], cwd=run_once, env=env, capture_output=True, text=True, check=True)

    assert "[Phase 1] Task 01-01 (1/1): VERIFIED\n" in done.stdout
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["replay", "run-1999"], "There is no run 'run-1999'."),
        (["status", "--watch", "--json"], "--watch and --json cannot be combined."),
        (["status", "--plain"], "--plain goes with --watch only."),
        (["replay", "--speed", "0"], "Argument --speed: invalid positive value: '0'."),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_shown_is_said(words: list[str], what: str, run_once: Path, env: dict[str, str]) -> None:
    done = subprocess.run([*COMMAND, *words], cwd=run_once, env=env, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr.splitlines()[0]) == (2, f"autopilot: {what}")


def test_the_screen_of_these_tests_is_drawn_over_like_a_terminal() -> None:
    screen = Screen(4, 3)
    screen.write("abcdef\r\ng\x1b[1A\r\x1b[2KX\x1b[31mY\x1b[0m")

    assert screen.text == "abcd\nXY\ng\n"
