"""
Reads outlines in a process of its own: a parser that crashes on odd text takes nobody else with it.

Standard input and output are MessagePack: pairs of a grammar and a text in, what was read of each out.
"""

import sys

import msgspec

from autopilot.workspace.repo_map.extract import outline
from autopilot.workspace.repo_map.reading import Reading, Texts


def read_outline(grammar: str, text: bytes) -> Reading:
    found = outline(grammar, text)
    return Reading(
        body=msgspec.msgpack.encode(found),
        exports=len(found.exports),
        imports=len(found.imports),
        functions=len(found.functions),
        classes=len(found.classes),
        calls=len(found.call_graph),
    )


def main() -> None:
    texts = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=Texts)
    sys.stdout.buffer.write(msgspec.msgpack.encode([read_outline(*text) for text in texts]))


if __name__ == "__main__":
    main()
