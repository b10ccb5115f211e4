"""
Fuzz one target with Atheris, which is no dependency of the project: install it into an environment of its own.

    python tests/fuzz/run.py roadmap -dict=tests/fuzz/words.dict -max_total_time=300 corpus_folder
"""

import importlib
import sys
import time
from pathlib import Path

SLOW_SECONDS, SMALL = 2.0, 100_000


def main() -> None:
    atheris = importlib.import_module("atheris")
    sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2] / "src")]
    with atheris.instrument_imports(include=["autopilot.planning"]):
        targets = importlib.import_module("targets").TARGETS
    target = targets[sys.argv.pop(1)]

    def timed(data: bytes) -> None:
        started = time.process_time()
        target(data)
        assert len(data) >= SMALL or time.process_time() - started < SLOW_SECONDS, "a small input takes too long"

    atheris.Setup(sys.argv, timed)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
