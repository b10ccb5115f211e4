"""Ask an auditor, requirement by requirement, whether the work gives what the specification asks for."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec

from autopilot.domain.agent_call import Objection, Question
from autopilot.domain.answers import AuditOpinion
from autopilot.domain.results import Audited, Requirement
from autopilot.history.record import PhaseRecord
from autopilot.policy.audit_gaps import gaps_in, in_scope, missing
from autopilot.ports.agents import Tools
from autopilot.steps.integration import phase_lines
from autopilot.steps.prompt import bullets, render


def run(record: PhaseRecord, tools: Tools) -> Audited:
    scope = in_scope(record)
    question = Question(
        role="audit", prompt=prompt(record, scope), answer=AuditOpinion, objections=partial(objections, scope)
    )
    answered = tools.agents.ask(question)
    return Audited(
        commit=record.commit,
        opinion=answered.value,
        scope=tuple(requirement.id for requirement in scope),
        gaps=gaps_in(answered.value, scope),
        issues=answered.issues,
    )


def prompt(record: PhaseRecord, scope: tuple[Requirement, ...]) -> str:
    """AUDT-02: the specification, the plans and the files; no report about any of them."""
    return render(
        "audit",
        spec=record.start.spec.path,
        phases=phase_lines(record),
        requirements=bullets((f"{r.id} (phase {r.phase}): {r.text}" for r in scope), "- none"),
        scope=re_audit(record, scope),
    )


def re_audit(record: PhaseRecord, scope: tuple[Requirement, ...]) -> str:
    """AUDT-10."""
    if record.find(Audited) is None:
        return ""
    names = ", ".join(requirement.id for requirement in scope)
    return (
        f"\nRE-AUDIT SCOPE: these requirements had gaps, and the gaps were worked on: {names}. Look at these alone and "
        "say of each, with file and line, whether its gap is closed.\n"
    )


def objections(scope: tuple[Requirement, ...], answer: Mapping[str, Any]) -> tuple[Objection, ...]:
    try:
        left_out = missing(msgspec.convert(answer, AuditOpinion, strict=False), scope)
    except msgspec.ValidationError:
        return ()
    if not left_out:
        return ()
    names = ", ".join(left_out)
    return (Objection(reminder=f"Your answer leaves out {names}: look at each.", issue=f"not audited: {names}"),)
