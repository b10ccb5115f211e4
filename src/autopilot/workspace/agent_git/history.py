"""The history agents may look at: a copy in the cache that can be damaged without harm and is made anew when it is."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from autopilot.workspace.files.removal import remove
from autopilot.workspace.git import Git

MAX_FILES = 60
MAX_TIPS = 31


class Pack(msgspec.Struct, frozen=True):
    """A file of the copy as we left it; any other stamp means that somebody else wrote to it."""

    name: str
    size: int
    stamp: int
    node: int


class Held(msgspec.Struct, frozen=True):
    """`gathered` are files that stay as they are and hold all up to the commit `upto`; the others are small ones."""

    tips: tuple[str, ...] = ()
    packs: tuple[Pack, ...] = ()
    upto: str = ""
    gathered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class History:
    """
    `folder` holds packs and nothing git would read settings from.

    It is written by git running in our own repository, so nothing in it is ever believed or run.
    """

    folder: Path
    git: Git

    @property
    def objects(self) -> Path:
        return self.folder / "objects"

    @property
    def _record(self) -> Path:
        return self.folder.with_name(f"{self.folder.name}.json")

    def hold(self, commit: str) -> None:
        """The commit and all before it can be read from the copy when this returns."""
        with self._guarded():
            held = self._intact()
            if commit in held.tips:
                return
            if not (held.tips and self._pack((commit,), held.tips, ok=(0, 128))):
                held = self._begun(commit)
            held = Held((commit, *held.tips[:MAX_TIPS]), self._packs(), held.upto, held.gathered)
            few = len(held.packs) - len(held.gathered) <= MAX_FILES
            self._save(held if few else self._gather(held))

    def _begun(self, commit: str) -> Held:
        self._start_over()
        self._pack((commit,), (), ok=(0,))
        return Held(upto=commit, gathered=tuple(pack.name for pack in self._packs()))

    def _gather(self, held: Held) -> Held:
        """What came since the last time in one piece instead of many; a reader finds the one or the other."""
        before = {pack.name for pack in held.packs}
        self._pack(held.tips, (held.upto,) if held.upto else (), ok=(0,))
        made = {pack.name for pack in self._packs()} - before
        for name in before.difference(held.gathered) if made else ():
            (self.objects / "pack" / name).unlink(missing_ok=True)
        return Held(held.tips, self._packs(), held.tips[0], (*held.gathered, *sorted(made)))

    def _pack(self, wanted: tuple[str, ...], held: tuple[str, ...], ok: tuple[int, ...]) -> bool:
        """False when what we hold is unknown to our repository: it has been made anew since."""
        words = "".join([*(f"{tip}\n" for tip in wanted), *(f"^{tip}\n" for tip in held)])
        with self._fresh() as objects:
            # git renames what it has packed, so it works where the copy is: our repository may be on another disk.
            packer = self.git.at(GIT_OBJECT_DIRECTORY=objects, GIT_ALTERNATE_OBJECT_DIRECTORIES=self._ours)
            target = str(objects / "pack" / "pack")
            done = packer.run("pack-objects", "--revs", "--quiet", target, stdin=words.encode(), ok=ok).exit_code == 0
            for path in sorted((objects / "pack").glob("pack-*"), key=lambda made: made.suffix != ".pack"):
                path.rename(self.objects / "pack" / path.name)
        return done

    @property
    def _ours(self) -> str:
        """The objects of our own repository, quoted: git would take a colon in the path for the end of it."""
        path = str(Path(self.git.env["GIT_DIR"]) / "objects").replace("\\", "\\\\").replace('"', '\\"')
        return f'"{path}"'

    @contextmanager
    def _fresh(self) -> Iterator[Path]:
        """An empty folder for objects next to the copy."""
        folder = self.folder.with_name(f"{self.folder.name}.new")
        remove(folder)
        (folder / "pack").mkdir(parents=True)
        try:
            yield folder
        finally:
            remove(folder)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """One at a time, threads and processes alike."""
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        path = self.folder.with_name(f"{self.folder.name}.guard")
        guard = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(guard, fcntl.LOCK_EX)
            yield
        finally:
            os.close(guard)

    def _intact(self) -> Held:
        """What the copy holds; nothing if it is not exactly as we left it."""
        try:
            held = msgspec.json.decode(self._record.read_bytes(), type=Held)
            sound = self._is_plain() and set(held.packs) <= set(self._packs())
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return Held()
        return held if sound else Held()

    def _is_plain(self) -> bool:
        pack = self.objects / "pack"
        links = any(p.is_symlink() for p in (self.folder, self.objects, pack))
        return not links and [p.name for p in self.objects.iterdir()] == ["pack"]

    def _packs(self) -> tuple[Pack, ...]:
        with os.scandir(self.objects / "pack") as entries:
            found = [(entry.name, entry.stat(follow_symlinks=False)) for entry in entries]
        return tuple(Pack(name, s.st_size, s.st_ctime_ns, s.st_ino) for name, s in sorted(found))

    def _start_over(self) -> None:
        self._record.unlink(missing_ok=True)
        remove(self.folder)
        (self.objects / "pack").mkdir(parents=True)

    def _save(self, held: Held) -> None:
        part = self._record.with_suffix(".part")
        part.write_bytes(msgspec.json.encode(held))
        part.replace(self._record)
