"""Writes diagnostics, learnings and traces when an attempt ends."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import msgspec

from autopilot.domain.attempt import PhaseOutcome
from autopilot.domain.errors import StorageFailed
from autopilot.domain.events import Noted, PhaseFinished, PhaseStarted, VerdictGiven
from autopilot.domain.people import HumanWord
from autopilot.domain.phase import Phase
from autopilot.domain.results import Rated
from autopilot.domain.rework import Before
from autopilot.domain.verdict import AskHuman
from autopilot.engine.close.confidence import confidence_paper, kept_paper, path_items
from autopilot.engine.close.postmortem import learning, postmortem_of
from autopilot.engine.decide.next_step import Finish
from autopilot.history.best_attempt import counted, kept, pass_behind
from autopilot.history.record import PhaseRecord, RunRecord
from autopilot.pipeline import contaminations
from autopilot.ports.agents import Diagnostics, Workspace
from autopilot.text.clean import harmless

WORDS: dict[HumanWord, str] = {"pass": "PASS", "fail": "FAIL", "issues_found": "ISSUES_FOUND"}


def calibrations(run: RunRecord) -> Iterator[str]:
    """An entry a verdict of the run, in order; one about a phase that never ended has none."""
    phases = {phase.id: phase for phase in run.start.phases}
    for given in run.of(VerdictGiven):
        ended = run.passes(given.phase)
        if ended and given.phase in phases:
            waited = next((end for end in reversed(ended) if isinstance(end.verdict, AskHuman)), ended[-1])
            yield calibration(phases[given.phase], waited.outcome, WORDS[given.verdict], given.issues)


def calibration(phase: Phase, outcome: PhaseOutcome, word: str, issues: tuple[str, ...]) -> str:
    head = f"### Human Verdict: Phase {phase.id} -- {word} (confidence calibration)\n"
    if word == "PASS":
        score = "none" if outcome.alignment_score is None else f"{outcome.alignment_score:.1f}"
        return (
            f"{head}Phase {phase.id} ({phase.name}) was deferred to human review but passed without issues.\n"
            f"**Calibration:** Future phases with similar characteristics ({phase.type} phase, "
            f"{outcome.tasks_completed} auto tasks passed, alignment score {score}/10) should increase autonomous "
            "completion confidence. The system was overly cautious in deferring this phase.\n"
        )
    found = "; ".join(issues) or "none named"
    return (
        f"{head}Phase {phase.id} ({phase.name}) was deferred to human review. Human found issues: {found}.\n"
        f"**Calibration:** Tighten quality checks for similar phases ({phase.type} phase). Specific issues to watch "
        f"for: {found}. The system correctly deferred this phase -- future phases with similar patterns should "
        "maintain or increase scrutiny.\n"
    )


WANTED = 9.0


def write_postmortem(record: PhaseRecord, finish: Finish, diagnostics: Diagnostics) -> tuple[str, ...]:
    """OBSV-03, OBSV-04, LRNG-01; the problems there were, for the issues of the pass (OBSV-05)."""
    if finish.status != "failed":
        return ()
    told = postmortem_of(record, finish)
    text = msgspec.json.format(msgspec.json.encode(told), indent=2).decode() + "\n"
    name = f"phase-{record.phase.id}-postmortem.json"
    return (
        *_tried("post-mortem", lambda: diagnostics.write(name, text)),
        *_tried("learnings", lambda: diagnostics.learn(learning(told))),
    )


def write_trace(files: Mapping[str, str], workspace: Workspace) -> tuple[str, ...]:
    """OBSV-02b: the problem there was, for the issues of the pass. A trace is for readers; the journal has it all."""
    return _tried("trace", lambda: workspace.write_planning({name: harmless(text) for name, text in files.items()}))


def write_confidence(
    passes: tuple[PhaseRecord, ...], run: RunRecord, finished: PhaseFinished, diagnostics: Diagnostics
) -> tuple[Noted | None, tuple[str, ...]]:
    """CENF-02: the paper, and the event; none for a phase that reached 9.0 at once, completed never or without work."""
    phase, score = finished.outcome.phase, finished.outcome.alignment_score
    shown = _shown(passes, run, finished)
    fine = finished.outcome.status == "completed" and not finished.cycle and score is not None and score >= WANTED
    if shown is None or fine or finished.outcome.satisfied:
        return None, ()
    name = f"phase-{phase}-confidence.md"
    if isinstance(shown, Before):
        told, items = kept_paper(shown, passes[-1].brief, finished, run.standing(phase)), len(shown.feedback)
    else:
        told, items = confidence_paper(shown, finished, run.standing(phase)), len(path_items(shown))
    problems = _tried("confidence diagnostic", lambda: diagnostics.write(name, told))
    details = {
        "phase_id": phase,
        "alignment_score": shown.score if isinstance(shown, Before) else shown.latest(Rated).score,
        "pass_threshold": passes[-1].brief.pass_threshold,
        "diagnostic_path": f".autopilot/diagnostics/{name}",
        "path_to_9_items": items,
    }
    note = Noted(event="confidence_diagnostic_written", phase=phase, details=details)
    return (None if problems or already(note, run) else note), problems


def _shown(passes: tuple[PhaseRecord, ...], run: RunRecord, finished: PhaseFinished) -> PhaseRecord | Before | None:
    """What the phase stands on now that the pass is over: a pass of this run, what an earlier run left, or nothing."""
    before, ended = run.start.before.get(finished.outcome.phase), (*run.standing(finished.outcome.phase), finished)
    if before is not None and kept(ended, before):
        return before
    best, every = counted(ended), (*run.passes(finished.outcome.phase), finished)
    return pass_behind(best, every, passes) if best else None


def write_calibrations(run: RunRecord, diagnostics: Diagnostics) -> tuple[str, ...]:
    """LRNG-04: what a person said of deferred phases, before the next one is planned; what is known stays as it is."""
    return tuple(
        problem for entry in calibrations(run) for problem in _tried("learnings", partial(diagnostics.learn, entry))
    )


def contamination_notes(record: PhaseRecord, run: RunRecord) -> tuple[Noted, ...]:
    """VRFY-06, the net below the reviewers: a warning a phrase in the reports as written, each told once a pass."""
    notes = (
        Noted(
            event="cross_contamination_warning",
            phase=record.phase.id,
            details={"file": hit.file, "pattern": hit.pattern, "line": hit.line},
        )
        for hit in contaminations(record)
    )
    return tuple(note for note in notes if not already(note, run))


def already(note: Noted, run: RunRecord) -> bool:
    """Whether the pass that is ending has the note, from a try at its end that a crash cut off."""
    for entry in reversed(run.entries):
        if isinstance(entry.event, PhaseStarted) and entry.event.brief.phase.id == note.phase:
            return False
        if entry.event == note:
            return True
    return False


def _tried(what: str, write: Callable[[], object]) -> tuple[str, ...]:
    try:
        write()
    except StorageFailed as error:
        return (f"{what} could not be written: {error.what}",)
    except OSError as error:
        # Not a matter of the disk, as a folder in the file's place; no reason to stop either.
        return (f"{what} could not be written: {error.strerror}",)
    return ()
