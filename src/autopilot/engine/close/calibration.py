"""What a person's verdict on a deferred phase teaches those who plan and build after it (LRNG-04). Pure."""

from collections.abc import Iterator

from autopilot.domain.attempt import PhaseOutcome
from autopilot.domain.events import VerdictGiven
from autopilot.domain.people import HumanWord
from autopilot.domain.phase import Phase
from autopilot.domain.verdict import AskHuman
from autopilot.history.record import RunRecord

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
