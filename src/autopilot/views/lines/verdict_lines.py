"""What became of a person's verdict, in lines."""

from collections.abc import Iterator

from autopilot.domain.request import VerdictEnd
from autopilot.text.text import clean


def lines(end: VerdictEnd) -> Iterator[str]:
    if not end.taken:
        yield f"Recorded: phase {end.phase} {end.verdict}. The run that is going on takes it in at its next step."
        return
    yield f"Phase {end.phase}: human verdict recorded: {end.verdict}."
    if end.landed:
        yield f"Landed on your branch: phase {' '.join(end.landed)}"
    yield from (f"Not on your branch yet: {clean(note, 300)}" for note in end.notes)
    if end.behind:
        yield f"Built upon it, and landed when it is mended: phase {' '.join(end.behind)}"
    if end.do:
        yield f"{'To go on' if end.verdict == 'pass' else 'To mend it'}: {end.do}"
