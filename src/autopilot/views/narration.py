"""A run as plain lines, told entry by entry; it remembers only what later lines need."""

from collections.abc import Iterator

from autopilot.domain.completion import COMPLETION
from autopilot.domain.events import (
    CompletionFinished,
    Entry,
    Noted,
    PhaseFinished,
    PhaseLanded,
    PhaseOutcome,
    PhaseSkipped,
    PhaseStarted,
    RunFinished,
    RunResumed,
    RunStarted,
    RunStopped,
    Spec,
    StepDigest,
)
from autopilot.domain.headings import HEADINGS
from autopilot.domain.verdict import Advance, Retry, Stop
from autopilot.views.completion_lines import AuditLines, finished_lines
from autopilot.views.duration import seconds_between
from autopilot.views.phase_lines import PassLines
from autopilot.views.text import clean

_MOST_ISSUES = 10


class Narrator:
    """Joined in the middle of a resumed run, it leaves out what it never saw."""

    def __init__(self) -> None:
        self.run = ""
        self.start: RunStarted | None = None
        self.opened: PhaseStarted | None = None
        self.opened_at = ""
        self.first_at = ""
        self.last_at = ""
        self.told: PassLines | None = None
        self.ending = AuditLines()
        self.scores: dict[str, float] = {}
        self.over: set[str] = set()
        self.failed: str | None = None
        self.blocked = False
        self.unlanded: list[PhaseLanded] = []

    def tell(self, stream: str, entry: Entry) -> Iterator[str]:
        self.first_at = self.first_at or entry.at
        self.last_at = entry.at
        self.run = stream.partition("/")[0]
        if stream.endswith(f"/{COMPLETION}"):
            yield from self.ending.tell(entry)
        elif "/" in stream:
            yield from self._pass_of(stream).tell(entry)
        else:
            yield from self._of_run(entry)
            yield from self._of_phase(entry)

    def _of_run(self, entry: Entry) -> Iterator[str]:
        match entry.event:
            case RunStarted() as event:
                self.start = event
                yield from _status(event, event.spec, event.targets)
            case RunResumed() as event:
                yield from self._resumed(event)
            case RunStopped(reason=reason):
                yield f"Run stopped: {clean(reason)}"
            case RunFinished() if self.failed and self.blocked:
                yield "No executable independent phases remain. Halting."
            case Noted() as event:
                yield _note(event)
            case CompletionFinished() as event:
                yield from finished_lines(event)
            case _:
                return

    def _of_phase(self, entry: Entry) -> Iterator[str]:
        match entry.event:
            case PhaseStarted() as event:
                yield from self._phase_started(event, entry.at)
            case PhaseFinished() as event:
                yield from self._phase_finished(event, entry.at)
            case PhaseSkipped() as event:
                yield self._skipped(event)
            case PhaseLanded() as event:
                yield from self._landed(event)
            case _:
                return

    def _pass_of(self, stream: str) -> PassLines:
        phase = stream.partition("/")[2].partition("~")[0]
        if self.told is None or self.told.phase != phase:
            self.told = PassLines(phase)
        return self.told

    def _resumed(self, event: RunResumed) -> Iterator[str]:
        if self.start:
            left = tuple(phase for phase in self.start.targets if phase not in self.over)
            yield from _status(self.start, event.spec, left)
        else:
            yield f"Autopilot: Run {clean(self.run, 60)} resumed | Spec: {_spec(event.spec)}"
            yield "Continuing where it was left..."
        if event.retry:
            yield f"Trying again: phase {' '.join(event.retry)}"

    def _phase_started(self, event: PhaseStarted, at: str) -> Iterator[str]:
        brief = event.brief
        if self.failed and self.start:
            left = sum(phase not in self.over for phase in self.start.targets)
            yield f"{left} independent phases remain. Continuing execution."
        self.failed, self.blocked = None, False
        self.opened, self.opened_at = event, at
        self.told = PassLines(brief.phase.id, brief, self.start.settings if self.start else None)
        if brief.cycle:
            score = self.scores.get(brief.phase.id)
            bar = f"score {score:.1f}/10 below threshold {brief.pass_threshold:g}. " if score is not None else ""
            most = self.told.limits.remediation_cycles
            yield f"Phase {brief.phase.id}: {bar}Remediation cycle {brief.cycle}/{most}."
        if brief.done and brief.plan:
            far = f"{len(brief.done)}/{sum(task.type == 'auto' for task in brief.plan.tasks)} tasks completed"
            yield f"Phase {brief.phase.id}: HANDOFF.md detected. Resuming from partial progress ({far})."
        if brief.repo_map:
            yield clean(brief.repo_map)
        yield f"--- [PHASE {brief.position}/{brief.total}] {clean(brief.phase.name)} ---"

    def _phase_finished(self, event: PhaseFinished, at: str) -> Iterator[str]:
        outcome, phase = event.outcome, event.outcome.phase
        if self.told and self.told.phase == phase:
            yield from self.told.close()
        yield from _digest(outcome)
        yield from _issues(outcome)
        yield from self._judged(event)
        if outcome.unanchored:
            yield f"Phase {phase} is unanchored: the roadmap gives it no command that would show it is done."
        yield self._footer(event, at)
        if outcome.alignment_score is not None:
            self.scores[phase] = outcome.alignment_score
        if not isinstance(event.verdict, Retry):
            self.over.add(phase)
        if isinstance(event.verdict, Stop):
            self.failed = phase
            yield f"Phase {phase} failed. Checking dependency impact."
            if not any(issue.startswith("post-mortem could not be written") for issue in outcome.issues):
                yield f"Phase {phase}: see .autopilot/diagnostics/phase-{phase}-postmortem.json for what went wrong."
        self.opened, self.told = None, None

    def _judged(self, event: PhaseFinished) -> Iterator[str]:
        """CENF-01i and CENF-03a: how a remediation came out."""
        score, bar = event.outcome.alignment_score, self.opened.brief.pass_threshold if self.opened else None
        if not event.cycle or not isinstance(event.verdict, Advance):
            return
        phase = event.outcome.phase
        if score is not None and bar is not None and score >= bar:
            old = self.scores.get(phase)
            gain = f"improved {old:.1f} -> {score:.1f}" if old is not None else f"is now {score:.1f}"
            yield f"Phase {phase}: remediation successful. Score {gain}."
        elif event.verdict.because:
            yield f"Phase {phase}: remediation exhausted ({event.cycle} cycles). Passing with force_incomplete."

    def _footer(self, event: PhaseFinished, at: str) -> str:
        outcome = event.outcome
        brief = self.opened.brief if self.opened else None
        place = f"[PHASE {brief.position}/{brief.total}]" if brief else f"[PHASE {outcome.phase}]"
        if outcome.status == "completed":
            score = outcome.alignment_score
            ending = f"Complete: {score:.1f}/10" if score is not None else "Complete"
        else:
            ending = f"{clean(outcome.status, 40).capitalize().replace('_', ' ')}: {clean(outcome.reason)}"
        took = f" | {seconds_between(self.opened_at, at):.0f}s" if brief else ""
        return f"--- {place} {ending}{took} ---"

    def _skipped(self, event: PhaseSkipped) -> str:
        self.over.add(event.phase)
        blocking = event.blocking_phase or event.reason.partition("blocked_by_phase_")[2]
        if blocking:
            self.blocked = True
            return f"Phase {event.phase}: blocked by Phase {clean(blocking, 40)} failure, skipping."
        when = f" at {event.original_run_timestamp}" if event.original_run_timestamp else ""
        return f"Phase {event.phase}: {clean(event.reason).replace('_', ' ')}{when}, skipping."

    def _landed(self, event: PhaseLanded) -> Iterator[str]:
        place = "Completion" if event.phase == COMPLETION else f"Phase {event.phase}"
        if event.landed:
            note = f" ({clean(event.note)})" if event.note else ""
            yield f"{place}: landed on your branch as {event.commit[:8]}{note}."
        else:
            self.unlanded.append(event)
            yield f"{place}: your branch was left alone: {clean(event.note) or 'no reason was given'}"


