"""
Compares what a test made with what is committed under tests/data/golden, and shows a difference as a diff.

`AUTOPILOT_GOLDEN=write` writes the committed files again instead. Names that changed on purpose are listed in
tests/golden/renames.tsv: the old text, the new text, and, if the row is not for every file, a pattern of file names.
"""

import difflib
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatch
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
DATA = TESTS / "data" / "golden"
RENAMES = TESTS / "golden" / "renames.tsv"
MOST_LINES = 400
# Read once: a recording clears the environment.
WRITES = os.environ.get("AUTOPILOT_GOLDEN") == "write"
Rename = tuple[str, str, str]


def renames(table: str) -> list[Rename]:
    rows = (line.split("\t") for line in table.splitlines() if line.strip() and not line.startswith("#"))
    return [(old, new, pattern[0] if pattern else "*") for old, new, *pattern in rows]


def renamed(text: str, name: str, table: Iterable[Rename]) -> str:
    """The recorded text with its new names. An old name that starts or ends with a letter counts as a whole word."""
    for old, new, pattern in table:
        if fnmatch(name, pattern):
            ends = [r"\b" if re.match(r"\w", letter) else "" for letter in (old[0], old[-1])]
            text = re.sub(f"{ends[0]}{re.escape(old)}{ends[1]}", lambda _, new=new: new, text)  # type: ignore[misc]
    return text


def plain(text: str) -> list[str]:
    return [*text.split("\n")[:-1], *([f"{last} (no newline here)"] if (last := text.rpartition("\n")[2]) else [])]


def laid_out(text: str) -> list[str]:
    """The same with JSON that is one long line as many short ones."""
    return [row for line in plain(text) for row in _rows(line)]


def _rows(line: str) -> list[str]:
    head, brace, rest = line.partition("{")
    try:
        return [head, *json.dumps(json.loads(brace + rest), indent=1, ensure_ascii=False).splitlines()]
    except ValueError:
        return [line]


def check(name: str, text: str, lines: Callable[[str], list[str]] = plain) -> None:
    """The one file of that name; `lines` lays both texts out so that their diff can be read."""
    check_all({name: text}, lambda path: str(path.relative_to(DATA)) == name, lines)


def check_folder(folder: str, found: Mapping[str, str]) -> None:
    """All files of a folder: none may be missing, and none may be new."""
    check_all(
        {f"{folder}/{name}": text for name, text in found.items()}, lambda path: DATA / folder in path.parents, laid_out
    )


def check_all(found: Mapping[str, str], ours: Callable[[Path], bool], lines: Callable[[str], list[str]]) -> None:
    held = {str(path.relative_to(DATA)): path for path in DATA.rglob("*") if path.is_file() and ours(path)}
    if WRITES:
        write(found, held)
        pytest.skip("the golden files were written again, nothing was compared")
    table = renames(RENAMES.read_text(encoding="utf-8"))
    kept = {name: renamed(path.read_text(encoding="utf-8"), name, table) for name, path in held.items()}
    kept = {renamed(name, name, table): text for name, text in kept.items()}
    shown = [
        line for name in sorted({*found, *kept}) for line in difference(name, kept.get(name), found.get(name), lines)
    ]
    if shown:
        cut = shown[:MOST_LINES] + [f"... and {len(shown) - MOST_LINES} more lines"] * (len(shown) > MOST_LINES)
        pytest.fail("\n".join([*cut, "", "Is it meant? AUTOPILOT_GOLDEN=write records it again."]), pytrace=False)


def difference(name: str, kept: str | None, found: str | None, lines: Callable[[str], list[str]]) -> list[str]:
    before, after = ([] if text is None else lines(text) for text in (kept, found))
    if before == after and None not in {kept, found}:
        return []
    sides = (
        f"recorded: {name}" if kept is not None else "recorded: no such file",
        f"now: {name}" if found is not None else "now: no such file",
    )
    return list(difflib.unified_diff(before, after, *sides, lineterm="", n=2)) or [
        f"{name}: only one side has it, empty"
    ]


def write(found: Mapping[str, str], held: Mapping[str, Path]) -> None:
    for path in held.values():
        path.unlink()
    for name, text in found.items():
        path = DATA / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
