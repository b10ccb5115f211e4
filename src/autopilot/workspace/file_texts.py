"""Texts of files at a commit, read from our own repository without a checkout, within bounds."""

import os
from collections.abc import Callable, Iterable, Iterator

from autopilot.domain.evidence import FileTexts, FileVersion
from autopilot.workspace.own_repository import GITLINK, Store

MOST_BYTES, MOST_TOTAL, MOST_FILES = 400_000, 32_000_000, 3_000
REGULAR = ("100644", "100755", "100664")


def changed_texts(store: Store, base: str, commit: str) -> tuple[FileTexts, ...]:
    """Every file of the difference; what is past the bounds has no text and so cannot be mistaken for an empty file."""
    touched = store.difference(base, commit).touched
    sides = [side for t in touched for side in (t.old, t.new) if side is not None and side[0] != GITLINK]
    sizes = _sizes(store, [oid for _, oid in sides])
    texts = _texts(store, _affordable(sizes))

    def version(side: tuple[str, str] | None) -> FileVersion | None:
        return side and FileVersion(mode=side[0], size=sizes.get(side[1], 0), text=texts.get(side[1]))

    return tuple(FileTexts(path=store.named(t.path), before=version(t.old), after=version(t.new)) for t in touched)


def wanted_texts(store: Store, commit: str, wanted: Callable[[str], bool]) -> dict[str, str]:
    listed: dict[str, str] = {}
    for line in store.git.out("ls-tree", "-r", "-z", commit).split(b"\0")[:-1]:
        meta, name = line.split(b"\t", 1)
        mode, _, oid = meta.decode().split(" ")
        path = store.named(os.fsdecode(name))
        if mode in REGULAR and len(listed) < MOST_FILES and wanted(path):
            listed[path] = oid
    texts = _texts(store, _affordable(_sizes(store, listed.values())))
    return {path: text for path, oid in listed.items() if (text := texts.get(oid)) is not None}


def _sizes(store: Store, oids: Iterable[str]) -> dict[str, int]:
    asked = "".join(f"{oid}\n" for oid in dict.fromkeys(oids)).encode()
    lines = store.git.text("cat-file", "--batch-check", stdin=asked).splitlines() if asked else []
    told = (line.split() for line in lines)
    return {words[0]: int(words[2]) for words in told if words[1] == "blob"}


def _affordable(sizes: dict[str, int]) -> Iterator[str]:
    """Small ones first, as many as fit."""
    total = 0
    for oid, size in sorted(sizes.items(), key=lambda item: item[1]):
        total += size
        if size > MOST_BYTES or total > MOST_TOTAL:
            return
        yield oid


def _texts(store: Store, oids: Iterable[str]) -> dict[str, str]:
    asked = list(oids)
    out = store.git.out("cat-file", "--batch", stdin="".join(f"{oid}\n" for oid in asked).encode()) if asked else b""
    found, at = {}, 0
    for oid in asked:
        end = out.index(b"\n", at)
        size = int(out[at:end].split(b" ")[2])
        content, at = out[end + 1 : end + 1 + size], end + size + 2
        if b"\0" not in content:
            found[oid] = content.decode("utf-8", "replace")
    return found
