"""Worked cases of the session loop, from the folder beside the project; without it the tests over them are skipped."""

import json
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2].parent / "shared" / "vectors"
ABSENT = "the folder with worked cases is not beside the project"


def section(file: str, name: str) -> Any:
    """A whole section; an empty list where the folder is absent."""
    path = FOLDER / f"{file}.json"
    return json.loads(path.read_text(encoding="utf-8"))[name] if path.is_file() else []


def cases(file: str, name: str) -> list[Any]:
    """One parameter a case, named as it is named there; one that skips where the folder is absent."""
    found = section(file, name)
    if not found:
        return [pytest.param(None, marks=pytest.mark.skip(reason=ABSENT), id="absent")]
    return [pytest.param(case, id=_name(place, case)) for place, case in enumerate(found)]


def _name(place: int, case: Any) -> str:
    named = case.get("name") if isinstance(case, dict) else None
    return f"{place} {named}" if named else str(place)
