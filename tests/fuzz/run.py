"""
Fuzz one target with Atheris, which is no dependency of the project: install it into an environment of its own.

    python -m venv fuzzing && fuzzing/bin/pip install atheris '.[map]' hypothesis pytest
    fuzzing/bin/python tests/fuzz/run.py roadmap -dict=tests/fuzz/words.dict -max_total_time=600 corpus_folder

The corpus folder, the last word, is given the samples of the target first. A small input that takes more than a
second of our own time is a finding, as is anything but a value or an error of ours.
"""

import importlib
import sys
import time
from pathlib import Path

SLOW_SECONDS, SMALL = 1.0, 100_000
TESTS = Path(__file__).parents[1]


def main() -> None:
    atheris = importlib.import_module("atheris")
    sys.path[:0] = [str(TESTS), str(TESTS.parent / "src")]
    with atheris.instrument_imports(include=["autopilot"]):
        targets = importlib.import_module("fuzz.targets").TARGETS
    name = sys.argv.pop(1)
    target = targets[name]
    _sow(name, Path(sys.argv[-1]))

    def timed(data: bytes) -> None:
        started = time.process_time()
        target(data)
        assert len(data) >= SMALL or time.process_time() - started < SLOW_SECONDS, "a small input takes too long"

    atheris.Setup(sys.argv, timed)
    atheris.Fuzz()


def _sow(name: str, corpus: Path) -> None:
    if not corpus.is_dir():
        return
    for number, sample in enumerate(importlib.import_module("fuzz.samples").of_target(name)):
        (corpus / f"sample-{number}").write_bytes(sample)


if __name__ == "__main__":
    main()
