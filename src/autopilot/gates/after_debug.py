"""A debugging attempt is never taken at its word: it always goes back to verification."""

from autopilot.domain.verdict import Advance, Verdict
from autopilot.gates.rules import Claims, Evidence, Facts, Gate, Opinions, Rule
from autopilot.history.record import PhaseRecord


def gather(record: PhaseRecord) -> Evidence[Facts, Opinions, Claims]:
    return Evidence(Facts(), Opinions(), Claims())


def verify(f: Facts, o: Opinions, c: Claims) -> Verdict:
    return Advance(to="verify")


GATE = Gate(
    name="after_debug",
    question="A debugging attempt always goes back to verification.",
    gather=gather,
    rules=(Rule("always", lambda f, o, c: True, verify),),
    kinds=(Facts, Opinions, Claims),
)
