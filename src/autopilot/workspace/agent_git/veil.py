"""The history of a commit as those who do the work may see it: without the planning files, which name the checks."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from autopilot.workspace.own_repository import Store, quoted

SHOWN_COMMITS = 200
_PERSON = re.compile(rb"(?P<name>[^<>\n]*)<(?P<email>[^<>\n]*)> (?P<when>\d{1,18} [+-]\d{4})")
_NOBODY = b"unknown <unknown> 0 +0000"


@dataclass(frozen=True, slots=True)
class Told:
    """A commit as git stores it: who, when and why, its first parent, and what lies at the top of its tree."""

    id: str
    parent: str
    headers: dict[bytes, bytes]
    message: bytes
    entries: tuple[tuple[bytes, bytes, str], ...]


@dataclass(frozen=True, slots=True)
class Veil:
    """
    Writes such histories into our own repository; the same commit always gives the same ones.

    `base` is where the run began: of what was before it the newest commits are shown, of what came after it all. `slot`
    keeps phases that are at work at the same time from each other's ref. `made` has each commit beside its veiled one.
    """

    store: Store
    base: str
    slot: int = 0
    made: dict[str, str] = field(default_factory=dict)

    def is_needed(self) -> bool:
        """Whether planning files are anywhere in the history the run began with."""
        return bool(self.store.git.out("rev-list", "-1", self.base, "--", *self.store.within.ours))

    def over(self, commit: str) -> str:
        """A commit of the same tree without planning files, behind it its past, likewise."""
        if not self.made:
            self._write(self._line(self.base, f"-{SHOWN_COMMITS}"))
        if commit not in self.made:
            self._write(self._new(commit))
        return self.made[commit]

    def _new(self, commit: str) -> list[Told]:
        """What is not veiled yet, oldest first: mostly a commit or two on top of the newest."""
        # It may also stand on an older one that work was taken back to, or on nothing that is shown.
        behind = (f"^{next(reversed(self.made))}", f"^{self.base}", f"-{SHOWN_COMMITS}")
        lines = ([told for told in self._line(commit, bound) if told.id not in self.made] for bound in behind)
        line = list[Told]()
        for line in lines:
            if line and line[0].parent in self.made:
                break
        return line

    def _line(self, *words: str) -> list[Told]:
        """Oldest first."""
        ids = self.store.git.text("rev-list", "--first-parent", "--reverse", *words).split()
        wanted = "".join(f"{oid}\n{oid}^{{tree}}\n" for oid in ids)
        found = list(_objects(self.store.git.out("cat-file", "--batch", stdin=wanted.encode())))
        return [_told(oid, *found[2 * at : 2 * at + 2]) for at, oid in enumerate(ids)]

    def _write(self, line: list[Told]) -> None:
        words = ("fast-import", "--quiet", "--date-format=raw", "--force", "--done")
        asked = b"".join(b"get-mark :%d\n" % number for number in range(1, len(line) + 1))
        written = self.store.git.text(*words, stdin=b"".join(self._stream(line)) + asked + b"done\n").split()
        self.made.update(zip((told.id for told in line), written, strict=True))

    def _stream(self, line: Iterable[Told]) -> Iterator[bytes]:
        ref = b"refs/autopilot/shown/%s.%d" % (self.store.run.encode(), self.slot)
        marks: dict[str, bytes] = {}
        for number, commit in enumerate(line, start=1):
            marks[commit.id] = b":%d" % number
            above = marks.get(commit.parent) or self.made.get(commit.parent, "").encode()
            yield b"" if above else b"reset %s\n" % ref
            yield b"commit %s\nmark :%d\n" % (ref, number)
            for role in (b"author", b"committer"):
                yield role + b" " + _person(commit.headers.get(role, b"")) + b"\n"
            yield b"data %d\n%s\n" % (len(commit.message), commit.message)
            yield b"from %s\ndeleteall\n" % above if above else b""
            yield from (_entry(mode, name, oid) for mode, name, oid in commit.entries)
            yield from (f"D {quoted(path)}\n".encode() for path in self.store.within.ours)


def _objects(out: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(out):
        end = out.index(b"\n", at)
        size = int(out[at:end].split(b" ")[2])
        yield out[end + 1 : end + 1 + size]
        at = end + 1 + size + 1


def _told(oid: str, commit: bytes, tree: bytes) -> Told:
    head, _, message = commit.partition(b"\n\n")
    headers = dict(line.partition(b" ")[::2] for line in reversed(head.split(b"\n")))
    entries = tuple(_entries(tree, len(oid) // 2))
    return Told(oid, headers.get(b"parent", b"").decode(), headers, message, entries)


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
