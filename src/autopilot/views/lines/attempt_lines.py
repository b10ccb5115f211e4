"""One pass of a phase as plain lines: its steps, its tasks, and what its gates decided."""

from collections import Counter
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from autopilot.domain.answers import SEVERITY, DivergenceOpinion, JudgeOpinion, Recommendation
from autopilot.domain.attempt import Brief
from autopilot.domain.events import AgentAnswered, Entry, StepFinished, StepStarted
from autopilot.domain.results import (
    HEADINGS,
    Compared,
    Debugged,
    Executed,
    Fixed,
    Judged,
    Lowered,
    MiniVerified,
    PlanChecked,
    Rated,
    Triaged,
    Unanswered,
    Verified,
    heading_of,
    number_of,
    skipped_between,
)
from autopilot.domain.settings import Commands, Limits, Settings
from autopilot.domain.verdict import Advance, AskHuman, Retry, Stop, Verdict
from autopilot.history.record import remediation_task
from autopilot.policy.deferral import REJECTED
from autopilot.policy.facts.commands import gate_missing
from autopilot.state.wait_words import interrupted_line
from autopilot.text.clean import clean
from autopilot.views.lines import task_lines
from autopilot.views.lines.fact_sentences import ended, says_done, summary_of
from autopilot.views.lines.task_lines import of_pages

if TYPE_CHECKING:
    from autopilot.domain.phase import Task

_OF_SEVERAL_STEPS = frozenset({"EXECUTE", "JUDGE"})
_MOST_FAILURES = 5
_NO_RETRIES = "max retries exceeded: "


def _before(step: str) -> str | None:
    """The heading that a pass which continues with the step has behind it."""
    own = number_of(heading_of(step) or "VERIFY")
    return HEADINGS[own - 2] if own > 1 else None


