"""Which language a file is in, and the parser for it. The parsers are the extra `map` and are imported late."""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from autopilot.domain.repo_map import Language

if TYPE_CHECKING:
    from tree_sitter import Parser

SUFFIXES: dict[str, Language] = {
    ".py": "python", ".pyi": "python",
    ".ts": "typescript", ".tsx": "typescript", ".mts": "typescript", ".cts": "typescript",
    ".js": "javascript", ".jsx": "javascript", ".mjs": "javascript", ".cjs": "javascript",
    ".go": "go", ".rs": "rust", ".java": "java",
    ".c": "c", ".h": "c",
    ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hh": "cpp", ".hpp": "cpp", ".hxx": "cpp",
    ".cs": "csharp", ".rb": "ruby", ".rake": "ruby", ".php": "php",
    ".md": "markdown", ".markdown": "markdown", ".json": "json",
}  # fmt: skip
PARSED: frozenset[Language] = frozenset(
    {"python", "typescript", "javascript", "go", "rust", "java", "c", "cpp", "csharp", "ruby", "php"}
)
# The grammar's module, and what gives the grammar in it.
GRAMMARS: dict[str, tuple[str, str]] = {
    "python": ("tree_sitter_python", "language"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "javascript": ("tree_sitter_javascript", "language"),
    "go": ("tree_sitter_go", "language"),
    "rust": ("tree_sitter_rust", "language"),
    "java": ("tree_sitter_java", "language"),
    "c": ("tree_sitter_c", "language"),
    "cpp": ("tree_sitter_cpp", "language"),
    "csharp": ("tree_sitter_c_sharp", "language"),
    "ruby": ("tree_sitter_ruby", "language"),
    "php": ("tree_sitter_php", "language_php"),
}


def language_of(path: str) -> Language:
    return SUFFIXES.get(PurePosixPath(path).suffix.lower(), "other")


def grammar_of(path: str) -> str | None:
    """The name of the grammar for the file; None for one that is only listed."""
    suffix = PurePosixPath(path).suffix.lower()
    language = SUFFIXES.get(suffix, "other")
    if language not in PARSED:
        return None
    return "tsx" if suffix == ".tsx" else language


def missing() -> str | None:
    """The first of the modules that is not installed."""
    modules = ("tree_sitter", *dict.fromkeys(module for module, _ in GRAMMARS.values()))
    return next((module for module in modules if find_spec(module) is None), None)


@cache
def parser_of(grammar: str) -> "Parser":
    from tree_sitter import Language as Grammar
    from tree_sitter import Parser

    module, entry = GRAMMARS[grammar]
    return Parser(Grammar(getattr(import_module(module), entry)()))
