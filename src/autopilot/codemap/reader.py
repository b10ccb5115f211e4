"""Reads texts to answers, one line each: how many facts of each kind there are, and the outline as JSON."""

import os
import resource
import time

from autopilot.codemap.bare_io import encoded
from autopilot.codemap.extract import outline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import BinaryIO

    from autopilot.codemap.bare_io import PlainGit
    from autopilot.codemap.outline import Raw

    Encode = Callable[[Raw], bytes]

# Bigger ones are data or made by a machine.
MOST_BYTES = 1_000_000
# Of the processor's time, for one text; the parser gives up long before.
MOST_SECONDS = 60
WORTH_IMPORTING = 100
NOTHING = b"0 0 0 0 0 {}"
COMMAND = ("cat-file", "--buffer", "--batch")


def told(git: "PlainGit", keys: "Sequence[str]", asked: int) -> "Iterator[bytes]":
    """An answer for each key, in their order; `asked` is an open file with their blobs."""
    encode = encoder(len(keys))
    pid, out = git.start(COMMAND, asked)
    with out:
        for key, text in zip(keys, texts(out), strict=False):
            _bound()
            yield answer(key.partition(":")[2], text, encode)
    os.waitpid(pid, 0)


def read(git: "PlainGit", keys: "Sequence[str]", asked: int, answers: int) -> None:
    """The same in a process of its own, into a file."""
    parent = os.getppid()
    for said in told(git, keys, asked):
        if os.getppid() != parent:
            # Nobody is there to read the answers.
            return
        os.write(answers, said + b"\n")


def answer(grammar: str, text: bytes | None, encode: "Encode") -> bytes:
    if text is None:
        return NOTHING
    found = outline(grammar, text)
    counts = " ".join([str(len(facts)) for facts in found.values()])
    return b"%b %b" % (counts.encode(), encode(found))


def texts(out: "BinaryIO") -> "Iterator[bytes | None]":
    """What `cat-file --batch` prints; None for a text that is too big, or not there."""
    while head := out.readline():
        words = head.split()
        if len(words) < 3:  # noqa: PLR2004 - id, kind, size
            yield None
            continue
        size = int(words[2])
        if size <= MOST_BYTES:
            yield out.read(size + 1)[:-1]
        else:
            _skip(out, size + 1)
            yield None


def encoder(count: int) -> "Encode":
    """The one of `json` is twice as fast, once it is imported."""
    if count < WORTH_IMPORTING:
        return lambda found: encoded(found).encode("utf-8", "replace")
    from json import JSONEncoder

    plain = JSONEncoder(ensure_ascii=False, separators=(",", ":"))
    return lambda found: plain.encode(found).encode("utf-8", "replace")


def _bound() -> None:
    """Past it the process is ended, whatever it is at."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    most = int(time.process_time()) + MOST_SECONDS
    resource.setrlimit(resource.RLIMIT_CPU, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _skip(out: "BinaryIO", size: int) -> None:
    while size > 0:
        size -= len(out.read(min(size, MOST_BYTES))) or size
