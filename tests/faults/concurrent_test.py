"""Many starts at once on one repository, and every other verb beside a run: one has the lock, and nothing breaks."""

import random
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from autopilot.journal.lock import owner
from support.aftermath import broken, events, leftovers, twice
from support.faults import full, record, seed
from support.victims import room
from support.waiting import soon
from support.weather import OneLetter

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
ROUNDS, STARTS, MOMENTS = (20, 50, 60) if full() else (2, 12, 6)
LOCKED, INVALID, INTERRUPTED = 75, 2, 130
WAITS = 'while [ ! -e "$here/go" ]; do sleep 0.05; done\n'
# What is typed in other terminals, and the exit codes that are right for it while a run goes on or has been stopped.
BESIDE: dict[str, frozenset[int]] = {
    "status": frozenset({0}),
    "status --json": frozenset({0}),
    "verdict 1 pass": frozenset({INVALID}),
    "resume --plain": frozenset({0, LOCKED, INTERRUPTED}),
    "stop": frozenset({0}),
    "stop --now": frozenset({0}),
    "progress": frozenset({0}),
    "rebuild": frozenset({0, LOCKED}),
}
Process = subprocess.Popen[str]


class WaitingLetter(OneLetter):
    """Its planner waits until somebody writes the file `go`."""

    def answers(self) -> dict[str, str]:
        files = super().answers()
        return files | {"answers/plan.sh": WAITS + files["answers/plan.sh"]}

    def go(self) -> None:
        (self.home / "go").touch()


@contextmanager
def typed(words: list[str], root: Path) -> Iterator[Process]:
    argv = [sys.executable, "-m", "autopilot", *words]
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, cwd=root, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def started(letters: OneLetter) -> list[str]:
    return ["run", "1", "--plain", "--unsandboxed", "--agent", letters.agent]


def together(letters: WaitingLetter, starts: int) -> tuple[Counter[int], set[str], int]:
    """The losers' exit codes and the owners they name, and the winner's own number; it is done in the end."""
    argv = [sys.executable, "-m", "autopilot", *started(letters)]
    pipe = subprocess.PIPE
    runs = [subprocess.Popen(argv, cwd=letters.root, stdout=pipe, stderr=pipe, text=True) for _ in range(starts)]
    try:
        assert soon(lambda: sum(run.poll() is None for run in runs) <= 1)
        (winner,) = [run for run in runs if run.poll() is None]
        told = [run.communicate()[1] for run in runs if run is not winner]
        named = {number for text in told for number in re.findall(r"process (\d+)", text)}
        letters.go()
        winner.communicate()
        return Counter(run.returncode for run in runs), named, winner.pid
    finally:
        for run in runs:
            run.kill()


@pytest.mark.parametrize("number", range(ROUNDS))
def test_of_many_starts_at_once_one_wins_and_the_others_name_it(number: int) -> None:
    with room() as place:
        letters = WaitingLetter(place)
        before = letters.mine()

        codes, named, winner = together(letters, STARTS)

        record("concurrent starts", {"rounds": 1, "starts": STARTS, "locked": codes[LOCKED]})
        assert codes == Counter({LOCKED: STARTS - 1, 0: 1})
        assert named == {str(winner)}
        assert (letters.mine(), twice(events(letters.root))) == (before, [])
        assert (broken(letters.root), leftovers(place, letters.root)) == ([], [])


def test_what_is_typed_in_other_terminals_breaks_nothing() -> None:
    dice, told = random.Random(seed()), Counter[str]()
    with room() as place:
        letters = OneLetter(place)
        before = letters.mine()
        with typed(started(letters), letters.root) as run:
            assert soon(lambda: run.poll() is not None or owner(letters.root / ".autopilot") is not None)
            wrong = list(meddled(letters.root, dice, told))
            run.communicate()

        with typed(["resume", "--plain"], letters.root) as last:
            last.communicate()
        record("other terminals", told)
        assert (wrong, last.returncode) == ([], 0)
        assert (letters.mine(), twice(events(letters.root))) == (before, [])
        assert (broken(letters.root), leftovers(place, letters.root)) == ([], [])
        assert (letters.root / "letter1.txt").read_text(encoding="utf-8") == "done, dear\n"


def meddled(root: Path, dice: random.Random, told: Counter[str]) -> Iterator[str]:
    """Everything that came to an exit code it should not have, with what it said."""
    for _ in range(MOMENTS):
        time.sleep(dice.uniform(0, 0.5))
        words = dice.choice(sorted(BESIDE))
        told[words] += 1
        with typed(words.split(), root) as process:
            said = process.communicate()
            slow = "did not stop within" in said[1]  # a busy machine, and told as such
            if (process.returncode not in BESIDE[words] and not slow) or "Traceback" in said[1]:
                yield f"{words} came to {process.returncode}: {said}"
