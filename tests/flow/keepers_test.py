"""A run is killed while an agent is at work: the agent goes on, and the next process takes up its call."""

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from autopilot.app import prepare as app
from autopilot.app import wiring as hiring
from autopilot.domain.errors import UsageInvalid
from autopilot.domain.request import Resumption
from support.aftermath import survivors
from support.faults import full
from support.letters import Letters
from support.repos import git
from support.runs import Drive
from support.waiting import soon

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="keepers need Linux")

VICTIM = Path(__file__).parents[1] / "crash" / "victim.py"
# Ten to a run.
KILLS = 100 if full() else 10
WAITS = """
(setsid sleep 61 &)
touch "$here/at-work"
while [ ! -e "$here/go" ]; do sleep 0.02; done
"""


class WaitingLetters(Letters):
    """One letter whose agent waits in one of its calls until somebody writes the file `go`, and leaves a daemon."""

    phases = "1"

    def __init__(self, folder: Path, call: str) -> None:
        super().__init__(folder)
        self.call = f"1/{call}/1"
        fragment = self.home / "answers" / f"1-{call}-1.sh"
        fragment.write_text(f"{WAITS}{fragment.read_text(encoding='utf-8')}", encoding="utf-8")

    def go(self) -> None:
        (self.home / "go").touch()


class SlowLetters(Letters):
    """Each call takes a moment, so that most deaths come in the middle of one."""

    phases = "1-2"

    def answers(self) -> dict[str, str]:
        return {name: f"sleep 0.1\n{text}" for name, text in super().answers().items()}


def held_in(root: Path) -> list[str]:
    return [place.name for place in (root / ".autopilot" / "keep").iterdir()]


def checkouts_of(place: Path) -> list[str]:
    return [path.name for path in place.glob("cache/*/checkouts/*")]


@contextmanager
def running(letters: Letters) -> Iterator[subprocess.Popen[bytes]]:
    words = [str(letters.root), letters.agent, letters.phases, "0"]
    quiet = subprocess.DEVNULL
    with subprocess.Popen([sys.executable, str(VICTIM), *words], stdout=quiet, stderr=quiet) as run:
        try:
            yield run
        finally:
            run.kill()


def one_more_call(letters: Letters) -> bool:
    before = letters.calls().total()
    return soon(lambda: letters.calls().total() > before)


def killed_at_work(place: Path, call: str) -> WaitingLetters:
    """The run is dead when this returns, and its agent is not."""
    letters = WaitingLetters(place, call)
    with running(letters):
        assert soon((letters.home / "at-work").exists)
    assert survivors(letters.root)
    return letters


def assert_tidy(place: Path, letters: Letters) -> None:
    assert not survivors(letters.root)
    assert held_in(letters.root) == []
    assert checkouts_of(place) == []


@pytest.mark.parametrize("call", ["execute", "verify"])
def test_a_call_that_outlived_its_run_is_taken_up_and_nobody_is_asked_again(place: Path, call: str) -> None:
    letters = killed_at_work(place, call)
    letters.go()

    assert Drive(letters.root).resume().exit == 0
    assert set(letters.calls().values()) == {1}
    assert [subject for subject, _ in letters.line()].count("feat(01): 01-01 - Write letter1.txt") == 1
    assert git(letters.root, "show", "HEAD:letter1.txt") == "done 1"
    assert_tidy(place, letters)


def test_an_answer_that_came_while_no_run_was_there_is_taken(place: Path) -> None:
    letters = killed_at_work(place, "verify")
    letters.go()
    assert soon(lambda: not survivors(letters.root))

    assert Drive(letters.root).resume().exit == 0
    assert set(letters.calls().values()) == {1}
    assert_tidy(place, letters)


def test_past_its_lease_a_call_is_gone_and_made_again(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOPILOT_LEASE", "0.5")
    letters = killed_at_work(place, "execute")
    assert soon(lambda: not survivors(letters.root))
    letters.go()

    assert Drive(letters.root).resume().exit == 0
    assert {call for call, times in letters.calls().items() if times > 1} == {letters.call}
    assert_tidy(place, letters)


def test_without_a_lease_an_agent_dies_with_its_run(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOPILOT_LEASE", "0")
    letters = WaitingLetters(place, "execute")
    with running(letters):
        assert soon((letters.home / "at-work").exists)

    assert soon(lambda: not any(program.startswith("sh ") for program in survivors(letters.root)))
    assert not (letters.root / ".autopilot" / "keep").exists()
    run = (letters.home / "calls.log").read_text(encoding="utf-8").partition("/")[0]
    assert hiring.processes_of(letters.root).sweep(run) >= 1, "its daemon, which the next run ends"


@pytest.mark.parametrize("lease", ["soon", "-1", "nan", "1e9"])
def test_a_lease_that_is_no_time_is_refused(place: Path, monkeypatch: pytest.MonkeyPatch, lease: str) -> None:
    monkeypatch.setenv("AUTOPILOT_LEASE", lease)
    letters = Letters(place)

    with pytest.raises(UsageInvalid, match="AUTOPILOT_LEASE"):
        Drive(letters.root, letters.agent).run("1")


def test_a_stop_ends_what_a_killed_run_has_left_at_work(place: Path) -> None:
    letters = killed_at_work(place, "execute")

    assert app.stop(str(letters.root), now=False).endswith("had left were ended: 1.")
    assert not survivors(letters.root)
    assert held_in(letters.root) == []


@pytest.mark.parametrize("now", [False, True], ids=["stop", "stop --now"])
def test_a_stop_ends_the_run_and_the_call_under_way(place: Path, *, now: bool) -> None:
    letters = WaitingLetters(place, "execute")
    with running(letters):
        assert soon((letters.home / "at-work").exists)
        assert app.stop(str(letters.root), now=now).startswith("Stopped run-")
        assert not survivors(letters.root)
        assert held_in(letters.root) == []


def test_another_agent_does_not_get_the_answer_of_the_first(place: Path) -> None:
    letters = killed_at_work(place, "execute")
    letters.go()
    changes = Resumption(agent=letters.agent.replace("exec:sh", "exec:env sh"))

    assert app.resume(str(letters.root), lambda *_: None, print, changes).exit == 0
    assert letters.calls()[letters.call] == 2
    assert_tidy(place, letters)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(KILLS // 10))
def test_whenever_it_is_killed_no_agent_is_asked_twice_and_none_is_left(place: Path, seed: int) -> None:
    letters, dice = SlowLetters(place), random.Random(seed)
    for _ in range(10):
        with running(letters):
            assert one_more_call(letters)
            time.sleep(dice.uniform(0, 0.2))

    with running(letters) as run:
        assert run.wait() == 0
    assert git(letters.root, "show", "HEAD:letter2.txt") == "done 2"
    assert set(letters.calls().values()) == {1}
    assert_tidy(place, letters)
