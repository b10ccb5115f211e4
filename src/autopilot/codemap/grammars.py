"""The parsers of the extra `map`, each imported when the first file of its language is read."""

import sys
from functools import cache
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, ModuleSpec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from tree_sitter import Parser

# For one file: some text makes a parser try for minutes.
MOST_MICROSECONDS = 2_000_000
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


def missing() -> str | None:
    """The first of the modules that is not installed."""
    from importlib.util import find_spec

    modules = ("tree_sitter", *dict.fromkeys(module for module, _ in GRAMMARS.values()))
    return next((module for module in modules if find_spec(module) is None), None)


@cache
def parser_of(grammar: str) -> "Parser":
    module, entry = GRAMMARS[grammar]
    core = _binding("tree_sitter")
    language = core.Language(getattr(_binding(module), entry)())
    # What is to be used instead of the time limit crashes the process when it stops a parser. Where nobody has loaded
    # `warnings`, nobody wants to hear of it.
    warnings = sys.modules.get("warnings")
    if warnings is None:
        return _limited(core, language)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return _limited(core, language)


def _limited(core: "ModuleType", language: object) -> "Parser":
    made: Parser = core.Parser(language, timeout_micros=MOST_MICROSECONDS)
    return made


def _binding(package: str) -> "ModuleType":
    """The compiled part of a package alone: the rest of it takes longer to import than ten files to parse."""
    name = f"{package}._binding"
    if name in sys.modules:
        return sys.modules[name]
    for folder in sys.path:
        for suffix in EXTENSION_SUFFIXES:
            loader = ExtensionFileLoader(name, f"{folder}/{package}/_binding{suffix}")
            spec = ModuleSpec(name, loader, origin=loader.path)
            try:
                found = loader.create_module(spec)
            except ImportError:
                continue
            if found is not None:
                loader.exec_module(found)
                return found
    return import_module(package)
