"""Whole runs of the program itself, with a real agent in a home of its own and a mind on this machine behind it."""

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Self

import msgspec

from autopilot.domain.errors import SandboxUnavailable
from autopilot.domain.events import AgentAnswered
from autopilot.journal.sqlite import SqliteJournal
from autopilot.sandbox.choose_tier import choose
from autopilot.sandbox.processes.children import ChildProcesses
from support.fake_models.brain import Brain
from support.fake_models.script import Turn
from support.fake_models.server import FakeModels
from support.real_programs import program
from support.set_ups import SET_UPS
from support.trusting import trust

PATIENCE_S = 1500
SYSTEM = "/usr/local/bin:/usr/bin:/bin"
# Roles whose step has another name.
STEPS = {"debug": "fix"}


def till_answers(*phases: str) -> list[dict[str, Any]]:
    """What the demo's agent knows by heart of these phases, and of all; and what a run's end asks about them."""
    text = (files("autopilot.cli.demo") / "agent.toml").read_text(encoding="utf-8")
    known = [answer for answer in tomllib.loads(text)["answer"] if answer.get("phase") in {None, *phases}]
    met = [
        {"requirement_id": f"P{phase}-C{n}", "file_line_evidence": "till/basket.py:1", "status": "pass"}
        for phase in phases
        for n in range(1, 4)
    ]
    audit = {"audit_results": [{"phase_id": phases[0], "requirements_checked": met}]}
    integration = {"pass": True, "evidence": ["till/basket.py:1 -- the command line uses it"]}
    return [*known, {"role": "integration", "result": integration}, {"role": "audit", "result": audit}]


@cache
def confinement() -> str:
    """Bubblewrap where it holds, else none."""
    try:
        return choose("bubblewrap", ChildProcesses()).tier
    except SandboxUnavailable:
        return "none"


@dataclass(frozen=True, slots=True)
class Ended:
    """How the program left, what it said, and its last line as it is for programs."""

    exit: int
    told: str
    end: dict[str, Any]


@dataclass
class RealRun:
    """A project, a user whose home has nothing but this agent's settings, and the mind the agent asks."""

    agent: str
    root: Path
    brain: Brain
    variables: Mapping[str, str] = field(default_factory=dict)
    input_tokens: int | None = None
    """What the service says each turn read; None: what the mind says."""

    def __post_init__(self) -> None:
        self.real = program(self.agent.partition(":")[0])
        self.brain.over = self.was_called
        for name in ("home", "scratch"):
            (self.place / name).mkdir()

    def __enter__(self) -> Self:
        self.models = FakeModels(mind=self.think).__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.models.__exit__(*error)

    def think(self, body: dict[str, Any]) -> Turn:
        turn = self.brain(body)
        return turn if self.input_tokens is None else msgspec.structs.replace(turn, input_tokens=self.input_tokens)

    @property
    def place(self) -> Path:
        return self.root.parent

    def start(self, phases: str) -> Ended:
        trust(self.root)
        return self.ask(*self.words(phases))

    def resume(self) -> Ended:
        return self.ask("resume", "--now", "--json", "--no-keep-awake")

    def ask(self, *words: str) -> Ended:
        with self.begun(*words) as run:
            return self.ended(run)

    def words(self, phases: str) -> tuple[str, ...]:
        model = SET_UPS[self.agent].model
        chosen = ("--agent", self.agent, "--reviewer", self.agent, *(("--model", model) if model else ()))
        return ("run", phases, *chosen, "--sandbox", confinement(), *self.service, "--json", "--no-keep-awake")

    @property
    def service(self) -> tuple[str, ...]:
        """Some programs are told of the service by files of theirs, so the user lists it."""
        return ("--allow-host", self.models.url.removeprefix("http://"))

    @contextmanager
    def begun(self, *words: str) -> Iterator["subprocess.Popen[str]"]:
        """The program at work. However the test ends, it is gone afterwards."""
        argv = [sys.executable, "-m", "autopilot", *words]
        pipe, env = subprocess.PIPE, self.environment()
        with subprocess.Popen(argv, cwd=self.root, env=env, stdout=pipe, stderr=subprocess.STDOUT, text=True) as run:
            try:
                yield run
            finally:
                run.kill()

    @staticmethod
    def ended(run: "subprocess.Popen[str]") -> Ended:
        told, _ = run.communicate(timeout=PATIENCE_S)
        last = told.strip().rpartition("\n")[2]
        return Ended(run.returncode, told, json.loads(last) if last.startswith("{") else {})

    def environment(self) -> dict[str, str]:
        own = SET_UPS[self.agent].furnish(self.place / "home", self.models.url)
        (self.place / "config").mkdir(exist_ok=True)
        carry = json.dumps(SET_UPS[self.agent].carry)
        (self.place / "config/config.toml").write_text(f"[agents.{self.agent}]\ncarry = {carry}\n")
        folders = (str(Path(self.real).parent), SYSTEM, str(Path(sys.executable).parent))
        given = {
            "PATH": os.pathsep.join(folders),
            "HOME": str(self.place / "home"),
            "TMPDIR": str(self.place / "scratch"),
            "AUTOPILOT_CACHE": str(self.place / "cache"),
            "XDG_STATE_HOME": os.environ.get("XDG_STATE_HOME", ""),
            "AUTOPILOT_CONFIG": str(self.place / "config"),
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            **own,
            **self.variables,
        }
        return {name: value for name, value in given.items() if value}

    def was_called(self, role: str) -> bool:
        """Whether the first call of the role is over, whatever came of it."""
        return any((self.root / ".autopilot/transcripts").glob(f"*/*/{STEPS.get(role, role)}/1.json"))

    def answers(self) -> Iterator[AgentAnswered]:
        journal = SqliteJournal.read_only(self.root / ".autopilot/journal.db")
        for stream in journal.streams():
            for entry in journal.load(stream):
                if isinstance(entry.event, AgentAnswered):
                    yield entry.event

    def outcomes(self) -> dict[str, list[str]]:
        """How the calls of each role ended, in order."""
        found: dict[str, list[str]] = {}
        for event in self.answers():
            found.setdefault(event.role, []).append(event.outcome)
        return found

    def told_until(self) -> list[str]:
        """When the used-up windows open again, as the agent's program said it."""
        return [event.resets_at for event in self.answers() if event.resets_at]

    def left(self) -> list[str]:
        """Processes that know of this place, calls still held, and what lies in the folder for temporary files."""
        held = (path.name for path in (self.root / ".autopilot/keep").glob("*"))
        # Without a sandbox a program keeps files of its own there.
        pattern = "autopilot-*" if confinement() == "none" else "*"
        return [*processes_about(self.place), *held, *(path.name for path in (self.place / "scratch").glob(pattern))]


def processes_about(place: Path) -> list[str]:
    """Those whose command line or environment names the place."""
    name, found = str(place).encode(), []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if name in (folder / "cmdline").read_bytes() + (folder / "environ").read_bytes():
                found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[:200])
        except OSError:
            continue
    return found
