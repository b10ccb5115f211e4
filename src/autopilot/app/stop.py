"""Stop the run of a repository from outside, end what a killed one has left at work, and end a wait."""

from pathlib import Path

from autopilot.app.ownership import own_home
from autopilot.app.wiring import kept_of, processes_of
from autopilot.history.record import RunRecord
from autopilot.journal.inbox import FileNudge
from autopilot.journal.lock import RunLock, alive, end, owner
from autopilot.journal.sqlite import SqliteJournal
from autopilot.sandbox.keeper.held_calls import KeptProcesses


def stop(root: Path, *, now: bool) -> str:
    """Nothing of the run is at work when this returns, and no call of an agent is held; what was done, in words."""
    home, processes = root / ".autopilot", processes_of(root)
    kept, holder = kept_of(root, processes), owner(home)
    if holder is None or not alive(holder):
        return f"No run is going on here.{_left_at_work(root, kept)}"
    end(holder, now=now)
    processes.sweep(holder.run)
    kept.release_all()
    return f"Stopped {holder.run or 'the run'} (process {holder.pid}). Go on with `autopilot resume`."


def retry(root: Path) -> str:
    """Who waits for an agent is asked to go on at once, and looks for that every second."""
    home = own_home(root)
    holder = owner(home)
    if holder is None or not alive(holder):
        return "No run is going on here. To go on with one and ask at once: autopilot resume --now"
    journal = SqliteJournal.read_only(home / "journal.db")
    streams = [stream for stream in (holder.run, f"asking/{holder.run}") if stream in journal.streams()]
    waits = [wait for s in streams for wait in RunRecord(entries=journal.load(s)).waits if not wait.end]
    if not waits:
        return f"{holder.run or 'The run'} does not wait for an agent."
    FileNudge(home).put(wait.id for wait in waits)
    names = ", ".join(dict.fromkeys(wait.event.backend for wait in waits))
    return f"{holder.run} asks {names} again at once."


def _left_at_work(root: Path, kept: KeptProcesses) -> str:
    """The agents of a run that was killed go on for a while."""
    if not kept.held():
        return ""
    with RunLock(own_home(root)):
        return f" Calls of agents that a killed run had left were ended: {kept.release_all()}."
