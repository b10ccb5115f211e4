"""What passes between a worker and who asks it."""

from autopilot.domain.value import Value

Texts = list[tuple[str, bytes]]
"""Pairs of a grammar and a text."""
KINDS = 5


class Reading(Value, frozen=True, kw_only=True):
    """An outline as it is kept, and how many facts of each kind are in it."""

    body: bytes = b"{}"
    exports: int = 0
    imports: int = 0
    functions: int = 0
    classes: int = 0
    calls: int = 0


def reading_of(line: bytes) -> Reading | None:
    """None for a line no worker in good health writes."""
    words = line.split(b" ", KINDS)
    counts = words[:KINDS]
    if len(words) <= KINDS or not all(count.isdigit() for count in counts):
        return None
    exports, imports, functions, classes, calls = map(int, counts)
    return Reading(
        body=words[KINDS], exports=exports, imports=imports, functions=functions, classes=classes, calls=calls
    )
