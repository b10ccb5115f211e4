"""What passes between a worker and who asks it."""

from autopilot.domain.value import Value

Texts = list[tuple[str, bytes]]
"""Pairs of a grammar and a text."""


class Reading(Value, frozen=True, kw_only=True):
    """An outline as it is kept, and how many facts of each kind are in it."""

    body: bytes
    exports: int = 0
    imports: int = 0
    functions: int = 0
    classes: int = 0
    calls: int = 0
