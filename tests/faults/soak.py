"""
Runs without end, with faults from a seeded source, in one process whose memory and descriptors are watched.

`make soak`, or `python tests/faults/soak.py --minutes 120 --json soak.json`. Two rounds of three run roadmaps in this very
process, while agents are killed, hang or talk nonsense, some after a process of their own was asked to stop; every third is
a process that is killed -9 at random instants and resumed until it is done.
"""

import argparse
import gc
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from autopilot.cli.main import main as autopilot
from support.aftermath import broken, calls_heard, events, leftovers, steps_done, survivors, twice
from support.project import PHASES
from support.trusting import trust
from support.weather import FAULTS, ROLES, WeatheredLetters

MEMORY = Path("/dev/shm")
RETURNS = 12  # so often a run is gone on with before the round counts as one that does not end
GOES_ON = frozenset({22, 130})  # a usage limit; an interruption
PATIENCE_S = 300.0
MOST_KEPT = 5
DRIFT_KB = 4096  # what a flat line may rise from its first quarter to its end


@dataclass(slots=True)
class Tally:
    """Everything the summary tells; projects something is wrong with are kept beside the file `evidence`."""

    seed: int
    evidence: Path | None = None
    began: float = field(default_factory=time.monotonic)
    runs: int = 0
    steps: int = 0
    calls: int = 0
    rounds: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    samples: list[dict[str, float]] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)

    @property
    def minutes(self) -> float:
        return (time.monotonic() - self.began) / 60

    def sample(self) -> None:
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        self.samples.append(
            {
                "minutes": round(self.minutes, 2),
                "rss_kb": pages * os.sysconf("SC_PAGE_SIZE") // 1024,
                "descriptors": len(list(Path("/proc/self/fd").iterdir())) - 1,
                "threads": threading.active_count(),
                "children": len(children()),
            }
        )

    def at(self, part: float) -> dict[str, float]:
        """The last sample of the first `part` of the time."""
        until = part * self.samples[-1]["minutes"]
        return [s for s in self.samples if s["minutes"] <= until or s is self.samples[0]][-1]

    def summary(self) -> dict[str, Any]:
        steady = self.samples[len(self.samples) // 4 :]
        drift = self.samples[-1]["rss_kb"] - self.at(0.25)["rss_kb"]
        return {
            "seed": self.seed,
            "minutes": round(self.minutes, 1),
            "runs": self.runs,
            "rounds": dict(self.rounds),
            "steps": self.steps,
            "calls": self.calls,
            "faults": sum(self.faults.values()),
            "faults_by_kind": dict(sorted(self.faults.items())),
            "rss_kb": {name: self.at(part)["rss_kb"] for name, part in PARTS.items()},
            "rss_kb_per_hour": round(slope(steady), 1),
            "rss_flat": drift <= DRIFT_KB,
            "descriptors": {name: self.at(part)["descriptors"] for name, part in PARTS.items()},
            "descriptors_flat": self.samples[-1]["descriptors"] <= self.at(0.25)["descriptors"],
            "threads": max(s["threads"] for s in self.samples),
            "children": max(s["children"] for s in self.samples),
            "violations": self.violations,
        }


PARTS = {"start": 0.0, "quarter": 0.25, "half": 0.5, "end": 1.0}


def slope(samples: list[dict[str, float]]) -> float:
    """Kilobytes an hour, by the line that fits best."""
    hours = [s["minutes"] / 60 for s in samples]
    middle = sum(hours) / len(hours)
    spread = sum((h - middle) ** 2 for h in hours)
    return sum((h - middle) * s["rss_kb"] for h, s in zip(hours, samples, strict=True)) / spread if spread else 0.0


def children() -> list[str]:
    """Processes that are ours to wait for, ended ones included."""
    found = Path("/proc/self/task").glob("*/children")
    return [pid for path in found for pid in path.read_text(encoding="ascii").split()]


@dataclass(slots=True)
class Round:
    """One project from its first run to its end, and what is wrong with it."""

    place: Path
    letters: WeatheredLetters
    words: list[str]
    dice: random.Random
    tally: Tally
    wrong: list[str] = field(default_factory=list)

    def faulty_agents(self, most: int) -> None:
        for _ in range(self.dice.randint(0, most)):
            place = self.dice.choice(PHASES), self.dice.choice(ROLES)
            self.letters.lay(*place, self.dice.choice(sorted(FAULTS)), self.dice.uniform(0, 0.3))

    def here(self, words: list[str]) -> int:
        """The command in this very process, as `loop` runs it."""
        self.tally.runs += 1
        with (
            Path(os.devnull).open("w", encoding="utf-8") as nowhere,
            redirect_stdout(nowhere),
            redirect_stderr(nowhere),
        ):
            return autopilot(words)

    @contextmanager
    def elsewhere(self, words: list[str]) -> Iterator[subprocess.Popen[bytes]]:
        """The command as a process of its own."""
        self.tally.runs += 1
        quiet = subprocess.DEVNULL
        argv = [sys.executable, "-m", "autopilot", *words]
        with subprocess.Popen(argv, stdout=quiet, stderr=quiet, start_new_session=True) as run:
            try:
                yield run
            finally:
                run.kill()

    def to_the_end(self, code: int) -> None:
        """Whatever pauses a run here is over when it is resumed."""
        returns = 0
        while code in GOES_ON and returns < RETURNS:
            returns, code = returns + 1, self.here(["resume", "--plain"])
        if code:
            self.wrong.append(f"it ended with {code} after {returns} returns")

    def in_process(self) -> None:
        self.faulty_agents(6)
        self.to_the_end(self.here(self.words))

    def stopped(self) -> None:
        """Asked to stop by another process or by a signal, then on in this one."""
        self.faulty_agents(3)
        way = self.dice.choice(WAYS)
        with self.elsewhere(self.words) as run:
            with suppress(subprocess.TimeoutExpired):
                run.wait(self.dice.uniform(0.5, 10))
            if run.poll() is None:
                self.tally.faults[way] += self.stop(way, run.pid)
            code = run.wait(PATIENCE_S)
        if left := survivors(self.letters.root):
            self.wrong.append(f"{way} left {left}")
        begun = bool(events(self.letters.root))
        self.to_the_end(0 if code == 0 else self.here(["resume", "--plain"] if begun else self.words))

    def stop(self, way: str, pid: int) -> bool:
        """Whether there was a run to stop."""
        if way.startswith("SIG"):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.Signals[way])
                return True
            return False
        asked = subprocess.run([sys.executable, "-m", "autopilot", *way.split()], capture_output=True, check=False)
        return b"Stopped" in asked.stdout

    def killed(self) -> None:
        """Killed -9 again and again, alone or with its whole group, and resumed each time."""
        self.faulty_agents(2)
        words, code = self.words, -signal.SIGKILL
        for _ in range(self.dice.randint(1, 5)):
            with self.elsewhere(words) as run:
                with suppress(subprocess.TimeoutExpired):
                    run.wait(self.dice.uniform(0.3, 8))
                self.tally.faults["run killed"] += run.poll() is None
                with suppress(ProcessLookupError):
                    (os.kill if self.dice.random() < 0.5 else os.killpg)(run.pid, signal.SIGKILL)
                code = run.wait()
            done = events(self.letters.root)
            self.wrong += twice(done)
            if code == 0:
                return
            words = ["resume", "--plain"] if done else self.words
        known = self.answered()
        self.to_the_end(self.here(words))
        self.wrong += [f"asked again: {call}" for call, n in known.items() if self.letters.calls()[call] > n]

    def answered(self) -> dict[str, int]:
        """How often each call was made whose answer is on record: it may not be made again."""
        made = self.letters.calls()
        heard = (call.partition("/")[2] for call in calls_heard(events(self.letters.root)))
        return {call: made[call] for call in heard}

    def check(self, before: dict[str, Any], work: tuple[list[str], str]) -> None:
        done = events(self.letters.root)
        left = leftovers(self.place, self.letters.root)
        if left:
            time.sleep(0.5)  # what was killed a moment ago may still be listed
            left = leftovers(self.place, self.letters.root)
        self.wrong += [f"left: {what}" for what in left]
        self.wrong += [f"fsck: {line}" for line in broken(self.letters.root)]
        self.wrong += [f"twice: {what}" for what in twice(done)]
        if self.letters.mine() != before:
            self.wrong.append("the user's own files changed")
        if work != ([], "") and self.letters.work() != work:
            self.wrong.append(f"the work is another: {self.letters.work()}")
        self.tally.steps += len(steps_done(done))
        self.tally.calls += self.letters.calls().total()
        self.tally.faults += self.letters.struck()


