"""How much of the fault regime is wanted, from which seed, and where its counts are written."""

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path


def full() -> bool:
    """Whether the whole regime is asked for, as `make faults` does, or its short form."""
    return os.environ.get("AUTOPILOT_FAULTS") == "full"


def seed() -> int:
    """The source of every random choice: the same number makes the same choices."""
    return int(os.environ.get("AUTOPILOT_FAULTS_SEED", "1"))


def record(suite: str, counts: Mapping[str, int]) -> None:
    """Tell what was done, and append it as a line of JSON to the file that AUTOPILOT_FAULTS_LOG names."""
    line = json.dumps({"suite": suite, "seed": seed(), "counts": dict(counts), "date": datetime.now(UTC).isoformat()})
    print(line)  # noqa: T201 - pytest shows it with -s, and a failing test does so always
    path = os.environ.get("AUTOPILOT_FAULTS_LOG")
    if path:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        with Path(path).open("a", encoding="utf-8") as log:
            log.write(f"{line}\n")
