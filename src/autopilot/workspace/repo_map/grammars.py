"""The parsers of the extra `map`, each imported when the first file of its language is read."""

import warnings
from functools import cache
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from importlib.util import find_spec, module_from_spec, spec_from_loader
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
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
    modules = ("tree_sitter", *dict.fromkeys(module for module, _ in GRAMMARS.values()))
    return next((module for module in modules if find_spec(module) is None), None)


@cache
def parser_of(grammar: str) -> "Parser":
    from tree_sitter import Language, Parser

    module, entry = GRAMMARS[grammar]
    language = Language(getattr(_binding(module), entry)())
    with warnings.catch_warnings():
        # What is to be used instead crashes the process when it stops a parser.
        warnings.simplefilter("ignore", DeprecationWarning)
        return Parser(language, timeout_micros=MOST_MICROSECONDS)


def _binding(module: str) -> ModuleType:
    """The compiled part of a grammar alone: the rest of the package takes longer to import than ten files to parse."""
    spec = find_spec(module)
    for folder in (spec.submodule_search_locations if spec else None) or ():
        for suffix in EXTENSION_SUFFIXES:
            loader = ExtensionFileLoader(f"{module}._binding", f"{folder}/_binding{suffix}")
            own = spec_from_loader(loader.name, loader)
            try:
                found = module_from_spec(own) if own else None
            except ImportError:
                continue
            if found is not None:
                loader.exec_module(found)
                return found
    return import_module(module)
