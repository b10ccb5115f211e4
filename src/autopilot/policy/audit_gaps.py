"""How far the end of a run has come: what it covers, which gaps are open, and what its steps add up to. Pure."""

from collections.abc import Collection, Iterable, Iterator
from typing import Literal

from autopilot.domain.answers import AuditOpinion, GapDetail, RequirementCheck
from autopilot.domain.events import CompletionFinished, RunStarted, StepFinished
from autopilot.domain.evidence import Change
from autopilot.domain.phase import Phase
from autopilot.domain.results import Audited, FixedGap, Gap, Mended, RemainingGap, Requirement, SelfAudit, Size
from autopilot.domain.verdict import Advance, Retry
from autopilot.history.record import PhaseRecord

MOST_ROUNDS = 2
"""AUDT-10: so often gaps are audited again; and so often tried in vain before that is given up."""
UNSEEN = "was not audited"
SMALL_LINES = 20


def covers(record: PhaseRecord) -> tuple[str, ...]:
    """The phases that the end of the run looks at."""
    known = record.brief.covers
    return record.start.targets if known is None else known


def steps_of(record: PhaseRecord) -> tuple[str, ...]:
    """The steps behind the last phase."""
    settings = record.start.settings
    wanted = {"integration": settings.integration_check, "audit": settings.self_audit, "version": settings.version_bump}
    by_settings = tuple(step for step, due in wanted.items() if due)
    return by_settings if record.brief.covers is None else record.brief.steps


def requirements_of(start: RunStarted, phases: Collection[str]) -> tuple[Requirement, ...]:
    """What is asked of the phases: stated requirements, and for a phase without any its success criteria."""
    return tuple(found for phase in start.phases if phase.id in phases for found in _asked(start, phase))


def _asked(start: RunStarted, phase: Phase) -> Iterator[Requirement]:
    stated = start.requirements.get(phase.id, ())
    for said in stated:
        name, _, text = said.partition(":")
        yield Requirement(id=name.strip(), phase=phase.id, text=text.strip())
    for number, criterion in enumerate(phase.criteria if not stated else (), start=1):
        yield Requirement(id=f"P{phase.id}-C{number}", phase=phase.id, text=criterion.text)


def gaps_in(opinion: AuditOpinion, scope: tuple[Requirement, ...]) -> tuple[Gap, ...]:
    """
    Everything that is not found met: a row that is no pass, a detail among the gaps, a requirement nobody looked at.

    A row and a detail about the same requirement are one gap.
    """
    told = [(str(audit.phase_id), row) for audit in opinion.audit_results for row in audit.requirements_checked]
    # Of several rows about one requirement the one that finds a gap counts: it comes last.
    rows = {_key(row.requirement_id): (phase, row) for phase, row in sorted(told, key=_passing, reverse=True)}
    details = {_key(detail.requirement_id): detail for detail in opinion.aggregate.gap_details}
    known = {_key(requirement.id): requirement for requirement in scope}
    names = dict.fromkeys((*known, *rows, *details))
    gaps = (_gap(name, known.get(name), rows.get(name), details.get(name)) for name in names if name)
    return tuple(gap for gap in gaps if gap is not None)


def _key(name: str) -> str:
    return name.strip().upper()


def _passing(told: tuple[str, RequirementCheck]) -> bool:
    return _passes(told[1])


def _passes(row: RequirementCheck) -> bool:
    return row.status.strip().lower() == "pass" and not (row.gap_description or "").strip()


def _gap(
    name: str, wanted: Requirement | None, found: tuple[str, RequirementCheck] | None, detail: GapDetail | None
) -> Gap | None:
    phase, row = found or ("", None)
    if detail is None and row is not None and _passes(row):
        return None
    shown = wanted.id if wanted else name
    if detail is None and row is None:
        asked_of = wanted.phase if wanted else ""
        return Gap(requirement_id=shown, phase_id=asked_of, gap_description=UNSEEN, mendable=False)
    said = (row.gap_description if row else "") or (detail.gap_description if detail else "")
    size = (row.fix_complexity if row else "") or (detail.fix_complexity if detail else "")
    return Gap(
        requirement_id=shown,
        phase_id=wanted.phase if wanted else phase or str(detail.phase_id if detail else ""),
        gap_description=(said or (row.actual_found if row else "") or "not met").strip(),
        fix_complexity=_size(size),
        suggested_fix=((detail.suggested_fix if detail else "") or "").strip(),
    )


def _size(said: str | None) -> Size:
    """AUDT-03: what is not called small is treated as large."""
    return "small" if (said or "").strip().lower() == "small" else "large"


def missing(opinion: AuditOpinion, scope: tuple[Requirement, ...]) -> tuple[str, ...]:
    """The requirements that the answer does not speak of."""
    return tuple(gap.requirement_id for gap in gaps_in(opinion, scope) if not gap.mendable)


def in_scope(record: PhaseRecord) -> tuple[Requirement, ...]:
    """AUDT-10: the first audit looks at everything, a later one at what had a gap."""
    last, known = record.find(Audited), requirements_of(record.start, covers(record))
    if last is None:
        return known
    by_id = {requirement.id: requirement for requirement in known}
    return tuple(by_id.get(g.requirement_id) or _reported(g) for g in last.gaps)


