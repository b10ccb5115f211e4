"""A run as plain lines, told entry by entry; it remembers only what later lines need."""

from collections.abc import Iterator

from autopilot.domain.attempt import Brief, PhaseOutcome, Spec, StepDigest
from autopilot.domain.events import (
    CompletionFinished,
    Entry,
    MergeRefused,
    Noted,
    PhaseFinished,
    PhaseLanded,
    PhaseMerged,
    PhaseSkipped,
    PhaseStarted,
    RunFinished,
    RunResumed,
    RunStarted,
    RunStopped,
    VerdictGiven,
    WaitEnded,
    WaitStarted,
)
from autopilot.domain.results import COMPLETION, HEADINGS
from autopilot.domain.settings import Limits, known_model
from autopilot.domain.verdict import Advance, Retry, Stop
from autopilot.policy.budget import cap_warning, cost_line
from autopilot.policy.outcomes import described, outcome_of
from autopilot.policy.roadmap_changes import STARTS_OVER
from autopilot.policy.taken_in import advice, share, tokens_of
from autopilot.state.wait_words import note_line, wait_lines
from autopilot.text.clean import clean
from autopilot.text.times import seconds_between
from autopilot.views.lines import rework_lines as redo_lines
from autopilot.views.lines.attempt_lines import PassLines
from autopilot.views.lines.completion_lines import AuditLines, finished_lines

_MOST_ISSUES = 10
FAST_SECONDS, SEVERAL_TASKS = 300, 2


def _continued(brief: Brief) -> Iterator[str]:
    """CTXE-01r: how far the earlier pass came that this one continues. Older versions named only its tasks."""
    done, total = brief.done, sum(task.type == "auto" for task in brief.plan.tasks) if brief.plan else 0
    if brief.continues and not brief.continues.handed_over:
        kept, step = brief.continues.steps, brief.continues.step
        yield f"Phase {brief.phase.id}: continuing from {step}. {kept} finished steps are kept."
    elif brief.continues or (done and total):
        done, total = (brief.continues.done, brief.continues.tasks) if brief.continues else (done, total)
        far = f"{len(done)}/{total} tasks completed"
        yield f"Phase {brief.phase.id}: HANDOFF.md detected. Resuming from partial progress ({far})."


