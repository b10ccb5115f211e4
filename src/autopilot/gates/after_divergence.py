"""What do judge and verifier make of the work together? The harsher word counts."""

from autopilot.domain.answers import Recommendation
from autopilot.domain.progress import debugs_left
from autopilot.domain.record import PhaseRecord
from autopilot.domain.results import Compared, Judged
from autopilot.domain.verdict import Advance, Retry, Stop, Verdict
from autopilot.gates.rules import Claims, Evidence, Facts, Gate, Opinions, Rule, joined

SEVERITY: tuple[Recommendation, ...] = ("proceed", "debug", "rollback", "halt")


class DivergenceFacts(Facts, frozen=True, kw_only=True):
    debugs_left: int


class DivergenceOpinions(Opinions, frozen=True, kw_only=True):
    """Two words of the same judge; None when it was not asked."""

    first: Recommendation | None = None
    second: Recommendation | None = None
    concerns: tuple[str, ...] = ()


def gather(record: PhaseRecord) -> Evidence[DivergenceFacts, DivergenceOpinions, Claims]:
    judged, compared = record.latest(Judged).opinion, record.latest(Compared).opinion
    opinions = DivergenceOpinions(
        first=judged.recommendation,
        second=compared.recommendation,
        concerns=(*compared.concerns, *compared.verifier_missed, *judged.concerns),
    )
    return Evidence(DivergenceFacts(debugs_left=debugs_left(record)), opinions, Claims())


def harsher(o: DivergenceOpinions) -> Recommendation:
    if o.first is None or o.second is None:
        return "halt"
    return max(o.first, o.second, key=SEVERITY.index)


def stop(f: DivergenceFacts, o: DivergenceOpinions, c: Claims) -> Verdict:
    return Stop(because=f"judge recommends {harsher(o)}: {joined(o.concerns)}", rollback=True)


def debug(f: DivergenceFacts, o: DivergenceOpinions, c: Claims) -> Verdict:
    return Retry(step="debug", because=joined(o.concerns) or "the judge recommends debugging")


def go_on(f: DivergenceFacts, o: DivergenceOpinions, c: Claims) -> Verdict:
    return Advance()


GATE = Gate(
    name="after_divergence",
    question="What do judge and verifier make of the work together?",
    gather=gather,
    rules=(
        Rule("both words are proceed", lambda f, o, c: harsher(o) == "proceed", go_on),
        Rule("one says debug, attempts remain", lambda f, o, c: harsher(o) == "debug" and f.debugs_left > 0, debug),
        Rule("otherwise", lambda f, o, c: True, stop),
    ),
    kinds=(DivergenceFacts, DivergenceOpinions, Claims),
)
