"""Have somebody who knows only the criteria score the code; the score that counts is computed here."""

from collections.abc import Mapping
from typing import Any

import msgspec

from autopilot.domain.answers import RateOpinion
from autopilot.domain.errors import NoAnswer
from autopilot.domain.protocols import Objection, Question, Tools
from autopilot.domain.record import PhaseRecord
from autopilot.domain.results import Rated, Verified
from autopilot.domain.scores import band, score
from autopilot.steps import contamination
from autopilot.steps.prompt import all_criteria, criteria_lines, render

INTEGER = "Integer alignment score detected ({score}). Rating agent MUST produce decimal scores (x.x format)."


def run(record: PhaseRecord, tools: Tools) -> Rated:
    question = Question(role="rate", prompt=prompt(record), answer=RateOpinion, objections=objections)
    answered = tools.agents.ask(question)
    opinion, verified = answered.value, record.find(Verified)
    if not opinion.commands_run or not opinion.scorecard:
        raise NoAnswer("bad_output", "a rating needs commands_run and a scorecard, and both must not be empty")
    counted = score(opinion, verified.checks if verified else ())
    opinion = msgspec.structs.replace(opinion, score_band=band(counted))
    return Rated(opinion=opinion, score=counted, issues=answered.issues)


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
    rated = record.find(Rated)
    if rated is None:
        return {}
    rows = ["| Criterion | Score | Evidence | Test Results | Justification |", "|---|---|---|---|---|"]
    for row in rated.opinion.scorecard:
        cells = (row.criterion, row.score, row.evidence, row.command_output[:80], row.justification)
        rows.append("| " + " | ".join(str(c).replace("|", "\\|").replace("\n", " ") for c in cells) + " |")
    table = "\n".join(rows)
    return {
        "SCORECARD.md": (
            f"# Scorecard: Phase {record.phase.id} -- {record.phase.name}\n\n{table}\n\n"
            f"**Alignment Score: {rated.score}/10** (rater's own number: {rated.opinion.alignment_score})\n\n"
            f"{rated.opinion.aggregate_justification}\n"
        )
    }
