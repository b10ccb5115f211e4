"""The repository map: what every file of a commit offers, needs and holds, and where such maps come from."""

from typing import Literal, Protocol

from autopilot.domain.value import Value

Language = Literal[
    "typescript", "javascript", "python", "go", "rust", "java", "c", "cpp", "csharp", "ruby", "php", "markdown", "json",
    "other",
]  # fmt: skip
ExportType = Literal["function", "class", "const", "default", "type", "interface", "enum"]
MAP_PATH = ".autopilot/repo-map.json"
# Agents see only `.planning/` beside the code.
SHOWN_PATH = ".planning/repo-map.json"


class Export(Value, frozen=True, kw_only=True):
    name: str
    type: ExportType
    line: int


class Import(Value, frozen=True, kw_only=True):
    """`names` is `*` where everything is taken, or where the import is decided while the program runs."""

    source: str
    names: tuple[str, ...] = ()
    line: int


class Function(Value, frozen=True, kw_only=True):
    name: str
    params: tuple[str, ...] = ()
    line: int
    returns: str | None = None


class ClassOutline(Value, frozen=True, kw_only=True):
    name: str
    extends: str | None = None
    methods: tuple[str, ...] = ()
    line: int


class Calls(Value, frozen=True, kw_only=True):
    """Who in a file calls whom in the same file; a method is `Class.method`."""

    caller: str
    callees: tuple[str, ...]
    line: int


class Outline(Value, frozen=True, kw_only=True):
    """What can be read from one file's text alone: the same text has the same outline, wherever it lies."""

    exports: tuple[Export, ...] = ()
    imports: tuple[Import, ...] = ()
    functions: tuple[Function, ...] = ()
    classes: tuple[ClassOutline, ...] = ()
    call_graph: tuple[Calls, ...] = ()


class MappedFile(Outline, frozen=True, kw_only=True):
    path: str
    language: Language


class Importer(Value, frozen=True, kw_only=True):
    path: str
    import_count: int


class Exporter(Value, frozen=True, kw_only=True):
    path: str
    export_count: int


class MapSummary(Value, frozen=True, kw_only=True):
    total_files: int
    languages: dict[str, int] = {}
    top_importers: tuple[Importer, ...] = ()
    top_exporters: tuple[Exporter, ...] = ()


class RepoMap(Value, frozen=True, kw_only=True):
    """Every file of one commit, whole: the size cap is for the paper made from it."""

    files: tuple[MappedFile, ...]


class Charted(Value, frozen=True, kw_only=True):
    """What became of the paper: the line to log, and whether a map is there."""

    line: str = ""
    there: bool = False


class Atlas(Protocol):
    """
    Maps of commits. A map is a convenience: whatever goes wrong, none is given, and nothing is raised.
    """

    def at(self, commit: str) -> RepoMap | None:
        """The map of the commit; None when there is none to be had."""
        ...

    def paper(self, commit: str) -> str:
        """The map of the commit as JSON within its size cap; empty when there is none."""
        ...

    def chart(self, commit: str) -> Charted:
        """RMAP-01..04: bring `.autopilot/repo-map.json` to the commit."""
        ...


class NoAtlas:
    """Implements `Atlas` where there are no maps."""

    def at(self, commit: str) -> RepoMap | None:  # noqa: ARG002 - the protocol's signature
        return None

    def paper(self, commit: str) -> str:  # noqa: ARG002 - as above
        return ""

    def chart(self, commit: str) -> Charted:  # noqa: ARG002 - as above
        return Charted()


NO_ATLAS = NoAtlas()
