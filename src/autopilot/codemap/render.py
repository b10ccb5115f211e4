"""The map as `repo-map.json`: one line a fact, and less of it the more there is (RMAP-02, schema 14)."""

from autopilot.codemap.bare_io import encoded, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from autopilot.codemap.outline import Raw

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


class Tally:
    """How much there is to tell: files by language, those that were read, and facts by kind."""

    __slots__ = ("facts", "languages", "parsed")

    def __init__(self, languages: dict[str, int], parsed: int, facts: dict[str, int]) -> None:
        self.languages, self.parsed, self.facts = languages, parsed, facts

    @property
    def files(self) -> int:
        return sum(self.languages.values())

    def lines(self, stage: int) -> int:
        kinds = STAGES[stage]
        return FRAME + self.files + self.parsed * len(kinds) + sum(self.facts.get(kind, 0) for kind in kinds)


class Summary:
    """What the map ends with; the pairs are paths and how many."""

    __slots__ = ("exporters", "importers", "tally")

    def __init__(self, tally: Tally, importers: "list[tuple[str, int]]", exporters: "list[tuple[str, int]]") -> None:
        self.tally, self.importers, self.exporters = tally, importers, exporters


def stage_for(tally: Tally) -> int:
    """The first stage that fits; the last one is as short as it gets."""
    return next((stage for stage in range(ONLY_PATHS) if tally.lines(stage) <= MOST_LINES), ONLY_PATHS)


def listing(paths: "Iterable[str]") -> str:
    """The files of a map that has only their paths."""
    return ",\n".join([f'    {{"path": {quoted(path)}}}' for path in paths])


def sketched(files: "Iterable[tuple[str, str, Raw | None]]", stage: int) -> str:
    """The files of a map: path, language, and the outline of each that was read."""
    return ",\n".join([_file(path, language, outline, stage) for path, language, outline in files])


def render(head: tuple[str, str], told: str, summary: Summary, stage: int) -> str:
    """`head` is when it was made and the root of the project, `told` what is told of the files."""
    importers = [{"path": path, "import_count": count} for path, count in summary.importers]
    exporters = [{"path": path, "export_count": count} for path, count in summary.exporters]
    return "".join(
        (
            "{\n",
            f'  "generated_at": {encoded(head[0])},\n',
            f'  "project_root": {encoded(head[1])},\n',
            f'  "version": {VERSION},\n',
            f'  "size_cap_applied": {encoded(stage > 0)},\n',
            '  "files": [\n' if told else '  "files": [',
            told,
            "],\n",
            '  "summary": {\n',
            f'    "total_files": {summary.tally.files},\n',
            f'    "languages": {encoded(summary.tally.languages)},\n',
            f'    "top_importers": {encoded(importers)},\n',
            f'    "top_exporters": {encoded(exporters)}\n',
            "  }\n}\n",
        )
    )


def _file(path: str, language: str, outline: "Raw | None", stage: int) -> str:
    start = f'    {{"path": {encoded(path)}, "language": {encoded(language)}'
    if outline is None:
        return start + "}"
    return start + "".join([_facts(kind, outline.get(kind, [])) for kind in STAGES[stage]]) + "}"


def _facts(kind: str, facts: "list[dict[str, object]]") -> str:
    return f',\n      "{kind}": [' + ",".join([f"\n        {encoded(fact)}" for fact in facts]) + "]"
