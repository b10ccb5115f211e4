"""Is the plan good enough to become the contract?"""

from autopilot.domain.answers import PlanOpinion
from autopilot.domain.results import PlanChecked
from autopilot.domain.verdict import Advance, Retry, Stop, Verdict
from autopilot.gates.rules import Claims, Evidence, Facts, Gate, Opinions, Rule, joined
from autopilot.history.record import PhaseRecord
from autopilot.policy.task_progress import plan_rounds

MIN_CONFIDENCE = 7


class PlanCheckFacts(Facts, frozen=True, kw_only=True):
    tasks: int
    blockers: tuple[str, ...]
    tries: int
    limit: int
    for_agents: bool = True


class PlanCheckOpinions(Opinions, frozen=True, kw_only=True):
    checker: PlanOpinion | None = None


def gather(record: PhaseRecord) -> Evidence[PlanCheckFacts, PlanCheckOpinions, Claims]:
    checked = record.latest(PlanChecked)
    done = record.brief.done_under(checked.plan)
    facts = PlanCheckFacts(
        tasks=len(checked.plan.tasks),
        blockers=tuple(f"{b.where}: {b.what}" for b in checked.findings if b.severity == "blocker"),
        tries=plan_rounds(record),
        limit=record.start.settings.limits.plan_checks,
        for_agents=any(task.type == "auto" and task.id not in done for task in checked.plan.tasks),
    )
    return Evidence(facts, PlanCheckOpinions(checker=checked.opinion), Claims())


def approved(opinion: PlanOpinion | None) -> bool:
    """PCHK-12, AMB-28: a pass with little confidence, or one that lists a blocker, is no pass."""
    return (
        opinion is not None
        and opinion.passed
        and opinion.confidence >= MIN_CONFIDENCE
        and not any(issue.severity == "blocker" for issue in opinion.issues)
    )


def complaints(f: PlanCheckFacts, o: PlanCheckOpinions) -> str:
    said = tuple(f"{i.description} {i.fix_hint}".strip() for i in o.checker.issues) if o.checker else ()
    return joined(f.blockers or said) or "the checker is not confident of the plan"


def go_on(f: PlanCheckFacts, o: PlanCheckOpinions, c: Claims) -> Verdict:
    return Advance() if f.for_agents else Advance(to="verify", because="no task for an agent")


def plan_again(f: PlanCheckFacts, o: PlanCheckOpinions, c: Claims) -> Verdict:
    return Retry(step="plan", because=f"REVISION REQUIRED. {complaints(f, o)}")


def give_up(f: PlanCheckFacts, o: PlanCheckOpinions, c: Claims) -> Verdict:
    return Stop(because=f"plan rejected {f.tries} times: {complaints(f, o)}")


def sound(f: PlanCheckFacts, o: PlanCheckOpinions, c: Claims) -> bool:
    return f.tasks > 0 and not f.blockers and approved(o.checker)


GATE = Gate(
    name="after_plan_check",
    question="Is the plan good enough to become the contract?",
    gather=gather,
    rules=(
        Rule("our checks find no blocker and the checker approves", sound, go_on),
        Rule("tries remain", lambda f, o, c: f.tries < f.limit, plan_again),
        Rule("otherwise", lambda f, o, c: True, give_up),
    ),
    kinds=(PlanCheckFacts, PlanCheckOpinions, Claims),
)
