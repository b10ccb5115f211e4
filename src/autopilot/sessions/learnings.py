"""What sessions teach the choice of the next: which sizes worked, and how often the recommended mode was right."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from msgspec import convert
from msgspec.structs import replace

from autopilot.domain.value import Value
from autopilot.sessions.selector import MODES
from autopilot.text.numbers import clamp, measured

ACCURACY = "mode-selector-accuracy"
SIZING = "effective-sizing"
GUIDANCE = "scope-guidance"
START, AGAIN, AGAINST = 0.5, 0.15, -0.20
EXPIRY, HALF_LIFE = timedelta(days=30), timedelta(days=30)
LEAST, MOST = 0.3, 15
WELL_DONE = 0.9
_VERDICT = re.compile(r"^### Human Verdict: Phase (\S+) -- (PASS|FAIL|ISSUES_FOUND) ", re.MULTILINE)


class Learning(Value, frozen=True, kw_only=True):
    id: str
    type: str
    subject: str
    insight: str = ""
    evidence: tuple[str, ...] = ()
    confidence: float = START
    source_session: str = ""
    created_at: str = ""
    expires_at: str = ""
    schema_version: int = 1
    scope: str = "local"
    host_class: str | None = None
    anonymized: bool = False


class Unlearned(Value, frozen=True, kw_only=True):
    """Nothing can be learned from it, and why."""

    reason: Literal["no-recommendation", "unknown-mode", "missing-session-id"]


def accuracy(recommended: str | None, chosen: str, session_id: str, now: datetime) -> Learning | Unlearned:
    """Whether the mode that was recommended is the one that was taken."""
    if not recommended:
        return Unlearned(reason="no-recommendation")
    if recommended not in MODES or chosen not in MODES:
        return Unlearned(reason="unknown-mode")
    if not session_id:
        return Unlearned(reason="missing-session-id")
    subject = f"{recommended}-selected-vs-{chosen}"
    insight = f"User confirmed Mode-Selector recommendation ({recommended})."
    if recommended != chosen:
        insight = f"User chose {chosen} over Mode-Selector recommendation ({recommended})."
    evidence = f"{session_id}: recommended={recommended} chosen={chosen}"
    return _learned(ACCURACY, subject, insight, (session_id, evidence), now)


def sizing(record: Mapping[str, Any], now: datetime) -> Learning | None:
    """A session that finished what it planned says that sessions of its size work; any other says nothing of itself."""
    told = record.get("effectiveness") or {}
    rate, planned = measured(told.get("completion_rate")), measured(told.get("planned_issues"))
    if rate is None or not planned or rate < WELL_DONE:
        return None
    mode, name = str(record["session_type"]), str(record["session_id"])
    subject = f"{mode} sessions of {int(planned)}"
    insight = f"A {mode} session of {int(planned)} finished {rate:.0%} of it."
    return _learned(SIZING, subject, insight, (name, f"{name}: completion_rate={rate:g}"), now)


def doubted(known: Iterable[Learning], record: Mapping[str, Any]) -> Iterator[Learning]:
    """What a session that did not finish what it planned makes less sure: that sessions of its size work."""
    told = record.get("effectiveness") or {}
    rate, planned = measured(told.get("completion_rate")), measured(told.get("planned_issues"))
    if rate is None or not planned or rate >= WELL_DONE:
        return
    subject = f"{record['session_type']} sessions of {int(planned)}"
    for old in newest(known):
        if (old.type, old.subject) == (SIZING, subject):
            yield replace(old, confidence=_moved(old.confidence, AGAINST))


def _learned(kind: str, subject: str, insight: str, source: tuple[str, str], now: datetime) -> Learning:
    session, evidence = source
    return Learning(
        id=f"{kind}-{subject}-{session}",
        type=kind,
        subject=subject,
        insight=insight,
        evidence=(evidence,),
        source_session=session,
        created_at=_iso(now),
        expires_at=_iso(now + EXPIRY),
    )


def added(known: Iterable[Learning], new: Learning) -> Iterator[Learning]:
    """
    What to append when something is learned: it again, surer than before, and what it contradicts, less sure.

    The last line of a subject counts.
    """
    for old in newest(known):
        if old.type != new.type:
            continue
        if old.subject == new.subject:
            evidence = (*old.evidence, *new.evidence)[-10:]
            new = replace(new, confidence=_moved(old.confidence, AGAIN), evidence=evidence)
        elif contradicts(old.subject, new.subject):
            yield replace(old, confidence=_moved(old.confidence, AGAINST))
    yield new


def contradicts(one: str, other: str) -> bool:
    """Two choices for the same recommendation."""
    (first, met, chosen), (second, _, taken) = one.partition("-selected-vs-"), other.partition("-selected-vs-")
    return bool(met) and first == second and chosen != taken


def newest(known: Iterable[Learning]) -> tuple[Learning, ...]:
    return tuple({(learning.type, learning.subject): learning for learning in known}.values())


def understood(lines: Iterable[Any]) -> tuple[Learning, ...]:
    """The lines that are learnings of ours; others are passed over."""
    whole = (line for line in lines if isinstance(line, Mapping) and {"id", "type", "subject"} <= line.keys())
    return tuple(convert(line, Learning, strict=False) for line in whole if _sound(line))


def _sound(line: Mapping[str, Any]) -> bool:
    texts = all(isinstance(line[name], str) for name in ("id", "type", "subject"))
    return texts and measured(line.get("confidence", START)) is not None and isinstance(line.get("evidence", []), list)


def effective(learnings: Iterable[Any], now: datetime) -> tuple[Any, ...]:
    """The surest that still hold; sureness halves in a month, and what has expired is gone."""
    held = [entry for entry in learnings if isinstance(entry, Mapping) and _unexpired(entry, now)]
    sure = [(entry, _decayed(entry, now)) for entry in held]
    kept = sorted((pair for pair in sure if pair[1] > LEAST), key=lambda pair: -pair[1])
    return tuple(entry for entry, _ in kept[:MOST])


def calibrations(learnings_md: str) -> tuple[dict[str, Any], ...]:
    """What people said of phases that were left to them: a pass speaks for going on, anything else for going deep."""
    found = _VERDICT.findall(learnings_md)
    modes = [("feature" if word == "PASS" else "deep", phase) for phase, word in found]
    return tuple(
        {"type": GUIDANCE, "subject": f"{mode}: a person looked at phase {phase}", "confidence": START}
        for mode, phase in modes
    )


def _decayed(entry: Mapping[str, Any], now: datetime) -> float:
    confidence = measured(entry.get("confidence")) or 0.0
    created = _time(entry.get("created_at"))
    age = max(timedelta(0), now - created) if created else timedelta(0)
    halvings = age / HALF_LIFE
    return confidence * math.pow(0.5, halvings)


def _unexpired(entry: Mapping[str, Any], now: datetime) -> bool:
    expires = _time(entry.get("expires_at"))
    return expires is None or expires > now


def _time(text: Any) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _moved(confidence: float, by: float) -> float:
    return round(clamp(confidence + by, 0.0, 1.0), 4)


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
