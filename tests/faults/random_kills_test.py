"""SIGKILL at random instants, to a run with all it started, to the run alone, to what it started: nothing is lost."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from autopilot.app import wiring as hiring
from support.aftermath import events, twice
from support.faults import full, record, seed
from support.victims import condemned, room, wrongs
from support.weather import OneLetter

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="children are found through /proc"),
    pytest.mark.timeout(600),
]
KILLS, SHARES = (1000, 5) if full() else (10, 1)
MOST = 30  # so many in one campaign; then the run is left to finish
UNFORESEEN, FAILED = 1, 10
# As many tries as a user's run has: what was killed from outside uses none of them up.
USUAL = {"agent_seconds": 60, "cooldown_seconds": 0}
KINDS = ("group", "harness", "child")


@dataclass(frozen=True, slots=True)
class Spared:
    """The run nobody kills: the line it leaves, and how long it takes here and now."""

    line: list[tuple[str, str]]
    seconds: float


@dataclass(slots=True)
class Campaign:
    """One project whose run is killed again and again until it is done; `told` counts what happened."""

    kind: str
    most: int
    dice: random.Random
    told: Counter[str] = field(default_factory=lambda: Counter(campaigns=1))

    def fought(self, spared: Spared) -> Counter[str]:
        with room() as place:
            letters = OneLetter(place, limits=USUAL)
            usual = spared.seconds / (6 if self.kind != "child" else 30)
            before, pause, length, code = letters.mine(), usual, 0, 1
            while code != 0:
                with condemned(letters, place) as run:
                    self._strike(run, letters.root, pause)
                    code = run.wait()
                self.told[f"ended with {code}"] += 1
                done = events(letters.root)
                assert not twice(done)
                assert code not in {UNFORESEEN, FAILED}, (place / "said").read_text(encoding="utf-8")
                # On a busy machine it may not come as far as the last time: then the next gets more time.
                pause = usual if len(done) > length else pause * 1.5
                length = len(done)
                assert self.told.total() < 20 * self.most, f"it does not end: {self.told}"
            assert self._unexcused(list(wrongs(letters, place, spared.line, before))) == [], self.told
        return self.told

    def _unexcused(self, wrong: list[str]) -> list[str]:
        """An agent that was killed is asked again; one that outlived its run is not."""
        return [what for what in wrong if self.kind == "harness" or not what.startswith("asked")]

    def _strike(self, run: "subprocess.Popen[bytes]", root: Path, pause: float) -> None:
        """A run is struck once, what it started again and again while it goes on."""
        while self.told["kills"] < self.most:
            with suppress(subprocess.TimeoutExpired):
                run.wait(self.dice.uniform(0, pause))
            if run.poll() is not None:
                return
            struck = [run.pid] if self.kind != "child" else self._one_of(run.pid)
            self.told["kills"] += len(struck)
            for pid in (*struck, *(marked(root) if self.kind == "group" else ())):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            if self.kind != "child":
                return

    def _one_of(self, pid: int) -> list[int]:
        """An agent, a keeper or a git beneath the process; none where there is none just now."""
        found = [child for child in below(pid) if is_fair_game(child)]
        return [self.dice.choice(found)] if found else []


def marked(root: Path) -> list[int]:
    mark = f"AUTOPILOT_MARK={hiring.processes_of(root)._territory}/".encode()
    return [pid for pid in (int(path.name) for path in Path("/proc").glob("[0-9]*")) if mark in environment(pid)]


def below(pid: int) -> list[int]:
    """Everything beneath the process."""
    found: list[int] = []
    with suppress(OSError):
        for path in Path(f"/proc/{pid}/task").glob("*/children"):
            found += map(int, path.read_text(encoding="ascii").split())
    return [*found, *(one for child in found for one in below(child))]


def environment(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/environ").read_bytes()
    return b""


def is_fair_game(pid: int) -> bool:
    """What the command of a check says must not be a matter of luck: those are left alone."""
    with suppress(OSError):
        if Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip() == "git":
            return True
    own = [entry for entry in environment(pid).split(b"\0") if entry.startswith(b"AUTOPILOT_MARK=")]
    return bool(own) and b"/fact" not in own[0]


@pytest.fixture(scope="session")
def spared() -> Spared:
    with room() as place:
        letters, began = OneLetter(place), time.monotonic()
        assert condemned(letters, place).wait() == 0
        return Spared(letters.line(), time.monotonic() - began)


@pytest.mark.parametrize("share", range(SHARES))
@pytest.mark.parametrize("kind", KINDS)
def test_death_at_random_instants_changes_nothing(spared: Spared, kind: str, share: int) -> None:
    dice, told = random.Random(f"{seed()}/{kind}/{share}"), Counter[str]()
    while (left := KILLS // SHARES - told["kills"]) > 0:
        told += Campaign(kind, min(MOST, left), dice).fought(spared)

    record(f"random kills: {kind}", told)
    assert told["kills"] == KILLS // SHARES
