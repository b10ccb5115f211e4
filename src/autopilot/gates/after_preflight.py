"""May the phase start at all?"""

from autopilot.domain.results import Preflighted
from autopilot.domain.verdict import Advance, Stop, Verdict
from autopilot.gates.rules import Claims, Evidence, Facts, Gate, Opinions, Rule, joined
from autopilot.history.record import PhaseRecord


class PreflightFacts(Facts, frozen=True, kw_only=True):
    issues: tuple[str, ...]


def gather(record: PhaseRecord) -> Evidence[PreflightFacts, Opinions, Claims]:
    return Evidence(PreflightFacts(issues=record.latest(Preflighted).issues), Opinions(), Claims())


def give_up(f: PreflightFacts, o: Opinions, c: Claims) -> Verdict:
    return Stop(because=f"Preflight failed: {joined(f.issues)}")


def go_on(f: PreflightFacts, o: Opinions, c: Claims) -> Verdict:
    return Advance()


GATE = Gate(
    name="after_preflight",
    question="May the phase start at all?",
    gather=gather,
    rules=(
        Rule("something blocks the start", lambda f, o, c: bool(f.issues), give_up),
        Rule("otherwise", lambda f, o, c: True, go_on),
    ),
    kinds=(PreflightFacts, Opinions, Claims),
)
