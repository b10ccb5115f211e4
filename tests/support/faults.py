"""How the fault suites are run: short with every change, in full on demand, and where the numbers of a full run go."""

import json
import os
import random
import sys
from datetime import UTC, datetime
from functools import cache
from pathlib import Path


def full() -> bool:
    return os.environ.get("AUTOPILOT_FAULTS") == "full"


@cache
def seed() -> int:
    """The same in all processes of a test run; `AUTOPILOT_FAULTS_SEED` repeats one. The short form always has 1."""
    said = os.environ.get("AUTOPILOT_FAULTS_SEED")
    if said:
        return int(said)
    together = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    dice = random.Random(together) if together else random.SystemRandom()
    return dice.randrange(10**6) if full() else 1


def record(suite: str, **counts: int) -> None:
    """Tell what was tried, and in a full run add it to the file that AUTOPILOT_FAULTS_LOG names."""
    line = {"suite": suite, "seed": seed(), "counts": counts, "date": f"{datetime.now(UTC):%Y-%m-%d}"}
    text = json.dumps(line)
    sys.stdout.write(f"{text}\n")
    place = os.environ.get("AUTOPILOT_FAULTS_LOG")
    if full() and place:
        with Path(place).open("a", encoding="utf-8") as file:
            file.write(f"{text}\n")
