"""Have somebody who knows only the criteria score the code; the score that counts is computed here."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec

from autopilot.domain.agent_call import Objection, Question
from autopilot.domain.answers import Coverage, CriterionScore, RateOpinion
from autopilot.domain.errors import NoAnswer
from autopilot.domain.evidence import CommandRun
from autopilot.domain.results import Rated, Verified
from autopilot.domain.visual import DEDUCTIONS, VisualIssue
from autopilot.history.record import PhaseRecord
from autopilot.policy.facts import criterion_rows
from autopilot.policy.facts.behavior_traces import all_traces, behavioural
from autopilot.policy.failure_categories import strongest
from autopilot.policy.score_caps import HIGHEST, Sight, band, charged, held, run_about, score
from autopilot.policy.task_progress import auto_tasks
from autopilot.ports.agents import Tools
from autopilot.steps.artifacts.json_twin import twin, written_at
from autopilot.steps.checks import contamination
from autopilot.steps.checks import extra_scrutiny as enhanced
from autopilot.steps.checks.tampering import noticed_lines
from autopilot.steps.checks.test_specs import spec_runs
from autopilot.steps.prompt import all_criteria, bullets, criteria_lines, render
from autopilot.text.tables import table

INTEGER = "Integer alignment score detected ({score}). Rating agent MUST produce decimal scores (x.x format)."
CALIBRATION = (
    "The score is the mean of the rows, rounded down, and never above the rater's own number. A row is held down where "
    "facts, traces or missing evidence do not bear it out; each such deduction says why."
)
NEEDED = ("alignment_score", "scorecard", "commands_run")
NOT_SEEN = "visual testing not performed"
OUTPUT_SHOWN = 80


def run(record: PhaseRecord, tools: Tools) -> Rated:
    question = Question(role="rate", prompt=prompt(record), answer=RateOpinion, objections=partial(watched, record))
    answered = tools.agents.ask(question)
    opinion = answered.value
    if not opinion.commands_run or not opinion.scorecard:
        raise NoAnswer("bad_output", "a rating needs commands_run and a scorecard, and both must not be empty")
    if missing := unrated(record, tuple(row.criterion for row in opinion.scorecard)):
        raise NoAnswer("bad_output", criterion_rows.unseen(missing))
    opinion, lowered = held(opinion, sight_of(record))
    opinion, taken_off = charged(opinion, visual_issues(record.find(Verified)))
    counted = score(opinion)
    opinion = msgspec.structs.replace(opinion, score_band=band(counted))
    return Rated(opinion=opinion, score=counted, issues=answered.issues, lowered=(*lowered, *taken_off))


def sight_of(record: PhaseRecord) -> Sight:
    verified = record.find(Verified)
    return Sight(
        checks=verified.checks if verified else (),
        criteria=all_criteria(record),
        behavioural=behavioural(record),
        traces=all_traces(record),
    )


def unrated(record: PhaseRecord, rows: tuple[str, ...]) -> tuple[str, ...]:
    return criterion_rows.left_out(all_criteria(record), record.phase.criteria, rows)


def watched(record: PhaseRecord, answer: Mapping[str, Any]) -> tuple[Objection, ...]:
    rows = criterion_rows.texts(answer.get("scorecard"))
    missing = unrated(record, rows) if rows else ()
    return (*left_out(answer), *criterion_rows.objections("scorecard", missing), *objections(answer))


def left_out(answer: Mapping[str, Any]) -> tuple[Objection, ...]:
    """RATE-12: the score may be computed from the rows; without rows or commands there is no rating."""
    lacking = [name for name in NEEDED if answer.get(name) in (None, [], "")]
    if not lacking:
        return ()
    told = f"The rating has no {', '.join(lacking)}."
    return (Objection(reminder=f"{told} Answer again, with all of it.", issue=told),)


def objections(answer: Mapping[str, Any]) -> tuple[Objection, ...]:
    """RATE-02, INTG-05d, AMB-30, and words of other reviewers."""
    written = answer.get("alignment_score")
    pointless = isinstance(written, int) or (isinstance(written, str) and "." not in written)
    text = INTEGER.format(score=written)
    whole = (Objection(reminder=f"{text} Answer again, with one decimal.", issue=text),) if pointless else ()
    return (*whole, *contamination.objections("rate", answer))


def prompt(record: PhaseRecord) -> str:
    """RATE-01: the criteria and the diff, with what we noticed in it; nothing anybody said."""
    return render(
        "rate",
        id=record.phase.id,
        name=record.phase.name,
        criteria=criteria_lines(all_criteria(record)),
        base=record.brief.base,
        noticed=noticed_lines(record.find(Verified)),
        enhanced=enhanced.paragraph(record, "rate"),
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
    own = "not given" if opinion.alignment_score is None else opinion.alignment_score
    checks = verified.checks if verified else ()
    rows = (
        (row.criterion, row.score, row.evidence, test_result(row, checks), row.justification)
        for row in opinion.scorecard
    )
    short = (r for r in opinion.scorecard if r.score < HIGHEST)
    deductions = (f"{r.criterion}: -{HIGHEST - r.score:.1f} -- {rated.why(r) or 'not justified'}" for r in short)
    return (
        f"{table(('Criterion', 'Score', 'Evidence', 'Test Results', 'Justification'), rows)}\n\n"
        f"**Alignment Score: {rated.score}/10** ({band(rated.score)}; the rater's own: {own})\n\n"
        f"{opinion.aggregate_justification}\n\n"
        f"## Deductions\n{bullets(deductions, 'none')}\n\n"
        f"## Visual Testing\n{visual_lines(verified)}\n\n"
        f"## Test Coverage\n{coverage.tasks_with_tests}/{coverage.tasks_total} tasks with tests, "
        f"{coverage.assertions_passed}/{coverage.assertions_total} assertions passed, as run by Autopilot\n\n"
        f"## Side Effects\n{bullets(opinion.side_effects, 'none')}\n\n"
        f"## Calibration\n{CALIBRATION}\n"
    )


def test_result(row: CriterionScore, checks: tuple[CommandRun, ...]) -> str:
    """SBOX-02: what our own run showed, execution before search; what the rater shows only where we ran nothing."""
    run = strongest(run for run in checks if run_about(row, run))
    if run is None:
        return row.command_output[:OUTPUT_SHOWN]
    return f"{'PASS' if run.passed else 'FAIL'} {run.output.strip()[:OUTPUT_SHOWN]}".strip()