class PassLines:
    """
    Tells one pass, entry by entry.

    A resumed pass may be joined in the middle: what was never seen (the brief, the plan, the settings) is left out
    of the lines.
    """

    def __init__(
        self, phase: str, brief: Brief | None = None, settings: Settings | None = None, unused: Collection[str] = ()
    ) -> None:
        self.phase, self.brief, self.settings, self.unused = phase, brief, settings, unused
        self.limits = settings.limits if settings else Limits()
        self.tasks: tuple[Task, ...] = (remediation_task(brief),) if brief and brief.cycle else ()
        self.task = ""
        self.tried: set[str] = set()
        self.verified: set[str] = set()
        self.fixes: Counter[str] = Counter()
        self.called_fixed = False
        self.open: str | None = None
        self.passed = _before(brief.continues.step) if brief and brief.continues else None
        self.suffix = ""
        self.complaint = ""
        self.judge: Recommendation | None = None
        self.stopped_at: str | None = None

    def tell(self, entry: Entry) -> Iterator[str]:
        match entry.event:
            case StepStarted() as event:
                yield from self._started(event, first=entry.number == 0)
            case StepFinished() as event:
                yield from self._finished(event)
            case AgentAnswered() as event:
                yield from (f"[Phase {self.phase}] {line}" for line in _heard(event))
            case _:
                return

    def close(self) -> Iterator[str]:
        """The open heading's last line, if one is open."""
        if self.open:
            yield f"[Phase {self.phase}] Step: {self.open} complete.{self.suffix}"
            self.passed = self.open
        self.open, self.suffix = None, ""

    def label(self, task: str) -> str:
        """`Task 02-01 (1/3)`; without the count when the plan was never seen."""
        place = next((n for n, known in enumerate(self.tasks, 1) if known.id == task), None)
        return f"Task {clean(task, 40)} ({place}/{len(self.tasks)})" if place else f"Task {clean(task, 40)}"

    def _started(self, event: StepStarted, *, first: bool) -> Iterator[str]:
        heading = heading_of(event.step)
        if heading is None or heading != self.open:
            yield from self.close()
            yield from self._opened(heading, first=first) if heading else self._debugging(event)
        if event.step == "execute":
            waiting = (task.id for task in self.tasks if task.id not in self.tried)
            self.task = event.task or next(waiting, "")
        if self.task and event.step == "execute":
            title = next((task.title for task in self.tasks if task.id == self.task), "")
            yield f"[Phase {self.phase}] {self.label(self.task)}: {clean(title) or 'started'}"
        elif self.task and event.step == "fix":
            self.fixes[self.task] += 1
            tries = f"{self.fixes[self.task]}/{self.limits.task_fixes}"
            yield f"[Phase {self.phase}] {self.label(self.task)}: fix attempt {tries}"

    def _opened(self, heading: str, *, first: bool) -> Iterator[str]:
        if self.passed or first:
            yield from self._skipped(skipped_between(self.passed, heading), "not needed")
        tasks = f" -- {len(self.tasks)} tasks" if heading == "EXECUTE" and self.tasks else ""
        yield f"[Phase {self.phase}] Step: {heading} ({number_of(heading)}/{len(HEADINGS)}){tasks}"
        if heading == "EXECUTE" and self.settings:
            yield from _missing_gates(self.settings.commands, self.unused)
        self.open = heading

    def _debugging(self, event: StepStarted) -> Iterator[str]:
        attempt = event.n - (self.brief.earlier.get(event.step, 0) if self.brief else 0)
        reason = f": {clean(self.complaint)}" if self.complaint else ""
        yield f"[Phase {self.phase}] Debug attempt {attempt}/{self.limits.debug_attempts}{reason}"

    def _skipped(self, headings: tuple[str, ...], reason: str) -> Iterator[str]:
        for heading in headings:
            yield f"[Phase {self.phase}] Step: {heading} skipped ({clean(reason, 120)})."
            self.passed = heading

    def _finished(self, event: StepFinished) -> Iterator[str]:
        self.open = self.open or heading_of(event.step)
        yield from self._found(event)
        self.suffix = _suffix(event, f" {len(self.verified)}/{len(self.tasks)} tasks." if self.tasks else "")
        if self.open and not _goes_on(self.open, event.verdict):
            yield from self.close()
        verdict = event.verdict
        target = heading_of(verdict.to) if isinstance(verdict, Advance) and verdict.to else None
        if target and isinstance(verdict, Advance) and self.passed:
            yield from self._skipped(skipped_between(self.passed, target), verdict.because or "not needed")
        yield from self._decided(event)

    def _found(self, event: StepFinished) -> Iterator[str]:
        """What came out of the step, apart from the gate's verdict on it."""
        match event.result:
            case Unanswered(role=role, outcome=outcome, detail=detail):
                said = f"the {role} agent gave no usable answer ({outcome})"
                yield f"[Phase {self.phase}] Step: {self.open or event.step} failed -- {said}: {clean(detail)}"
                self.open = self.open if self.open and _goes_on(self.open, event.verdict) else None
            case Triaged(source="none"):
                yield "No verifiable criteria for triage -- routing to full pipeline."
            case PlanChecked(plan=plan) if isinstance(event.verdict, Advance):
                self.tasks = tuple(task for task in plan.tasks if task.type == "auto")
                self.tried, self.verified, self.fixes = set(), set(), Counter()
            case Executed() | Fixed() | MiniVerified() as result:
                yield from self._worked(result, event.verdict)
            case Debugged(claim=claim):
                self.called_fixed = says_done(claim)
            case Verified() | Judged() | Compared() | Rated() as result:
                yield from (f"[Phase {self.phase}] {line}" for line in self._reviewed(result))
            case _:
                return

    def _reviewed(self, result: Verified | Judged | Compared | Rated) -> Iterator[str]:
        match result:
            case Verified():
                yield from _checked(result, called_fixed=self.called_fixed)
                self.called_fixed = False
            case Judged(opinion=first):
                self.judge = first.recommendation
            case Compared(opinion=second):
                self.judge = max(self.judge or "proceed", second.word or "halt", key=SEVERITY.index)
            case Rated(lowered=lowered):
                yield from (f"RATE: {_held_down(row)}" for row in lowered[:_MOST_FAILURES])
                if len(lowered) > _MOST_FAILURES:
                    yield f"RATE: and {len(lowered) - _MOST_FAILURES} more criteria held down"

    def _worked(self, result: Executed | Fixed | MiniVerified, verdict: Verdict) -> Iterator[str]:
        if isinstance(result, MiniVerified):
            if task_lines.accepted(result, verdict):
                self.verified.add(result.task)
            yield from task_lines.of_review(result, verdict, self.phase, self.label(result.task))
            return
        self.task = result.work.task
        self.tried.add(self.task)
        for line in task_lines.of_work(result, verdict, self.label(self.task)):
            yield f"[Phase {self.phase}] {line}"

    def _decided(self, event: StepFinished) -> Iterator[str]:
        verdict = event.verdict
        self.complaint = verdict.because if isinstance(verdict, Retry) else ""
        match verdict:
            case Retry(step="fix" | "mini_verify"):
                return
            case Retry(step="debug"):
                yield f"Phase {self.phase} has failing checks. Entering debug loop."
            case Retry(step=step, because=because):
                yield from self._sent_back(event, step, because)
            case Stop():
                self.stopped_at = heading_of(event.step) or "VERIFY"
                yield from self._stopped(event, verdict)
            case AskHuman(question=question):
                yield f"Phase {self.phase} waits for a person: {clean(question)}"
            case Advance() if isinstance(event.result, Rated) and self.brief:
                yield _rated(self.phase, event.result.score, self.brief.pass_threshold)
                yield f"Phase {self.phase} complete. Alignment: {event.result.score:.1f}/10."
            case Advance():
                return

    def _sent_back(self, event: StepFinished, step: str, because: str) -> Iterator[str]:
        if because.startswith(REJECTED):
            yield REJECTED
        elif isinstance(event.verdict, Retry) and event.verdict.rejects:
            yield clean(because)
        elif isinstance(event.result, Rated) and step != "verify":
            yield f"Phase {self.phase} alignment too low ({event.result.score:.1f}). Re-planning."
        else:
            yield f"[Phase {self.phase}] Back to {heading_of(step) or step}: {clean(because)}"

    def _stopped(self, event: StepFinished, verdict: Stop) -> Iterator[str]:
        reason = clean(verdict.because.removeprefix(_NO_RETRIES))
        opinion = event.result.opinion if isinstance(event.result, Judged | Compared) else None
        if opinion and opinion.recommendation == "rollback":
            yield f"Phase {self.phase} rollback recommended by judge. Reason: {reason}"
        elif opinion and opinion.recommendation == "halt":
            yield f"Phase {self.phase} HALTED by judge. Reason: {reason}"
        elif verdict.because.startswith(_NO_RETRIES):
            yield f"Phase {self.phase} max retries exceeded. Rolling back."
            yield f"[Phase {self.phase}] Reason: {reason}"
        else:
            yield f"Phase {self.phase} stopped. Reason: {reason}"


