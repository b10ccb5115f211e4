"""
Criteria of the user's that those who do the work never see as commands: what they cannot prepare for.

Which ones follows from the run and the criteria alone, so that every process of the run chooses the same.
"""

import hashlib
import re

from autopilot.domain.phase import Criterion
from autopilot.domain.record import PhaseRecord

FEWEST = 4
WITHHELD = "(a check that is not shown)"
_INTRODUCED = (
    r"(?P<introduced>(?:\s*[-\u2013\u2014(]{0,3}\s*\b(?:verified|verify|checked)\s+(?:by|with|via)\b\s*:?\s*)?)"
)
# Behind the command stands what it must show: that would tell as much.
_EXPECTED = r"(?:`+(?:[ \t]*\([^()\n]*\))?)?"


def held_out(record: PhaseRecord) -> tuple[Criterion, ...]:
    """The share of the phase's runnable criteria that is kept back; none of fewer than four."""
    runnable = [c for c in record.phase.criteria if c.command and not c.behavioural]
    share = record.start.settings.honesty.held_out_share
    if len(runnable) < FEWEST or share <= 0:
        return ()
    ordered = sorted(runnable, key=lambda criterion: _lot(record, criterion))
    return tuple(ordered[: max(1, int(len(runnable) * share))])


def _lot(record: PhaseRecord, criterion: Criterion) -> str:
    drawn = "\0".join((record.start.run, record.phase.id, criterion.id, criterion.command or ""))
    return hashlib.sha256(drawn.encode("utf-8", "surrogatepass")).hexdigest()


def veiled(record: PhaseRecord, text: str) -> str:
    """The text without the commands that are held out; what they are to show stays, in the user's own words."""
    for pattern in _patterns(record):
        text = pattern.sub(lambda found: "" if found["introduced"].strip() else WITHHELD, text)
    return text


def hidden(record: PhaseRecord, command: str) -> Criterion | None:
    """The held-out criterion the command belongs to."""
    return next((c for c in held_out(record) if c.command == command), None)


def _patterns(record: PhaseRecord) -> list[re.Pattern[str]]:
    """Each command as it may be written: with other spaces, or as several joined by a word."""
    commands = {part for c in held_out(record) for part in (c.command or "", *(c.command or "").split(" && ")) if part}
    longest_first = sorted(commands, key=len, reverse=True)
    return [re.compile(f"{_INTRODUCED}`*{_spelled(command)}{_EXPECTED}") for command in longest_first]


def _spelled(command: str) -> str:
    return r"\s+".join(re.escape(word) for word in command.split())
