"""Whether a Python project's own package is the one in its checkout, and not a copy installed somewhere else."""

import re
import shlex
import tomllib
from configparser import ConfigParser
from configparser import Error as ConfigParserError
from contextlib import suppress
from pathlib import Path
from typing import Any

from autopilot.evidence.safe_read import read_beneath

MOST_BYTES = 1_000_000
MARK = "AUTOPILOT-OWN-PACKAGE:"
# Only looked for, never imported, and by Python's own modules: the checkout is put on the path after they are there.
# What pytest puts on the path comes first, as it would there.
PROBE = (
    "import sys; sys.path.pop(0); import importlib.util as u; sys.path[:0] = [*sys.argv[2:], '']; "
    "s = u.find_spec(sys.argv[1]); "
    f"print('{MARK}' + ((s.origin or next(iter(s.submodule_search_locations or ()), '')) if s else ''))"
)
_VALUE = r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'|&;()<>])+"""
_PYTHONPATH = re.compile(rf"(?<![\w$])PYTHONPATH={_VALUE}")
_CD = re.compile(rf"(?:^|&&|;|\n)\s*cd\s+(?P<to>{_VALUE})(?=\s*(?:&&|;|\n))")
_PYTHON = re.compile(r"(?<![^\s;&|(])[\w./-]*\bpython(?:3(?:\.\d+)?)?(?=\s)")
# Looks at files start no Python.
_LOOK = r"(?:!\s*)?(?:test|\[|grep|egrep|fgrep|cat|ls|diff|cmp|wc|head|tail|sort|cut|echo|true)(?:\s[^|&;$`\n]*)?"
_LOOKS = re.compile(rf"\s*{_LOOK}(?:(?:\|\|?|&&|;|\n)\s*{_LOOK})*")


def probe(folder: str, command: str) -> str | None:
    """
    A command that tells where the other one finds the package; None where there is nothing to ask.

    It looks from the folder, with the interpreter and with the PYTHONPATH that the command itself sets.
    """
    name = _name(folder)
    if name is None or _LOOKS.fullmatch(command):
        return None
    words = (PROBE, re.sub(r"[.-]+", "_", name), *_pytest_paths(folder))
    moves = "".join(f"cd {found['to']} && " for found in _CD.finditer(command))
    path = next((f"{found[0]} " for found in reversed(list(_PYTHONPATH.finditer(command)))), "")
    python = _PYTHON.search(command)
    return f"{moves}{path}{python[0] if python else 'python3'} -c {shlex.join(words)}"


def _name(folder: str) -> str | None:
    name = _table(_toml(folder), "project").get("name")
    return name if isinstance(name, str) and re.fullmatch(r"[A-Za-z][A-Za-z0-9._-]*", name) else None


def _pytest_paths(folder: str) -> tuple[str, ...]:
    """What pytest puts on the path, by the first of its settings files that says so."""
    options = _table(_table(_table(_toml(folder), "tool"), "pytest"), "ini_options")
    paths = options.get("pythonpath", [])
    found = paths.split() if isinstance(paths, str) else [path for path in paths if isinstance(path, str)]
    for file, section in (("pytest.ini", "pytest"), ("tox.ini", "pytest"), ("setup.cfg", "tool:pytest")):
        parser = ConfigParser(interpolation=None, strict=False)
        with suppress(ConfigParserError):
            parser.read_string((read_beneath(folder, file, MOST_BYTES) or b"").decode("utf-8", "replace"))
        found += parser.get(section, "pythonpath", fallback="").split()
    return tuple(found)


def _toml(folder: str) -> dict[str, Any]:
    try:
        return tomllib.loads((read_beneath(folder, "pyproject.toml", MOST_BYTES) or b"").decode())
    except (ValueError, RecursionError):
        return {}


def astray(output: str, folder: str) -> str:
    """Where the package was found, if that is outside the folder; empty when it is inside or nowhere."""
    told = [line.removeprefix(MARK) for line in output.splitlines() if line.startswith(MARK)]
    if not told or not told[-1]:
        return ""
    place, top = Path(folder, told[-1]).resolve(), Path(folder).resolve()
    return "" if place.is_relative_to(top) else str(place)


def refusal(place: str) -> str:
    """Why a command is not run."""
    return (
        f"the project's own package is found at {place}, outside the checkout, so the work would not be what is "
        "tested. Uninstall that copy, or let the command find the sources first: PYTHONPATH=src before it, or "
        '[tool.pytest.ini_options] pythonpath = ["src"] for pytest.'
    )


def _table(data: dict[str, Any], key: str) -> dict[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}
