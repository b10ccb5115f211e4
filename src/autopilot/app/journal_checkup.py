"""What `autopilot doctor` says of earlier runs: who holds the lock, what is unfinished, whose state it is."""

from collections.abc import Callable, Iterator
from pathlib import Path

from autopilot.domain.errors import AutopilotError
from autopilot.domain.request import Check
from autopilot.history.record import RunRecord
from autopilot.journal.earlier_runs import Ledger
from autopilot.journal.lock import alive, owner


def run_checks(home: Path, past: Callable[[], Ledger], state: Callable[[], object]) -> Iterator[Check]:
    """`past` and `state` read the journal and state.json, and raise what a run would."""
    try:
        ledger, holder = past(), owner(home)
        state()
    except AutopilotError as error:
        yield Check(level="fail", what="run", found=f"{error.what}: {error.why}", fix=error.do)
        return
    if holder is not None:
        found = f"process {holder.pid} is at work on {holder.run or 'it'}"
        fix = "See what keeps .autopilot/lock open."
        yield Check(level="ok" if alive(holder) else "warn", what="run", found=found, fix=fix)
    elif ledger.resumable and ledger.newest:
        yield _unfinished(ledger.newest)
    else:
        yield Check(level="ok", what="run", found="none is unfinished")


def _unfinished(newest: RunRecord) -> Check:
    how = "was interrupted" if newest.end is None else "did not finish"
    phases = " ".join(newest.start.targets)
    return Check(
        level="warn",
        what="run",
        found=f"{newest.start.run} of phases {phases} {how}",
        fix="Go on with it: autopilot resume",
    )
