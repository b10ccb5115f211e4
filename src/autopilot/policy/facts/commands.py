"""Tells whether a command is one of the project's own gates, however it is written. Pure."""

import re
import shlex

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
