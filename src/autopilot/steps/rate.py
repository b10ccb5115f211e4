"""Have somebody who knows only the criteria score the code; the score that counts is computed here."""

from decimal import ROUND_FLOOR, Decimal

from autopilot.domain.answers import RateOpinion
from autopilot.domain.errors import NoAnswer
from autopilot.domain.protocols import Question, Tools
from autopilot.domain.record import PhaseRecord
from autopilot.domain.results import Rated
from autopilot.steps.prompt import all_criteria, criteria_lines, render

HIGHEST = 10.0


def run(record: PhaseRecord, tools: Tools) -> Rated:
    opinion = tools.agents.ask(Question(role="rate", prompt=prompt(record), answer=RateOpinion)).value
    if not opinion.commands_run or not opinion.scorecard:
        raise NoAnswer("bad_output", "a rating needs commands_run and a scorecard, and both must not be empty")
    return Rated(opinion=opinion, score=score(opinion))


def prompt(record: PhaseRecord) -> str:
    """RATE-01: the criteria and the diff, nothing else."""
    return render(
        "rate",
        id=record.phase.id,
        name=record.phase.name,
        criteria=criteria_lines(all_criteria(record)),
        base=record.brief.base,
    )


def score(opinion: RateOpinion) -> float:
    """AMB-31: the mean of the scorecard, floored to one decimal; the rater's own number only if it is lower."""
    rows = [Decimal(str(min(max(row.score, 0.0), HIGHEST))) for row in opinion.scorecard]
    mean = sum(rows, Decimal(0)) / len(rows)
    claimed = Decimal(str(min(max(opinion.alignment_score, 0.0), HIGHEST)))
    return float(min(mean, claimed).quantize(Decimal("0.1"), rounding=ROUND_FLOOR))


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
