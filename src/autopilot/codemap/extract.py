"""One file's text to its outline. Whatever the text is, there is an outline, if only an empty one."""

from autopilot.codemap.outline import CALL, WORD, Raw, Sheet, called_in, finished

# The module with the `walk` for a grammar, imported with the first file that needs it.
WALKS = {
    "python": "python",
    "typescript": "javascript",
    "tsx": "javascript",
    "javascript": "javascript",
    "go": "go",
    "rust": "rust",
    "java": "java",
    "csharp": "java",
    "c": "c",
    "cpp": "c",
    "ruby": "ruby",
    "php": "php",
}


def outline(grammar: str, source: bytes) -> Raw:
    """The fields of `Outline`, plain."""
    quick = _by_lines(grammar, source)
    return parsed(grammar, source) if quick is None else quick


def _by_lines(grammar: str, source: bytes) -> Raw | None:
    """None where they do not tell enough."""
    if grammar == "python":
        from autopilot.codemap.walkers import python_lines as lex_python

        return lex_python.read(source)
    if grammar == "go":
        from autopilot.codemap.walkers import go_lines as lex_go

        return lex_go.read(source)
    return None


def parsed(grammar: str, source: bytes) -> Raw:
    from importlib import import_module

    from autopilot.codemap.grammars import parser_of

    parser, sheet = parser_of(grammar), Sheet(source)
    try:
        root = parser.parse(source).root_node
    except ValueError:
        # The time was up.
        parser.reset()
        return finished(sheet, lambda _start, _end: False)
    import_module(f"autopilot.codemap.walkers.{WALKS[grammar]}").walk(root, sheet)
    return finished(sheet, called_in(root), WORD if grammar == "ruby" else CALL)
