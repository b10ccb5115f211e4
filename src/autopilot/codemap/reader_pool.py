"""
Has texts read, here or by processes forked from this one.

A parser is C code, and may die of a text. Where every text is read by a fork, one that no reader survives has an empty
outline.
"""

import os

from autopilot.codemap import reader
from autopilot.codemap.bare_io import MappingFailed, discard

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from autopilot.codemap.bare_io import PlainGit

    Read = Callable[[PlainGit, list[str], int, int], None]

# Below this a second process costs more than it saves.
WORTH_SPLITTING = 300
# After so many the fault is not in the texts.
MOST_DEATHS = 100


class Readers:
    """
    Only for a process with one thread. `scratch` is how the names of files begin that are gone at once.

    With no workers at all nothing is read in this process itself.
    """

    def __init__(self, git: "PlainGit", scratch: str, workers: int, read: "Read" = reader.read) -> None:
        self._git, self._scratch, self._workers, self._read = git, scratch, workers, read
        self._deaths = 0

    def answers(self, keys: list[str]) -> "Iterator[tuple[str, bytes]]":
        """One a key, in no order."""
        count = max(1, min(self._workers, len(keys) // WORTH_SPLITTING))
        if count == 1 and self._workers:
            asked, done = self._asked(keys), 0
            for done, said in enumerate(reader.told(self._git, keys, asked), 1):
                yield keys[done - 1], said
            os.close(asked)
            keys = keys[done:]
        if count > 1:
            # What every reader needs is imported once.
            reader.encoder(len(keys))
        started = [(share, *self._start(share)) for n in range(count) if (share := keys[n::count])]
        for share, pid, answers in started:
            yield from self._finished(share, pid, answers)

    def _finished(self, share: list[str], pid: int, answers: int) -> "Iterator[tuple[str, bytes]]":
        while True:
            os.waitpid(pid, 0)
            with os.fdopen(answers, "rb") as file:
                file.seek(0)
                lines = file.read().split(b"\n")[:-1]
            yield from zip(share, lines, strict=False)
            if len(lines) >= len(share):
                return
            # It died of the text after those.
            self._deaths += 1
            if self._deaths > MOST_DEATHS:
                raise MappingFailed(f"{self._deaths} readers died")
            yield share[len(lines)], reader.NOTHING
            share = share[len(lines) + 1 :]
            if not share:
                return
            pid, answers = self._start(share)

    def _start(self, share: list[str]) -> tuple[int, int]:
        asked, answers = self._asked(share), self._file()
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                self._read(self._git, share, asked, answers)
                code = 0
            finally:
                os._exit(code)
        os.close(asked)
        return pid, answers

    def _asked(self, keys: list[str]) -> int:
        """An open file with the blobs of the keys."""
        asked = self._file()
        os.write(asked, "".join(f"{key.partition(':')[0]}\n" for key in keys).encode())
        os.lseek(asked, 0, os.SEEK_SET)
        return asked

    def _file(self) -> int:
        name = f"{self._scratch}.{os.getpid()}.part"
        # One may be left of a process of that number that was killed.
        discard(name)
        made = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        discard(name)
        return made