def _heard(event: AgentAnswered) -> Iterator[str]:
    if event.outcome == "cancelled":
        yield interrupted_line(event)
    elif event.outcome != "ok":
        told = f": {clean(event.text)}" if event.text.strip() else "."
        yield f"The {event.role} agent ended with {event.outcome}{told}"
    yield from map(clean, event.issues)


def _goes_on(heading: str, verdict: Verdict) -> bool:
    """Whether the next step is still shown under this heading. Without a named target it is not known yet."""
    if heading not in _OF_SEVERAL_STEPS or isinstance(verdict, Stop | AskHuman):
        return False
    target = verdict.to if isinstance(verdict, Advance) else verdict.step
    return target is None or heading_of(target) == heading


def _suffix(event: StepFinished, tasks: str) -> str:
    """PROG-06: what the line of a finished heading ends with."""
    suffix = ""
    match event.result:
        case Triaged(routing=routing):
            suffix = f" Routing: {routing}"
        case PlanChecked(opinion=opinion) if opinion:
            suffix = f" Confidence: {opinion.confidence:g}/10"
        case Executed() | Fixed() | MiniVerified():
            suffix = tasks
        case Verified():
            suffix = f" Result: {'pass' if isinstance(event.verdict, Advance) else 'fail'}"
        case (
            Judged(opinion=JudgeOpinion(recommendation=word)) | Compared(opinion=DivergenceOpinion(recommendation=word))
        ):
            suffix = f" Recommendation: {word}"
        case Rated(score=score):
            suffix = f" Score: {score:.1f}/10"
        case _:
            pass
    return suffix


def _held_down(row: Lowered) -> str:
    score = f"{row.counted:.1f} instead of {row.said:.1f}"
    return f"'{clean(row.criterion, 80)}' counts as {score}: {clean('; '.join(row.because))}"


def _checked(result: Verified, *, called_fixed: bool) -> Iterator[str]:
    """What failed when Autopilot ran everything again, and what the verifier made of it."""
    gates = (run for run in result.gates if not run.passed and run.check not in result.old_failures)
    failed = [*(run for run in result.checks if not run.passed), *gates]
    for run in failed[:_MOST_FAILURES]:
        yield f"VERIFY FAIL -- {summary_of(run)}"
    if len(failed) > _MOST_FAILURES:
        yield f"VERIFY FAIL -- and {len(failed) - _MOST_FAILURES} more"
    for finding in result.broken[:_MOST_FAILURES]:
        yield f"VERIFY FAIL -- {clean(finding.where)}: {clean(finding.what)}"
    yield from of_pages(result, called_fixed=called_fixed and not failed)
    opinion = result.opinion
    if failed and called_fixed:
        yield f"VERIFY: the debugging agent reported it fixed; {ended(failed[0])}"
    if opinion and opinion.passed and failed:
        yield f"VERIFY: the verifier reported pass; {ended(failed[0])}"
    elif opinion and not opinion.passed:
        told = clean(opinion.failures[0]) if opinion.failures else "it gave no reason"
        yield f"VERIFY: the verifier does not accept the phase: {told}"


def _rated(phase: str, score: float, threshold: float) -> str:
    if score >= threshold:
        return f"Phase {phase} PASSED. Proceeding."
    bar = f"(threshold: {threshold:g})"
    return f"Phase {phase} completed at {score:.1f}/10 {bar}. Returning to orchestrator for remediation decision."


def _missing_gates(commands: Commands, unused: Collection[str]) -> Iterator[str]:
    """EXEC-C0. A command that does not run here was found all the same, so it is not called unconfigured."""
    missing = [name for name in ("compile", "lint") if not getattr(commands, name)]
    if len(missing) > 1 and len({name in unused for name in missing}) == 1:
        why, what = ("does not run here", "absent") if missing[0] in unused else ("not configured", "skipped")
        yield f"Compile/lint command {why} -- gate {what}."
    else:
        yield from (gate_missing(name, unused) for name in missing)
