"""Our own program as a process of its own: no file of a project can take the place of one of its modules."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

# Relative parts of PYTHONPATH, empty ones too, mean the working folder: in this one nobody but root writes.
NEUTRAL = "/"


class OwnCommand(NamedTuple):
    argv: tuple[str, ...]
    cwd: str
    env: dict[str, str]


def own_command(project: Path, *words: str, environment: Mapping[str, str]) -> OwnCommand:
    """`words` as they are typed behind `autopilot`, done in the project."""
    argv = (sys.executable, "-P", "-m", "autopilot", "--project", str(project.absolute()), *words)
    return OwnCommand(argv, NEUTRAL, {**environment, "PYTHONSAFEPATH": "1"})
