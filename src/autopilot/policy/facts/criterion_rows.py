"""Finds the criteria in prose that a reviewer's rows leave out: nothing but a reviewer looks at these. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence

from autopilot.domain.agent_call import Objection
from autopilot.domain.phase import Criterion
from autopilot.history.record import PhaseRecord
from autopilot.policy.facts.behavior_traces import about, likeness

UNSEEN = "not met: no reviewer looked at it"
_NUMBER = re.compile(
    r"\W{0,9}(?:(?:criterion|criteria|sc|c|no)\W{0,3}(?P<named>\d{1,3})\b|(?P<listed>\d{1,3})(?:[.):](?:\s|$)|\s*$))",
    re.IGNORECASE,
)


def left_out(asked: Sequence[Criterion], needed: Iterable[Criterion], rows: Sequence[str]) -> tuple[str, ...]:
    """
    The needed criteria in prose without a row of their own, in their words. A command decides the other criteria.

    `asked` are all criteria in the order in which the reviewer read them. A row speaks for one criterion only, the one
    whose words are closest: it does not also cover another that sounds like it.
    """
    pairs = (
        (closeness(criterion, at + 1, row), at, n) for at, criterion in enumerate(asked) for n, row in enumerate(rows)
    )
    covered, used = set[int](), set[int]()
    for close, at, n in sorted(pairs, key=lambda pair: -pair[0]):
        if close and at not in covered and n not in used:
            covered.add(at)
            used.add(n)
    seen = {asked[at].text for at in covered}
    return tuple(dict.fromkeys(c.text for c in needed if not c.command and c.text not in seen))


def closeness(criterion: Criterion, place: int, row: str) -> float:
    """How surely the row is about the criterion, 0 if it is not: by its words, its id, or its place in the list."""
    named = about(criterion, row) or numbered(row) == place
    return max(likeness(criterion.text, row), 0.01) if named else 0.0


def numbered(row: str) -> int | None:
    found = _NUMBER.match(row)
    return int(found["named"] or found["listed"]) if found else None


def texts(rows: object, name: str = "criterion") -> tuple[str, ...]:
    """The criteria that the rows of an answer name, as they came."""
    given = rows if isinstance(rows, list) else []
    return tuple(str(row.get(name) or "") for row in given if isinstance(row, Mapping))


def own(record: PhaseRecord) -> tuple[Criterion, ...]:
    """What the user says must hold without a command for it: roadmap, requirements, and the user's plan files."""
    return (*(c for c in record.phase.criteria if not c.command), *truths(record))


def truths(record: PhaseRecord) -> tuple[Criterion, ...]:
    parts = record.plan.parts if record.plan else ()
    return tuple(Criterion(id="", text=truth) for part in parts for truth in part.must_haves.truths)


def unseen(missing: Sequence[str]) -> str:
    return f"{UNSEEN}: {'; '.join(missing)}"


def objections(field: str, missing: Sequence[str]) -> tuple[Objection, ...]:
    if not missing:
        return ()
    told = f"{field} has no row for these criteria: {'; '.join(missing)}."
    return (Objection(reminder=f"{told} Answer again, with a row for each in its own words.", issue=told),)