class Narrator:
    """Joined in the middle of a resumed run, it leaves out what it never saw."""

    def __init__(self) -> None:
        self.run = ""
        self.start: RunStarted | None = None
        self.opened: dict[str, tuple[str, Brief]] = {}
        self.first_at = ""
        self.last_at = ""
        self.told: dict[str, PassLines] = {}
        self.ending = AuditLines()
        self.scores: dict[str, float] = {}
        self.over: set[str] = set()
        self.failed: str | None = None
        self.blocked = False
        self.unlanded: list[PhaseLanded] = []
        self.taken_in = 0

    def tell(self, stream: str, entry: Entry) -> Iterator[str]:
        self.first_at = self.first_at or entry.at
        self.last_at = entry.at
        self.run = stream.partition("/")[0]
        if stream.partition("/")[2].partition("~")[0] == COMPLETION:
            self.ending = self.ending if entry.number else AuditLines()
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
                known = event.before.items()
                self.scores |= {phase: before.score for phase, before in known if before.score is not None}
                yield from _batch(event)
                yield from _status(event, event.spec, event.targets)
                yield from (clean(remark, 300) for remark in event.remarks)
            case RunResumed() as event:
                yield from self._resumed(event)
            case RunStopped(reason=reason):
                yield f"Run stopped: {clean(reason)}"
            case RunFinished() if self.failed and (self.blocked or self._completes):
                yield "No executable independent phases remain. Halting."
            case Noted() as event:
                yield note_line(event)
            case WaitStarted() | WaitEnded():
                yield from wait_lines(entry)
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
            case VerdictGiven() as event:
                yield from _verdict(event)
            case PhaseMerged() as event if event.base != event.onto:
                yield f"Phase {event.phase}: merged onto the line as {event.commit[:8]}."
            case MergeRefused() as event:
                yield f"Phase {event.phase}: {clean(event.because)}. Running it again on top."
            case _:
                return

    @property
    def _completes(self) -> bool:
        return self.start is not None and self.start.settings.modes.complete

    def _pass_of(self, stream: str) -> PassLines:
        phase = stream.partition("/")[2].partition("~")[0]
        return self.told.setdefault(phase, PassLines(phase))

    def _resumed(self, event: RunResumed) -> Iterator[str]:
        if self.start:
            self.start = self.start.going_by(event.roadmap)
            left = tuple(phase for phase in self.start.targets if phase not in self.over)
            yield from _status(self.start, event.spec, left) if left else ("Going on with the run...",)
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
        self.opened[brief.phase.id] = at, brief
        known = (self.start.settings, self.start.unused) if self.start else ()
        told = self.told[brief.phase.id] = PassLines(brief.phase.id, brief, *known)
        yield from redo_lines.opening(brief, self.scores.get(brief.phase.id))
        if brief.cycle and brief.found:
            yield f"Phase {brief.phase.id}: mending what a person found ({len(brief.found)})."
        elif brief.cycle and not brief.turn:
            score = self.scores.get(brief.phase.id)
            bar = f"score {score:.1f}/10 below threshold {brief.pass_threshold:g}. " if score is not None else ""
            most = told.limits.remediation_cycles
            yield f"Phase {brief.phase.id}: {bar}Remediation cycle {brief.cycle}/{most}."
        yield from _continued(brief)
        yield from self._beforehand(brief)
        if brief.repo_map:
            yield clean(brief.repo_map)
        yield f"--- [PHASE {brief.position}/{brief.total}] {clean(brief.phase.name)} ---"

    def _beforehand(self, brief: Brief) -> Iterator[str]:
        """PRE-02, MTRC-02c, MTRC-02d: what is known before the first pass."""
        if brief.stale_verification:
            yield f"Phase {brief.phase.id} has stale verification from prior run -- re-running."
        if brief.estimated_tokens and not brief.cycle:
            yield cost_line(brief.phase.id, brief.estimated_tokens, brief.plan)
            cap = (self.start.settings.limits if self.start else Limits()).tokens_per_phase
            if cap is not None and (warning := cap_warning(brief.phase.id, brief.estimated_tokens, cap)):
                yield warning

    def _phase_finished(self, event: PhaseFinished, at: str) -> Iterator[str]:
        outcome, phase = event.outcome, event.outcome.phase
        told = self.told.pop(phase, None)
        yield from told.close() if told else ()
        yield from _split(outcome)
        if outcome.status == "split_request":
            return
        if outcome.reason == STARTS_OVER:
            yield _set_aside(outcome)
            return
        began = self.opened.get(phase)
        yield from _quick(outcome, seconds_between(began[0], at) if began else None)
        yield from _digest(outcome, told)
        yield from _issues(outcome)
        yield from self._judged(event)
        if outcome.unanchored:
            yield f"Phase {phase} is unanchored: the roadmap gives it no command that would show it is done."
        yield self._footer(event, at)
        if outcome.alignment_score is not None and outcome.status == "completed":
            stood = self.scores.get(phase, 0.0) if event.cycle else 0.0
            self.scores[phase] = max(stood, outcome.alignment_score)
        if not isinstance(event.verdict, Retry):
            self.over.add(phase)
        yield from self._counted(event)
        if isinstance(event.verdict, Stop):
            self.failed = phase
            yield f"Phase {phase} failed. Checking dependency impact."
            if not any(issue.startswith("post-mortem could not be written") for issue in outcome.issues):
                yield f"Phase {phase}: see .autopilot/diagnostics/phase-{phase}-postmortem.json for what went wrong."
        self.opened.pop(phase, None)

    def _counted(self, event: PhaseFinished) -> Iterator[str]:
        """CTX-03: what has been told of passes since this process began."""
        before = share(self.taken_in)
        self.taken_in += tokens_of(event.outcome)
        yield from advice(before, share(self.taken_in))

    def _judged(self, event: PhaseFinished) -> Iterator[str]:
        """CENF-01i, CENF-03a and what flags ask for: how a pass that mends something came out."""
        score, phase = event.outcome.alignment_score, event.outcome.phase
        brief = self.opened[phase][1] if phase in self.opened else None
        bar = brief.pass_threshold if brief else None
        if event.turn and brief:
            yield from redo_lines.closing(event, brief, self.scores.get(phase))
        if not event.cycle or event.turn or not isinstance(event.verdict, Advance):
            return
        if score is not None and bar is not None and score >= bar:
            old = self.scores.get(phase)
            gain = f"improved {old:.1f} -> {score:.1f}" if old is not None else f"is now {score:.1f}"
            yield f"Phase {phase}: remediation successful. Score {gain}."
        elif event.verdict.because:
            yield f"Phase {phase}: remediation exhausted ({event.cycle} cycles). Passing with force_incomplete."

    def _footer(self, event: PhaseFinished, at: str) -> str:
        outcome = event.outcome
        began, brief = self.opened.get(outcome.phase, ("", None))
        place = f"[PHASE {brief.position}/{brief.total}]" if brief else f"[PHASE {outcome.phase}]"
        bar = self.start.settings.pass_threshold if self.start else brief.pass_threshold if brief else 0.0
        best = max(
            (s for s in (self.scores.get(outcome.phase), outcome.alignment_score) if s is not None), default=None
        )
        if word := outcome_of(event.verdict, best, bar):
            told = described(word, best, bar)
            ending = f"{told[:1].upper()}{told[1:]}"
        elif outcome.status == "completed":
            score = outcome.alignment_score
            ending = f"Complete: {score:.1f}/10" if score is not None else "Complete"
            ending += f"; {'; '.join(clean(caveat, 300) for caveat in outcome.caveats)}" if outcome.caveats else ""
        else:
            ending = f"{clean(outcome.status, 40).capitalize().replace('_', ' ')}: {clean(outcome.reason)}"
        took = f" | {seconds_between(began, at):.0f}s" if brief else ""
        return f"--- {place} {ending}{took} ---"

    def _skipped(self, event: PhaseSkipped) -> str:
        self.over.add(event.phase)
        blocking = event.blocking_phase or event.reason.partition("blocked_by_phase_")[2]
        if blocking:
            self.blocked = True
            return f"Phase {event.phase}: blocked by Phase {clean(blocking, 40)} failure, skipping."
        when = f" at {event.original_run_timestamp}" if event.original_run_timestamp else ""
        if event.original_run:
            return f"Phase {event.phase}: completed in run {clean(event.original_run, 60)}{when}, skipping."
        return f"Phase {event.phase}: {clean(event.reason).replace('_', ' ')}{when}, skipping."

    def _landed(self, event: PhaseLanded) -> Iterator[str]:
        place = "Completion" if event.phase == COMPLETION else f"Phase {event.phase}"
        if event.landed:
            self.unlanded.clear()  # a later landing brings the earlier ones along
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
    agent = start.settings.agent
    model = clean(known_model(agent, start.settings.model) or agent, 60)
    yield f"Autopilot: Phases {chosen} | Spec: {_spec(spec)} | Model: {model}"
    if targets:
        yield f"Starting phase {targets[0]}..."


