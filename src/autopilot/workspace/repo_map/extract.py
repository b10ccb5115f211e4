"""One file's text to its outline. Whatever the text is, there is an outline, if only an empty one."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from autopilot.domain.repo_map import Outline
from autopilot.workspace.repo_map import (
    walk_c,
    walk_go,
    walk_java,
    walk_php,
    walk_python,
    walk_ruby,
    walk_rust,
    walk_script,
)
from autopilot.workspace.repo_map.languages import parser_of
from autopilot.workspace.repo_map.sheet import CALL, WORD, Sheet, finished

if TYPE_CHECKING:
    from tree_sitter import Node

WALKS: dict[str, Callable[["Node", Sheet], None]] = {
    "python": walk_python.walk,
    "typescript": walk_script.walk,
    "tsx": walk_script.walk,
    "javascript": walk_script.walk,
    "go": walk_go.walk,
    "rust": walk_rust.walk,
    "java": walk_java.walk,
    "csharp": walk_java.walk,
    "c": walk_c.walk,
    "cpp": walk_c.walk,
    "ruby": walk_ruby.walk,
    "php": walk_php.walk,
}


def outline(grammar: str, source: bytes) -> Outline:
    tree = parser_of(grammar).parse(source)
    root = tree.root_node
    sheet = Sheet(source)
    WALKS[grammar](root, sheet)
    return finished(sheet, root, WORD if grammar == "ruby" else CALL)
