"""What a user touches and where it leads: when traces are needed, and what they say of a criterion (BTRC-01). Pure."""

import re
from collections.abc import Iterable
from typing import Literal

from autopilot.domain.answers import Trace
from autopilot.domain.phase import Criterion
from autopilot.domain.results import Compared, Verified
from autopilot.history.record import PhaseRecord

TRACED = frozenset({"ui", "mixed"})
NOT_TRACED = "Verifier did not perform behavioral traces for UI phase."
# A share of the shorter text's words; below it two texts are about different things.
ALIKE = 0.8
_CONFIRMED = frozenset({"verified", "confirmed", "pass", "passed", "match", "matches", "matched", "yes", "true", "ok"})
_CONTRADICTED = frozenset(
    {"contradicted", "contradicts", "contradiction", "fail", "failed", "mismatch", "no match", "wrong", "incorrect",
     "broken", "unmet", "not met", "no", "false"}
)  # fmt: skip
_TAIL = re.compile(r"\W*\b(?:verified|verify|checked)\s+(?:by|with|via)\b.*", re.IGNORECASE | re.DOTALL)
_FILLING = frozenset({"a", "an", "the", "to", "of", "in", "on", "is", "it", "its", "and", "that", "when", "with"})

Reading = Literal["confirmed", "unconfirmed", "contradicted"]


def behavioural(record: PhaseRecord) -> tuple[Criterion, ...]:
    """The criteria that only reading the code can show, in a phase where somebody touches something."""
    if record.phase.type not in TRACED:
        return ()
    planned = (c for task in (record.plan.tasks if record.plan else ()) for c in task.criteria)
    return tuple({c.text: c for c in (*record.phase.criteria, *planned) if c.behavioural}.values())


def needs_traces(record: PhaseRecord, seen: Verified) -> bool:
    """A ui phase always; a mixed one, which is also what an unknown phase is, where there is something to follow."""
    if record.phase.type == "mixed":
        return bool(seen.handlers or behavioural(record))
    return record.phase.type == "ui"


def untraced(record: PhaseRecord) -> bool:
    """JUDG-06: traces were needed, a verifier was asked, and its table is empty."""
    seen = record.find(Verified)
    return seen is not None and seen.opinion is not None and needs_traces(record, seen) and not traces_of(seen)


def traces_of(seen: Verified | None) -> tuple[Trace, ...]:
    return seen.opinion.behavioral_traces if seen and seen.opinion else ()


def all_traces(record: PhaseRecord) -> tuple[Trace, ...]:
    """
    The verifier's, and of the judge's own those that speak against something.

    What the judge confirms does not make up for a verifier who did not look.
    """
    compared = record.find(Compared)
    against = (t for t in (compared.opinion.retraced if compared else ()) if reading(t) == "contradicted")
    return (*traces_of(record.find(Verified)), *against)


def reading(trace: Trace) -> Reading:
    """A trace confirms only with an action at its end; whatever is neither word is not confirmed."""
    status = " ".join(re.findall(r"[a-z]+", trace.status.casefold()))
    if status in _CONTRADICTED:
        return "contradicted"
    return "confirmed" if status in _CONFIRMED and trace.terminal_action.strip() else "unconfirmed"


def reading_of(criterion: Criterion, traces: Iterable[Trace]) -> Reading:
    """What the traces about the criterion come to; one that speaks against it counts more than any that do not."""
    found = {reading(trace) for trace in traces if about(criterion, trace.criterion_match)}
    if "contradicted" in found:
        return "contradicted"
    return "confirmed" if "confirmed" in found else "unconfirmed"


def about(criterion: Criterion, said: str) -> bool:
    """Whether the words name the criterion: by its id, or by nearly the same words."""
    named = re.search(rf"(?<![\w.-]){re.escape(criterion.id)}(?![\w-])", said, re.IGNORECASE)
    return bool(criterion.id and named) or alike(criterion.text, said)


def alike(one: str, other: str) -> bool:
    shorter, longer = sorted((_words(one), _words(other)), key=len)
    return bool(shorter) and len(shorter & longer) >= ALIKE * len(shorter) and (len(shorter) > 1 or shorter == longer)


def likeness(one: str, other: str) -> float:
    """The share of words that two texts have in common."""
    words, others = _words(one), _words(other)
    return len(words & others) / max(1, len(words | others))


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", _TAIL.sub("", text).casefold())) - _FILLING


def same_trace(one: Trace, other: Trace) -> bool:
    """Whether both follow the same handler, or start at the same line."""
    handler, place = one.handler.strip().casefold(), one.file_line.strip()
    return bool(
        (handler and handler == other.handler.strip().casefold()) or (place and place == other.file_line.strip())
    )
