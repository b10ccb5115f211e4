"""
Names the instants at which a run can be cut off: before and after everything it does to the world.

The seams are the adapters' own functions; they are wrapped in the process that is to die, and nowhere else.
"""

import functools
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from autopilot.domain.process import Job
from autopilot.journal import durable_files as files
from autopilot.journal.head import HeadFile
from autopilot.journal.sqlite import SqliteJournal
from autopilot.sandbox.keeper import held_calls as kept
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.sandbox.processes.launch import Launcher
from autopilot.workspace import landing
from autopilot.workspace.checkouts import Checkouts
from autopilot.workspace.clones import Slot
from autopilot.workspace.files.planning_files import Homeward

# Verbs of git by what they do; those that only look are no point of their own.
GIT = {
    "commit-tree": "commit",
    "fast-import": "commit",
    "merge-tree": "merge",
    "update-ref": "ref move",
    "symbolic-ref": "ref move",
    "fetch": "fetch",
    "init": "repository",
    "read-tree": "lay out",
    "checkout-index": "lay out",
    "clean": "lay out",
    "add": "stage",
    "write-tree": "stage",
    "update-index": "index",
}
# What lies in a clone is made anew after a crash: only the midst of it is a point.
REMADE = frozenset({"lay out", "stage"})
BOTH_SIDES: tuple[tuple[Any, str, str], ...] = (
    (SqliteJournal, "append", "journal append"),
    (files, "_rename", "state write"),
    (kept, "handed_over", "spawn of an agent"),
    (Homeward, "write", "planning files"),
    (landing.Lander, "land", "landing"),
    (landing, "_put", "landing: file"),
    (landing, "_delete", "landing: file"),
    (landing._IndexSwap, "_swapped", "landing: index"),
    (landing.Lander, "_move", "landing: branch"),
)
# What comes behind these is a point of its own already.
BEFORE: tuple[tuple[Any, str, str], ...] = (
    (HeadFile, "write", "journal head"),
    (Slot, "finish", "clone"),
    (Checkouts, "_remove", "checkout removal"),
    (kept.KeptProcesses, "_clear", "release of a call"),
)


class Points:
    """Counts what is passed and writes down its name; at number `last` the process is no more."""

    def __init__(self, last: int, log: Path) -> None:
        self._last, self._count, self._turn = last, 0, threading.Lock()
        self._log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC)

    def passed(self, name: str) -> None:
        if threading.current_thread().daemon:
            return  # what a clock sets off has no place in the order
        with self._turn:
            self._count += 1
            os.write(self._log, f"{name}\n".encode())
            if self._count == self._last:
                os.kill(os.getpid(), signal.SIGKILL)

    def lay(self) -> None:
        """Wrap every seam."""
        for owner, name, what in BOTH_SIDES:
            replace_everywhere(owner, name, self._around(getattr(owner, name), what))
        for owner, name, what in BEFORE:
            replace_everywhere(owner, name, self._around(getattr(owner, name), what, after=False))
        replace_everywhere(Launcher, "start", self._spawning(Launcher.start))
        replace_everywhere(ChildProcesses, "run", self._ended(ChildProcesses.run))

    def _around(self, function: Callable[..., Any], what: str, *, after: bool = True) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapped(*words: Any, **more: Any) -> Any:
            self.passed(f"before {what}")
            came = function(*words, **more)
            if after:
                self.passed(f"after {what}")
            return came

        return wrapped

    def _spawning(self, start: Callable[..., Any]) -> Callable[..., Any]:
        """Before a program is started, and while it runs: it is to die with us."""

        def wrapped(launcher: Launcher, job: Job, *more: Any) -> Any:
            what = deed(job)
            if what and what not in REMADE:
                self.passed(f"before {what}")
            child = start(launcher, job, *more)
            if what:
                self.passed(f"amid {what}")
            return child

        return wrapped

    def _ended(self, run: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(processes: ChildProcesses, job: Job, *more: Any, **named: Any) -> Any:
            came = run(processes, job, *more, **named)
            what = deed(job)
            if what and what not in REMADE:
                self.passed(f"after {what}")
            return came

        return wrapped


def deed(job: Job) -> str | None:
    """What the program does to the world; None where it only looks."""
    if not job.argv[0].endswith("git"):
        return "command"
    verbs = [GIT[word] for word in job.argv[1:] if word in GIT]
    return verbs[0] if verbs else None


def replace_everywhere(owner: Any, name: str, new: Callable[..., Any]) -> None:
    """In its class or module, and wherever a module's function was imported by name."""
    old = getattr(owner, name)
    importers = [m for key, m in sys.modules.items() if key.startswith("autopilot") and m.__dict__.get(name) is old]
    for place in (owner, *importers):
        setattr(place, name, new)
