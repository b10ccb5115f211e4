"""`.autopilot/calibration.json`: what verdicts have taught, kept over all runs (AMB-04, AMB-12)."""

from pathlib import Path

import msgspec

from autopilot.files.home_files import read_file
from autopilot.journal.durable_files import make_folder, write_atomic
from autopilot.journal.storage_errors import translated
from autopilot.policy.deferral import Calibration
from autopilot.text.checksum import intact, sealed


class CalibrationFile:
    def __init__(self, home: Path) -> None:
        self._path = home / "calibration.json"

    def read(self) -> Calibration:
        """What cannot be understood has taught nothing."""
        return self._known()[0]

    def write(self, calibration: Calibration) -> None:
        """Unless it says so already. A file that could not be understood is kept beside the new one."""
        known, damaged = self._known()
        if damaged is not None:
            write_atomic(self._path.with_name(f"{self._path.name}.damaged"), damaged)
        elif known == calibration:
            return
        make_folder(self._path.parent)
        write_atomic(self._path, sealed(msgspec.json.format(msgspec.json.encode(calibration), indent=2)))

    def _known(self) -> tuple[Calibration, bytes | None]:
        with translated(self._path):
            try:
                content = read_file(self._path)
            except FileNotFoundError:
                return Calibration(), None
        if not intact(content):
            return Calibration(), content
        try:
            return msgspec.json.decode(content, type=Calibration), None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return Calibration(), content
