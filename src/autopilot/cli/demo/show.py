"""`autopilot demo`: make the sample project, run all of it, and tell what was caught."""

import hashlib
from collections.abc import Callable, Iterator
from importlib.resources import as_file, files
from pathlib import Path

import msgspec

from autopilot.app import prepare as app
from autopilot.cli import console
from autopilot.cli.demo import sample_project as project
from autopilot.cli.demo.story import commands_run, story
from autopilot.domain.events import Entry
from autopilot.domain.request import RunEnd, RunRequest
from autopilot.domain.settings import Modes, SandboxChoice
from autopilot.ports.agents import Listener

Warn = Callable[[str], None]
CONDEMNED = "5"  # the phase that is meant to fail: a demo in which just that one does has worked
INTRODUCTION = """\
A sample project with a roadmap of six phases, and a coding agent whose answers are written down beforehand.
All else is real: the git repository, the commands, the verdicts. The agent does honest work in phase 1, reports
a success that is none in phase 2, does a middling job in phase 3, overlooks something in phase 4, does harm in
phase 5 and half of what was asked in phase 6. Watch what gets through.
The project: {root}
"""


class Memory:
    """A listener that keeps every entry by stream and passes it on."""

    def __init__(self, listener: Listener) -> None:
        self.listener = listener
        self.streams: dict[str, list[Entry]] = {}

    def __call__(self, stream: str, entry: Entry) -> None:
        self.streams.setdefault(stream, []).append(entry)
        self.listener(stream, entry)


def run(folder: str | None, listener: Listener, warn: Warn) -> tuple[RunEnd, str]:
    """Run the demo in the folder, which must be empty or absent, or in a temporary one that stays."""
    root = project.make(folder)
    app.agree(str(root))  # Autopilot has written all of it itself.
    console.say(INTRODUCTION.format(root=root))
    before, memory = _digest(root), Memory(listener)
    with as_file(files("autopilot.cli.demo") / "agent.toml") as script:
        request = RunRequest(
            folder=str(root), agent=f"scripted:{script}", sandbox=_confinement(), modes=Modes(complete=True)
        )
        end = app.start(request, memory, warn)
    told = "\n".join(account(root, end, memory, untouched=_digest(root) == before))
    as_meant = {phase for phase, end_of in end.phases.items() if end_of.status != "completed"} == {CONDEMNED}
    return (msgspec.structs.replace(end, exit=0) if as_meant else end), told


def account(root: Path, end: RunEnd, memory: Memory, *, untouched: bool) -> Iterator[str]:
    """All of it for the screen; every word about the run is read from its entries, from git or from the disk."""
    passes = {name: entries for name, entries in memory.streams.items() if "/" in name}
    yield "WHAT HAPPENED"
    yield ""
    yield from story(memory.streams.get(end.run, ()), passes)
    ran = commands_run(passes)
    yield f"No pass rests on an agent's word: {ran} commands decided, run by Autopilot itself on checkouts of its own."
    kept = "exactly as you left it" if untouched else "NOT as you left it, which must never happen"
    yield f"Your uncommitted change in {project.DIRTY} is {kept}: agents work in clones, not in your folder."
    yield ""
    yield "COMMITS on your branch, one a task (the caught try and its fix are one); nothing of phase 5 is among them"
    yield from (f"  {line}" for line in project.log(root).splitlines())
    yield ""
    yield f"A run in which a phase failed ends with exit code {end.exit}; `autopilot resume` gives it another try."
    yield ""
    yield "LOOK AROUND"
    yield f"  cd {root}"
    yield f"  {'git log -p':<48} what was made"
    yield f"  {'git show autopilot-diagnostic-phase-5':<48} the work that was refused, kept aside"
    yield f"  {'cat .autopilot/diagnostics/*-postmortem.json':<48} why it was"
    yield f"  {'autopilot status':<48} how the run stands"
    yield f"  {'ls .planning/phases':<48} plan, checks and scorecard of each phase"
    yield f"  {_report(root, end):<48} the run's report as JSON"


def _confinement() -> SandboxChoice | None:
    """On a machine without any sandbox the demo runs its own, harmless commands without one, and says so."""
    if app.has_sandbox():
        return None
    console.say("No sandbox holds on this machine, so this demo runs as with --unsandboxed. See: autopilot doctor\n")
    return "none"


def _report(root: Path, end: RunEnd) -> str:
    archived = root / ".autopilot" / "archive" / f"{end.run}.json"
    return str((archived if archived.exists() else root / ".autopilot" / "state.json").relative_to(root))


def _digest(root: Path) -> str:
    return hashlib.sha256((root / project.DIRTY).read_bytes()).hexdigest()