WAYS = ("stop", "stop --now", "SIGTERM", "SIGINT")
KINDS = (("in process", Round.in_process), ("in process", Round.in_process), ("stopped", Round.stopped))
KILLED = ("killed", Round.killed)


@contextmanager
def folder() -> Iterator[Path]:
    """A place for one project; what a run reads from the environment leads there."""
    usable = MEMORY.is_dir() and os.access(MEMORY, os.W_OK)
    place = Path(tempfile.mkdtemp(prefix="autopilot-soak-", dir=MEMORY if usable else None))
    before = dict(os.environ), tempfile.tempdir, Path.cwd()
    own = {
        "AUTOPILOT_CACHE": "cache",
        "AUTOPILOT_CONFIG": "config",
        "XDG_STATE_HOME": "state",
        "TMPDIR": "tmp",
        "HOME": "",
    }
    (place / "tmp").mkdir()
    (place / "config").mkdir()
    # The agent counts its calls beside the project, which no confined agent may write.
    (place / "config" / "config.toml").write_text("[agent]\nconfine = false\n", encoding="utf-8")
    try:
        os.environ.update({name: str(place / path) for name, path in own.items()})
        tempfile.tempdir = None
        yield place
    finally:
        os.chdir(before[2])
        os.environ.clear()
        os.environ.update(before[0])
        tempfile.tempdir = before[1]
        shutil.rmtree(place, ignore_errors=True)


