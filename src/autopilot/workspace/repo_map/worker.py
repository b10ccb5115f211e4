"""
Reads outlines in a process of its own: a parser that crashes on odd text takes nobody else with it.

Standard input is one line of JSON, pairs of a grammar and a size, and then the texts. Standard output is a line a text:
how many facts of each kind there are, and the outline as JSON. Nothing heavier than that is imported: most of what a
small refresh costs is the start of this process.
"""

import gc
import json
import sys
from collections.abc import Callable

from autopilot.workspace.repo_map.extract import outline
from autopilot.workspace.repo_map.sheet import Raw

WORTH_IMPORTING = 1_000_000


def read_line(grammar: str, text: bytes, encode: Callable[[Raw], bytes]) -> bytes:
    found = outline(grammar, text)
    counts = " ".join([str(len(facts)) for facts in found.values()])
    return b"%b %b\n" % (counts.encode(), encode(found))


def slow_encode(found: Raw) -> bytes:
    return json.dumps(found).encode()


def encoder(size: int) -> Callable[[Raw], bytes]:
    """Msgspec is five times as fast, once it is imported."""
    if size < WORTH_IMPORTING:
        return slow_encode
    import msgspec

    return msgspec.json.encode


def main() -> None:
    # What is made here lives to the end of the process anyway.
    gc.disable()
    said = sys.stdin.buffer.read()
    at = said.index(b"\n") + 1
    encode, lines = encoder(len(said)), []
    for grammar, size in json.loads(said[:at]):
        lines.append(read_line(grammar, said[at : at + size], encode))
        at += size
    sys.stdout.buffer.write(b"".join(lines))


if __name__ == "__main__":
    main()
