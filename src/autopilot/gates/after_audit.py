"""Does the work give what the specification asks for, and if not, is there a try left to mend it?"""

from autopilot.domain.results import Audited
from autopilot.domain.verdict import Advance, Retry, Stop, Verdict
from autopilot.gates.rules import Claims, Evidence, Facts, Gate, Opinions, Rule, joined
from autopilot.history.record import PhaseRecord
from autopilot.policy.audit_gaps import MOST_ROUNDS, cycles


class AuditFacts(Facts, frozen=True, kw_only=True):
    """`asked` counts the requirements in scope, `rounds` how often they were audited again."""

    asked: int
    rounds: int
    limit: int


class AuditOpinions(Opinions, frozen=True, kw_only=True):
    """The requirements with a gap; `mendable` are those of them that say what is missing."""

    gaps: tuple[str, ...] = ()
    mendable: int = 0


def gather(record: PhaseRecord) -> Evidence[AuditFacts, AuditOpinions, Claims]:
    result = record.last()
    assert isinstance(result, Audited)
    facts = AuditFacts(asked=len(result.scope), rounds=cycles(record), limit=MOST_ROUNDS)
    gaps = tuple(f"{gap.requirement_id}: {gap.gap_description}" for gap in result.gaps)
    return Evidence(facts, AuditOpinions(gaps=gaps, mendable=sum(g.mendable for g in result.gaps)), Claims())


def mend(f: AuditFacts, o: AuditOpinions, c: Claims) -> Verdict:
    return Retry(step="gap_fix", because=joined(o.gaps))


def report(f: AuditFacts, o: AuditOpinions, c: Claims) -> Verdict:
    return Stop(because=joined(o.gaps) or "nothing was audited")


def passed(f: AuditFacts, o: AuditOpinions, c: Claims) -> Verdict:
    return Advance()


GATE = Gate(
    name="after_audit",
    question="Does the work give what the specification asks for?",
    gather=gather,
    rules=(
        Rule("gaps can be mended, a try is left", lambda f, o, c: bool(o.mendable) and f.rounds < f.limit, mend),
        Rule("gaps remain", lambda f, o, c: bool(o.gaps), report),
        Rule("nothing was asked for", lambda f, o, c: not f.asked, report),
        Rule("otherwise", lambda f, o, c: True, passed),
    ),
    kinds=(AuditFacts, AuditOpinions, Claims),
)
