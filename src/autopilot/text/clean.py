"""Letters that a terminal, an editor or a browser acts upon instead of showing them, and text without these."""

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
