"""A person's verdict at any time: put down so that no crash loses it, taken in by whoever holds the run's lock."""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autopilot.app.run import wind_up
from autopilot.app.run_grant import granted
from autopilot.app.state_writer import ProjectedStreams
from autopilot.app.wiring import cache_folder, kept_of, processes_of, signer_of
from autopilot.domain.errors import RunLocked, UsageInvalid
from autopilot.domain.events import Entry, PhaseLanded, RunFinished, RunStopped
from autopilot.domain.people import WORDS, HumanWord, Inbox, Said
from autopilot.domain.request import VerdictEnd
from autopilot.engine.decide.line import accepted
from autopilot.engine.perform.run_log import Streams
from autopilot.engine.run.settling import settle_run
from autopilot.engine.run.verdicts import waiting_phases
from autopilot.evidence.receipts.signed_files import PhaseReceipts, unsigned
from autopilot.history.record import RunRecord
from autopilot.journal.clock import SystemClock
from autopilot.journal.inbox import FileInbox
from autopilot.journal.lock import RunLock
from autopilot.journal.sqlite import SqliteJournal
from autopilot.planning.roadmap import ids
from autopilot.ports.agents import Listener, Receipts, Workspace
from autopilot.workspace.git_workspace import GitWorkspace, Places

WAITS = 11
# A run looks at what arrived between two steps; one that is just ending frees the lock.
TRIES, PAUSE_S = 5, 0.1
Warn = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Wish:
    """As it was typed."""

    phase: str
    word: str
    issues: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LandingCrew:
    """Implements the engine's `Settler`: nobody here can ask an agent."""

    workspace: Workspace
    receipts: Receipts
    inbox: Inbox


@dataclass(frozen=True, slots=True)
class Kept:
    """An inbox whose words stay until everything they set free is done: cut off before that, it is done again."""

    inbox: Inbox
    heard: list[Said] = field(default_factory=list)

    def waiting(self) -> Sequence[Said]:
        return self.inbox.waiting()

    def remove(self, said: Said) -> None:
        self.heard.append(said)

    def clear(self) -> None:
        for said in self.heard:
            self.inbox.remove(said)


def give(root: Path, wish: Wish, environment: Mapping[str, str], warn: Warn) -> VerdictEnd:
    """Raises `UsageInvalid` for a phase that does not wait. What is put down is never lost, whoever takes it in."""
    word = checked(wish, environment)
    home, phase = root / ".autopilot", ids.normalise(wish.phase)
    run = waits_in(home, phase)
    inbox = FileInbox(home)
    said = inbox.put(run, phase, word, wish.issues)
    for _ in range(TRIES):
        try:
            with RunLock(home, run):
                take_all(root, warn)
            return told(home, said, taken=True)
        except RunLocked:
            time.sleep(PAUSE_S)
        if not inbox.holds(said):
            return told(home, said, taken=True)
    return told(home, said, taken=False)


def checked(wish: Wish, environment: Mapping[str, str]) -> HumanWord:
    if environment.get("AUTOPILOT_CALL"):
        raise UsageInvalid(
            "An agent may not give a verdict.",
            why="A phase waits for a person because no agent's word can settle it.",
            do="Leave it to the person who started the run.",
        )
    word = WORDS.get(wish.word.strip().lower())
    issues = [issue for issue in wish.issues if issue.strip()]
    if word is None:
        why, what = "It has to be clear what becomes of the phase.", f"{wish.word!r} is no verdict."
    elif word == "pass" and issues:
        why, what = "A phase that passes has nothing to mend.", "A pass takes no issues."
    elif word == "issues_found" and not issues:
        why, what = "They are what the next try goes by.", "No issue was named."
    else:
        return word
    raise UsageInvalid(what, why=why, do='Say pass, fail ["text" ...] or issues "text" ["text" ...].')


def waits_in(home: Path, phase: str) -> str:
    """The newest run that has the phase waiting for a person; later runs that did not touch it do not matter."""
    for run in _records(home):
        if any(waiting.phase == phase for waiting in waiting_phases(run)):
            return run.start.run
        if run.passes(phase):
            standing = run.standing(phase)
            done = "completed" if accepted(run, phase) else "not completed" if standing else "being worked on"
            raise _not_waiting(phase, f"it is {done} in {run.start.run}")
    raise _not_waiting(phase, "no run has worked on it")


