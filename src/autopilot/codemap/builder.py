"""Maps of commits: what changed is read from our own git, the rest is known from before."""

import os
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, cast

import msgspec

from autopilot.codemap.cache import TROUBLE, Book, Opened
from autopilot.codemap.freshness import UP_TO_DATE, is_current
from autopilot.codemap.worker import CAREFUL, CHART, CODE, COMMIT, MOVE, PAPER
from autopilot.domain.codemap import MAP_PATH, Charted, Language, MappedFile, Outline, RepoMap
from autopilot.domain.errors import AutopilotError
from autopilot.domain.process import Job, Processes

MOST_WORKERS = 4
TIMEOUT_S = 900.0
MOST_OUTPUT = 512_000_000
# Another process may take the book elsewhere between our asking for a commit and our reading it.
TRIES = 3


class GitCommand(Protocol):
    """How git is called in the repository that is mapped."""

    @property
    def cwd(self) -> Path: ...

    @property
    def env(self) -> dict[str, str]: ...

    @property
    def flags(self) -> tuple[str, ...]: ...


@dataclass(slots=True, kw_only=True)
class GitAtlas:
    """
    Implements `Atlas` with tree-sitter and git.

    Threads may share it. `book` is the file of the store, `home` the folder `.autopilot` of the project, `below` the
    project's folder in the repository: only what is in it is mapped. `trouble` is why there was no map.
    """

    book: Path
    home: Path
    git: GitCommand
    processes: Processes
    now: Callable[[], str]
    below: str = ""
    workers: int = min(MOST_WORKERS, os.cpu_count() or 1)
    trouble: str = ""
    _maps: dict[str, RepoMap] = field(default_factory=dict)
    _papers: dict[str, str] = field(default_factory=dict)
    _turn: threading.RLock = field(default_factory=threading.RLock)

    def at(self, commit: str) -> RepoMap | None:
        commit = self._place(commit)
        with self._turn:
            if commit not in self._maps:
                found = self._read(commit)
                # Only the newest: a map of a large project is large.
                self._maps = {} if found is None else {commit: found}
            return self._maps.get(commit)

    def paper(self, commit: str) -> str:
        commit = self._place(commit)
        with self._turn:
            if commit not in self._papers:
                self._papers = {commit: self._asked(PAPER, commit) or ""}
            return self._papers[commit]

    def _place(self, commit: str) -> str:
        """The project's folder in the commit, as git calls it."""
        return f"{commit}:{self.below}" if self.below else commit

    def chart(self, commit: str) -> Charted:
        commit = self._place(commit)
        with self._turn:
            if is_current(str(self.book), str(self.home / Path(MAP_PATH).name), commit):
                return Charted(line=UP_TO_DATE, there=True)
            line = self._asked(CHART, commit)
            return Charted(line=line, there=True) if line else Charted(line=f"Repo-map left out: {self.trouble}")

    def _asked(self, wanted: str, commit: str) -> str | None:
        """What the mapper answers; None with the trouble told."""
        try:
            ran = self.processes.run(self.job(wanted, commit))
            if ran.exit_code is not None and ran.exit_code < 0:
                # It died of a text, perhaps: where readers are forked, that text is all there is to lose.
                ran = self.processes.run(self.job(wanted, commit, CAREFUL))
        except AutopilotError as error:
            self.trouble = error.what
            return None
        if ran.exit_code == 0:
            return ran.stdout.decode()
        said = ran.stderr.decode("utf-8", "replace").strip().splitlines()
        self.trouble = said[-1] if said else f"its process ended with {ran.exit_code}"
        return None

    def job(self, wanted: str, commit: str, workers: int | None = None) -> Job:
        name, count = Path(MAP_PATH).name, self.workers if workers is None else workers
        words = (wanted, str(self.book), str(self.home), name, commit, self.now(), str(count))
        flags = (word for flag in self.git.flags for word in ("-c", flag))
        return Job(
            argv=(sys.executable, "-S", "-P", "-X", "utf8", "-c", CODE, *words, "git", *flags),
            cwd=str(self.git.cwd),
            env={**self.git.env, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            timeout_s=TIMEOUT_S,
            max_output=MOST_OUTPUT,
            leaves="nothing",
        )

    def _read(self, commit: str) -> RepoMap | None:
        try:
            for _ in range(TRIES):
                if self._asked(MOVE, commit) is None:
                    return None
                with Opened(str(self.book)) as book:
                    if book.note(COMMIT) == commit:
                        return RepoMap(files=tuple(_mapped(book)))
            self.trouble = "another process keeps taking the book elsewhere"
        except (OSError, *TROUBLE, msgspec.MsgspecError) as error:
            self.trouble = str(error)
        return None


def _mapped(book: Book) -> "list[MappedFile]":
    decoder, nothing = msgspec.json.Decoder(Outline), Outline()
    return [
        MappedFile(
            path=path,
            language=cast("Language", language),
            exports=told.exports,
            imports=told.imports,
            functions=told.functions,
            classes=told.classes,
            call_graph=told.call_graph,
        )
        for path, language, body in book.bodies()
        for told in (nothing if body is None else decoder.decode(body),)
    ]
