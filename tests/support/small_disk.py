"""A program for a mount namespace of its own: a run on a small disk that fills up in the middle of it."""

import json
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from autopilot.journal.head import read_head
from support.struck_runs import Ended, StruckProject

SIZE = "24m"
CHUNKS = (1 << 20, 4096, 1)


def fill(disk: Path) -> None:
    """Until not a single byte more fits."""
    with (disk / "ballast").open("ab", buffering=0) as file:
        for chunk in CHUNKS:
            with suppress(OSError):
                while True:
                    file.write(bytes(chunk))


def fill_behind(disk: Path, project: StruckProject, entry: int, over: threading.Event) -> None:
    """Wait until the journal has so many entries."""
    path = project.root / ".autopilot" / "journal.head"
    while not over.is_set():
        tip = read_head(path) if path.exists() else None
        if tip is not None and tip.seq >= entry:
            fill(disk)
            return
        time.sleep(0.001)


def filled_run(disk: Path, project: StruckProject, entry: int) -> Ended:
    """What it prints goes to the same disk."""
    over = threading.Event()
    filler = threading.Thread(target=fill_behind, args=(disk, project, entry, over))
    filler.start()
    try:
        with (disk / "printed").open("wb") as out:
            return project.run(out=out.fileno())
    finally:
        over.set()
        filler.join()


def trial(disk: Path, entry: int) -> dict[str, object]:
    project = StruckProject.made(disk / "place")
    ended = filled_run(disk, project, entry)
    full = (disk / "ballast").exists()
    (disk / "ballast").unlink(missing_ok=True)
    wrong = [ended.said] if ended.crashed or (ended.code and not ended.in_three_lines) else []
    if ended.code:
        again = project.go_on()
        wrong += [again.said] if again.code else []
    return {"came": "unmet" if not full else "told" if ended.code else "survived", "wrong": wrong + project.troubles()}


if __name__ == "__main__":
    where, number = Path(sys.argv[1]), int(sys.argv[2])
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "none", str(where)], check=True)
    os.environ["TMPDIR"] = str(where)
    sys.stdout.write(json.dumps(trial(where, number)))
