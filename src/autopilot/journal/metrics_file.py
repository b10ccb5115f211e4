"""Keeps the metrics of every run in `.autopilot/archive/metrics.json`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from autopilot.domain.errors import StorageFailed
from autopilot.files.home_files import read_file
from autopilot.journal.durable_files import make_folder, write_atomic
from autopilot.journal.storage_errors import translated


class MetricsFile:
    """`.autopilot/archive/metrics.json`: one object a run, in the order of their first end."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "archive" / "metrics.json"

    def read(self) -> tuple[dict[str, Any], ...]:
        """What is no list of runs counts as none."""
        return self._known()[0]

    def checked(self) -> tuple[dict[str, Any], ...]:
        """The same for who has nothing else to tell. Raises `StorageFailed` for a file that cannot be understood."""
        known, damaged = self._known()
        if damaged is not None:
            raise StorageFailed(
                f"{str(self._path)!r} is damaged.",
                why="It holds the numbers of all runs, and without them there is nothing to compare.",
                do="Restore it from a backup, or move it away to begin a new one.",
            )
        return known

    def record(self, metrics: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
        """
        MTRC-01b: add the run, or put its new numbers in place of the old when it ends again. All runs there are.

        A file that cannot be understood is kept beside the new one.
        """
        known, damaged = self._known()
        make_folder(self._path.parent)
        if damaged is not None:
            write_atomic(self._path.with_name(f"{self._path.name}.damaged"), damaged)
        own = metrics["run_id"]
        fresh = dict(metrics)
        there = any(run["run_id"] == own for run in known)
        runs = tuple(fresh if run["run_id"] == own else run for run in known) if there else (*known, fresh)
        write_atomic(self._path, msgspec.json.format(msgspec.json.encode(runs), indent=2) + b"\n")
        return runs

    def _known(self) -> tuple[tuple[dict[str, Any], ...], bytes | None]:
        with translated(self._path):
            try:
                content = read_file(self._path)
            except FileNotFoundError:
                return (), None
        try:
            found = msgspec.json.decode(content)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return (), content
        if not isinstance(found, list) or not all(isinstance(run, dict) and _named(run) for run in found):
            return (), content
        return tuple(found), None


def _named(run: Mapping[str, Any]) -> bool:
    """What a comparison of runs cannot do without."""
    numbers = (run.get("success_rate"), run.get("total_estimated_tokens"))
    return isinstance(run.get("run_id"), str) and all(isinstance(number, int | float) for number in numbers)
