"""The hash chain: each row's hash covers its content and the hash of the row before."""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any

import msgspec

from autopilot.domain.value import Value

GENESIS = "0" * 64


class Tip(Value, frozen=True, kw_only=True):
    """How far a chain goes: the sequence number and hash of its last row."""

    seq: int = 0
    hash: str = GENESIS


class ChainBroken(Exception):
    """`seq` is the first row that does not follow from those before it."""

    def __init__(self, seq: int, how: str) -> None:
        super().__init__(how)
        self.seq, self.how = seq, how


def link(previous: str, fields: Sequence[Any]) -> str:
    """sha256 over the JSON array of the previous hash and the fields seq, stream, number, at, version, body."""
    return sha256(msgspec.json.encode([previous, *fields])).hexdigest()


def follow(rows: Iterable[Sequence[Any]]) -> tuple[Tip, dict[str, int]]:
    """Walk rows of (seq, stream, number, at, version, body, hash) from the first: the tip, and each stream's length."""
    tip, lengths = Tip(), dict[str, int]()
    for *fields, digest in rows:
        seq, stream, number = fields[:3]
        if seq != tip.seq + 1:
            raise ChainBroken(tip.seq + 1, "entries lost")
        if digest != link(tip.hash, fields):
            raise ChainBroken(seq, "journal was changed")
        if number != lengths.get(stream, 0):
            raise ChainBroken(seq, "entries out of order")
        lengths[stream] = number + 1
        tip = Tip(seq=seq, hash=digest)
    return tip, lengths
