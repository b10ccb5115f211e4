"""
One line a suite out of what a full run put into AUTOPILOT_FAULTS_LOG, for `last_full_run.jsonl`.

    python tests/faults/sum_up.py faults.log > tests/faults/last_full_run.jsonl
"""

import json
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def summed(lines: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Counts are added up; the seed and the date are those of the last line."""
    suites: dict[str, dict[str, Any]] = {}
    for line in lines:
        told = json.loads(line)
        before = suites.get(told["suite"], {"counts": {}})
        counts = Counter(before["counts"])
        counts.update(told["counts"])
        suites[told["suite"]] = {**told, "counts": dict(counts)}
    return suites


if __name__ == "__main__":
    held = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
    sys.stdout.writelines(f"{json.dumps(suite)}\n" for suite in summed(held).values())
