"""What an agent's processes are doing at this moment, as far as the system tells: looked at, never touched."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from autopilot.journal.lock import birth_of
from autopilot.state.picture import AgentCall
from autopilot.text.clean import clean
from autopilot.text.redact import Redactor

PROC = Path("/proc")
MOST_PROCESSES = 200
_USER_TICKS, _SYSTEM_TICKS, _START = 11, 12, 19
# Wrappers that say nothing about what is done.
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "bwrap", "env", "timeout"})


@dataclass(frozen=True, slots=True)
class Glance:
    """`doing` is the newest program at work, `idle` for how many seconds none of them did anything; None: unknown."""

    doing: str = ""
    idle: float | None = None


@dataclass(frozen=True, slots=True)
class _Process:
    pid: int
    ticks: int
    start: int


class Glances:
    """Remembers when each call last used the processor or began a program. A call without a process has no glance."""

    def __init__(self, clock: Callable[[], float], environment: Mapping[str, str] = os.environ) -> None:
        self._clock, self._redact = clock, Redactor.of(environment)
        self._marks: dict[str, tuple[tuple[int, int], float]] = {}

    def __call__(self, call: AgentCall) -> Glance:
        if not call.birth or birth_of(call.pid) != call.birth:
            return Glance()
        found = tuple(_tree(call.pid))
        mark = (sum(one.ticks for one in found), max((one.start for one in found), default=0))
        known = self._marks.get(call.call)
        if known is None or known[0] != mark:
            known = self._marks[call.call] = mark, self._clock()
        return Glance(doing=self._doing(call.pid, found), idle=self._clock() - known[1])

    def all(self, calls: Mapping[str, AgentCall]) -> dict[str, Glance]:
        """Of each call, by its id; those that are over are forgotten."""
        self._marks = {call: mark for call, mark in self._marks.items() if call in calls}
        return {name: self(call) for name, call in calls.items()}

    def _doing(self, agent: int, found: tuple[_Process, ...]) -> str:
        """The newest program below the agent itself that is more than a wrapper."""
        for one in sorted((p for p in found if p.pid != agent), key=lambda p: (p.start, p.pid), reverse=True):
            words = _words(one.pid)
            if words and os.path.basename(words[0]) not in _SHELLS:  # noqa: PTH119 - a word, not a path of ours
                return clean(self._redact(" ".join((os.path.basename(words[0]), *words[1:]))), 120)  # noqa: PTH119 - as above
        return ""


def _tree(root: int) -> Iterator[_Process]:
    """The process and all below it; those that end meanwhile are left out."""
    waiting, seen = [root], 0
    while waiting and seen < MOST_PROCESSES:
        pid = waiting.pop()
        seen += 1
        fields = _read(PROC / str(pid) / "stat").rpartition(")")[2].split()
        if len(fields) > _START:
            ticks = int(fields[_USER_TICKS]) + int(fields[_SYSTEM_TICKS])
            yield _Process(pid=pid, ticks=ticks, start=int(fields[_START]))
        waiting += [int(word) for word in _read(PROC / str(pid) / "task" / str(pid) / "children").split()]


def _words(pid: int) -> list[str]:
    return [word for word in _read(PROC / str(pid) / "cmdline").split("\0") if word]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
