"""Pictures of the app in the user's tree: new ones are added, and only a baseline of ours is ever replaced."""

import errno
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import msgspec

from autopilot.domain.errors import ConfigInvalid
from autopilot.workspace.files.beneath import Refused, opened, read_regular, write_atomic, write_new
from autopilot.workspace.git import storage_errors

MAX_PICTURE = 30_000_000


class Ours(msgspec.Struct, frozen=True):
    """The hash of every baseline we wrote, by path: what we may replace."""

    hashes: dict[str, list[str]] = {}


@dataclass(frozen=True, slots=True)
class FileAlbum:
    """Fulfils the protocol `Album`. No link is followed, and `record` lies outside of what an agent can see."""

    root: Path
    record: Path

    def add(self, path: str, content: bytes) -> str:
        with storage_errors("writing a screenshot"), _through_folders(path), opened(self.root) as top:
            stem, dot, suffix = path.rpartition(".")
            self._hide(top, path)
            for number in count(1):
                name = path if number == 1 else f"{stem}-{number}{dot}{suffix}"
                try:
                    write_new(top, name, content)
                except FileExistsError:
                    continue
                return name
        raise AssertionError("there are always more numbers")

    def _hide(self, top: int, path: str) -> None:
        """Pictures are not committed: the folder ignores itself, unless the user has decided otherwise."""
        with suppress(FileExistsError):
            write_new(top, f"{path.rpartition('/')[0]}/.gitignore", b"*\n")

    def baseline(self, path: str) -> tuple[bytes, bool] | None:
        with opened(self.root) as top:
            try:
                content = read_regular(top, path, MAX_PICTURE)
            except (FileNotFoundError, Refused):
                return None
        return content, _hash(content) in self._load().hashes.get(path, ())

    def replace(self, path: str, source: str, sha256: str) -> str | None:
        with storage_errors("keeping a baseline"), _through_folders(path), opened(self.root) as top:
            try:
                content = read_regular(top, source, MAX_PICTURE)
            except (FileNotFoundError, Refused):
                return f"{path}: the screenshot {source} is no longer there"
            if _hash(content) != sha256:
                return f"{path}: the screenshot {source} was changed meanwhile"
            ours = self._load()
            if not self._is_free(top, path, ours.hashes.get(path, [])):
                return None
            # Noted first: cut off right after the file is there, we still know it as ours.
            ours.hashes.setdefault(path, []).append(sha256)
            self._save(ours)
            write_atomic(top, path, content)
        return None

    def _is_free(self, top: int, path: str, known: list[str]) -> bool:
        try:
            return _hash(read_regular(top, path, MAX_PICTURE)) in known
        except FileNotFoundError:
            return True
        except Refused:
            return False

    def _load(self) -> Ours:
        try:
            return msgspec.json.decode(self.record.read_bytes(), type=Ours)
        except (FileNotFoundError, msgspec.DecodeError, UnicodeDecodeError):
            # Without the record every baseline counts as the user's: none is replaced.
            return Ours()

    def _save(self, ours: Ours) -> None:
        os.makedirs(self.record.parent, exist_ok=True)  # noqa: PTH103 - beside the descriptors below
        with opened(self.record.parent) as folder:
            write_atomic(folder, self.record.name, msgspec.json.encode(ours))


@contextmanager
def _through_folders(path: str) -> Iterator[None]:
    """A link or a file where a folder should be is the user's, and is neither followed nor removed."""
    try:
        yield
    except OSError as error:
        if error.errno not in {errno.ELOOP, errno.ENOTDIR}:
            raise
        raise ConfigInvalid(
            f"the folder of {path} is a link or a file",
            why="screenshots are written without following links",
            do="put a folder in its place, or name another one as project.visual_testing.screenshot_dir",
        ) from error


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
