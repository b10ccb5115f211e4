"""What every fault suite shares: its short or full form, its seed, and the account of what it went through."""

import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path


def full() -> bool:
    """The whole suite, not the sample that goes with every other test."""
    return os.environ.get("AUTOPILOT_FAULTS") == "full"


def seed() -> int:
    """Chosen by whoever runs the suite, so that what it found can be found again."""
    return int(os.environ.get("AUTOPILOT_FAULTS_SEED", "1"))


def record(suite: str, **counts: int) -> None:
    """Say what the suite went through, and add a line to the log where one is asked for."""
    line = {"suite": suite, "seed": seed(), "full": full(), "counts": counts, "date": datetime.now(UTC).isoformat()}
    sys.stdout.write(json.dumps(line) + "\n")
    if log := os.environ.get("AUTOPILOT_FAULTS_LOG"):
        with Path(log).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