def phase_range(targets: tuple[str, ...], roadmap: tuple[str, ...]) -> str:
    """`3-7` for neighbours of the roadmap, else `3,5,8`."""
    if len(targets) > 1 and targets[0] in roadmap:
        first = roadmap.index(targets[0])
        if roadmap[first : first + len(targets)] == targets:
            return f"{targets[0]}-{targets[-1]}"
    return ",".join(targets)


def _status(start: RunStarted, spec: Spec, targets: tuple[str, ...]) -> Iterator[str]:
    """INV-14 and RSM-07: two lines, and off it goes."""
    chosen = phase_range(targets, tuple(phase.id for phase in start.phases))
    model = clean(start.settings.model or start.settings.agent, 60)
    yield f"Autopilot: Phases {chosen} | Spec: {_spec(spec)} | Model: {model}"
    if targets:
        yield f"Starting phase {targets[0]}..."


def _spec(spec: Spec) -> str:
    return f"{clean(spec.path)} ({spec.sha256.removeprefix('sha256:')[:8]})"


def _digest(outcome: PhaseOutcome) -> Iterator[str]:
    """PROG-02: the nine steps once more, in one block."""
    for heading in HEADINGS:
        step = outcome.pipeline_steps.get(heading.lower().replace("-", "_"))
        if step:
            yield f"  Step: {heading} ... {_status_of(heading, step, outcome)}"


def _issues(outcome: PhaseOutcome) -> Iterator[str]:
    """What else there is to know about the pass; why it failed stands in its last line."""
    told = [issue for issue in outcome.issues if issue != outcome.reason]
    yield from (f"  Issue: {clean(issue)}" for issue in told[:_MOST_ISSUES])
    if len(told) > _MOST_ISSUES:
        yield f"  Issue: and {len(told) - _MOST_ISSUES} more: autopilot status --json"


def _status_of(heading: str, step: StepDigest, outcome: PhaseOutcome) -> str:
    if step.status == "skipped":
        return f"skipped ({clean(step.skip_reason, 120)})" if step.skip_reason else "skipped"
    if heading == "EXECUTE":
        return f"{outcome.tasks_completed} tasks"
    if heading == "JUDGE":
        return outcome.recommendation
    if heading == "RATE" and step.alignment_score is not None:
        return f"{step.alignment_score:.1f}/10"
    return clean(step.status, 40)


def _note(event: Noted) -> str:
    if event.event == "cross_contamination_warning":
        file, pattern = (clean(str(event.details.get(key, "?")), 80) for key in ("file", "pattern"))
        return (
            f"Cross-contamination detected in {file}: pattern '{pattern}' found. Agent independence may be compromised."
        )
    place = f"[Phase {event.phase}] " if event.phase else ""
    told = event.details.get("message") or event.details.get("reason")
    name = clean(event.event, 60).replace("_", " ").capitalize()
    return f"{place}{name}: {clean(str(told))}" if told else f"{place}{name}."
