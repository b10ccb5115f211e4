"""The end of a run as plain lines: integration check, self-audit and what was done about its gaps, version."""

from collections.abc import Iterator

from autopilot.domain.events import CompletionFinished, Entry, StepFinished, StepStarted
from autopilot.domain.results import Audited, Integrated, Mended, Unanswered
from autopilot.domain.verdict import Advance, Stop
from autopilot.text.clean import clean

_STARTED = {"integration": "Integration check...", "audit": "Self-audit...", "version": "Version..."}


class AuditLines:
    """Tells the run's end entry by entry; it remembers how many gaps the last audit found."""

    def __init__(self) -> None:
        self.audits = 0
        self.gaps: tuple[str, ...] = ()

    def tell(self, entry: Entry) -> Iterator[str]:
        match entry.event:
            case StepStarted(step=step):
                if step in _STARTED:
                    yield _STARTED[step]
            case StepFinished(result=Audited() as result):
                yield from self._audited(result)
            case StepFinished() as done:
                yield from _step(done)
            case _:
                return

    def _audited(self, result: Audited) -> Iterator[str]:
        """AUDT-05, AUDT-06 and AUDT-10."""
        before, self.gaps = self.gaps, tuple(gap.requirement_id for gap in result.gaps)
        self.audits += 1
        if not result.gaps and self.audits == 1:
            yield f"Self-audit: all {len(result.scope)} requirements passed. No gaps found."
        elif not result.gaps:
            yield f"Self-audit re-verification: all {len(before)} gaps confirmed fixed."
        for gap in result.gaps:
            yield f"Self-audit: {clean(gap.requirement_id, 40)}: {clean(gap.gap_description)}"


def _step(done: StepFinished) -> Iterator[str]:
    why = clean(done.verdict.because) if isinstance(done.verdict, Stop) else ""
    match done.result:
        case Integrated():
            yield "integration: pass" if isinstance(done.verdict, Advance) else f"integration: fail ({why})"
        case Mended() as tried:
            yield from _mended(tried, why)
        case Unanswered(outcome=outcome):
            yield f"No usable answer in {done.step.replace('_', ' ')} ({clean(outcome, 40)})."
        case _:
            return


def _mended(tried: Mended, why: str) -> Iterator[str]:
    """AUDT-07 and AUDT-08."""
    name = clean(tried.gap.requirement_id, 40)
    if tried.route == "fix":
        yield f"Self-audit: fixing small gap for {name}."
    else:
        yield f"Self-audit: routing large gap for {name} to executor."
    yield f"Self-audit: {name}: set aside: {why}" if why else f"Self-audit: {name}: {tried.work.change.commit[:8]}"


def finished_lines(event: CompletionFinished) -> Iterator[str]:
    audit = event.self_audit
    if audit and audit.gaps_remaining:
        left, cycles = audit.gaps_remaining, audit.audit_cycles
        fixes = bool(cycles or audit.fix_commits)
        yield (
            f"Self-audit: {left} gaps could not be auto-fixed after {cycles} cycles. Reporting as remaining."
            if fixes
            else f"Self-audit: {left} gaps remain."
        )
    if event.version:
        yield f"Version bumped to {clean(event.version, 40)}."
    elif event.note:
        yield f"Version not bumped: {clean(event.note)}"
