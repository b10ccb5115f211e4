"""What a person's verdict on a deferred phase teaches those who plan and build after it (LRNG-04). Pure."""

from collections.abc import Iterator

from autopilot.domain.events import Noted, PhaseOutcome
from autopilot.domain.phase import Phase
from autopilot.domain.record import RunRecord

RECORDED = "human_verdict_recorded"
WORDS = {"pass": "PASS", "fail": "FAIL", "issues": "ISSUES_FOUND", "issues_found": "ISSUES_FOUND"}


def calibrations(run: RunRecord) -> Iterator[str]:
    """An entry a verdict of the run, in order; one about a phase that never ended, or in no known word, has none."""
    phases = {phase.id: phase for phase in run.start.phases}
    for note in run.of(Noted):
        if note.event != RECORDED or note.phase not in phases:
            continue
        ended = run.passes(note.phase)
        word, issues = _verdict(note)
        if ended and word:
            yield calibration(phases[note.phase], ended[-1].outcome, word, issues)


def _verdict(note: Noted) -> tuple[str, tuple[str, ...]]:
    """The verdict as a word, or as an object of its own with the word and the issues in it."""
    said = note.details.get("verdict")
    inner = said if isinstance(said, dict) else note.details
    word = WORDS.get(str(inner.get("verdict", "")).casefold(), "")
    issues = inner.get("issues")
    return word, tuple(str(issue) for issue in issues) if isinstance(issues, list | tuple) else ()


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
