"""The sessions alive on this machine: one file each, with a heartbeat; who is a peer, and who is gone."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from autopilot.domain.value import Value
from autopilot.sessions.files.private_files import write_private
from autopilot.sessions.selector import KNOWN, MODES

FRESH_MINUTES = 15.0
SWEEP_MINUTES = 60.0
Status = Literal["active", "wave", "idle"]
Reason = Literal["stale-heartbeat", "malformed-entry"]


class Entry(Value, frozen=True, kw_only=True):
    """One live session. The repository is told by a hash, since its path is nobody else's business."""

    session_id: str
    semantic_session_id: str | None = None
    pid: int
    platform: str = ""
    repo_path_hash: str = ""
    repo_name: str = ""
    branch: str | None = None
    started_at: str = ""
    last_heartbeat: str = ""
    status: Status = "active"
    current_wave: int = 0
    host_class: str | None = None
    mode: str | None = None


class Swept(Value, frozen=True, kw_only=True):
    """One line of the sweep's log. An age that could not be told is None."""

    session_id: str | None
    file: str
    age_minutes: int | None
    reason: Reason


def bad_id(session_id: Any) -> str | None:
    """Why the text cannot name a session; None when it can."""
    if not isinstance(session_id, str) or not session_id:
        return "session_id must be a non-empty string"
    if any(letter in session_id for letter in "/\\\0") or session_id in {".", ".."}:
        return "session_id must not contain path separators or null bytes"
    return None


def path_hash(path: str) -> str:
    return hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()


class Registry:
    """`now` is the time in UTC. Nothing here raises for what another session left behind."""

    def __init__(self, folder: Path, now: Callable[[], datetime]) -> None:
        self._folder, self._now = folder, now

    def register(self, entry: Entry) -> Entry:
        """The entry as it is on disk when this returns."""
        moment = _iso(self._now())
        written = replace(entry, started_at=entry.started_at or moment, last_heartbeat=moment)
        write_private(self._path(entry.session_id), msgspec.json.encode(written))
        return written

    def heartbeat(self, session_id: str, status: Status | None = None, wave: int | None = None) -> Entry | None:
        """The entry with a fresh heartbeat; None, and nothing is written, when there is none."""
        held = _entry(_content(self._path(session_id)))
        if held is None:
            return None
        moved = replace(
            held,
            last_heartbeat=_iso(self._now()),
            status=status or held.status,
            current_wave=held.current_wave if wave is None else wave,
        )
        write_private(self._path(session_id), msgspec.json.encode(moved))
        return moved

    def deregister(self, session_id: str) -> bool:
        """Whether there was such an entry."""
        path = self._path(session_id)
        there = path.is_file()
        path.unlink(missing_ok=True)
        return there

    def peers(self, own: str | None = None, fresh_minutes: float = FRESH_MINUTES) -> tuple[Entry, ...]:
        """The other sessions whose heartbeat is fresh, by name; an entry that cannot be understood is no peer."""
        found = (_entry(_content(path)) for path in self._files())
        return tuple(
            entry for entry in found if entry and entry.session_id != own and self._fresh(entry, fresh_minutes)
        )

    def sweep(self, most_minutes: float = SWEEP_MINUTES) -> tuple[Swept, ...]:
        """Remove what nobody keeps alive. A file that cannot be read is aged by its own time: it may just be made."""
        gone = tuple(swept for path in self._files() if (swept := self._stale(path, most_minutes)))
        for swept in gone:
            (self._folder / swept.file).unlink(missing_ok=True)
        return gone

    def _stale(self, path: Path, most_minutes: float) -> Swept | None:
        content = _content(path)
        if content is None:
            age = self._file_age(path)
            return _swept(None, path, age, "malformed-entry") if age is not None and age > most_minutes else None
        name = content.get("session_id")
        age = self._age(content.get("last_heartbeat"))
        if age is not None and age <= most_minutes:
            return None
        return _swept(name if isinstance(name, str) else None, path, age, "stale-heartbeat")

    def _fresh(self, entry: Entry, minutes: float) -> bool:
        age = self._age(entry.last_heartbeat)
        return age is not None and age <= minutes

    def _age(self, heartbeat: Any) -> float | None:
        try:
            then = datetime.fromisoformat(heartbeat)
        except (TypeError, ValueError):
            return None
        return _apart(self._now(), then if then.tzinfo else then.replace(tzinfo=UTC))

    def _file_age(self, path: Path) -> float | None:
        try:
            changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        except OSError:
            return None
        return _apart(self._now(), changed)

    def _files(self) -> Iterator[Path]:
        yield from sorted(self._folder.glob("*.json"))

    def _path(self, session_id: str) -> Path:
        problem = bad_id(session_id)
        if problem:
            raise ValueError(problem)
        return self._folder / f"{session_id}.json"


def _apart(one: datetime, other: datetime) -> float:
    """In minutes. What comes from the future was written before the clock was put back: it is as old as it is far."""
    return abs(one - other) / timedelta(minutes=1)


def _swept(name: str | None, path: Path, age: float | None, reason: Reason) -> Swept:
    return Swept(session_id=name, file=path.name, age_minutes=None if age is None else int(age), reason=reason)


def _content(path: Path) -> Mapping[str, Any] | None:
    try:
        found = msgspec.json.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _entry(content: Mapping[str, Any] | None) -> Entry | None:
    try:
        entry = msgspec.convert(content, Entry)
    except msgspec.ValidationError:
        return None
    known = entry.mode is None or entry.mode in KNOWN or entry.mode in MODES
    return entry if known and bad_id(entry.session_id) is None else None


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
