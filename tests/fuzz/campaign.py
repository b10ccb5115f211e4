"""
Fuzz every target for so many minutes, some side by side, and put down what was tried.

    fuzzing/bin/python tests/fuzz/campaign.py --minutes 10 --jobs 2 --log build/fuzz.jsonl [target ...]

The environment is that of `run.py`. A target that the log has already is passed over, so it can be done in pieces. What
a target has learnt and what broke it lie beside the log, in a folder each.
"""

import argparse
import importlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SUITE = "atheris: "
EXECUTED = re.compile(r"^stat::number_of_executed_units:\s*(\d+)$", re.MULTILINE)


def fuzzed(target: str, minutes: float, beside: Path, seed: int) -> dict[str, Any]:
    """One target for that long: minutes by the clock, CPU seconds, executions, and how many inputs broke it."""
    folder = beside / target
    corpus, broken = folder / "corpus", folder / "broken"
    for made in (corpus, broken):
        made.mkdir(parents=True, exist_ok=True)
    words = [f"-dict={HERE / 'words.dict'}", f"-max_total_time={minutes * 60:.0f}", f"-seed={seed}"]
    words += ["-print_final_stats=1", f"-artifact_prefix={broken}/", str(corpus)]
    begun = time.monotonic()
    with (folder / "said").open("w", encoding="utf-8") as said:
        child = subprocess.Popen([sys.executable, str(HERE / "run.py"), target, *words], stdout=said, stderr=said)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    done = EXECUTED.search((folder / "said").read_text(encoding="utf-8", errors="replace"))
    counts = {
        "minutes": round((time.monotonic() - begun) / 60),
        "cpu seconds": round(used.ru_utime + used.ru_stime),
        "executions": int(done[1]) if done else 0,
        "broken": max(len(list(broken.iterdir())), int(child.returncode != 0)),
    }
    return {"suite": f"{SUITE}{target}", "seed": seed, "counts": counts, "date": f"{datetime.now(UTC):%Y-%m-%d}"}


def known(log: Path) -> set[str]:
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return {json.loads(line)["suite"].removeprefix(SUITE) for line in lines}


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Fuzz every target, and put down what was tried.")
    parser.add_argument("targets", nargs="*")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", type=Path, default=Path("build/fuzz.jsonl"))
    options = parser.parse_args(words)
    sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "src")]
    log = options.log.absolute()
    done = known(log)
    left = [t for t in options.targets or importlib.import_module("fuzz.targets").TARGETS if t not in done]
    broken = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for told in pool.map(lambda target: fuzzed(target, options.minutes, log.parent, options.seed), left):
            broken += told["counts"]["broken"]
            sys.stdout.write(f"{json.dumps(told)}\n")
            sys.stdout.flush()
            with log.open("a", encoding="utf-8") as file:
                file.write(f"{json.dumps(told)}\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
