"""Where whole runs take place."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """
    A folder for a project and its clones, in memory where the system has such a place.

    These tests are about order, not about the disk, and a run waits for the disk after every step.
    """
    usable = MEMORY.is_dir() and os.access(MEMORY, os.W_OK)
    folder = Path(tempfile.mkdtemp(prefix="autopilot-flow-", dir=MEMORY)) if usable else tmp_path
    monkeypatch.setenv("AUTOPILOT_CACHE", str(folder / "cache"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
