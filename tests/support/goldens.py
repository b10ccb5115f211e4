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
Shorten = Callable[[Mapping[str, str]], Mapping[str, str]]


def renames(table: str) -> list[Rename]:
    rows = (line.split("\t") for line in table.splitlines() if line.strip() and not line.startswith("#"))
    return [(old, new, pattern[0] if pattern else "*") for old, new, *pattern in rows]


def recorded_names(text: str, name: str, table: Iterable[Rename]) -> str:
    """What was made now, with the names it was recorded under: all of them at once, so that names may be exchanged."""
    back = {new: old for old, new, pattern in table if fnmatch(name, pattern)}
    if not back:
        return text
    return re.sub("|".join(map(_whole, sorted(back, key=len, reverse=True))), lambda found: back[found[0]], text)


def ambiguous(text: str, name: str, table: Iterable[Rename]) -> list[str]:
    """New names that the recorded text has already, for something else: with them nothing could be told apart."""
    rows = [(old, new) for old, new, pattern in table if fnmatch(name, pattern)]
    return [new for _, new in rows if new not in dict(rows) and re.search(_whole(new), text)]


def _whole(name: str) -> str:
    """A name that starts or ends with a letter counts as a whole word."""
    first, last = (r"\b" if re.match(r"\w", letter) else "" for letter in (name[0], name[-1]))
    return f"{first}{re.escape(name)}{last}"


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
    check_all({name: text}, lambda path: str(path.relative_to(DATA)) == name, lines, dict)


def check_folder(folder: str, found: Mapping[str, str], shortened: Shorten) -> None:
    """All files of a folder: none may be missing, and none may be new. They are kept as `shortened` makes them."""
    whole = {f"{folder}/{name}": text for name, text in found.items()}
    check_all(whole, lambda path: DATA / folder in path.parents, laid_out, shortened)


def check_all(
    found: Mapping[str, str], ours: Callable[[Path], bool], lines: Callable[[str], list[str]], shortened: Shorten
) -> None:
    held = {str(path.relative_to(DATA)): path for path in DATA.rglob("*") if path.is_file() and ours(path)}
    table = renames(RENAMES.read_text(encoding="utf-8"))
    if WRITES:
        assert not table, f"{RENAMES} must be empty: what is recorded now has the new names"
        write(shortened(found), held)
        pytest.skip("the golden files were written again, nothing was compared")
    kept = {name: path.read_text(encoding="utf-8") for name, path in held.items()}
    clashes = {name: clash for name, text in kept.items() if (clash := ambiguous(text, name, table))}
    assert not clashes, "these new names stand in recordings already; rename a longer text around them"
    now = shortened({recorded_names(n, n, table): recorded_names(text, n, table) for n, text in found.items()})
    shown = [line for name in sorted({*now, *kept}) for line in difference(name, kept.get(name), now.get(name), lines)]
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
