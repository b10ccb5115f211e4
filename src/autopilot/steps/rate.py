"""Have somebody who knows only the criteria score the code; the score that counts is computed here."""

from collections.abc import Mapping
from typing import Any

import msgspec

from autopilot.domain.answers import Coverage, RateOpinion
from autopilot.domain.errors import NoAnswer
from autopilot.domain.progress import auto_tasks
from autopilot.domain.protocols import Objection, Question, Tools
from autopilot.domain.record import PhaseRecord
from autopilot.domain.results import Rated, Verified
from autopilot.domain.scores import HIGHEST, band, counted, score
from autopilot.domain.tables import table
from autopilot.domain.visual import DEDUCTIONS, VisualIssue
from autopilot.steps import contamination
from autopilot.steps.prompt import all_criteria, bullets, criteria_lines, render
from autopilot.steps.test_specs import spec_runs
from autopilot.steps.twins import twin, written_at

INTEGER = "Integer alignment score detected ({score}). Rating agent MUST produce decimal scores (x.x format)."
CALIBRATION = (
    "The score is the mean of the rows, rounded down, and never above the rater's own number; a criterion whose "
    "command fails stays below 7.0."
)
NOT_SEEN = "visual testing not performed"
OUTPUT_SHOWN = 80


def run(record: PhaseRecord, tools: Tools) -> Rated:
    question = Question(role="rate", prompt=prompt(record), answer=RateOpinion, objections=objections)
    answered = tools.agents.ask(question)
    opinion, verified = answered.value, record.find(Verified)
    if not opinion.commands_run or not opinion.scorecard:
        raise NoAnswer("bad_output", "a rating needs commands_run and a scorecard, and both must not be empty")
    found = score(opinion, verified.checks if verified else (), visual_issues(verified))
    opinion = msgspec.structs.replace(opinion, score_band=band(found))
    return Rated(opinion=opinion, score=found, issues=answered.issues)


def objections(answer: Mapping[str, Any]) -> tuple[Objection, ...]:
    """RATE-02, INTG-05d, AMB-30, and words of other reviewers."""
    written = answer.get("alignment_score")
    pointless = isinstance(written, int) or (isinstance(written, str) and "." not in written)
    text = INTEGER.format(score=written)
    whole = (Objection(reminder=f"{text} Answer again, with one decimal.", issue=text),) if pointless else ()
    return (*whole, *contamination.objections("rate", answer))


def prompt(record: PhaseRecord) -> str:
    """RATE-01: the criteria and the diff, nothing else."""
    return render(
        "rate",
        id=record.phase.id,
        name=record.phase.name,
        criteria=criteria_lines(all_criteria(record)),
        base=record.brief.base,
    )


def artifacts(record: PhaseRecord) -> dict[str, str]:
    """RATE-10."""
    rated, verified = record.find(Rated), record.find(Verified)
    if rated is None:
        return {}
    specs, total = spec_runs(record, verified.checks if verified else ()), len(auto_tasks(record))
    coverage = Coverage(
        tasks_with_tests=len(specs),
        tasks_total=total,
        assertions_passed=sum(s.passed for s in specs),
        assertions_total=sum(s.passed + s.failed for s in specs),
    )
    text = f"# Scorecard: Phase {record.phase.id} -- {record.phase.name}\n\n{card(rated, verified, coverage)}"
    facts = twin(record, rated=written_at(record, rated), score_band=band(rated.score), coverage=coverage, result=rated)
    return {"SCORECARD.md": text, "SCORECARD.json": facts}


def visual_issues(verified: Verified | None) -> tuple[VisualIssue, ...]:
    return verified.visual.counted if verified and verified.visual else ()


def visual_lines(verified: Verified | None) -> str:
    """RATE-11."""
    results = verified.visual if verified else None
    if results is None or not results.captured:
        return NOT_SEEN
    taken_off = (f"-{DEDUCTIONS[issue.severity]:.1f}: {issue.told}" for issue in results.counted)
    return bullets(taken_off, f"{results.routes_passed}/{results.routes_tested} routes passed, nothing taken off")


def card(rated: Rated, verified: Verified | None, coverage: Coverage) -> str:
    opinion = rated.opinion
    scores = counted(opinion.scorecard, verified.checks if verified else (), visual_issues(verified))
    rows = (
        (row.criterion, value, row.evidence, row.command_output[:OUTPUT_SHOWN], row.justification)
        for row, value in zip(opinion.scorecard, scores, strict=True)
    )
    short = (r for r in opinion.scorecard if r.score < HIGHEST)
    deductions = (f"{r.criterion}: -{HIGHEST - r.score:.1f} -- {r.justification or 'not justified'}" for r in short)
    return (
        f"{table(('Criterion', 'Score', 'Evidence', 'Test Results', 'Justification'), rows)}\n\n"
        f"**Alignment Score: {rated.score}/10** ({band(rated.score)}; the rater's own: {opinion.alignment_score})\n\n"
        f"{opinion.aggregate_justification}\n\n"
        f"## Deductions\n{bullets(deductions, 'none')}\n\n"
        f"## Visual Testing\n{visual_lines(verified)}\n\n"
        f"## Test Coverage\n{coverage.tasks_with_tests}/{coverage.tasks_total} tasks with tests, "
        f"{coverage.assertions_passed}/{coverage.assertions_total} assertions passed, as run by Autopilot\n\n"
        f"## Side Effects\n{bullets(opinion.side_effects, 'none')}\n\n"
        f"## Calibration\n{CALIBRATION}\n"
    )
