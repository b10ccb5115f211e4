"""Removes control characters from text that others wrote, and shortens it to fit."""

KEPT = "\n\t"
_RANGES = (
    (0x00, 0x1F), (0x7F, 0x9F),  # C0, delete, C1: colours, titles, the clipboard
    (0x061C, 0x061C), (0x200E, 0x200F), (0x202A, 0x202E), (0x2066, 0x2069),  # text turned around
    (0x2028, 0x2029), (0xFFF9, 0xFFFB), (0xE0000, 0xE007F),  # hidden line ends, notes and tags
)  # fmt: skip
ACTED_UPON = frozenset(chr(code) for low, high in _RANGES for code in range(low, high + 1)) - frozenset(KEPT)
_GONE = {ord(letter): None for letter in ACTED_UPON}


def harmless(text: str) -> str:
    """The text without them, whoever wrote it; lines and tabs stay. The one place this is decided."""
    return text if text.isprintable() else text.translate(_GONE)


_EMOJI, _DINGBATS = ("\U0001f000", "\U00020000"), ("\u2600", "\u27c0")
_PARAMETERS = "0123456789;:<=>?!\"#$%&'()*+,-./ "


def clean(text: str, most: int = 200) -> str:
    """One line without control characters, escape sequences or emoji, at most `most` characters long."""
    if len(text) <= most and text.isascii() and text.isprintable():
        return " ".join(text.split())
    shown = "".join(_fit(letter) for letter in _without_sequences(text[: most * 20]))
    line = " ".join(shown.split())
    return line if len(line) <= most else f"{line[: most - 3].rstrip()}..."


def last_line(text: str, most: int = 120) -> str:
    """The last line that says something: where programs put their verdict."""
    lines = [line for line in text[-4000:].splitlines() if line.strip()]
    return clean(lines[-1], most) if lines else ""


def _without_sequences(text: str) -> str:
    """Drop terminal sequences (`ESC [ parameters letter`) as a whole; a lone ESC goes with the control characters."""
    head, *rest = text.split("\x1b[")
    return head + "".join(part.lstrip(_PARAMETERS)[1:] for part in rest)


def _fit(letter: str) -> str:
    if not letter.isprintable():
        return " "
    return "" if _EMOJI[0] <= letter < _EMOJI[1] or _DINGBATS[0] <= letter < _DINGBATS[1] else letter
