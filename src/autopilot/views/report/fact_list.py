"""Every command Autopilot ran for a phase, and everything it noticed in the work."""

from collections.abc import Iterable, Iterator

from autopilot.domain.events import AgentAnswered, MergeRefused, PhaseMerged, StepFinished
from autopilot.domain.evidence import CommandRun, Finding, Work
from autopilot.domain.results import (
    Bumped,
    Debugged,
    Executed,
    Fixed,
    Integrated,
    Mended,
    PlanChecked,
    StepResult,
    Triaged,
    Verified,
)
from autopilot.domain.value import Value
from autopilot.history.record import PhaseRecord, RunRecord
from autopilot.policy.facts.tamper_rules import BY_NAME
from autopilot.views.report.source import Told

Groups = Iterator[tuple[str, tuple[CommandRun, ...]]]
PROBE = "probe"
_ORDER = ("blocker", "warning", "info")


class Fact(Value, frozen=True, kw_only=True):
    """One command run. `when` says on which tree, or what for; `number` is the pass."""

    number: int
    step: str
    when: str
    run: CommandRun
    task: str = ""

    @property
    def early(self) -> bool:
        """Made before the work, when what is asked for is not there yet."""
        return self.when.endswith("before")

    @property
    def telling(self) -> bool:
        """It does not hold though it should. A probe, as a check on sources put back, may be meant to fail."""
        return not self.run.passed and not self.early and self.when != PROBE


class Noticed(Value, frozen=True, kw_only=True):
    """A finding, where it was made and how often the same was found in that phase."""

    phase: str
    step: str
    finding: Finding
    task: str = ""
    times: int = 1

    @property
    def tampering(self) -> bool:
        return self.finding.rule in BY_NAME


def facts_of(record: PhaseRecord) -> Iterator[Fact]:
    """In the order in which they were made."""
    for done in record.own_finished:
        for when, runs in _runs(done.result):
            for run in runs:
                yield Fact(number=record.brief.number, step=done.step, when=when, run=run, task=_task(done.result))


def merge_facts(run: RunRecord) -> dict[str, tuple[Fact, ...]]:
    """By phase, what was run on the tree in which its work met other work."""
    found: dict[str, tuple[Fact, ...]] = {}
    for entry in run.entries:
        match entry.event:
            case PhaseMerged(phase=phase, checks=checks) | MergeRefused(phase=phase, checks=checks):
                own = (Fact(number=0, step="merge", when="merged", run=check) for check in checks)
                found[phase] = (*found.get(phase, ()), *own)
    return found


def _runs(result: StepResult) -> Groups:
    match result:
        case Triaged(checks=checks):
            yield "before", checks
        case Executed(work=work) | Fixed(work=work) | Debugged(work=work) | Mended(work=work):
            yield from _work_runs(work)
        case Verified(checks=checks, gates=gates, extra=extra):
            yield from (("criterion", checks), ("gate", gates), (PROBE, extra))
        case Integrated(checks=checks, gates=gates):
            yield from (("criterion", checks), ("gate", gates))
        case Bumped(gates_before=before, gates_after=after):
            yield from (("gate before", before), ("gate after", after))


def _work_runs(work: Work) -> Groups:
    yield "before", work.before
    yield "gate before", work.gates_before
    yield "after", work.after
    yield "gate after", work.gates_after
    yield PROBE, work.extra


def _task(result: StepResult) -> str:
    match result:
        case Executed(work=work) | Fixed(work=work) | Debugged(work=work) | Mended(work=work):
            return work.task
    return ""


def noticed(told: Told) -> tuple[Noticed, ...]:
    """Of the whole run, what counts most first; the same thing in one phase is told once."""
    found: dict[tuple[str, Finding], Noticed] = {}
    for record in told.records:
        for one in _noticed_in(record):
            key = (one.phase, one.finding)
            before = found.get(key)
            times = before.times + 1 if before else 1
            found[key] = Noticed(phase=one.phase, step=one.step, finding=one.finding, task=one.task, times=times)
    return tuple(sorted(found.values(), key=lambda one: (_ORDER.index(one.finding.severity), not one.tampering)))


def _noticed_in(record: PhaseRecord) -> Iterator[Noticed]:
    phase, step = record.phase.id, ""
    for entry in record.entries:
        match entry.event:
            case StepFinished(step=step, result=result):
                for finding in _findings(result):
                    yield Noticed(phase=phase, step=step, finding=finding, task=_task(result))
            case AgentAnswered(role=role, touched=touched):
                for path in touched:
                    what = f"changed by {role}, who may not; the change was left out"
                    finding = Finding(rule="planning-files", where=path, what=what, severity="warning")
                    yield Noticed(phase=phase, step=step or role, finding=finding)


def _findings(result: StepResult) -> Iterable[Finding]:
    match result:
        case PlanChecked(findings=findings):
            return findings
        case Executed(work=work) | Fixed(work=work) | Debugged(work=work) | Mended(work=work):
            return work.findings
        case Verified() as seen:
            return (*seen.tampering, *seen.findings, *seen.content, *seen.orphans)
    return ()
