"""state.json: written whole, read with its backup behind it, archived at the end; never one that is not ours."""

import re
from pathlib import Path
from typing import Any

import msgspec

from autopilot.domain.errors import RepositoryInvalid
from autopilot.journal.failures import translated
from autopilot.journal.files import backup_of, flush_folder, make_folder, replace_with_backup, write_atomic
from autopilot.journal.projection import VERSION, state_text
from autopilot.journal.state_printer import StatePrinter

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
            write_atomic(self._path, text)
        else:
            replace_with_backup(self._path, text)
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
        if not _ours(state):
            raise RepositoryInvalid(
                f"{str(self._path)!r} was not written by Autopilot, or it is damaged beyond reading.",
                why="Autopilot keeps its state there and does not overwrite another tool's file.",
                do="Move the file away, then try again.",
            )
        return _with_bare_keys(state)

    def archived(self) -> tuple[dict[str, Any], ...]:
        """The states of finished runs, oldest first. What is damaged or not ours is passed over."""
        with translated(self._folder):
            found = sorted((self._folder / "archive").glob("run-*.json"), key=lambda path: path.stem)
        states = (_parsed(_bytes(path)) for path in found if path.is_file())
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
        content = _bytes(self._path) if state is None else state_text(state)
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
            return path.read_bytes()
        except FileNotFoundError:
            return None


def _parsed(content: bytes | None) -> Any:
    try:
        return None if content is None else msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _ours(state: Any) -> bool:
    meta = state.get("_meta") if isinstance(state, dict) else None
    if not isinstance(meta, dict):
        return False
    run_id = meta.get("run_id")
    return meta.get("version") == VERSION and isinstance(run_id, str) and bool(_RUN_ID.fullmatch(run_id))


def _with_bare_keys(state: dict[str, Any]) -> dict[str, Any]:
    """AMB-18: `phase_6.1` is read as `6.1`."""
    phases = state.get("phases")
    if not isinstance(phases, dict):
        return state
    return {**state, "phases": {key.removeprefix("phase_"): value for key, value in phases.items()}}


def _checked(run_id: str) -> str:
    assert _RUN_ID.fullmatch(run_id), f"{run_id!r} is no run id"
    return run_id
