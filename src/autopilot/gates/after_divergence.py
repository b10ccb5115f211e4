"""What do judge and verifier make of the work together? The harsher word counts."""

from autopilot.domain.answers import SEVERITY, Recommendation
from autopilot.domain.results import Compared, Judged
from autopilot.domain.verdict import END, Advance, Retry, Stop, Verdict
from autopilot.gates.rules import Claims, Evidence, Facts, Gate, Opinions, Rule, joined
from autopilot.history.record import PhaseRecord
from autopilot.policy.answer_check import rejected
from autopilot.policy.outcomes import NOTHING_BUILT
from autopilot.policy.task_progress import Route, debugs_left, full_route

NOT_COMPARED = "The judge's second answer compares nothing with the verifier's report."
RUBBER_STAMP = "JUDGE-REPORT.md shows no independent analysis. Possible rubber-stamping."


class DivergenceFacts(Facts, frozen=True, kw_only=True):
    """
    `rejected` counts the answers about this phase that were not accepted before.

    `full_route` is where the work begins, for a phase of which only was checked whether it is there already.
    """

    debugs_left: int
    rejected: int = 0
    full_route: Route = ""


class DivergenceOpinions(Opinions, frozen=True, kw_only=True):
    """Two words of the same judge; None when it was not asked. `independent`: it differs, or has its own evidence."""

    first: Recommendation | None = None
    second: Recommendation | None = None
    concerns: tuple[str, ...] = ()
    independent: bool = False


def gather(record: PhaseRecord) -> Evidence[DivergenceFacts, DivergenceOpinions, Claims]:
    judged, both = record.latest(Judged).opinion, record.latest(Compared)
    compared = both.opinion
    opinions = DivergenceOpinions(
        first=judged.recommendation,
        second=compared.word,
        concerns=(*both.concerns, *compared.verifier_missed, *judged.concerns),
        independent=bool(compared.differences or judged.independent_evidence),
    )
    facts = DivergenceFacts(
        debugs_left=debugs_left(record),
        rejected=rejected(record),
        full_route=full_route(record),
    )
    return Evidence(facts, opinions, Claims())


def harsher(o: DivergenceOpinions) -> Recommendation:
    if o.first is None or o.second is None:
        return "halt"
    return max(o.first, o.second, key=SEVERITY.index)


def compare_again(f: DivergenceFacts, o: DivergenceOpinions, c: Claims) -> Verdict:
    return Retry(step="judge_divergence", because=NOT_COMPARED, rejects="JUDG-05")


def leave_it(f: DivergenceFacts, o: DivergenceOpinions, c: Claims) -> Verdict:
    return Stop(because=NOT_COMPARED, rollback=True)


def judge_again(f: DivergenceFacts, o: DivergenceOpinions, c: Claims) -> Verdict:
    return Retry(step="judge", because=RUBBER_STAMP, rejects="VRFY-02")


def give_up(f: DivergenceFacts, o: DivergenceOpinions, c: Claims) -> Verdict:
    return Stop(because=RUBBER_STAMP, rollback=True)


def stop(f: DivergenceFacts, o: DivergenceOpinions, c: Claims) -> Verdict:
    return Stop(because=f"judge recommends {harsher(o)}: {joined(o.concerns)}", rollback=True)


def debug(f: DivergenceFacts, o: DivergenceOpinions, c: Claims) -> Verdict:
    return Retry(step="debug", because=joined(o.concerns) or "the judge recommends debugging")


def work(f: DivergenceFacts, o: DivergenceOpinions, c: Claims) -> Verdict:
    return Retry(step=f.full_route, because=f"not there already: {joined(o.concerns) or 'the judge objects'}")


def end(f: DivergenceFacts, o: DivergenceOpinions, c: Claims) -> Verdict:
    """There is no work to rate."""
    return Advance(to=END, because=NOTHING_BUILT)


def go_on(f: DivergenceFacts, o: DivergenceOpinions, c: Claims) -> Verdict:
    return Advance()


GATE = Gate(
    name="after_divergence",
    question="What do judge and verifier make of the work together?",
    gather=gather,
    rules=(
        Rule("it compares nothing, nothing was rejected before",
             lambda f, o, c: o.second is None and not f.rejected, compare_again),
        Rule("it compares nothing", lambda f, o, c: o.second is None, leave_it),
        Rule("it shows no analysis of its own, nothing was rejected before",
             lambda f, o, c: harsher(o) == "proceed" and not o.independent and not f.rejected, judge_again),
        Rule("it shows no analysis of its own",
             lambda f, o, c: harsher(o) == "proceed" and not o.independent, give_up),
        Rule("both words are proceed, and nobody had to work on it",
             lambda f, o, c: harsher(o) == "proceed" and bool(f.full_route), end),
        Rule("nobody has worked on it yet", lambda f, o, c: bool(f.full_route), work),
        Rule("both words are proceed", lambda f, o, c: harsher(o) == "proceed", go_on),
        Rule("one says debug, attempts remain", lambda f, o, c: harsher(o) == "debug" and f.debugs_left > 0, debug),
        Rule("otherwise", lambda f, o, c: True, stop),
    ),
    kinds=(DivergenceFacts, DivergenceOpinions, Claims),
)  # fmt: skip
