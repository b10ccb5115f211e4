"""What is left of an error without its arguments, so that a loop with varied arguments is still seen as one. Pure."""

import re

ARGUMENT = "_"
_ARGUMENTS = (
    re.compile(r"`[^`\n]*`"),
    re.compile(r'"[^"\n]*"'),
    re.compile(r"(?<!\w)'[^'\n]*'(?!\w)"),
    re.compile(r"[\w.~-]*[/\\][^\s,;)\]]+"),
    re.compile(r"\b[\w-]+\.[a-z]\w{0,4}(?::\d+)*\b"),
    re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{7,}\b"),
)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_SAME_AGAIN = re.compile(r"_(?:[\s,;:=-]*_)+")
_MOST = 2_000


def shape(error: str) -> str:
    """The error in lower case without quoted words, paths, hashes and numbers. The shape of a shape is itself."""
    text, before = error[:_MOST].lower(), ""
    while text != before:
        before, text = text, _plainer(text)
    return text


def _plainer(text: str) -> str:
    for argument in _ARGUMENTS:
        text = argument.sub(ARGUMENT, text)
    text = _NUMBER.sub(ARGUMENT, text)
    return " ".join(_SAME_AGAIN.sub(ARGUMENT, text).split())
