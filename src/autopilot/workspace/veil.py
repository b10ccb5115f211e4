"""The history of a commit as those who do the work may see it: without the planning files, which name the checks."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from autopilot.workspace.store import OURS_ALONE, Store

SHOWN_COMMITS = 200
_PERSON = re.compile(rb"(?P<name>[^<>\n]*)<(?P<email>[^<>\n]*)> (?P<when>\d{1,18} [+-]\d{4})")
_NOBODY = b"unknown <unknown> 0 +0000"
_KEPT_OUT = frozenset(name.encode() for name in OURS_ALONE)


@dataclass(frozen=True, slots=True)
class Told:
    """A commit as git stores it: who, when and why, and what lies at the top of its tree."""

    headers: dict[bytes, bytes]
    message: bytes
    entries: tuple[tuple[bytes, bytes, str], ...]


@dataclass(frozen=True, slots=True)
class Veil:
    """
    Writes such histories into our own repository; the same commit always gives the same ones.

    `slot` keeps phases that are at work at the same time from each other's ref.
    """

    store: Store
    slot: int = 0
    made: dict[str, str] = field(default_factory=dict)

    def is_needed(self, commit: str) -> bool:
        """Whether planning files are anywhere in the history of the commit."""
        return bool(self.store.git.out("rev-list", "-1", commit, "--", *OURS_ALONE))

    def over(self, commit: str) -> str:
        """A commit of the same tree without planning files, behind it the newest of its past, likewise."""
        if commit not in self.made:
            told = self._read(commit)
            words = ("fast-import", "--quiet", "--date-format=raw", "--force", "--done")
            stream = b"".join(self._stream(told)) + b"get-mark :%d\ndone\n" % len(told)
            self.made[commit] = self.store.git.text(*words, stdin=stream)
        return self.made[commit]

    def _read(self, commit: str) -> list[Told]:
        """Oldest first."""
        newest = ("rev-list", "--first-parent", "--reverse", "-n", str(SHOWN_COMMITS), commit)
        ids = self.store.git.text(*newest).split()
        wanted = "".join(f"{oid}\n{oid}^{{tree}}\n" for oid in ids)
        found = list(_objects(self.store.git.out("cat-file", "--batch", stdin=wanted.encode())))
        width = len(commit) // 2
        return [_told(found[at], found[at + 1], width) for at in range(0, len(found), 2)]

    def _stream(self, told: Iterable[Told]) -> Iterator[bytes]:
        for number, commit in enumerate(told, start=1):
            yield b"commit refs/autopilot/shown/%s.%d\nmark :%d\n" % (self.store.run.encode(), self.slot, number)
            for role in (b"author", b"committer"):
                yield role + b" " + _person(commit.headers.get(role, b"")) + b"\n"
            yield b"data %d\n%s\n" % (len(commit.message), commit.message)
            yield b"from :%d\ndeleteall\n" % (number - 1) if number > 1 else b""
            yield from (_entry(mode, name, oid) for mode, name, oid in commit.entries)


def _objects(out: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(out):
        end = out.index(b"\n", at)
        size = int(out[at:end].split(b" ")[2])
        yield out[end + 1 : end + 1 + size]
        at = end + 1 + size + 1


def _told(commit: bytes, tree: bytes, width: int) -> Told:
    head, _, message = commit.partition(b"\n\n")
    headers = dict(line.partition(b" ")[::2] for line in reversed(head.split(b"\n")))
    return Told(headers, message, tuple(e for e in _entries(tree, width) if e[1] not in _KEPT_OUT))


def _entries(tree: bytes, width: int) -> Iterator[tuple[bytes, bytes, str]]:
    """Mode, name and id of each, as a tree holds them; an id has `width` bytes."""
    at = 0
    while at < len(tree):
        end = tree.index(b"\0", at)
        mode, name = tree[at:end].split(b" ", 1)
        yield mode, name, tree[end + 1 : end + 1 + width].hex()
        at = end + 1 + width


def _person(line: bytes) -> bytes:
    """As it was, if it can be written; some old histories have people no git would take today."""
    found = _PERSON.fullmatch(line)
    return b"%s <%s> %s" % (found["name"].strip(), found["email"], found["when"]) if found else _NOBODY


def _entry(mode: bytes, name: bytes, oid: str) -> bytes:
    escaped = name.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'M %s %s "%s"\n' % (mode.rjust(6, b"0"), oid.encode(), escaped)
