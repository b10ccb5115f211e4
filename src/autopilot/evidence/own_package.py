"""Whether a Python project's own package is the one in its checkout, and not a copy installed somewhere else."""

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

from autopilot.evidence.regular import read_beneath

MOST_BYTES = 1_000_000
MARK = "AUTOPILOT-OWN-PACKAGE:"
# Only looked for, never imported, and by Python's own modules: the checkout is put on the path after they are there.
# What pytest puts on the path comes first, as it would there.
PROBE = (
    "import sys; sys.path.pop(0); import importlib.util as u; sys.path[:0] = [*sys.argv[2:], '']; "
    "s = u.find_spec(sys.argv[1]); "
    f"print('{MARK}' + ((s.origin or next(iter(s.submodule_search_locations or ()), '')) if s else ''))"
)


def probe(folder: str) -> str | None:
    """A command that tells where the package is found; None where no pyproject.toml names one."""
    content = read_beneath(folder, "pyproject.toml", MOST_BYTES)
    try:
        data = tomllib.loads((content or b"").decode())
    except (ValueError, RecursionError):
        return None
    name = _table(data, "project").get("name")
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9._-]*", name):
        return None
    options = _table(_table(_table(data, "tool"), "pytest"), "ini_options")
    paths = options.get("pythonpath", [])
    first = [path for path in ([paths] if isinstance(paths, str) else paths) if isinstance(path, str)]
    words = ("python3", "-c", PROBE, re.sub(r"[.-]+", "_", name), *first)
    return shlex.join(words)


def astray(output: str, folder: str) -> str:
    """Where the package was found, if that is outside the folder; empty when it is inside or nowhere."""
    told = [line.removeprefix(MARK) for line in output.splitlines() if line.startswith(MARK)]
    if not told or not told[-1]:
        return ""
    place, top = Path(folder, told[-1]).resolve(), Path(folder).resolve()
    return "" if place.is_relative_to(top) else str(place)


def refusal(place: str) -> str:
    """What a fact says instead of running."""
    return (
        f"not run: the project's own package is found at {place}, outside the checkout, so the work would not be what "
        "is tested. Uninstall that copy, or let pytest find the sources first: "
        '[tool.pytest.ini_options] pythonpath = ["src"].'
    )


def _table(data: dict[str, Any], key: str) -> dict[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}
