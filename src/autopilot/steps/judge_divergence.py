"""Show the judge the verifier's report, now that its own is written, and have it compare the two."""

from autopilot.domain.answers import DivergenceOpinion
from autopilot.domain.protocols import Question, Tools
from autopilot.domain.record import PhaseRecord
from autopilot.domain.results import Compared
from autopilot.steps.prompt import heading, render


def run(record: PhaseRecord, tools: Tools) -> Compared:
    question = Question(role="judge_divergence", prompt=prompt(record), answer=DivergenceOpinion)
    return Compared(opinion=tools.agents.ask(question).value)


def prompt(record: PhaseRecord) -> str:
    return render("judge_divergence", heading=heading(record), dir=record.brief.dir, base=record.brief.base)
