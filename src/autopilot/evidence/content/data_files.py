"""Whether a changed data file can be read as what its name says (PTV-02): JSON, JSON lines, TOML, and tables."""

import csv
import io
import json
import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import PurePosixPath

from autopilot.domain.evidence import Finding
from autopilot.evidence.content.tree_files import TreeFiles

RULE = "PTV-02"
# These are written with comments and trailing commas, and their own programs read them so.
_RELAXED = re.compile(
    r"\.(?:jsonc|json5)$|(?:^|/)\.vscode/|(?:^|/)(?:[tj]sconfig[^/]*|\.eslintrc|devcontainer|turbo|biome|deno|nx)\.json$"
)
_PIECES = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])', re.DOTALL)
_TEMPLATE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}")


class Unreadable(ValueError):
    """The content is not what its name says; the message tells where."""


class Uneven(ValueError):
    """A table whose rows are not of one width: odd, but some programs mean it so."""


def findings(path: str, tree: TreeFiles, claimed: Collection[str]) -> Iterator[Finding]:  # noqa: ARG001 - one signature
    reader = READERS.get(PurePosixPath(path).suffix.lower())
    content = tree.read(path) if reader else None
    if reader is None or content is None:
        return
    try:
        relaxed_or(reader, path)(content)
    except Uneven as odd:
        yield Finding(rule=RULE, where=path, what=str(odd), severity="warning")
    except (ValueError, RecursionError, csv.Error) as error:
        told = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        templated = bool(_TEMPLATE.search(path) or _TEMPLATE.search(content.decode("utf-8", "replace")))
        what = f"cannot be read: {told}" + (" (it looks like a template)" if templated else "")
        yield Finding(rule=RULE, where=path, what=what, severity="warning" if templated else "blocker")


def relaxed_or(reader: Callable[[bytes], None], path: str) -> Callable[[bytes], None]:
    return read_relaxed if reader is read_json and _RELAXED.search(path) else reader


def parse(text: str | bytes, where: str = "") -> None:
    try:
        # A number may be longer than Python reads; what it is does not matter here.
        json.loads(text, parse_int=str)
    except json.JSONDecodeError as error:
        raise Unreadable(f"{where or f'line {error.lineno}'}: {error.msg}") from error


def read_json(content: bytes) -> None:
    parse(content)


def read_relaxed(content: bytes) -> None:
    text = content.decode("utf-8-sig")
    parse(_PIECES.sub(lambda piece: piece[0] if piece[0].startswith('"') else "", text))


def read_lines(content: bytes) -> None:
    for number, line in enumerate(content.decode("utf-8-sig").splitlines(), start=1):
        if line.strip():
            parse(line, f"line {number}")


def read_toml(content: bytes) -> None:
    tomllib.loads(content.decode())


def read_table(content: bytes, delimiter: str = ",") -> None:
    text = content.decode("utf-8-sig")
    width = 0
    for row in (reader := csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)):
        width = width or len(row)
        if row and len(row) != width:
            raise Uneven(f"line {reader.line_num} has {len(row)} columns, the first has {width}")


def read_tabs(content: bytes) -> None:
    read_table(content, "\t")


READERS: Mapping[str, Callable[[bytes], None]] = {
    ".json": read_json,
    ".jsonc": read_json,
    ".json5": read_json,
    ".geojson": read_json,
    ".webmanifest": read_json,
    ".jsonl": read_lines,
    ".ndjson": read_lines,
    ".toml": read_toml,
    ".csv": read_table,
    ".tsv": read_tabs,
}
