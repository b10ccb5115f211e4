"""The map as `repo-map.json`: one line a fact, and less of it the more there is (RMAP-02, schema 14)."""

from collections.abc import Iterable, Iterator

import msgspec

from autopilot.domain.repo_map import MappedFile, MapSummary
from autopilot.domain.value import Value
from autopilot.workspace.repo_map.languages import PARSED

MOST_LINES = 500
VERSION = 1
# Everything but the files, line by line.
FRAME = 13
# What is left of a file at each stage of the cap; in the last one only its path.
STAGES: tuple[tuple[str, ...], ...] = (
    ("exports", "imports", "functions", "classes", "call_graph"),
    ("exports", "imports", "call_graph"),
    ("exports", "call_graph"),
    (),
)
ONLY_PATHS = len(STAGES) - 1


class Amount(Value, frozen=True, kw_only=True):
    """How much there is to tell: files, those of them that were parsed, and facts by kind."""

    files: int
    parsed: int
    facts: dict[str, int] = {}

    def lines(self, stage: int) -> int:
        kinds = STAGES[stage]
        return FRAME + self.files + self.parsed * len(kinds) + sum(self.facts.get(kind, 0) for kind in kinds)


class Head(Value, frozen=True, kw_only=True):
    generated_at: str
    project_root: str


def stage_for(amount: Amount) -> int:
    """The first stage that fits; the last one is as short as it gets."""
    return next((stage for stage in range(ONLY_PATHS) if amount.lines(stage) <= MOST_LINES), ONLY_PATHS)


def render(head: Head, files: Iterable[MappedFile], summary: MapSummary, stage: int) -> str:
    told = ",\n".join(_file(file, stage) for file in files)
    return "".join(
        (
            "{\n",
            f'  "generated_at": {_json(head.generated_at)},\n',
            f'  "project_root": {_json(head.project_root)},\n',
            f'  "version": {VERSION},\n',
            f'  "size_cap_applied": {_json(stage > 0)},\n',
            '  "files": [\n' if told else '  "files": [',
            told,
            "],\n",
            '  "summary": {\n',
            f'    "total_files": {summary.total_files},\n',
            f'    "languages": {_json(summary.languages)},\n',
            f'    "top_importers": {_json(summary.top_importers)},\n',
            f'    "top_exporters": {_json(summary.top_exporters)}\n',
            "  }\n}\n",
        )
    )


def _file(file: MappedFile, stage: int) -> str:
    if stage == ONLY_PATHS:
        return f'    {{"path": {_json(file.path)}}}'
    start = f'    {{"path": {_json(file.path)}, "language": {_json(file.language)}'
    if file.language not in PARSED:
        return start + "}"
    return start + "".join(_facts(file, kind) for kind in STAGES[stage]) + "}"


def _facts(file: MappedFile, kind: str) -> str:
    return f',\n      "{kind}": [' + ",".join(_lines(getattr(file, kind))) + "]"


def _lines(facts: Iterable[Value]) -> Iterator[str]:
    return (f"\n        {_json(fact)}" for fact in facts)


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