def _batch(start: RunStarted) -> Iterator[str]:
    """CMPL-01e."""
    if start.settings.modes.complete:
        order = ", ".join(start.targets)
        yield f"Batch completion: {len(start.targets)} outstanding phases identified. Execution order: {order}."


def _verdict(event: VerdictGiven) -> Iterator[str]:
    yield f"Phase {event.phase}: human verdict recorded: {event.verdict}."
    yield from (f"  Issue: {clean(issue)}" for issue in event.issues)


def _spec(spec: Spec) -> str:
    if not spec.path:
        return "none"
    return f"{clean(spec.path)} ({spec.sha256.removeprefix('sha256:')[:8]})"


def _split(outcome: PhaseOutcome) -> Iterator[str]:
    """SPLT-01 and SPLT-06."""
    if outcome.status == "split_request" and outcome.split_details:
        parts = f"{outcome.split_details.total_sub_phases} sub-phases"
        reason = clean(outcome.reason)
        yield f"Phase {outcome.phase} too large ({reason}). Splitting into {parts}, launching in parallel..."
    if outcome.sub_phases:
        yield f"Phase {outcome.phase} (split: {', '.join(end.sub_phase_id for end in outcome.sub_phases)})"


def _set_aside(outcome: PhaseOutcome) -> str:
    kept = f" on the branch {clean(outcome.diagnostic_branch, 80)}" if outcome.diagnostic_branch else ""
    done = f"the work so far is kept{kept}" if kept else "no work was done so far"
    return f"Phase {outcome.phase}: the roadmap was edited, so the phase starts over; {done}."


def _digest(outcome: PhaseOutcome, told: PassLines | None) -> Iterator[str]:
    """PROG-02: the nine steps once more, in one block. The step that ended a failed pass is named with its reason."""
    for heading in HEADINGS:
        step = outcome.pipeline_steps.get(heading.lower().replace("-", "_"))
        if step:
            judge = told.judge if told else None
            ended = outcome.status == "failed" and told is not None and told.stopped_at == heading
            why = f" -- failed here: {clean(outcome.reason)}" if ended else ""
            yield f"  Step: {heading} ... {_status_of(heading, step, outcome, judge)}{why}"


def _quick(outcome: PhaseOutcome, seconds: float | None) -> Iterator[str]:
    """INTG-03: said before the steps are listed."""
    tasks = outcome.tasks_completed.partition("/")[2]
    several = tasks.isdecimal() and int(tasks) >= SEVERAL_TASKS
    if outcome.status == "completed" and several and seconds is not None and seconds < FAST_SECONDS:
        yield f"Fast completion ({seconds:.0f}s). Checking pipeline_steps."


def _issues(outcome: PhaseOutcome) -> Iterator[str]:
    """What else there is to know about the pass; why it failed stands in its last line."""
    told = [issue for issue in outcome.issues if issue != outcome.reason]
    yield from (f"  Issue: {clean(issue)}" for issue in told[:_MOST_ISSUES])
    if len(told) > _MOST_ISSUES:
        yield f"  Issue: and {len(told) - _MOST_ISSUES} more: autopilot status --json"


def _status_of(heading: str, step: StepDigest, outcome: PhaseOutcome, judge: str | None) -> str:
    if step.status == "skipped" and step.agent_spawned:
        return f"failed ({clean(step.skip_reason or 'no result', 120)})"
    if step.status == "skipped":
        return f"skipped ({clean(step.skip_reason, 120)})" if step.skip_reason else "skipped"
    if heading == "EXECUTE":
        return f"{outcome.tasks_completed} tasks"
    if heading == "JUDGE":
        return judge or (step.status if outcome.status == "failed" else outcome.recommendation)
    if heading == "RATE" and step.alignment_score is not None:
        return f"{step.alignment_score:.1f}/10"
    return clean(step.status, 40)
