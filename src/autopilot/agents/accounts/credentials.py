"""Copies a program's credentials into the home of a call, and renewed ones back to the user's own file."""

import fcntl
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from autopilot.agents import safe_write as placing
from autopilot.agents.accounts.renewal import Rule, decoded, refusal
from autopilot.domain.value import Value

LARGEST = 65_536
TORN = ".autopilot-new"


class Copied(Value, frozen=True, kw_only=True):
    """
    A credentials file in the home of a call, at `path` there.

    `taken` is the digest of the user's file, `source`, when both were last the same account's, and `given` that of the
    copy. The rest is the rule of the way back, kept here so that a later process can follow it.
    """

    path: str
    source: str
    taken: str
    given: str
    withheld: tuple[str, ...] = ()
    identity: tuple[str, ...] = ()
    token_hosts: tuple[str, ...] = ()


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def own_file(source: str) -> bytes:
    """The user's file: a plain one with one name. Raises OSError for anything else."""
    return placing.read(str(Path(source).parent), Path(source).name, LARGEST)


def is_changed(home: str, copied: Copied) -> bool:
    """Whether the copy holds something else than it did, of which nothing has been made yet."""
    try:
        return digest(placing.read(home, copied.path, LARGEST)) != copied.given
    except OSError:
        return False


def is_newer(copied: Copied) -> bool:
    """Whether the user's file is another one than was copied."""
    try:
        return digest(own_file(copied.source)) != copied.taken
    except OSError:
        return False


def copy_in(home: str, path: str, source: str, own: bytes, withheld: tuple[str, ...] = ()) -> Copied:
    """Put what the user's file holds into the home, without what is withheld."""
    shown = _without(own, withheld)
    placing.place(home, path, shown)
    return Copied(path=path, source=source, taken=digest(own), given=digest(shown), withheld=withheld)


def bring_back(home: str, copied: Copied, contacted: frozenset[str] | None, locks: Path) -> tuple[Copied, str]:
    """
    Put what the call left in the place of the user's file if it is a renewal, and say why not where it is none.

    What is as it was, and what is gone, is left alone. The user's file holds the old or the new content at any instant.
    """
    try:
        held = placing.read(home, copied.path, LARGEST)
    except FileNotFoundError:
        return copied, ""
    except OSError as error:
        return copied, f"it cannot be read as a plain file ({error.strerror})"
    if digest(held) == copied.given:
        return copied, ""
    try:
        with _locked(locks, copied.source):
            return _settled(copied, held, contacted)
    except OSError as error:
        return copied, f"your own file cannot be replaced ({error.strerror})"


def _settled(copied: Copied, held: bytes, contacted: frozenset[str] | None) -> tuple[Copied, str]:
    own = own_file(copied.source)
    whole = _with(held, own, copied.withheld)
    settled = msgspec.structs.replace(copied, taken=digest(whole), given=digest(held))
    if digest(own) == settled.taken:
        return settled, ""  # cut off behind the rename
    if digest(own) != copied.taken:
        return copied, "your own file was changed in the meantime"
    rule = Rule(identity=copied.identity, token_hosts=copied.token_hosts)
    problem = refusal(_without(own, copied.withheld), held, rule, contacted)
    if problem:
        return copied, problem
    _replace(Path(copied.source), whole)
    return settled, ""


def keep_aside(home: str, copied: Copied, folder: Path) -> str:
    """Where a copy of what was not taken over lies; empty for what is no file that could be kept."""
    try:
        held = placing.read(home, copied.path, LARGEST)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        name = f"{Path(copied.source).name.lstrip('.')}-{digest(held)[:16]}"
        placing.place(str(folder), name, held)
    except OSError:
        return ""
    return str(folder / name)


def _without(content: bytes, withheld: tuple[str, ...]) -> bytes:
    found = decoded(content) if withheld else None
    if found is None or not found.keys() & {*withheld}:
        return content
    return msgspec.json.encode({name: value for name, value in found.items() if name not in withheld})


def _with(content: bytes, own: bytes, withheld: tuple[str, ...]) -> bytes:
    """With the fields of the user's file that the call was not given."""
    kept = {name: value for name, value in (decoded(own) or {}).items() if name in withheld}
    found = decoded(content) if kept else None
    return content if found is None else msgspec.json.encode({**found, **kept})


def _replace(path: Path, content: bytes) -> None:
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        before = os.stat(path.name, dir_fd=folder, follow_symlinks=False)
        name = f"{path.name}{TORN}"
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)  # left by a process that was killed
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(name, flags, 0o600, dir_fd=folder), "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(file.fileno(), stat.S_IMODE(before.st_mode))
            if os.geteuid() == 0:
                os.fchown(file.fileno(), before.st_uid, before.st_gid)
            os.fsync(file.fileno())
        os.rename(name, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)
    finally:
        os.close(folder)


@contextmanager
def _locked(locks: Path, source: str) -> Iterator[None]:
    """One process and one thread at a time for each file of the user's."""
    locks.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = locks / f"{digest(os.fsencode(source))[:16]}.lock"
    lock = os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