def play(number: int, tally: Tally, work: tuple[list[str], str]) -> tuple[list[str], str]:
    """One round; what came of it. The first is spared, and shows what must come of all others."""
    dice = random.Random(f"{tally.seed}/{number}")
    with folder() as place:
        apart, confined = dice.random() < 0.4, dice.random() < 0.3
        letters = WeatheredLetters(place, apart=apart)
        trust(letters.root)
        os.chdir(letters.root)
        words = ["run", "all", "--plain", "--agent", letters.agent, *(["--jobs", "2"] if apart else [])]
        words += [] if confined else ["--unsandboxed"]
        one = Round(place, letters, words, dice, tally)
        before = letters.mine()
        name, kind = KILLED if number % 3 == 2 else dice.choice(KINDS)
        if number == 0:
            one.to_the_end(one.here(words))
        else:
            kind(one)
        one.check(before, work)
        tally.rounds[f"{name}, {'in parallel' if apart else 'in order'}, {'confined' if confined else 'open'}"] += 1
        tally.violations += [f"round {number} ({' '.join(words[5:])}; {name}): {what}" for what in one.wrong]
        if one.wrong and tally.evidence and len(list(tally.evidence.parent.glob("round-*"))) < MOST_KEPT:
            shutil.copytree(place, tally.evidence.parent / f"round-{number}", symlinks=True, dirs_exist_ok=True)
        return letters.work()


def soak(seed: int, minutes: float, least_rounds: int, told: Path | None) -> Tally:
    tally, due, number = Tally(seed=seed, evidence=told), 0.0, 0
    work: tuple[list[str], str] = ([], "")
    while number < least_rounds or tally.minutes < minutes:
        try:
            came = play(number, tally, work)
            work = work if number else came
        except Exception as error:  # noqa: BLE001 - whatever goes wrong in a round is what is looked for
            tally.violations.append(f"round {number}: {''.join(traceback.format_exception(error))}")
        number += 1
        tally.sample()
        if tally.minutes >= due:
            due = tally.minutes + 1
            say(line_of(tally))
            write(told, tally)
    return tally


def line_of(tally: Tally) -> str:
    last = tally.samples[-1]
    return (
        f"{tally.minutes:6.1f} min  {len(tally.samples)} rounds  {tally.runs} runs  {tally.steps} steps  "
        f"{sum(tally.faults.values())} faults  {last['rss_kb']:.0f} kB  {last['descriptors']:.0f} descriptors  "
        f"{last['threads']:.0f} threads  {last['children']:.0f} children  {len(tally.violations)} violations"
    )


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def write(told: Path | None, tally: Tally) -> None:
    if told is not None:
        told.parent.mkdir(parents=True, exist_ok=True)
        new = told.with_suffix(".new")
        new.write_text(json.dumps(tally.summary(), indent=1), encoding="utf-8")
        new.replace(told)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1] if __doc__ else "")
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--rounds", type=int, default=1, help="at least so many")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, default=None)
    options = parser.parse_args()
    tally = soak(options.seed, options.minutes, options.rounds, options.json)
    write(options.json, tally)
    summary = tally.summary()
    say(json.dumps(summary, indent=1))
    return 0 if not tally.violations and summary["rss_flat"] and summary["descriptors_flat"] else 1


if __name__ == "__main__":
    sys.exit(main())
