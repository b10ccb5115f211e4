"""Which language a file is in, by its name, and which grammar reads it."""

from posixpath import splitext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from autopilot.domain.codemap import Language

SUFFIXES: "dict[str, Language]" = {
    ".py": "python", ".pyi": "python",
    ".ts": "typescript", ".tsx": "typescript", ".mts": "typescript", ".cts": "typescript",
    ".js": "javascript", ".jsx": "javascript", ".mjs": "javascript", ".cjs": "javascript",
    ".go": "go", ".rs": "rust", ".java": "java",
    ".c": "c", ".h": "c",
    ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hh": "cpp", ".hpp": "cpp", ".hxx": "cpp",
    ".cs": "csharp", ".rb": "ruby", ".rake": "ruby", ".php": "php",
    ".md": "markdown", ".markdown": "markdown", ".json": "json",
}  # fmt: skip
PARSED: "frozenset[Language]" = frozenset(
    {"python", "typescript", "javascript", "go", "rust", "java", "c", "cpp", "csharp", "ruby", "php"}
)


def language_of(path: str) -> "Language":
    return SUFFIXES.get(splitext(path)[1].lower(), "other")


def grammar_of(path: str) -> str | None:
    """The name of the grammar for the file; None for one that is only listed."""
    suffix = splitext(path)[1].lower()
    language = SUFFIXES.get(suffix, "other")
    if language not in PARSED:
        return None
    return "tsx" if suffix == ".tsx" else language
