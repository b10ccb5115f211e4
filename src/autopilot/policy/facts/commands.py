"""Tells whether a command is one of the project's own gates, however it is written. Pure."""

import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping

from autopilot.domain.evidence import CommandRun
from autopilot.domain.results import Executed, Fixed, Verified
from autopilot.domain.settings import Commands

_JOINED = re.compile(r"&&|\|\||;|\n")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_REDIRECTION = re.compile(r"\d*(?:>>?|<)&?\d*")
_PYTHON = re.compile(r"(?:.*/)?python[\d.]*")
_WRAPPERS = (("uv", "run"), ("poetry", "run"), ("pipenv", "run"), ("pdm", "run"), ("hatch", "run"), ("npx",), ("env",))
_SCRIPTS = frozenset({"npm", "pnpm", "yarn", "bun"})


def is_gate(command: str, commands: Commands) -> bool:
    """
    Whether every part of the command is a gate: then it shows what the gates show, and no more.

    The program of a gate without a word on what it works on is the whole of it: `pytest` where the gate is
    `pytest tests`. One that names a test of its own is more than a gate.
    """
    gates = [part for _, gate in commands.configured() for part in _parts(gate)]
    parts = _parts(command)
    return bool(parts) and all(any(gate[: len(part)] == part for gate in gates) for part in parts)


def _parts(command: str) -> tuple[tuple[str, ...], ...]:
    return tuple(words for part in _JOINED.split(command) if (words := _bare(part)))


def _bare(part: str) -> tuple[str, ...]:
    """The program and what it works on; how loud it is, and by which wrapper it starts, does not matter."""
    try:
        words = shlex.split(part)
    except ValueError:
        return (" ".join(part.split()),)
    words = list(_unwrapped(_without_redirections(words)))
    if not words or words[:1] == ["cd"]:
        return ()
    if _PYTHON.fullmatch(words[0]):
        words = words[2:] if words[1:2] == ["-m"] else ["python", *words[1:]]
    if words[:1] and words[0] in _SCRIPTS and words[1:2] == ["run"]:
        words = [words[0], *words[2:]]
    if words[:2] == ["unittest", "discover"]:
        words = ["unittest", *words[2:]]
    return tuple(word for word in words if not word.startswith("-") and word not in {".", "./"})


def _without_redirections(words: list[str]) -> list[str]:
    kept = list[str]()
    skip = False
    for word in words:
        if skip:
            skip = False
        elif found := _REDIRECTION.match(word):
            skip = found[0] == word and not word[-1].isdigit()
        else:
            kept.append(word)
    return kept


def _unwrapped(words: list[str]) -> list[str]:
    while words and _ASSIGNMENT.fullmatch(words[0]):
        words = words[1:]
    for wrapper in _WRAPPERS:
        if tuple(words[: len(wrapper)]) == wrapper:
            return _unwrapped(words[len(wrapper) :])
    return words


NOT_STARTED = (126, 127)
MOST, MOST_LINES = 160, 8
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

# What programs print when a package or a tool is missing, or when they would fetch it and there is no network.
_LACKING = re.compile(
    r"No module named|Cannot find (?:module|package)|ERR_MODULE_NOT_FOUND|cannot find package"
    r"|[Cc]ommand not found|\bsh: (?:line )?(?:\d+: )?\S+: not found|Failed to (?:spawn|fetch|download)"
    r"|failed to lookup address|failure in name resolution|Could not resolve|ENOTFOUND|EAI_AGAIN"
)


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


def gate_missing(name: str, unused: Collection[str]) -> str:
    """EXEC-C0: why the gate of that name is not run; `unused` are the commands that do not run here."""
    if name in unused:
        return f"{name.title()} command does not run here -- {name} gate absent."
    return f"{name.title()} command not configured -- {name} gate skipped."


def lacks_something(run: CommandRun) -> bool:
    """Whether a command that failed printed what programs print when a package or a tool is missing."""
    return not run.passed and (run.exit_code in NOT_STARTED or bool(_LACKING.search(run.output)))


def first_results(
    runs: Iterable[CommandRun], unused: Mapping[str, str], setup: str
) -> Iterator[tuple[CommandRun, str]]:
    """
    What the user reads of commands that were run before any work and did not pass.

    `unused` says why commands do not run here. `setup` is a set-up command that fits the project, empty for none: it is
    suggested once, where the output looks as if something is not installed.
    """
    hint = suggestion(setup) if setup else ""
    for run in runs:
        own = hint if lacks_something(run) else ""
        told = not_used(run, unused[run.check], own) if run.check in unused else fails_already(run, own)
        if told:
            yield run, told
            hint = "" if own else hint


def suggestion(setup: str) -> str:
    return (
        " If something is not installed: commands run in a clean copy without a network, so let a set-up command "
        f'install it, in .planning/config.json: "workspace": {{"setup": "{setup}"}}.'
    )


def not_used(run: CommandRun, why: str, hint: str = "") -> str:
    """What the user reads about it."""
    return (
        f"The detected {run.check} command `{run.command}` does not run here: {why.rstrip('.')}. "
        f"Its gate is absent: nothing it would show is checked. "
        f"Install what it needs, or set another command or null in .planning/config.json.{hint}"
    )


def fails_already(run: CommandRun, hint: str = "") -> str:
    """What the user reads about a command that runs and fails before any work; empty for one that passes."""
    if run.passed:
        return ""
    how = run.not_run or (f"exit code {run.exit_code}" if run.exit_code is not None else "it was cut off")
    return (
        f"The {run.check} command `{run.command}` fails before any work ({how}). "
        f"While it fails, it cannot show whether the work breaks something. "
        f"Fix what it reports, or set another command in .planning/config.json.{hint}{_end(run.output)}"
    )


def _end(output: str) -> str:
    lines = [f"    {line.strip()[:MOST]}" for line in output.splitlines() if line.strip()][-MOST_LINES:]
    return "\n".join((" Its output ends with:", *lines)) if lines else ""


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


SHORT = 8


def last_runs(results: Iterable[object]) -> dict[str, CommandRun]:
    """By command; `results` are those of finished steps, oldest first."""
    return {run.command: run for result in results for run in _runs(result)}


def told(command: str, known: dict[str, CommandRun], tree: str) -> str:
    """In a few words, with the tree it was run on: another one may end otherwise."""
    run = known.get(command)
    if run is None:
        return "not tried"
    how = "passed" if run.passed else run.ended
    return f"{how} on {'this tree' if run.tree == tree else 'an earlier tree'} ({run.tree[:SHORT]})"


def _runs(result: object) -> Iterator[CommandRun]:
    match result:
        case Executed(work=work) | Fixed(work=work):
            yield from (*work.before, *work.gates_before, *work.after, *work.gates_after)
        case Verified(checks=checks, gates=gates):
            yield from (*checks, *gates)
