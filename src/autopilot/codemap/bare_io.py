"""Runs git with the operating system's own calls alone: importing anything better takes longer than git does."""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import BinaryIO

PIECE = 1 << 20


class MappingFailed(Exception):
    """Why there is no map: git ended as it should not, or nothing could be read."""


class PlainGit:
    """Git with the folder and the environment of this process; `argv` is how each command line begins."""

    __slots__ = ("_argv",)

    def __init__(self, argv: "Sequence[str]") -> None:
        self._argv = tuple(argv)

    def out(self, *words: str) -> bytes:
        found = self.tried(*words)
        if found is None:
            raise MappingFailed(f"git {words[0]} failed")
        return found

    def tried(self, *words: str) -> bytes | None:
        """None where git does not succeed."""
        pid, out = self.start(words, None)
        with out:
            said = out.read()
        return said if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0 else None

    def start(self, words: "Sequence[str]", stdin: int | None) -> "tuple[int, BinaryIO]":
        """The process, and what it prints."""
        reading, writing = os.pipe()
        given = (
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0) if stdin is None else (os.POSIX_SPAWN_DUP2, stdin, 0)
        )
        argv = (*self._argv, *words)
        try:
            pid = os.posix_spawnp(
                argv[0], argv, os.environ, file_actions=[given, (os.POSIX_SPAWN_DUP2, writing, 1)]
            )  # fmt: skip
        except OSError:
            os.close(reading)
            raise
        finally:
            os.close(writing)
        return pid, os.fdopen(reading, "rb", PIECE)
