"""The harder look at a phase whose forerunners were scored too much alike: what is asked for and insisted on."""

from collections.abc import Mapping
from typing import Any

from autopilot.domain.agent_call import Objection
from autopilot.history.record import PhaseRecord

LEAST_CONCERNS = 2
INTRODUCTION = "ENHANCED VERIFICATION: the phases before this one were scored almost alike, which raises a doubt."
ASKED = {
    "verify": "Follow every handler of the change to the action it ends in: one row of behavioral_traces each.",
    "judge": f"Name at least {LEAST_CONCERNS} concerns, each about something you saw yourself.",
    "rate": "Rate every criterion from 5.0 and only add: each tenth above it for something you can point to.",
}
FEW_CONCERNS = "Enhanced verification: the judge named {count} of at least 2 concerns."
UNTRACED = "Enhanced verification: no behavioral trace for {handlers}."


def paragraph(record: PhaseRecord, role: str) -> str:
    return f"{INTRODUCTION} {ASKED[role]}\n" if record.brief.enhanced else ""


def few_concerns(record: PhaseRecord, answer: Mapping[str, Any]) -> tuple[Objection, ...]:
    """What is wrong with the judge's answer."""
    named = answer.get("concerns")
    count = len(set(map(str, named))) if isinstance(named, list) else 0
    if not record.brief.enhanced or count >= LEAST_CONCERNS:
        return ()
    issue = FEW_CONCERNS.format(count=count)
    return (Objection(reminder=f"{issue} {ASKED['judge']}", issue=issue),)


def untraced(record: PhaseRecord, handlers: tuple[str, ...], answer: Mapping[str, Any]) -> tuple[Objection, ...]:
    """What is wrong with the verifier's answer: handlers, as `onClick (src/app.tsx)`, that no row of it names."""
    rows = answer.get("behavioral_traces")
    told = " ".join(str(row.get("handler", "")) for row in rows if isinstance(row, Mapping)) if rows else ""
    missing = [handler for handler in handlers if handler.partition(" ")[0] not in told]
    if not record.brief.enhanced or not missing:
        return ()
    issue = UNTRACED.format(handlers=", ".join(missing))
    return (Objection(reminder=f"{issue} {ASKED['verify']}", issue=issue),)
