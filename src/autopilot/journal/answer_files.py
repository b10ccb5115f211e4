"""The files below `.autopilot/` that keep what people answered: read whole, changed under a lock, written at once."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from autopilot.domain.errors import ConfigInvalid
from autopilot.domain.user_answers import Kept, Paper, empty, understood
from autopilot.files.home_files import open_file, read_file
from autopilot.journal.durable_files import make_folder, write_atomic
from autopilot.journal.storage_errors import translated

CONTEXT_MAP, DISCUSSION, QUESTIONS = "context-map.json", "discuss-context.json", "questions.json"


class AskedFile:
    """One of them. A file that is damaged or somebody else's is an error, and stays as it is."""

    def __init__(self, home: Path, name: str) -> None:
        self.path = home / name

    def read(self) -> Kept:
        return understood(self._paper())

    def update(self, change: Callable[[Paper], Paper]) -> None:
        """On disk when this returns; of two that change it at the same time neither undoes the other."""
        make_folder(self.path.parent)
        with self._locked():
            write_atomic(self.path, _text(change(self._paper())))

    def _paper(self) -> Paper:
        with translated(self.path):
            try:
                content = read_file(self.path)
            except FileNotFoundError:
                return empty()
        try:
            paper = msgspec.json.decode(content, type=dict[str, Any])
            understood(paper)
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            raise ConfigInvalid(
                f"{self.path} cannot be used: {error}.",
                why="It keeps what was answered about phases; written over, the answers would be lost.",
                do="Mend it, or move it away to begin a new one.",
            ) from error
        return paper

    @contextmanager
    def _locked(self) -> Iterator[None]:
        lock = self.path.with_name(f".{self.path.name}.lock")
        with translated(lock):
            descriptor = open_file(lock, os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def write_open(home: Path, questions: list[dict[str, Any]], now: str) -> None:
    """What waits for an answer, for whoever can give it later; none when nothing waits and nothing ever did."""
    path = home / QUESTIONS
    if questions or path.exists():
        make_folder(home)
        write_atomic(path, _text({"version": "1.0", "last_updated": now, "questions": questions}))


def _text(paper: Paper) -> bytes:
    return msgspec.json.format(msgspec.json.encode(paper), indent=2) + b"\n"
