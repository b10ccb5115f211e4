"""Every hostile agent ends in the state it should, leaves nothing behind, and an honest one finishes what it began."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from autopilot.domain.errors import SandboxUnavailable
from autopilot.domain.events import AgentAnswered, AgentStarted
from autopilot.journal.clock import SystemClock
from autopilot.journal.sqlite import SqliteJournal
from autopilot.sandbox.choose_tier import choose
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.text.times import elapsed
from faults.hostile_agents import HOSTILE, KILLED, Hostile
from support.faults import full, record
from support.letters import fragment
from support.project import honest, plan_answer
from support.repos import git, make_repo, write
from support.runs import playground, roadmap_of

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(sys.platform != "linux", reason="what is left behind is found through /proc"),
]

AGENT = """#!/bin/sh
here=$(dirname "$0")
ROOT={root} PLACE={place} T={token} MUCH={much} FILES={files}
export ROOT PLACE T MUCH FILES here
[ -e "$here/tame" ] || case " {roles} " in *" $AUTOPILOT_ROLE "*)
. "$here/attack.sh"
;; esac
. "$here/answers/$AUTOPILOT_ROLE.sh"
"""
DIRTY = {"notes.txt": "changed, not committed\n", "scratch/idea.txt": "untracked\n"}
# Beyond the time an agent is given: what a run needs besides, on a machine that has other things to do.
PATIENCE_S, GRACE_S = 1500, 600


def _cases() -> Iterator[Any]:
    for hostile in HOSTILE:
        for sandbox in ("auto", "none"):
            fits = not (hostile.walled and sandbox == "none") and not (hostile.open and sandbox == "auto")
            wanted = full() or (hostile.short and sandbox == ("auto" if hostile.walled else "none"))
            if fits and wanted:
                yield pytest.param(hostile, sandbox, id=f"{hostile.name}, sandbox {sandbox}")


@dataclass(frozen=True, slots=True)
class Arena:
    """A project with work of the user's in it, and the agent that is let loose on a clone of it."""

    place: Path
    sandbox: str

    @property
    def root(self) -> Path:
        return self.place / "project"

    def run(self, *words: str) -> tuple[int, dict[str, Any]]:
        """The program itself; its exit code and its last words."""
        env = {**os.environ, "TMPDIR": str(self.place / "tmp"), "AUTOPILOT_CACHE": str(self.place / "cache"),
               "XDG_CONFIG_HOME": str(self.place / "config")}  # fmt: skip
        argv = [sys.executable, "-m", "autopilot", *words, "--json", "--no-keep-awake"]
        done = subprocess.run(
            argv, cwd=self.root, env=env, capture_output=True, text=True, errors="replace", timeout=PATIENCE_S,
            check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert "\033" not in done.stdout + done.stderr
        assert "Traceback" not in done.stderr, done.stderr[-3000:]
        lines = done.stdout.splitlines()
        return done.returncode, json.loads(lines[-1]) if lines else {}

    def left_behind(self) -> list[str]:
        """Processes and files that should be gone."""
        found = [path.name for path in (self.place / "tmp").iterdir()]
        # Of a big project an emptied checkout is kept for the next.
        checkouts = self.place.glob("cache/*/checkouts/*")
        found += [str(path) for path in checkouts if not path.name.startswith("spare-")]
        found += [str(path) for path in (self.root / ".autopilot" / "keep").glob("*")]
        for entry in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                line = entry.read_bytes()
                found += [line.decode(errors="replace")] if _ours(line, self.place) else []
        return found

    def users_own(self) -> dict[str, Any]:
        """The user's files and what git knows of them; an agent's own, which may have landed, are not among them."""
        files = {}
        for name in ("README.md", "todo.txt", *DIRTY):
            found = (self.root / name).lstat()
            files[name] = (found.st_mode, found.st_mtime_ns, (self.root / name).read_bytes())
        kept = {name: (self.root / ".git" / name).read_bytes() for name in ("config", "HEAD")}
        hooks = sorted(path.name for path in (self.root / ".git" / "hooks").iterdir())
        return {
            "files": files, "kept": kept, "hooks": hooks, "stash": git(self.root, "stash", "list"),
            "staged": git(self.root, "diff", "--cached", "--stat", "--", "todo.txt"),
        }  # fmt: skip


def token(place: Path) -> str:
    """Digits by which a program of this project is known, however it calls itself."""
    return str(int.from_bytes(place.name[-6:].encode()))


def _ours(line: bytes, place: Path) -> bool:
    return os.fsencode(place) in line or token(place).encode() in line


@pytest.fixture
def place() -> Iterator[Path]:
    with playground() as folder:
        (folder / "tmp").mkdir()
        yield folder


def arena(place: Path, hostile: Hostile, sandbox: str) -> Arena:
    limits = {"agent_seconds": hostile.seconds, "cooldown_seconds": 0, "wait_minutes": 0.02, "wait_hours": 0.002}
    config = {"workflow": {"research": False}, "limits": limits}
    root = make_repo(
        place / "project",
        {"README.md": "letters\n", "notes.txt": "mine\n", "todo.txt": "a\n", ".planning/ROADMAP.md": roadmap_of("1"),
         ".planning/config.json": json.dumps(config)},
    )  # fmt: skip
    write(root, {**DIRTY, "todo.txt": "b\n"})
    git(root, "add", "todo.txt")
    answers = {a["role"]: a for a in honest() if a.get("phase") in {None, "1"}}
    answers |= {"plan": plan_answer("1", [("letter1.txt", "done")])}
    answers |= {"debug": {**answers["execute"], "role": "debug", "result": {"fixed": True}}}
    much, files = (10**9, 5_000) if full() else (2 * 10**7, 1_000)
    agent = AGENT.format(
        root=root, place=place, token=token(place), much=much, files=files, roles=" ".join(hostile.roles)
    )
    fragments = {f"answers/{role}.sh": fragment(answer, "1") for role, answer in answers.items()}
    write(place / "agent", {"agent.sh": agent, "attack.sh": hostile.script, **fragments})
    return Arena(place, sandbox)


def late(root: Path, seconds: float) -> list[str]:
    """The calls that went on for more than ten seconds beyond the time an agent is given."""
    journal, found = SqliteJournal.read_only(root / ".autopilot" / "journal.db"), list[str]()
    for stream in journal.streams():
        begun = dict[str, str]()
        for entry in journal.load(stream):
            match entry.event:
                case AgentStarted(call=call):
                    begun[call] = entry.at
                case AgentAnswered(call=call) if call in begun and elapsed(begun[call], entry.at) > seconds + GRACE_S:
                    found.append(f"{call}: {elapsed(begun[call], entry.at):.1f} s")
    return found


def assert_unharmed(made: Arena, before: dict[str, Any]) -> None:
    assert made.left_behind() == []
    assert made.users_own() == before
    assert not (made.place / "agent" / "sprung").exists()
    journal = SqliteJournal(made.root / ".autopilot" / "journal.db", SystemClock())
    try:
        assert all(journal.load(stream) for stream in journal.streams())
    finally:
        journal.close()


@pytest.mark.slow
@pytest.mark.parametrize(("hostile", "sandbox"), [*_cases()])
def test_a_hostile_agent_ends_as_it_should_and_harms_nobody(place: Path, hostile: Hostile, sandbox: str) -> None:
    if sandbox == "auto":
        try:
            choose("auto", ChildProcesses())
        except SandboxUnavailable as error:
            pytest.skip(error.what)
    made = arena(place, hostile, sandbox)
    before = made.users_own()
    tier = ["--sandbox", sandbox]

    code, end = made.run("run", "1", "--agent", f"exec:sh {place}/agent/agent.sh", *tier)
    assert code == hostile.ends_with(sandbox), end
    if code != KILLED:
        assert_unharmed(made, before)
    overdue = late(made.root, hostile.seconds)
    assert not (full() and overdue)
    if code == 0:
        assert (made.root / "letter1.txt").read_text(encoding="utf-8").startswith("done 1\n")

    (place / "agent" / "tame").touch()
    if code:
        caps = ["--max-tokens", "9e8"] if code == 20 else []
        assert made.run("resume", "--now", *caps)[0] == 0
        assert_unharmed(made, before)
    record("hostile agents", runs=1, sandboxed=int(sandbox == "auto"), resumed=int(code != 0), late=len(overdue))


def test_there_are_enough_of_them() -> None:
    assert len({hostile.name for hostile in HOSTILE}) >= 40
