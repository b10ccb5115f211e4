"""Whole runs of the command line in a process of their own, to be struck by something, and what they left."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autopilot.domain.events import StepFinished
from autopilot.journal.sqlite import SqliteJournal
from support.project import honest, make_project
from support.repos import git
from support.runs import roadmap_of

# Everything went well; an error that the user can mend; some phase did not pass.
OVER, TOLD, PHASES_FAILED = 0, 2, 10


@dataclass(frozen=True, slots=True)
class Ended:
    code: int
    said: str

    @property
    def in_three_lines(self) -> bool:
        """What happened, why it matters, what to do; and no traceback."""
        lines = self.said.rstrip().splitlines()[-3:]
        told = len(lines) == 3 and lines[0].startswith("autopilot: ")
        return told and all(line.startswith("  ") and line.strip() for line in lines[1:])

    @property
    def crashed(self) -> bool:
        return "Traceback" in self.said or self.code not in {OVER, TOLD}


@dataclass(frozen=True, slots=True)
class StruckProject:
    """One letter to be written, with a change of the user's own that nobody may touch."""

    place: Path

    @property
    def root(self) -> Path:
        return self.place / "project"

    @staticmethod
    def made(place: Path) -> "StruckProject":
        root = make_project(place / "project", honest(), roadmap_of("1"))
        (root / "notes.txt").write_text("changed, not committed\n", encoding="utf-8")
        return StruckProject(place)

    def run(self, *words: str, env: Mapping[str, str] | None = None, out: int = subprocess.DEVNULL) -> Ended:
        surroundings = {**os.environ, "AUTOPILOT_CACHE": str(self.place / "cache"), **(env or {})}
        done = subprocess.run(
            [sys.executable, "-m", "autopilot", *(words or self.words)],
            cwd=self.root,
            env=surroundings,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.PIPE,
            check=False,
        )
        return Ended(done.returncode, done.stderr.decode(errors="replace"))

    @property
    def words(self) -> tuple[str, ...]:
        return ("run", "all", "--agent", f"scripted:{self.root}.toml", "--sandbox", "none", "--plain")

    def go_on(self) -> Ended:
        """What a user types next: `autopilot resume`, or the same command again when the run had not even begun."""
        resumed = self.run("resume", "--plain")
        return self.run() if "No run found" in resumed.said else resumed

    def steps(self) -> list[tuple[str, str, int]]:
        """Every finished step there is on record."""
        path = self.root / ".autopilot" / "journal.db"
        if not path.exists():
            return []
        journal = SqliteJournal.read_only(path)
        loaded = ((stream, entry.event) for stream in journal.streams() for entry in journal.load(stream))
        return [(stream, e.step, e.n) for stream, e in loaded if isinstance(e, StepFinished)]

    def troubles(self) -> list[str]:
        """What is not as it is after a run that nothing happened to."""
        steps, letter = self.steps(), git(self.root, "show", "HEAD:letter1.txt")
        return [
            trouble
            for trouble, is_so in {
                "a step was finished twice": len(steps) != len(set(steps)),
                "no step was finished": not steps,
                f"the letter says {letter!r}": letter != "done 1",
                "the checkout has another letter": (self.root / "letter1.txt").read_text() != "done 1\n",
                "the user's change is gone": (self.root / "notes.txt").read_text() != "changed, not committed\n",
                "git finds fault": bool(git(self.root, "fsck", "--no-dangling")),
                "our store is damaged": bool(git(self.root / ".autopilot" / "repo.git", "fsck", "--no-dangling")),
                "one commit too many": git(self.root, "log", "--format=%s").count("Write letter1.txt") != 1,
            }.items()
            if is_so
        ]
