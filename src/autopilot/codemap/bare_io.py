"""Runs git and writes JSON with bare system calls, because imports cost more than the work."""

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


def discard(name: str, folder: int | None = None) -> None:
    """Gone when this returns, if it was there at all; the name is below the folder where one is given."""
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return


try:
    from _json import encode_basestring
except ImportError:
    from json.encoder import encode_basestring


def quoted(text: str) -> str:
    return encode_basestring(text)


def encoded(value: object) -> str:
    """Text, numbers, truth values, None, and lists, tuples and dicts of them."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, dict):
        return "{" + ",".join([f"{quoted(key)}:{encoded(one)}" for key, one in value.items()]) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join([encoded(one) for one in value]) + "]"
    return "null" if value is None else str(value).lower()
