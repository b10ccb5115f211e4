"""How the fault suites are run: short with every change, in full on demand, and where their counts are written."""

import json
import os
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path


def full() -> bool:
    """Whether the whole regime is asked for, as `make faults` does, or its short form."""
    return os.environ.get("AUTOPILOT_FAULTS") == "full"


def seed() -> int:
    """The source of every random choice: the same number makes the same choices."""
    return int(os.environ.get("AUTOPILOT_FAULTS_SEED", "1"))


def record(suite: str, counts: Mapping[str, int] | None = None, /, **more: int) -> None:
    """Tell what was done; a full run adds it as a line of JSON to the file that AUTOPILOT_FAULTS_LOG names."""
    told = {**(counts or {}), **more}
    line = json.dumps({"suite": suite, "seed": seed(), "counts": told, "date": f"{datetime.now(UTC):%Y-%m-%d}"})
    sys.stdout.write(f"{line}\n")
    path = os.environ.get("AUTOPILOT_FAULTS_LOG")
    if full() and path:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        with Path(path).open("a", encoding="utf-8") as log:
            log.write(f"{line}\n")
