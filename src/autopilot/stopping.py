"""Stop the run of a repository from outside, and end what a killed one has left at work."""

from pathlib import Path

from autopilot.hiring import kept_of, processes_of
from autopilot.journal.lock import RunLock, alive, end, owner
from autopilot.sandbox.kept import KeptProcesses


def stop(root: Path, *, now: bool) -> str:
    """Nothing of the run is at work when this returns, and no call of an agent is held; what was done, in words."""
    home, processes = root / ".autopilot", processes_of(root)
    kept, holder = kept_of(root, processes), owner(home)
    if holder is None or not alive(holder):
        return f"No run is going on here.{_left_at_work(home, kept)}"
    end(holder, now=now)
    processes.sweep(holder.run)
    kept.release_all()
    return f"Stopped {holder.run or 'the run'} (process {holder.pid}). Go on with `autopilot resume`."


def _left_at_work(home: Path, kept: KeptProcesses) -> str:
    """The agents of a run that was killed go on for a while."""
    if not kept.held():
        return ""
    with RunLock(home):
        return f" Calls of agents that a killed run had left were ended: {kept.release_all()}."
