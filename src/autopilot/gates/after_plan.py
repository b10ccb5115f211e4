"""Is there a plan that can be read?"""

from autopilot.domain.progress import plan_rounds
from autopilot.domain.record import PhaseRecord
from autopilot.domain.results import Planned
from autopilot.domain.verdict import Advance, Retry, Stop, Verdict
from autopilot.gates.rules import Claims, Evidence, Facts, Gate, Opinions, Rule


class PlanFacts(Facts, frozen=True, kw_only=True):
    tasks: int
    problem: str
    tries: int
    limit: int


def gather(record: PhaseRecord) -> Evidence[PlanFacts, Opinions, Claims]:
    planned = record.latest(Planned)
    facts = PlanFacts(
        tasks=len(planned.plan.tasks) if planned.plan else 0,
        problem=planned.problem,
        tries=plan_rounds(record),
        limit=record.start.settings.limits.plan_checks,
    )
    return Evidence(facts, Opinions(), Claims())


def go_on(f: PlanFacts, o: Opinions, c: Claims) -> Verdict:
    return Advance()


def plan_again(f: PlanFacts, o: Opinions, c: Claims) -> Verdict:
    return Retry(step="plan", because=f"REVISION REQUIRED. {f.problem or 'the plan lists no task'}")


def give_up(f: PlanFacts, o: Opinions, c: Claims) -> Verdict:
    return Stop(because=f"no readable plan after {f.tries} tries: {f.problem or 'the plan lists no task'}")


GATE = Gate(
    name="after_plan",
    question="Is there a plan that can be read?",
    gather=gather,
    rules=(
        Rule("the plan has tasks", lambda f, o, c: f.tasks > 0, go_on),
        Rule("tries remain", lambda f, o, c: f.tries < f.limit, plan_again),
        Rule("otherwise", lambda f, o, c: True, give_up),
    ),
    kinds=(PlanFacts, Opinions, Claims),
)