def _records(home: Path) -> Iterator[RunRecord]:
    """Newest first."""
    path = home / "journal.db"
    if not path.exists():
        return
    journal = SqliteJournal.read_only(path)
    for stream in reversed([stream for stream in journal.streams() if "/" not in stream]):
        yield RunRecord(entries=journal.load(stream))


def _not_waiting(phase: str, why: str) -> UsageInvalid:
    return UsageInvalid(
        f"Phase {phase} does not wait for a verdict: {why}.",
        why="A verdict decides what the gates left open, and nothing is open there.",
        do=f"See autopilot status. To have a completed phase done again: autopilot --force {phase}",
    )


def take_leftovers(root: Path, warn: Warn) -> None:
    """What was said while a run was ending and nobody has taken in since."""
    home = root / ".autopilot"
    if FileInbox(home).waiting():
        with RunLock(home):
            take_all(root, warn)


def deaf(stream: str, entry: Entry) -> None:
    """A listener where nobody watches."""


def take_all(root: Path, warn: Warn, listener: Listener = deaf) -> None:
    """The lock is held. Every word in the inbox reaches its run, and what it sets free is done."""
    home = root / ".autopilot"
    inbox = FileInbox(home)
    with SqliteJournal(home / "journal.db", SystemClock()) as journal:
        runs = [stream for stream in journal.streams() if "/" not in stream]
        for said in inbox.waiting():
            if said.run not in runs:
                warn(f"A verdict on phase {said.phase} is about {said.run}, which is not in the journal: set aside.")
                inbox.remove(said)
        for run in dict.fromkeys(said.run for said in inbox.waiting()):
            # state.json belongs to the newest run; an older one has its archive.
            newest = run == runs[-1]
            streams = ProjectedStreams(home, journal, run, listener) if newest else Streams(journal, run, (listener,))
            kept = Kept(inbox)
            heed(root, streams, kept, warn)
            kept.clear()


def heed(root: Path, streams: Streams, inbox: Inbox, warn: Warn) -> None:
    """As far as it goes without an agent; then the run is left as it was, or as one that can be resumed."""
    before, start = streams.run().end, streams.run().start
    processes, home = processes_of(root), root / ".autopilot"
    workspace = GitWorkspace(Places(root=root, cache=cache_folder()), processes, start.run, os.environ)
    held = kept_of(root, processes).held()
    processes.sweep(start.run, held)
    workspace.recover([paper.cwd for paper in held.values()])
    grant = granted(start, root)
    sign = signer_of(home, processes, warn).sign if grant and grant.settings.sign_receipts else unsigned
    finished = settle_run(LandingCrew(workspace, PhaseReceipts(sign, workspace.blobs), inbox), streams)
    if finished is not None:
        wind_up(home, streams, finished)
    elif isinstance(before, RunStopped):
        streams.append_run(before)
    elif isinstance(before, RunFinished):
        reason = "a person decided; what follows needs an agent"
        streams.append_run(RunStopped(exit_code=WAITS, reason=reason, do="autopilot resume"))


def told(home: Path, said: Said, *, taken: bool) -> VerdictEnd:
    runs: Sequence[RunRecord] = tuple(_records(home))
    run = next(run for run in runs if run.start.run == said.run)
    events = [entry.event for entry in run.entries]
    own = next((n for n, event in enumerate(events) if getattr(event, "id", None) == said.id), len(events))
    landings = [event for event in events[own:] if isinstance(event, PhaseLanded)]
    behind = (t for t in run.start.targets if accepted(run, t) and not run.landed(t))
    open_still = run is runs[0] and (not isinstance(run.end, RunFinished) or run.end.status == "failed")
    return VerdictEnd(
        run=said.run,
        phase=said.phase,
        verdict=said.verdict,
        taken=taken,
        landed=tuple(landing.phase for landing in landings if landing.landed),
        behind=() if said.verdict == "pass" else tuple(behind),
        notes=tuple(f"phase {landing.phase}: {landing.note}" for landing in landings if not landing.landed),
        do="autopilot resume" if taken and open_still else "",
    )
