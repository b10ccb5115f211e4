"""Projects whose run is killed and goes on: where they lie, how they are gone on with, and what must hold in the end."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from autopilot.app import prepare as app
from autopilot.domain.errors import AutopilotError, UsageInvalid
from autopilot.domain.request import RunRequest
from autopilot.domain.settings import Modes
from support.aftermath import broken, events, leftovers, twice
from support.runs import playground
from support.weather import WeatheredLetters

VICTIM = Path(__file__).parents[1] / "faults" / "victim.py"


@contextmanager
def room() -> Iterator[Path]:
    """A place for one project; temporary files of what runs there are made in it too."""
    with playground() as place:
        (place / "tmp").mkdir()
        yield place


def condemned(letters: WeatheredLetters, place: Path, last: int = 0) -> "subprocess.Popen[bytes]":
    """The run, begun or gone on with, in a process that dies at its point of that number; 0 for one that does not."""
    words = [str(letters.root), letters.agent, str(last), str(place / "points")]
    env = {**os.environ, "TMPDIR": str(place / "tmp")}
    with (place / "said").open("a", encoding="utf-8") as said:
        return subprocess.Popen([sys.executable, str(VICTIM), *words], env=env, stdout=said, stderr=said)


def go_on(folder: str, agent: str) -> int:
    """The exit code of a run that is begun or gone on with; 1 is left to Python, for what nobody has foreseen."""
    try:
        return _went_on(folder, agent)
    except AutopilotError as error:
        sys.stderr.write(f"{error.what}\n")
        return error.exit_code


def _went_on(folder: str, agent: str) -> int:
    """What a user types next: `autopilot resume`, or the same command again when it had not even begun."""
    try:
        return app.resume(folder, lambda *_: None, lambda _: None).exit
    except UsageInvalid:
        request = RunRequest(folder=folder, phases="all", agent=agent, sandbox="none", modes=Modes(sequential=True))
        return app.start(request, lambda *_: None, lambda _: None).exit


def wrongs(
    letters: WeatheredLetters, place: Path, line: list[tuple[str, str]], before: dict[str, Any]
) -> Iterator[str]:
    """Everything that is not as if nobody had been killed."""
    if letters.line() != line:
        yield f"another line: {[subject for subject, _ in letters.line()]}"
    if letters.mine() != before:
        yield "the user's own files changed"
    yield from (f"twice: {what}" for what in twice(events(letters.root)))
    yield from (f"asked {times} times: {call}" for call, times in letters.calls().items() if times > 1)
    yield from (f"fsck: {what}" for what in broken(letters.root))
    yield from (f"left: {what}" for what in leftovers(place, letters.root))
