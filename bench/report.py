"""How long the HTML report of 300 phases and 100,000 entries takes, beside reading that journal alone (CPU time)."""

import os
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / "tests")]

from autopilot.app import prepare as app  # noqa: E402 - as above
from autopilot.journal.sqlite import SqliteJournal  # noqa: E402 - as above
from support.long_journal import long_run, write_journal  # noqa: E402 - from the tests beside us
from support.repos import make_repo  # noqa: E402 - as above

GOAL_S = 3.0


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        os.environ["XDG_STATE_HOME"] = f"{place}/state"
        root = make_repo(Path(place) / "project", {"a": "a"})
        path = root / ".autopilot" / "journal.db"
        entries = write_journal(path, long_run(300, 100_000))
        before = time.process_time()
        journal = SqliteJournal.read_only(path)
        for stream in journal.streams():
            journal.load(stream)
        read, before = time.process_time() - before, time.process_time()
        page = Path(app.reports(str(root)).page(None, None))
        drawn, size = time.process_time() - before, page.stat().st_size
    print(f"{entries} entries: read {read:.2f} s, drawn {drawn:.2f} s ({drawn / read:.2f}x), {size / 1e6:.1f} MB")
    print(f"goal {GOAL_S:.0f} s  {'ok' if drawn <= GOAL_S else 'MISSED'}")


if __name__ == "__main__":
    main()
