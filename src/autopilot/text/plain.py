"""Makes printed text safe to show: no terminal control codes, and no more of it than fits."""

import re

from autopilot.text.clean import harmless

SEQUENCES = re.compile(
    r"\x1b\[[0-?]*+[ -/]*+[@-~]"  # colours, cursor movement
    r"|\x1b[\]PX^_][^\x00-\x1f\x7f-\x9f]*+(?:\x07|\x1b\\|\x9c)"  # titles, links, clipboard
    r"|\x9b[0-?]*+[ -/]*+[@-~]"
    r"|\x1b[ -/]*+[0-~]"
)


def plain(text: str) -> str:
    """Only what is meant to be read: control sequences and control characters are gone, lines end in one way."""
    return harmless(SEQUENCES.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


def ending(text: str, limit: int) -> str:
    """The end of the text, as it is what an agent says last that counts."""
    return text if len(text) <= limit else "..." + text[len(text) - limit + 3 :]
