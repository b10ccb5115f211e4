"""state.json: written whole, read with its backup behind it, archived at the end; never one that is not ours."""

import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

import msgspec

from autopilot.domain.errors import RepositoryInvalid, StorageFailed
from autopilot.files.home_files import read_file
from autopilot.journal.durable_files import backup_of, flush_folder, make_folder, replace_with_backup, write_atomic
from autopilot.journal.state_printer import StatePrinter
from autopilot.journal.storage_errors import translated
from autopilot.state.build_state import VERSION, state_text
from autopilot.text.checksum import FIELD, intact, sealed

_KNOWN = tuple(int(number) for number in VERSION.split("."))
_RUN_ID = re.compile(r"run-\d{4}-\d{2}-\d{2}-\d{6}[A-Za-z0-9._-]*")


class StateFile:
    """`folder` is `.autopilot`. What it holds can be computed again from the journal."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._path = folder, folder / "state.json"
        self._sound, self._printer = False, StatePrinter()

    def write(self, state: dict[str, Any]) -> None:
        """Replace the file and keep the one before as backup. A damaged file is not kept over a good backup."""
        make_folder(self._folder)
        text = self._printer.text(state)
        known = self._sound or self.read() is not None
        if known and not self._sound and _parsed(_bytes(self._path)) is None:
            write_atomic(self._path, sealed(text))
        else:
            replace_with_backup(self._path, sealed(text))
        self._sound = True

    def read(self) -> dict[str, Any] | None:
        """
        The state, from the backup when the file itself is damaged; None when there is no file.

        Raises `RepositoryInvalid` for a file that another tool wrote.
        """
        content = _bytes(self._path)
        if content is None:
            return None
        state = _parsed(content)
        if state is None:
            state = _parsed(_bytes(backup_of(self._path)))
        if _newer(state):
            raise RepositoryInvalid(
                f"{str(self._path)!r} was written by a newer Autopilot (version {state['_meta']['version']}).",
                why=f"This one knows version {VERSION} and could misread it.",
                do="Upgrade Autopilot, then try again.",
            )
        if not _ours(state):
            raise RepositoryInvalid(
                f"{str(self._path)!r} was not written by Autopilot, or it is damaged beyond reading.",
                why="Autopilot keeps its state there and does not overwrite another tool's file.",
                do="Move the file away, then try again.",
            )
        return _with_bare_keys(state)

    def archived(self, known: Collection[str] = ()) -> tuple[dict[str, Any], ...]:
        """
        The states of finished runs, oldest first. What is not ours is passed over.

        Raises `StorageFailed` for a damaged one, unless its run is `known` from elsewhere.
        """
        with translated(self._folder):
            found = sorted((self._folder / "archive").glob("run-*.json"), key=lambda path: path.stem)
        states = list[Any]()
        for path in (path for path in found if path.is_file() and _RUN_ID.fullmatch(path.stem)):
            state = _parsed(_bytes(path))
            if state is None and path.stem not in known:
                raise StorageFailed(
                    f"{str(path)!r} is damaged.",
                    why="It tells which phases an earlier run completed, and no journal tells of that run.",
                    do="Restore it from a backup, or move it away to go on without it.",
                )
            states.append(state)
        return tuple(_with_bare_keys(state) for state in states if _ours(state))

    def archive(self, run_id: str, state: dict[str, Any] | None = None) -> Path | None:
        """
        Move the state to `archive/<run id>.json`, or put `state` there in its stead. Where it went, if there was one.

        May be done again after a crash: what is archived already is not archived twice.
        """
        held = self.read()
        if held is None and state is None:
            return None
        target = self._folder / "archive" / f"{_checked(run_id)}.json"
        content = _bytes(self._path) if state is None else sealed(state_text(state))
        make_folder(target.parent)
        if content is not None and _bytes(target) != content:
            write_atomic(target, content)
        self._remove(run_id, held)
        return target

    def set_aside(self) -> None:
        """A run that failed or was stopped keeps its state under its own name when another one starts."""
        held = self.read()
        if held is not None:
            self.archive(held["_meta"]["run_id"])

    def _remove(self, run_id: str, held: dict[str, Any] | None) -> None:
        if held is None or held["_meta"]["run_id"] != run_id:
            return
        with translated(self._path):
            self._path.unlink(missing_ok=True)
            backup_of(self._path).unlink(missing_ok=True)
            flush_folder(self._folder)
        self._sound = False


def _bytes(path: Path) -> bytes | None:
    with translated(path):
        try:
            return read_file(path)
        except FileNotFoundError:
            return None


def _parsed(content: bytes | None) -> Any:
    """None for what is damaged, and for nothing."""
    if content is None or not intact(content):
        return None
    try:
        found = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return {key: value for key, value in found.items() if key != FIELD} if isinstance(found, dict) else found


def _ours(state: Any) -> bool:
    meta = state.get("_meta") if isinstance(state, dict) else None
    if not isinstance(meta, dict):
        return False
    run_id = meta.get("run_id")
    return meta.get("version") == VERSION and isinstance(run_id, str) and bool(_RUN_ID.fullmatch(run_id))


def _newer(state: Any) -> bool:
    """A version of ours that comes after the one we write: `2.0` where we write `1.0`."""
    meta = state.get("_meta") if isinstance(state, dict) else None
    version = meta.get("version") if isinstance(meta, dict) else None
    numbers = re.fullmatch(r"(\d{1,4})\.(\d{1,4})", version) if isinstance(version, str) else None
    run_id = meta.get("run_id") if isinstance(meta, dict) else None
    named = isinstance(run_id, str) and bool(_RUN_ID.fullmatch(run_id))
    return named and numbers is not None and (int(numbers[1]), int(numbers[2])) > _KNOWN


def _with_bare_keys(state: dict[str, Any]) -> dict[str, Any]:
    """AMB-18: `phase_6.1` is read as `6.1`."""
    phases = state.get("phases")
    if not isinstance(phases, dict):
        return state
    return {**state, "phases": {key.removeprefix("phase_"): value for key, value in phases.items()}}


def _checked(run_id: str) -> str:
    assert _RUN_ID.fullmatch(run_id), f"{run_id!r} is no run id"
    return run_id
