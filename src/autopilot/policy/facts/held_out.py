"""
Criteria of the user's that those who do the work never see as commands: what they cannot prepare for.

Which ones follows from the run and the criteria alone, so that every process of the run chooses the same.
"""

import hashlib
import re
from collections.abc import Iterator

from autopilot.domain.phase import Criterion
from autopilot.domain.results import Triaged
from autopilot.history.record import PhaseRecord

FEWEST = 4
WITHHELD = "(a check that is not shown)"
UNSAID = "NOT-SHOWN"
# A command with an answer of its own in it. One that only starts a script of the project can be read there.
_ASKS_ITSELF = re.compile(r"\||\bgrep\b|\bdiff\b|\bcmp\b|\btest\s|\[\s|[=!]=|\bassert\b")
_WORD = re.compile(r"[^\W_][\w.:%+-]*\w|\d+")
# Plain words and names of files tell nothing about what is asked.
_ORDINARY = re.compile(r"[a-z]+|.{1,2}|[\w.-]+\.[a-z]\w{0,4}")
_INTRODUCED = (
    r"(?P<introduced>(?:\s*[-\u2013\u2014(]{0,3}\s*\b(?:verified|verify|checked)\s+(?:by|with|via)\b\s*:?\s*)?)"
)
# Behind the command stands what it must show: that would tell as much.
_EXPECTED = r"(?:`+(?:[ \t]*\([^()\n]*\))?)?"


def held_out(record: PhaseRecord) -> tuple[Criterion, ...]:
    """
    The share of the phase's runnable criteria that is kept back; none of fewer than four.

    First those that did not hold before the work and carry their own question: the others prove or hide nothing. What
    an earlier pass kept back stays so.
    """
    runnable = [c for c in record.phase.criteria if c.command and not c.behavioural]
    share = record.start.settings.honesty.held_out_share
    if len(runnable) < FEWEST or share <= 0:
        return ()
    if record.brief.held:
        return tuple(c for c in runnable if c.id in record.brief.held)
    held = _holding(record)
    ordered = sorted(runnable, key=lambda c: (c.command in held, not asks_itself(c), _lot(record, c)))
    return tuple(ordered[: max(1, int(len(runnable) * share))])


def asks_itself(criterion: Criterion) -> bool:
    return criterion.expect.form != "exit" or bool(_ASKS_ITSELF.search(criterion.command or ""))


def _holding(record: PhaseRecord) -> frozenset[str]:
    """The commands that were fine before anything was done."""
    triaged = record.find(Triaged)
    return frozenset(run.command for run in triaged.checks if run.passed) if triaged else frozenset()


def _lot(record: PhaseRecord, criterion: Criterion) -> str:
    drawn = "\0".join((record.start.run, record.phase.id, criterion.id, criterion.command or ""))
    return hashlib.sha256(drawn.encode("utf-8", "surrogatepass")).hexdigest()


def veiled(record: PhaseRecord, text: str) -> str:
    """
    The text without the commands that are held out, and without the words that only they have.

    What they are to show stays, in the user's own words.
    """
    text = _without_commands(record, text)
    words = sorted(telling_words(record), key=len, reverse=True)
    if not words:
        return text
    return re.sub(rf"(?<![\w./])(?:{'|'.join(map(re.escape, words))})(?![\w])", UNSAID, text)


def _without_commands(record: PhaseRecord, text: str) -> str:
    for pattern in _patterns(record):
        text = pattern.sub(lambda found: "" if found["introduced"].strip() else WITHHELD, text)
    return text


def telling_words(record: PhaseRecord) -> frozenset[str]:
    """Inputs and answers of held-out commands, as a plan or its tests may repeat them in another shape."""
    held = held_out(record)
    hidden_words = {word for c in held for word in _words(f"{c.command} {c.expect.text}")}
    return frozenset(hidden_words - {word for text in _open_texts(record) for word in _words(text)})


def _words(text: str) -> Iterator[str]:
    return (word for word in _WORD.findall(text) if not _ORDINARY.fullmatch(word))


def _open_texts(record: PhaseRecord) -> Iterator[str]:
    """What everybody may read: the user's words and the commands that are shown."""
    phase, held = record.phase, held_out(record)
    yield from (phase.name, phase.goal, phase.description, record.brief.dir)
    yield from (_without_commands(record, c.text) for c in phase.criteria)
    yield from (c.command for c in phase.criteria if c.command and c not in held)
    yield from (command for _, command in record.start.settings.commands.configured())


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
