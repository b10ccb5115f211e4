"""The hash chain: each row's hash is made with the user's key and covers its content and the hash of the row before."""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

import msgspec

from autopilot.authority.seal import Place, Seal
from autopilot.domain.value import Value

GENESIS = "0" * 64
_BYTES = 32


class Tip(Value, frozen=True, kw_only=True):
    """How far a chain goes: the sequence number and hash of its last row."""

    seq: int = 0
    hash: str = GENESIS


class ChainBroken(Exception):
    """`seq` is the first row that does not follow from those before it."""

    def __init__(self, seq: int, how: str) -> None:
        super().__init__(how)
        self.seq, self.how = seq, how


class Chain:
    """Makes and checks hashes under a key. `start` comes before the first row and binds the chain to its place."""

    def __init__(self, key: bytes, start: str = GENESIS) -> None:
        self.start = start
        self._row, self._head = _keyed(key, b"autopilot row"), _keyed(key, b"autopilot head")

    def link(self, previous: str, fields: Sequence[Any]) -> str:
        """Over the JSON array of the previous hash and the fields seq, stream, number, at, version, body."""
        before = self.start if previous == GENESIS else previous
        return _hash(self._row, [before, *fields])

    def holds(self, previous: str, fields: Sequence[Any], digest: object) -> bool:
        return self.link(previous, fields) == digest

    def mark(self, tip: Tip) -> str:
        """Shows that the chain's writer knew this tip as its last one."""
        return _hash(self._head, [self.start, tip.seq, tip.hash])


class Unchecked(Chain):
    """A chain that someone else wrote, to look at: nothing can be said for or against its rows."""

    def __init__(self) -> None:
        super().__init__(b"")

    def holds(self, previous: str, fields: Sequence[Any], digest: object) -> bool:  # noqa: ARG002 - see above
        return isinstance(digest, str)


def binding(place: Place) -> str:
    """The place as it is stored before the first row."""
    return msgspec.json.encode(place).decode()


def chain_of(seal: Seal) -> Chain:
    return Chain(seal.key, start_of(seal.key, binding(seal.place)))


def start_of(key: bytes, bound: str) -> str:
    return _hash(_keyed(key, b"autopilot place"), [bound])


def follow(rows: Iterable[Sequence[Any]], chain: Chain) -> tuple[Tip, dict[str, int]]:
    """Walk rows of (seq, stream, number, at, version, body, hash) from the first: the tip, and each stream's length."""
    tip, lengths = Tip(), dict[str, int]()
    for *fields, digest in rows:
        seq, stream, number = fields[:3]
        if seq != tip.seq + 1:
            raise ChainBroken(tip.seq + 1, "entries lost")
        if not chain.holds(tip.hash, fields, digest):
            raise ChainBroken(seq, "journal was changed")
        if number != lengths.get(stream, 0):
            raise ChainBroken(seq, "entries out of order")
        lengths[stream] = number + 1
        tip = Tip(seq=seq, hash=digest)
    return tip, lengths


def _keyed(key: bytes, person: bytes) -> blake2b:
    return blake2b(digest_size=_BYTES, key=key, person=person)


def _hash(keyed: blake2b, parts: Sequence[Any]) -> str:
    """With a copy: taking in the key again for every row would cost as much as a short row."""
    made = keyed.copy()
    made.update(msgspec.json.encode(parts))
    return made.hexdigest()
