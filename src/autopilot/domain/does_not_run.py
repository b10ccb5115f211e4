"""Tells a command that does not run on this machine from one that runs and fails. Pure."""

import re
import shlex

from autopilot.domain.evidence import CommandRun

NOT_STARTED = (126, 127)
MOST = 160
# A runner that starts and then does not find the tool it is to run ends with a code of its own.
_RUNNERS: dict[str, re.Pattern[str]] = {
    "make": re.compile(r"\bError 12[67]\b"),
    "uv": re.compile(r"Failed to spawn"),
    "poetry": re.compile(r"[Cc]ommand not found"),
    "pdm": re.compile(r"[Cc]ommand .{1,60} is not found"),
    "cargo": re.compile(
        r"no such (?:sub)?command|rustup could not choose a version|toolchain '[^']+' is not installed"
    ),
    "npx": re.compile(r"could not determine executable to run|npm (?:error|ERR!) code (?:ENOTFOUND|EAI_AGAIN|E404)"),
}


def why_not_run(run: CommandRun) -> str:
    """Why the command does not run: the program's own words where there are any. Empty for one that runs."""
    if run.passed or run.exit_code is None:
        return ""
    if run.exit_code in NOT_STARTED:
        return _said(run.output) or f"exit code {run.exit_code}"
    words = _words(run.command)
    runner = _RUNNERS.get(words[0].rpartition("/")[2]) if words else None
    if runner and (found := runner.search(run.output)):
        return _line(run.output, found.start())
    module = _module(words)
    if module and (found := re.search(rf"No module named '?{re.escape(module)}'?\s*$", run.output, re.MULTILINE)):
        return _line(run.output, found.start())
    return ""


def not_used(run: CommandRun, why: str) -> str:
    """What the user reads about it."""
    return (
        f"The detected {run.check} command `{run.command}` does not run here: {why.rstrip('.')}. "
        f"Its gate is absent: nothing it would show is checked. "
        "Install what it needs, or set another command or null in .planning/config.json."
    )


def fails_already(run: CommandRun) -> str:
    """What the user reads about a command that runs and fails before any work; empty for one that passes."""
    if run.passed:
        return ""
    how = run.not_run or (f"exit code {run.exit_code}" if run.exit_code is not None else "it was cut off")
    return (
        f"The {run.check} command `{run.command}` fails before any work ({how}). "
        f"While it fails, it cannot show whether the work breaks something. "
        "Fix what it reports, or set another command in .planning/config.json."
    )


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return []


def _module(words: list[str]) -> str:
    """`build` of `python -m build`."""
    return words[words.index("-m") + 1] if "-m" in words[:-1] and "python" in " ".join(words[:2]) else ""


def _line(output: str, at: int) -> str:
    return output[output.rfind("\n", 0, at) + 1 :].partition("\n")[0].strip()[:MOST]


def _said(output: str) -> str:
    """The line that names what was not found, else the last one."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    named = (line for line in lines if re.search(r"not found|[Nn]o such file|[Pp]ermission denied", line))
    return next(named, lines[-1] if lines else "")[:MOST]