def _reported(gap: Gap) -> Requirement:
    """A requirement only the auditor named."""
    return Requirement(id=gap.requirement_id, phase=gap.phase_id, text=gap.gap_description)


def mendable_gaps(record: PhaseRecord) -> tuple[Gap, ...]:
    last = record.find(Audited)
    return tuple(gap for gap in last.gaps if gap.mendable) if last else ()


def tries_since_audit(record: PhaseRecord) -> tuple[StepFinished, ...]:
    """Finished tries at gaps since the newest audit; one that is to be asked again does not count."""
    found: list[StepFinished] = []
    for step in record.finished:
        if isinstance(step.result, Audited):
            found.clear()
        elif step.step == "gap_fix" and not isinstance(step.verdict, Retry):
            found.append(step)
    return tuple(found)


def cycles(record: PhaseRecord) -> int:
    """AUDT-10: how often gaps were audited again. A try that was set aside is followed by no audit and uses none up."""
    return max(0, sum(1 for _ in record.results(Audited)) - 1)


def rounds(record: PhaseRecord) -> int:
    """How often all open gaps have had their turn since the newest audit."""
    return len(tries_since_audit(record)) // max(1, len(mendable_gaps(record)))


def next_gap(record: PhaseRecord) -> Gap:
    """The gap whose turn it is."""
    gaps = mendable_gaps(record)
    return gaps[len(tries_since_audit(record)) % len(gaps)]


def mended(record: PhaseRecord) -> tuple[StepFinished, ...]:
    """The tries that joined the line."""
    return tuple(s for s in record.finished if isinstance(s.result, Mended) and isinstance(s.verdict, Advance))


def audit_summary(record: PhaseRecord) -> SelfAudit:
    """AUDT-12, from the audits and the tries at gaps, however far they came."""
    audits = tuple(record.results(Audited))
    if not audits:
        return _silent(record)
    first, last = audits[0], audits[-1]
    found = tuple({gap.requirement_id: gap for audit in reversed(audits) for gap in audit.gaps}.values())
    remaining = {gap.requirement_id: gap for gap in last.gaps}
    fixed = tuple(_fixed(gap, record) for gap in found if gap.requirement_id not in remaining)
    looked_at = {*first.scope, *(gap.requirement_id for gap in first.gaps)}
    return SelfAudit(
        total_requirements_checked=len(looked_at) - sum(not gap.mendable for gap in first.gaps),
        passed_on_first_check=len(looked_at) - len(first.gaps),
        gaps_found=len(found),
        gaps_fixed=len(fixed),
        gaps_remaining=len(remaining),
        remaining_gap_details=tuple(
            RemainingGap(requirement_id=gap.requirement_id, description=gap.gap_description)
            for gap in remaining.values()
        ),
        audit_cycles=len(audits) - 1,
        fix_commits=tuple(step.commit for step in mended(record)),
        found=found,
        fixed=fixed,
    )


def _fixed(gap: Gap, record: PhaseRecord) -> FixedGap:
    own = fix_commits(record, gap)
    return FixedGap(requirement_id=gap.requirement_id, phase_id=gap.phase_id, fix_commits=own)


def fix_commits(record: PhaseRecord, gap: Gap) -> tuple[str, ...]:
    """What joined the line for the gap."""
    return tuple(s.commit for s in mended(record) if isinstance(s.result, Mended) and _about(s.result, gap))


def _about(result: Mended, gap: Gap) -> bool:
    return result.gap.requirement_id == gap.requirement_id


def _silent(record: PhaseRecord) -> SelfAudit:
    """Nobody audited anything: every requirement is open."""
    wanted = requirements_of(record.start, covers(record))
    open_gaps = tuple(RemainingGap(requirement_id=r.id, description=UNSEEN) for r in wanted)
    return SelfAudit(gaps_remaining=len(open_gaps), remaining_gap_details=open_gaps, answered=False)


def remaining_gaps(ends: Iterable[CompletionFinished]) -> tuple[str, ...]:
    """The requirements with a gap that is left, over all ends of the run."""
    return tuple(dict.fromkeys(gap.requirement_id for gap in _remaining(ends)))


def unaudited(ends: Iterable[CompletionFinished]) -> tuple[str, ...]:
    """Those of them at which nobody looked."""
    return tuple(dict.fromkeys(gap.requirement_id for gap in _remaining(ends) if gap.description == UNSEEN))


def _remaining(ends: Iterable[CompletionFinished]) -> Iterator[RemainingGap]:
    for end in ends:
        yield from end.self_audit.remaining_gap_details if end.self_audit else ()


def small_enough(change: Change) -> bool:
    """AUDT-03: a single file, fewer than 20 lines."""
    return len(change.files) <= 1 and change.added + change.removed < SMALL_LINES


def routed(record: PhaseRecord, gap: Gap) -> Literal["fix", "execute"]:
    """A large gap goes to an executor; so does one called small whose fix outgrew that word."""
    tried = (s.result for s in record.finished if isinstance(s.result, Mended) and _about(s.result, gap))
    outgrown = any(result.route == "fix" and not small_enough(result.work.change) for result in tried)
    return "execute" if gap.fix_complexity == "large" or outgrown else "fix"
