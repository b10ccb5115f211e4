"""Nothing to decide: research is advice for the planner."""

from autopilot.domain.verdict import Advance, Verdict
from autopilot.gates.rules import Claims, Evidence, Facts, Gate, Opinions, Rule
from autopilot.history.record import PhaseRecord


def gather(record: PhaseRecord) -> Evidence[Facts, Opinions, Claims]:
    return Evidence(Facts(), Opinions(), Claims())


def go_on(f: Facts, o: Opinions, c: Claims) -> Verdict:
    return Advance()


GATE = Gate(
    name="after_research",
    question="Nothing to decide: research is advice for the planner.",
    gather=gather,
    rules=(Rule("always", lambda f, o, c: True, go_on),),
    kinds=(Facts, Opinions, Claims),
)
