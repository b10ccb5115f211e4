"""Maps of commits: what changed is read from our own git, the rest is known from before."""

import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import msgspec

from autopilot.domain.errors import AutopilotError
from autopilot.domain.repo_map import MAP_PATH, Charted, RepoMap
from autopilot.domain.running import Processes
from autopilot.workspace.beneath import opened as opened_folder
from autopilot.workspace.beneath import write_atomic
from autopilot.workspace.git import Git
from autopilot.workspace.repo_map import paper
from autopilot.workspace.repo_map.book import Book, opened
from autopilot.workspace.repo_map.glance import UP_TO_DATE, WRITTEN, is_current
from autopilot.workspace.repo_map.languages import grammar_of, language_of
from autopilot.workspace.repo_map.readers import NOTHING, Readers
from autopilot.workspace.store import shown
from autopilot.workspace.texts import REGULAR

T = TypeVar("T")

EXCLUDED = frozenset(
    {"node_modules", "dist", ".git", "build", "coverage", ".next", "__pycache__", ".venv", "vendor", ".planning",
     ".autopilot"}
)  # fmt: skip
# Bigger ones are data or made by a machine.
MOST_BYTES = 1_000_000
BATCH_BYTES = 32_000_000
# The commit whose files the book holds.
COMMIT = "commit"
DIFFERENCE = ("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-ext-diff")


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A file as git tells it; `blob` is None for one that is gone, `size` where git did not say."""

    path: str
    blob: str | None
    size: int | None = None

    @property
    def key(self) -> str | None:
        """The same text is read once, wherever it lies, but not as two languages."""
        grammar = grammar_of(self.path)
        return f"{self.blob}:{grammar}" if grammar and self.blob else None


@dataclass(slots=True, kw_only=True)
class GitAtlas:
    """
    Implements `Atlas` with tree-sitter and git.

    Threads may share it. `book` is the file of the store, `home` the folder `.autopilot` of the project. `trouble` is
    why there was no map.
    """

    book: Path
    home: Path
    git: Git
    processes: Processes
    now: Callable[[], str]
    trouble: str = ""
    _maps: dict[str, RepoMap] = field(default_factory=dict)
    _papers: dict[str, str] = field(default_factory=dict)
    _turn: threading.RLock = field(default_factory=threading.RLock)

    def at(self, commit: str) -> RepoMap | None:
        with self._turn:
            if commit not in self._maps:
                found = self._tried(lambda book: RepoMap(files=tuple(book.files())), commit)
                # Only the newest: a map of a large project is large.
                self._maps = {} if found is None else {commit: found}
            return self._maps.get(commit)

    def paper(self, commit: str) -> str:
        with self._turn:
            if commit not in self._papers:
                self._papers = {commit: self._tried(self._rendered, commit) or ""}
            return self._papers[commit]

    def chart(self, commit: str) -> Charted:
        with self._turn:
            if is_current(str(self.book), str(self.home / Path(MAP_PATH).name), commit):
                return Charted(line=UP_TO_DATE, there=True)
            made = self._tried(lambda book: self._charted(book, commit), commit)
            return made or Charted(line=f"Repo-map left out: {self.trouble}")

    def _charted(self, book: Book, commit: str) -> Charted:
        there, written = (self.home / Path(MAP_PATH).name).is_file(), book.note(WRITTEN)
        changed = self._changed(written, commit) if there and written else None
        if changed == 0:
            line = UP_TO_DATE
        else:
            self._write(self._rendered(book))
            line = _generated(book) if changed is None else f"Repo-map refreshed: {changed} files updated."
        book.put_note(WRITTEN, commit)
        return Charted(line=line, there=True)

    def _write(self, text: str) -> None:
        with opened_folder(self.home) as folder:
            write_atomic(folder, Path(MAP_PATH).name, text.encode("utf-8", "replace"))

    def _rendered(self, book: Book) -> str:
        head = paper.Head(generated_at=self.now(), project_root=str(self.home.parent))
        stage = paper.stage_for(book.amount())
        files = book.paths() if stage == paper.ONLY_PATHS else book.files()
        return paper.render(head, files, book.summary(), stage)

    def _tried(self, work: Callable[[Book], T], commit: str) -> T | None:
        """The book is at the commit while the work is done."""
        try:
            with opened(self.book) as book:
                self._move(book, commit)
                return work(book)
        except AutopilotError as error:
            self.trouble = error.what
        except (OSError, sqlite3.Error, msgspec.MsgspecError) as error:
            self.trouble = str(error)
        return None

    def _move(self, book: Book, commit: str) -> None:
        before = book.note(COMMIT)
        if before == commit:
            return
        changes = self._difference(before, commit) if before else None
        if changes is None:
            book.clear_files()
            changes = list(_wanted(_listed(self.git.out("ls-tree", "-r", "-l", "-z", commit))))
        self._read(book, changes)
        book.remove_files(seen.path for seen in changes if seen.blob is None)
        book.put_files((seen.path, language_of(seen.path), seen.key) for seen in changes if seen.blob)
        book.put_note(COMMIT, commit)

    def _difference(self, before: str, commit: str) -> list[Seen] | None:
        """None when the commit before is not known here."""
        ran = self.git.run(*DIFFERENCE, before, commit, ok=(0, 128))
        return list(_wanted(_compared(ran.stdout))) if ran.exit_code == 0 else None

    def _changed(self, before: str, commit: str) -> int | None:
        found = self._difference(before, commit)
        return None if found is None else len(found)

    def _read(self, book: Book, changes: Iterable[Seen]) -> None:
        """Parse every text that was never parsed before."""
        seen = {file.key: file for file in changes if file.key}
        unread = book.unread(seen)
        wanted = {key: seen[key] for key in unread}
        readers = Readers(self.processes)
        for keys in _batches(wanted, self._sizes(wanted.values())):
            texts = self._texts([key.partition(":")[0] for key in keys])
            asked = [(key.partition(":")[2], text) for key, text in zip(keys, texts, strict=True)]
            book.put_outlines(dict(zip(keys, readers.read(asked), strict=True)))
        book.put_outlines(dict.fromkeys(book.unread(unread), NOTHING))

    def _sizes(self, files: Iterable[Seen]) -> dict[str, int]:
        """By blob; git is asked only about those whose size it has not said."""
        known = {file.blob: file.size for file in files if file.blob}
        asked = "".join(f"{blob}\n" for blob, size in known.items() if size is None).encode()
        lines = self.git.text("cat-file", "--buffer", "--batch-check", stdin=asked).splitlines() if asked else []
        told = {words[0]: int(words[2]) for words in map(str.split, lines) if len(words) > 2}  # noqa: PLR2004 - id, type, size
        return told | {blob: size for blob, size in known.items() if size is not None}

    def _texts(self, blobs: list[str]) -> list[bytes]:
        out = self.git.out("cat-file", "--buffer", "--batch", stdin="".join(f"{blob}\n" for blob in blobs).encode())
        texts, at = [], 0
        for _ in blobs:
            end = out.index(b"\n", at)
            size = int(out[at:end].split(b" ")[2])
            texts.append(out[end + 1 : end + 1 + size])
            at = end + size + 2
        return texts


def _generated(book: Book) -> str:
    told = book.summary()
    return f"Repo-map generated: {told.total_files} files across {len(told.languages)} languages."


def _batches(files: dict[str, Seen], sizes: dict[str, int]) -> Iterator[list[str]]:
    """Keys of texts that are not too big, so many at a time as memory is well spent on."""
    batch, total = list[str](), 0
    for key, file in files.items():
        size = sizes.get(file.blob or "", MOST_BYTES + 1)
        if size > MOST_BYTES:
            continue
        if batch and total + size > BATCH_BYTES:
            yield batch
            batch, total = [], 0
        batch.append(key)
        total += size
    if batch:
        yield batch


def _wanted(files: Iterable[Seen]) -> Iterator[Seen]:
    return (file for file in files if EXCLUDED.isdisjoint(file.path.split("/")[:-1]))


def _listed(out: bytes) -> Iterator[Seen]:
    for line in out.split(b"\0")[:-1]:
        meta, name = line.split(b"\t", 1)
        mode, _, blob, size = meta.decode().split()
        if mode in REGULAR:
            yield Seen(path=shown(os.fsdecode(name)), blob=blob, size=int(size))


def _compared(out: bytes) -> Iterator[Seen]:
    """`diff-tree --raw -z`: a line of modes and blobs, then the path."""
    words = iter(out.split(b"\0")[:-1])
    for word in words:
        _, mode, _, blob, _ = word[1:].decode().split(" ")
        yield Seen(path=shown(os.fsdecode(next(words))), blob=blob if mode in REGULAR else None)
