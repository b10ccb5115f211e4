"""
Brings the book to a commit, and the map on disk with it, in a process of its own.

Most of what a small refresh costs is the start of this process, so nothing is imported that it does not need: no
package outside the standard library, and of that only what is loaded anyway.
"""

import os
import sys

from autopilot.codemap.bare_io import discard
from autopilot.codemap.freshness import UP_TO_DATE, WRITTEN, is_current

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from autopilot.codemap.cache import Book
    from autopilot.codemap.changes import Change
    from autopilot.codemap.outline import Raw

# How it is started: `-m` would import `runpy` first.
CODE = "from autopilot.codemap.worker import main; main()"
# What it can be asked for: the map on disk, the same as text, or only that the book is there.
CHART, PAPER, MOVE = "chart", "paper", "move"
# As many workers as this: a text that kills its reader does not kill this process.
CAREFUL = 0
# The commit whose files the book holds.
COMMIT = "commit"


class Request:
    """One thing asked of the process, as it is in its arguments."""

    __slots__ = ("book", "commit", "git", "home", "name", "now", "wanted", "workers")

    def __init__(self, words: list[str]) -> None:
        self.wanted, self.book, self.home, self.name, self.commit, self.now, workers, *self.git = words
        self.workers = int(workers)

    @property
    def words(self) -> tuple[str, ...]:
        return (
            self.wanted, self.book, self.home, self.name, self.commit, self.now, str(self.workers), *self.git
        )  # fmt: skip

    @property
    def path(self) -> str:
        return f"{self.home}/{self.name}"


def main() -> None:
    """Print what became of it; a reason on standard error and exit code 1 where nothing did."""
    import gc

    # What is made here lives to the end of the process anyway.
    gc.disable()
    request = Request(sys.argv[1:])
    if request.wanted == CHART and is_current(request.book, request.path, request.commit):
        said = UP_TO_DATE
    else:
        said = _done(request)
    sys.stdout.buffer.write(said.encode("utf-8", "replace"))
    sys.stdout.flush()
    # All is written: taking down in order what is left would only take time.
    os._exit(0)


def _done(request: Request) -> str:
    from autopilot.codemap.bare_io import MappingFailed
    from autopilot.codemap.cache import TROUBLE, with_book

    try:
        return with_book(request.book, lambda book: _Mapping(request, book).done())
    except (OSError, *TROUBLE, MappingFailed) as error:
        sys.exit(str(error))


class _Mapping:
    def __init__(self, request: Request, book: "Book") -> None:
        from autopilot.codemap.bare_io import PlainGit

        self._request, self._book, self._git = request, book, PlainGit(request.git)

    def done(self) -> str:
        before = self._book.note(COMMIT)
        changes = self._moved(before)
        if self._request.wanted == CHART:
            there = os.path.isfile(self._request.path)  # noqa: PTH113 - importing pathlib takes longer than all this
            written = self._book.note(WRITTEN) if there else None
            return self._charted(changes if written == before else self._difference(written))
        return self._rendered() if self._request.wanted == PAPER else ""

    def _moved(self, before: str | None) -> "list[Change] | None":
        """What changed in the book; None where it was filled from nothing."""
        from autopilot.codemap import changes as told

        if before == self._request.commit:
            return []
        changes = self._difference(before)
        files = changes
        if files is None:
            self._book.clear_files()
            files = told.listed(self._git.out(*told.LISTING, self._request.commit))
        keyed = [(path, blob, told.key_of((path, blob))) for path, blob in files]
        self._read({key for _, _, key in keyed if key})
        self._book.remove_files(path for path, blob, _ in keyed if blob is None)
        self._book.put_files((path, key) for path, blob, key in keyed if blob)
        self._book.put_note(COMMIT, self._request.commit)
        return changes

    def _difference(self, before: str | None) -> "list[Change] | None":
        """None when the commit before is not known here."""
        from autopilot.codemap import changes as told

        out = self._git.tried(*told.DIFFERENCE, before, self._request.commit) if before else None
        return None if out is None else told.compared(out)

    def _read(self, keys: set[str]) -> None:
        """Read every text that was never read before."""
        unread = self._book.unread(sorted(keys))
        if unread:
            from autopilot.codemap.reader_pool import Readers

            self._book.put_outlines(Readers(self._git, self._request.book, self._request.workers).answers(unread))

    def _charted(self, changed: "list[Change] | None") -> str:
        if changed == []:
            line = UP_TO_DATE
        else:
            self._write(self._rendered().encode("utf-8", "replace"))
            line = f"Repo-map refreshed: {len(changed)} files updated." if changed is not None else self._generated()
        self._book.put_note(WRITTEN, self._request.commit)
        return line

    def _generated(self) -> str:
        told = self._book.tally()
        return f"Repo-map generated: {told.files} files across {len(told.languages)} languages."

    def _rendered(self) -> str:
        from autopilot.codemap import render as paper

        tally = self._book.tally()
        stage = paper.stage_for(tally)
        told = self._listing() if stage == paper.ONLY_PATHS else paper.sketched(self._sketches(), stage)
        summary = paper.Summary(tally, self._book.top("imports"), self._book.top("exports"))
        return paper.render((self._request.now, self._request.home.rpartition("/")[0]), told, summary, stage)

    def _listing(self) -> str:
        from autopilot.codemap import cache as book
        from autopilot.codemap import render as paper

        told = self._book.note(book.LISTING)
        if told is None:
            told = paper.listing(self._book.paths())
            self._book.put_note(book.LISTING, told)
        return told

    def _sketches(self) -> "Iterator[tuple[str, str, Raw | None]]":
        from json import loads

        for path, language, body in self._book.bodies():
            yield path, language, None if body is None else loads(body)

    def _write(self, content: bytes) -> None:
        """On disk as a whole when this returns; on failure the file is as it was."""
        folder = os.open(self._request.home, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        part = f".{self._request.name}.autopilot-part"
        try:
            discard(part, folder)
            made = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666, dir_fd=folder)
            with os.fdopen(made, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(made)
            os.replace(part, self._request.name, src_dir_fd=folder, dst_dir_fd=folder)
            os.fsync(folder)
        finally:
            discard(part, folder)
            os.close(folder)
