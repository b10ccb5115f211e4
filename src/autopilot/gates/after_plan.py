"""Is there a plan that can be read?"""

from autopilot.domain.results import PlanChecked, Planned
from autopilot.domain.verdict import Advance, Retry, Stop, Verdict
from autopilot.gates.rules import Claims, Evidence, Facts, Gate, Opinions, Rule
from autopilot.history.record import PhaseRecord
from autopilot.policy.task_progress import plan_rounds, since_replan

REVISE = "REVISION REQUIRED. "


class PlanFacts(Facts, frozen=True, kw_only=True):
    """`objection`: why plan-check sent back the last plan that could be read, if it sent one back."""

    tasks: int
    problem: str
    tries: int
    limit: int
    objection: str = ""


def gather(record: PhaseRecord) -> Evidence[PlanFacts, Opinions, Claims]:
    planned = record.latest(Planned)
    facts = PlanFacts(
        tasks=len(planned.plan.tasks) if planned.plan else 0,
        problem=planned.problem,
        tries=plan_rounds(record),
        limit=record.start.settings.limits.plan_checks,
        objection=objection(record),
    )
    return Evidence(facts, Opinions(), Claims())


def objection(record: PhaseRecord) -> str:
    checks = (s.verdict for s in reversed(since_replan(record)) if isinstance(s.result, PlanChecked))
    last = next(checks, None)
    return last.because.removeprefix(REVISE) if isinstance(last, Retry) else ""


def wrong(f: PlanFacts) -> str:
    """What is wrong with the newest answer, after what is still wrong with the plan before it."""
    return "; ".join(filter(None, (f.objection.rstrip("."), f.problem or "the plan lists no task")))


def go_on(f: PlanFacts, o: Opinions, c: Claims) -> Verdict:
    return Advance()


def plan_again(f: PlanFacts, o: Opinions, c: Claims) -> Verdict:
    return Retry(step="plan", because=f"{REVISE}{wrong(f)}")


def give_up(f: PlanFacts, o: Opinions, c: Claims) -> Verdict:
    end = f"plan rejected after {f.tries} tries" if f.objection else f"no readable plan after {f.tries} tries"
    return Stop(because=f"{end}: {wrong(f)}")


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
