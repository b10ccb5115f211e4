"""Do the phases of the run hold together? Nobody's opinion outweighs a criterion that no longer holds."""

from autopilot.domain.evidence import all_about
from autopilot.domain.results import Integrated
from autopilot.domain.verdict import Advance, Stop, Verdict
from autopilot.gates.after_task import described
from autopilot.gates.rules import Claims, Evidence, Facts, Gate, Opinions, Rule, joined
from autopilot.history.record import PhaseRecord


class IntegrationFacts(Facts, frozen=True, kw_only=True):
    """`runs` counts what was run on the finished tree."""

    runs: int
    broken: tuple[str, ...]


class IntegrationOpinions(Opinions, frozen=True, kw_only=True):
    passed: bool = False
    complaints: tuple[str, ...] = ()


def gather(record: PhaseRecord) -> Evidence[IntegrationFacts, IntegrationOpinions, Claims]:
    result = record.last()
    assert isinstance(result, Integrated)
    runs = (*result.checks, *result.gates)
    facts = IntegrationFacts(
        runs=len(runs) if all_about(result.tree, runs) else 0, broken=tuple(described(run) for run in result.broken)
    )
    opinion = result.opinion
    return Evidence(facts, IntegrationOpinions(passed=opinion.passed, complaints=opinion.complaints), Claims())


def broken(f: IntegrationFacts, o: IntegrationOpinions, c: Claims) -> Verdict:
    return Stop(because=joined(f.broken))


def unproven(f: IntegrationFacts, o: IntegrationOpinions, c: Claims) -> Verdict:
    return Stop(because="nothing could be run on the finished tree")


def refused(f: IntegrationFacts, o: IntegrationOpinions, c: Claims) -> Verdict:
    return Stop(because=joined(o.complaints) or "the reviewer does not find that the phases hold together")


def passed(f: IntegrationFacts, o: IntegrationOpinions, c: Claims) -> Verdict:
    return Advance()


GATE = Gate(
    name="after_integration",
    question="Do the phases of the run hold together?",
    gather=gather,
    rules=(
        Rule("a criterion or gate no longer holds", lambda f, o, c: bool(f.broken), broken),
        Rule("nothing was run on the finished tree", lambda f, o, c: not f.runs, unproven),
        Rule("the reviewer finds something broken", lambda f, o, c: bool(o.complaints) or not o.passed, refused),
        Rule("otherwise", lambda f, o, c: True, passed),
    ),
    kinds=(IntegrationFacts, IntegrationOpinions, Claims),
)
