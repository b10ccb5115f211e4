"""Prints the end of a run and what to do next."""

from collections.abc import Iterator

from autopilot.domain.events import RunStarted
from autopilot.domain.phase import NEVER_RUN
from autopilot.domain.request import Ending, PhaseEnd, RunEnd, VerdictEnd, report_name
from autopilot.domain.results import COMPLETION
from autopilot.policy.outcomes import SHORT
from autopilot.policy.score_caps import mean_score
from autopilot.text.clean import clean
from autopilot.text.times import in_words, seconds_between
from autopilot.views.lines.run_lines import Narrator
from autopilot.views.markdown.handover import exhausted, restart_lines

_SKIPPED = frozenset({"skipped", "blocked"})
_SETTLED = frozenset({"completed", "failed", "needs_human_verification", *NEVER_RUN}) | _SKIPPED
_BLOCKED = "blocked_by_phase_"
_FAILED, _WAITS = 10, 11
_INTERRUPTED_CODES = frozenset({20, 21, 22, 130})


def announcement(end: RunEnd, narrator: Narrator) -> Iterator[str]:
    """COMP-03 and GATE-09. `end` knows the whole run; the narrator only what happened since it was started."""
    if not end.phases:
        yield clean(end.reason)
        return
    stopped = end.exit in _INTERRUPTED_CODES or _paused(end)
    yield ""
    yield f"Autopilot {_headline(end, stopped=stopped)}"
    yield ""
    yield from _figures(end, narrator)
    yield from _troubles(end, narrator)
    yield from kept_lines(end)
    yield from (clean(note, 400) for note in end.closing.notes)
    yield ""
    yield from _what_next(end, narrator.start, stopped=stopped)
    yield from _unshown(end)
    yield from _short_of_a_pass(end)
    yield from _not_landed(end, narrator)


def _headline(end: RunEnd, *, stopped: bool) -> str:
    if stopped:
        return "Paused" if _paused(end) else "Stopped"
    return "Failed" if end.exit == _FAILED else "Complete"


def _figures(end: RunEnd, narrator: Narrator) -> Iterator[str]:
    ends = end.phases.values()
    skipped = sum(_skipped(phase) for phase in ends)
    failed = sum(phase.status == "failed" for phase in ends)
    done = sum(phase.status == "completed" and not phase.outcome and not _skipped(phase) for phase in ends)
    outcomes = [phase.outcome for phase in ends]
    short = (f" | {outcomes.count(word)} {name}" for word, name in SHORT.items() if word in outcomes)
    attempted = sum(phase.status not in {"not_started", "pending"} and not _skipped(phase) for phase in ends)
    behind = (f" | blocked by phase {by}: {' '.join(names)}" for by, names in blocked(end, narrator.start).items())
    yield f"Phases: {done}/{attempted} succeeded | {failed} failed | {skipped} skipped{''.join((*short, *behind))}"
    average = mean_score(phase.score for phase in ends if phase.score is not None)
    if average is not None:
        yield f"Avg alignment: {average:.1f}/10"
    yield f"Duration: {in_words(seconds_between(narrator.first_at, narrator.last_at))}"
    cost = [f"${end.usd:.2f}"] if end.usd is not None else []
    tokens = [f"{end.tokens} tokens"] if end.tokens is not None else []
    if cost or tokens:
        yield f"Cost: {', '.join(cost + tokens)}"
    yield from _ending(end.closing)
    if end.run and end.exit not in _INTERRUPTED_CODES and not _paused(end):
        yield f"Report: .autopilot/{report_name(end.run)}"


def _ending(ending: Ending) -> Iterator[str]:
    if ending.integration != "not_run":
        yield f"integration: {ending.integration}"
    if ending.gaps:
        yield f"Self-audit gaps remaining: {' '.join(clean(gap, 40) for gap in ending.gaps)}"
    if ending.covered:
        yield f"Audited: phase {' '.join(ending.covered)}"
    if ending.uncovered:
        yield f"Not audited: phase {' '.join(ending.uncovered)}: {clean(ending.uncovered_because)}"
    if ending.version:
        yield f"Version: {clean(ending.version, 40)}"


def _troubles(end: RunEnd, narrator: Narrator) -> Iterator[str]:
    for name, phase in end.phases.items():
        if _is_blocked(phase):
            yield f"Phase {name}: blocked by phase {clean(phase.reason.removeprefix(_BLOCKED), 40)}"
        elif phase.status != "completed" and phase.reason:
            yield f"Phase {name}: {clean(phase.status, 40).replace('_', ' ')}: {clean(phase.reason)}"
    for landing in narrator.unlanded:
        place = "Completion" if landing.phase == COMPLETION else f"Phase {landing.phase}"
        yield f"{place}: not on your branch yet: {clean(landing.note)}"


def _what_next(end: RunEnd, start: RunStarted | None, *, stopped: bool) -> Iterator[str]:
    failed = [name for name, phase in end.phases.items() if phase.status == "failed"]
    waiting = [name for name, phase in end.phases.items() if phase.status == "needs_human_verification"]
    left = remaining(end, start)
    if stopped:
        yield f"{'Paused' if _paused(end) else 'Stopped'}: {clean(end.reason)}"
        yield f"To continue: {end.do or 'autopilot resume'}"
    elif exhausted(end):
        yield from restart_lines(end)
    elif failed:
        names = " ".join(failed)
        if left:
            yield f"Phase {names} failed. To continue from where you left off, run:"
            yield f"  autopilot {' '.join(left)}"
        again = f"retry {names}" if len(failed) == 1 else names
        if start is None or not start.settings.modes.debug:
            yield f"To retry the failed phase: autopilot {again}"
        yield "To retry it and go on with what depends on it: autopilot resume"
    elif waiting:
        yield f"Waiting for a person: phase {' '.join(waiting)}"
        yield f'To decide: autopilot verdict {waiting[0]} pass, or fail, or issues "what is wrong"'
    elif left:
        yield f"Remaining phases: {' '.join(left)}"
        yield f"To continue: autopilot {' '.join(left)}"
    else:
        yield from _all_done(end, start)


