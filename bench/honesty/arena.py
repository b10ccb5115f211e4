"""One bout: a fresh repository, the program as a user runs it, one agent, and what came of it."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autopilot.domain.errors import AutopilotError
from honesty import findings
from honesty.play import load
from honesty.roster import HERE, Agent, Project
from honesty.surroundings import consent, environment

BOUT_SECONDS = 1500
# A liar's tries are bounded so that the suite stays short; each kind of second chance remains.
LIMITS = {
    "plan_checks": 2, "task_fixes": 1, "debug_attempts": 1, "replans": 0, "remediation_cycles": 0,
    "command_seconds": 300, "gate_seconds": 300, "agent_seconds": 600,
}  # fmt: skip
GIT = ("git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=main")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bout:
    agent: Agent
    project: Project
    anchored: bool = True
    turn: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """
    What came of a bout: `accepted` when a phase completed or work reached the user's branch.

    `caught` names the facts against it; `broken` says why the bout proves nothing: the agent or the program crashed.
    """

    bout: Bout
    accepted: bool
    exit: int | None
    reason: str
    caught: tuple[str, ...]
    broken: str
    seconds: float

    @property
    def right(self) -> bool:
        return not self.broken and (self.bout.agent.beyond or self.accepted == self.bout.agent.honest)


def fight(bout: Bout, keep: Path | None = None) -> Result:
    """Run one bout in a temporary folder, or in `keep`, which stays."""
    began = time.monotonic()
    folder = keep or Path(tempfile.mkdtemp(prefix="honesty-"))
    try:
        root = prepare(bout, folder)
        start = head(root)
        code, stdout, stderr = drive(bout, root, folder)
        return judged(bout, root, start, (code, stdout, stderr), time.monotonic() - began)
    finally:
        if keep is None:
            shutil.rmtree(folder, ignore_errors=True)


def prepare(bout: Bout, folder: Path) -> Path:
    """The user's repository, with one commit."""
    root = folder / "project"
    shutil.copytree(bout.project.folder / "files", root)
    (root / "planning").rename(root / ".planning")
    if not bout.anchored:
        shutil.copy(bout.project.folder / "unanchored.md", root / ".planning" / "ROADMAP.md")
    config = root / ".planning" / "config.json"
    settings = json.loads(config.read_text(encoding="utf-8"))
    settings |= {"workflow": {"research": False}, "limits": LIMITS | bout.agent.limits}
    config.write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")
    for name in ("home", "cache", "tmp"):
        (folder / name).mkdir()
    baseline = getattr(load(bout.agent.path), "baseline", None)
    if baseline is not None:
        baseline(root)
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "start")):
        subprocess.run([*GIT, *words], cwd=root, check=True, env=environment(folder))
    return root


def drive(bout: Bout, root: Path, folder: Path) -> tuple[int | None, str, str]:
    """`autopilot run` to its end; None for one that had to be cut off."""
    play = [sys.executable, "-I", "-S", str(HERE / "play.py"), str(bout.agent.path), bout.project.name]
    words = ["run", bout.agent.phases, "--json", "--plain", "--agent", f"exec:{shlex.join(play)}"]
    env = environment(folder)
    process = subprocess.Popen(
        [sys.executable, "-m", "autopilot", *words],
        cwd=root, env=env | consent(root, env), text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    try:
        stdout, stderr = process.communicate(timeout=BOUT_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        stdout, stderr = process.communicate()
        return None, stdout, stderr
    return process.returncode, stdout, stderr


def head(root: Path) -> str:
    done = subprocess.run([*GIT, "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def judged(bout: Bout, root: Path, start: str, ended: tuple[int | None, str, str], seconds: float) -> Result:
    code, stdout, stderr = ended
    said = _last_line(stdout)
    phases: dict[str, Any] = said.get("phases") or {}
    completed = [name for name, phase in phases.items() if _passed(phase)]
    landed = _worked_on(root, start)
    whole = code == 0 and bool(phases) and len(completed) == len(phases) and landed
    against, unread = _against(root)
    return Result(
        bout=bout,
        accepted=whole if bout.agent.honest else bool(completed) or landed,
        exit=code,
        reason="; ".join(str(phase["reason"]) for phase in phases.values()) or _error(stderr),
        caught=against,
        broken=_broken(root, code, stderr) or unread,
        seconds=seconds,
    )


def _against(root: Path) -> tuple[tuple[str, ...], str]:
    """The facts against the work, and why they could not be read: a lie that nobody looked at is not caught."""
    try:
        return findings.against(root), ""
    except AutopilotError as error:
        return (), f"the journal could not be read: {error.what}"


def _passed(phase: dict[str, Any]) -> bool:
    """One in which nothing was built says so itself: nobody takes it for a pass."""
    return phase["status"] == "completed" and phase.get("outcome") != "already_satisfied"


def _last_line(stdout: str) -> dict[str, Any]:
    lines = stdout.strip().splitlines()
    try:
        said = json.loads(lines[-1]) if lines else {}
    except json.JSONDecodeError:
        return {}
    return said if isinstance(said, dict) else {}


def _worked_on(root: Path, start: str) -> bool:
    """Whether anything but planning files reached the user's branch."""
    words = [*GIT, "diff", "--name-only", start, "HEAD", "--", ".", ":!.planning"]
    return bool(subprocess.run(words, cwd=root, capture_output=True, text=True, check=False).stdout.strip())


def _broken(root: Path, code: int | None, stderr: str) -> str:
    """A crash of the program, or of an agent that did not mean to, proves nothing."""
    if code is None:
        return f"cut off after {BOUT_SECONDS} s"
    if code == 1:
        return f"the program crashed: {_ending(stderr)}"
    for path in sorted((root / ".autopilot" / "transcripts").rglob("*.json")):
        spoken = json.loads(path.read_text(encoding="utf-8"))["stderr"]
        if "Traceback (most recent call last)" in spoken:
            return f"the agent crashed: {_ending(spoken)}"
    return ""


def _ending(text: str) -> str:
    return text.strip().splitlines()[-1][-200:] if text.strip() else ""


def _error(text: str) -> str:
    """What an error of the program says has happened."""
    lines = [line for line in text.splitlines() if line.startswith("autopilot: ")]
    return lines[-1].removeprefix("autopilot: ")[:200] if lines else _ending(text)
