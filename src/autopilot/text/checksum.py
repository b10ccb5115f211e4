"""A checksum as the last field of a JSON object, so that a changed bit is told from what was written."""

import re
import zlib

FIELD = "crc32"
_BLANK = b"00000000"
_TAIL = b',\n  "crc32": "%s"\n}\n'
# The last field, read so widely that a changed bit in it is no other field.
_LINE = re.compile(rb'"(.{5})": "(.{8})"\s*}\s*\Z', re.DOTALL)


def sealed(text: bytes) -> bytes:
    """The object's text, in lines, with its checksum behind all else."""
    end = text.rindex(b"}")
    while text[end - 1 : end].isspace():
        end -= 1
    body = memoryview(text)[:end]  # it may be long, and is written often
    return b"".join((body, _TAIL % b"%08x" % zlib.crc32(_TAIL % _BLANK, zlib.crc32(body))))


def intact(content: bytes) -> bool:
    """Whether it is as it was written. A text without a checksum, as files had none at first, cannot tell."""
    found = _LINE.search(content)
    if found is None:
        return True
    blank = content[: found.start(2)] + _BLANK + content[found.end(2) :]
    return found[1] == FIELD.encode() and found[2] == b"%08x" % zlib.crc32(blank)