def _all_done(end: RunEnd, start: RunStarted | None) -> Iterator[str]:
    if end.exit == 0 and start is not None and start.settings.modes.debug:
        yield "The checks that showed the problem pass now."
        return
    if end.exit == 0:
        yield "All phases complete. Project is done." if start else "All phases of this run are complete."
    elif end.closing.gaps or end.closing.integration == "fail":
        yield clean(end.reason, 400)
        yield _way_on(end.closing)


def _way_on(ending: Ending) -> str:
    """What no one looked at may well be done: only what was found missing is work for a phase."""
    if ending.integration == "fail" or set(ending.gaps) - set(ending.unaudited):
        return "To close what is left, make it a phase with `autopilot phases add`, then: autopilot next"
    names = " ".join(clean(gap, 40) for gap in ending.unaudited)
    if ending.uncovered:
        return f"To have {names} audited: autopilot resume"
    return f"The reviewer left out {names}: check that it is done."


def _unshown(end: RunEnd) -> Iterator[str]:
    """What the phases that passed do not show."""
    for name, phase in end.phases.items():
        if phase.caveats and phase.status == "completed":
            yield f"Phase {name} passed; {'; '.join(clean(caveat, 300) for caveat in phase.caveats)}."


def _short_of_a_pass(end: RunEnd) -> Iterator[str]:
    """The last line names every phase that counts as done and that a person should look at."""
    short = {name: phase for name, phase in end.phases.items() if phase.outcome}
    for name, phase in short.items():
        if phase.outcome == "below_bar":
            yield f"To raise phase {name}: autopilot --quality {name}"
        else:
            yield f"To accept phase {name} as it is: autopilot verdict {name} pass"
    if short:
        yield "; ".join(f"Phase {name}: {clean(phase.reason)}" for name, phase in short.items())


def _not_landed(end: RunEnd, narrator: Narrator) -> Iterator[str]:
    """The last line names every phase that passed and is not on the user's branch."""
    late = [landing.phase for landing in narrator.unlanded if landing.phase != COMPLETION]
    if late and end.exit not in _INTERRUPTED_CODES:
        yield f"Not on your branch yet: phase {' '.join(late)}. To try again: autopilot resume"


def kept_lines(end: RunEnd) -> Iterator[str]:
    """The branches on which the work of failed phases is kept, each with the command that shows it."""
    for name, phase in end.phases.items():
        if phase.branch:
            branch = clean(phase.branch, 120)
            yield f"Phase {name}: its work is kept on the branch {branch}. To see it: git log -p HEAD..{branch}"


def blocked(end: RunEnd, start: RunStarted | None) -> dict[str, list[str]]:
    """By failed phase, the phases of the run that it kept from running."""
    by = {name: phase.reason.removeprefix(_BLOCKED) for name, phase in end.phases.items() if _is_blocked(phase)}
    by |= {name: name for name, phase in end.phases.items() if phase.status == "failed"}
    for phase in start.phases if start else ():
        cause = next((by[need] for need in phase.depends_on if need in by), None)
        if cause and phase.id in end.phases and end.phases[phase.id].status == "not_started":
            by.setdefault(phase.id, cause)
    found = dict[str, list[str]]()
    for name, cause in by.items():
        if name != cause:
            found.setdefault(cause, []).append(name)
    return found


def _is_blocked(phase: PhaseEnd) -> bool:
    return phase.reason.startswith(_BLOCKED)


def remaining(end: RunEnd, start: RunStarted | None) -> list[str]:
    """Phases that could run next, in roadmap order: not done, not failed, not behind a failed one."""
    roadmap = start.phases if start else ()
    statuses = {phase.id: phase.status for phase in roadmap} | {name: p.status for name, p in end.phases.items()}
    shut = {name for name, status in statuses.items() if status in {"failed", "blocked"}}
    for phase in roadmap * bool(shut):
        shut |= {phase.id} if shut.intersection(phase.depends_on) else set()
    done = set(start.completed) - end.phases.keys() if start else set()
    return [name for name, status in statuses.items() if status not in _SETTLED and name not in shut | done]


def _paused(end: RunEnd) -> bool:
    """FLAG-12: a pause that was asked for, and not phases that wait for a verdict."""
    return end.exit == _WAITS and bool(end.do)


def _skipped(phase: PhaseEnd) -> bool:
    return phase.status in _SKIPPED or phase.reason == "already_completed"


def lines(end: VerdictEnd) -> Iterator[str]:
    if not end.taken:
        yield f"Recorded: phase {end.phase} {end.verdict}. The run that is going on takes it in at its next step."
        return
    yield f"Phase {end.phase}: human verdict recorded: {end.verdict}."
    if end.landed:
        yield f"Landed on your branch: phase {' '.join(end.landed)}"
    yield from (f"Not on your branch yet: {clean(note, 300)}" for note in end.notes)
    if end.behind:
        yield f"Built upon it, and landed when it is mended: phase {' '.join(end.behind)}"
    if end.do:
        yield f"{'To go on' if end.verdict == 'pass' else 'To mend it'}: {end.do}"
