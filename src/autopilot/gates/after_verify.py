"""Do all criteria and gates hold on a fresh checkout, and does the blind verifier agree?"""

from autopilot.domain.answers import VerifyOpinion
from autopilot.domain.results import REPLACED, Verified
from autopilot.domain.verdict import Advance, AskHuman, Retry, Stop, Verdict
from autopilot.gates.after_task import described
from autopilot.gates.rules import Claims, Evidence, Facts, Gate, Opinions, Rule, joined
from autopilot.history.record import PhaseRecord
from autopilot.policy.answer_check import SHOW, UNSHOWN, places, rejected, to_show, too_shallow
from autopilot.policy.deferral import CONFIDENT, confident, person_only
from autopilot.policy.facts.behavior_traces import reading
from autopilot.policy.facts.tamper_rules import blockers
from autopilot.policy.task_progress import Route, debugs, debugs_left, full_route, unproven, why_set_aside

TWO_MINUTES = 120


class VerifyFacts(Facts, frozen=True, kw_only=True):
    """
    `rejected` counts the answers about this phase that were not accepted before, so that asking again has an end.

    `to_show` counts the criteria that no commit of this run met, `absent` places named for them that are not there.
    `observed` counts the commands we saw the verifier run in `seconds`; None where nobody could watch: then our own
    runs of every criterion stand in for it. `set_aside` says why the work of a task is not in the tree. `threshold` is
    how sure a verifier has to be that no person is needed.
    `full_route` is where the work begins, for a phase of which only was checked whether it is there already.
    """

    checks: int
    failing: tuple[str, ...]
    unproven: tuple[str, ...]
    fresh: bool
    set_aside: tuple[str, ...] = ()
    person_only: bool = False
    rejected: int = 0
    to_show: int = 0
    absent: int = 0
    debugs: int
    debugs_left: int
    seconds: float = 0.0
    least_seconds: float = 0.0
    observed: int | None = None
    threshold: float = CONFIDENT
    full_route: Route = ""


class VerifyOpinions(Opinions, frozen=True, kw_only=True):
    verifier: VerifyOpinion | None = None


def gather(record: PhaseRecord) -> Evidence[VerifyFacts, VerifyOpinions, Claims]:
    return Evidence(facts_of(record), VerifyOpinions(verifier=record.latest(Verified).opinion), Claims())


def facts_of(record: PhaseRecord) -> VerifyFacts:
    seen = record.latest(Verified)
    broken = tuple(run for run in seen.gates if not run.passed and run.check not in seen.old_failures)
    return VerifyFacts(
        checks=sum(REPLACED not in run.check for run in seen.checks),
        failing=(
            *(described(run) for run in (*seen.checks, *broken) if not run.passed),
            *blockers(seen.broken),
            *seen_wrong(seen),
        ),
        unproven=unproven(record, (run.command for run in seen.checks if run.passed)),
        fresh=seen.commit == record.commit and seen.on_its_tree,
        set_aside=why_set_aside(record),
        person_only=person_only(record),
        rejected=rejected(record),
        to_show=len(to_show(record)),
        absent=len(seen.absent),
        debugs=debugs(record),
        debugs_left=debugs_left(record),
        seconds=seen.seconds,
        least_seconds=record.start.settings.limits.min_verification_seconds,
        observed=seen.observed if seen.opinion else None,
        threshold=record.start.settings.deferral_threshold,
        full_route=full_route(record),
    )


def seen_wrong(seen: Verified) -> tuple[str, ...]:
    """VIS-04: critical and major issues our browser found, that were not there before."""
    return tuple(issue.told for issue in seen.visual.blocking) if seen.visual else ()


def facts_hold(f: VerifyFacts) -> bool:
    """The one definition of "the facts allow a pass": checked here, nothing failing or bent, every task proven."""
    return f.checks > 0 and f.fresh and not f.failing and not f.unproven


def shallow(f: VerifyFacts) -> bool:
    """VRFY-03a, AMB-17: see `too_shallow`. Where nobody could watch the verifier, our own runs stand in for it."""
    return too_shallow(f.observed, f.checks, f.seconds, f.least_seconds)


def idle(o: VerifyOpinions) -> bool:
    """VRFY-03b."""
    return o.verifier is None or not o.verifier.commands_run


def bare(f: VerifyFacts, o: VerifyOpinions) -> bool:
    """INTG-08: nothing was built, and the verifier does not point to where each criterion is met, or to nowhere."""
    return len(places(o.verifier)) - f.absent < f.to_show


def doubtful(f: VerifyFacts, o: VerifyOpinions) -> bool:
    """The facts hold, and all that is wrong is how the verifier came to its word."""
    return facts_hold(f) and (idle(o) or shallow(f) or (content(o) and bare(f, o)))


def content(o: VerifyOpinions) -> bool:
    """Its word is pass, it ran something, and it lists no criterion as failed all the same."""
    return o.verifier is not None and o.verifier.passed and not idle(o) and not missed(o.verifier)


def missed(verifier: VerifyOpinion) -> tuple[str, ...]:
    """What it lists as failed or contradicted, whatever its word on the whole."""
    criteria = (f"{r.criterion}: {r.evidence}" for r in verifier.criteria_results if r.failed)
    traces = (t for t in verifier.behavioral_traces if reading(t) == "contradicted")
    return (*criteria, *(f"{t.handler} does not do what is asked ({t.criterion_match}): {t.chain}" for t in traces))


def complaint(f: VerifyFacts, o: VerifyOpinions) -> str:
    said = (o.verifier.failures or missed(o.verifier)) if o.verifier else ()
    hollow = tuple(f"task {task}: no criterion that failed before passes now" for task in f.unproven)
    facts = (*f.failing, *hollow)
    return joined((*f.set_aside, *facts) if facts else said) or objection(f, o)


def objection(f: VerifyFacts, o: VerifyOpinions) -> str:
    if not f.checks:
        return "nothing was checked"
    return doubt(f, o) if idle(o) or shallow(f) else "the verifier objects"


def debug(f: VerifyFacts, o: VerifyOpinions, c: Claims) -> Verdict:
    return Retry(step="debug", because=complaint(f, o))


def work(f: VerifyFacts, o: VerifyOpinions, c: Claims) -> Verdict:
    return Retry(step=f.full_route, because=f"not there already: {complaint(f, o)}")


def doubt(f: VerifyFacts, o: VerifyOpinions) -> str:
    return doubts(f, o)[1]


def doubts(f: VerifyFacts, o: VerifyOpinions) -> tuple[str, str]:
    """The rule that the answer breaks, and what is said of it."""
    if idle(o) or f.observed == 0:
        nothing = "Verifier reported empty commands_run. Verification without command execution is not accepted."
        return "VRFY-03b", nothing
    if not shallow(f):
        return "INTG-08", f"{UNSHOWN} {SHOW}"
    least = "2-minute" if f.least_seconds == TWO_MINUTES else f"{f.least_seconds:g}-second"
    seconds = f"{f.seconds:.0f} seconds -- below {least} minimum"
    return "VRFY-03a", f"Verifier completed in {seconds}. Possible rubber-stamp."


def verify_again(f: VerifyFacts, o: VerifyOpinions, c: Claims) -> Verdict:
    rule, because = doubts(f, o)
    return Retry(step="verify", because=because, rejects=rule)


def reject(f: VerifyFacts, o: VerifyOpinions, c: Claims) -> Verdict:
    return Stop(because=f"max retries exceeded: {doubt(f, o)}", rollback=True)


def give_up(f: VerifyFacts, o: VerifyOpinions, c: Claims) -> Verdict:
    return Stop(because=f"max retries exceeded: {complaint(f, o)}", rollback=True)


def wait(f: VerifyFacts, o: VerifyOpinions, c: Claims) -> Verdict:
    return AskHuman(question=f"every task of the plan is for a person: {complaint(f, o)}")


def needs_person(f: VerifyFacts, o: VerifyOpinions) -> bool:
    """HUM-04: no agent can do what is left, and the verifier is not sure that it is done."""
    sure = confident(o.verifier, f.threshold)
    return f.person_only and not (facts_hold(f) and content(o) and not shallow(f) and sure)


def go_on(f: VerifyFacts, o: VerifyOpinions, c: Claims) -> Verdict:
    return Advance()


GATE = Gate(
    name="after_verify",
    question="Do all criteria and gates hold on a fresh checkout, and does the blind verifier agree?",
    gather=gather,
    rules=(
        Rule("only a person can do what is left", lambda f, o, c: needs_person(f, o), wait),
        Rule("the facts hold and the verifier agrees",
             lambda f, o, c: facts_hold(f) and content(o) and not shallow(f) and not bare(f, o), go_on),
        Rule("only the verifier ran or showed too little, nothing was rejected before",
             lambda f, o, c: doubtful(f, o) and not f.rejected, verify_again),
        Rule("only the verifier ran or showed too little", lambda f, o, c: doubtful(f, o), reject),
        Rule("nobody has worked on it yet", lambda f, o, c: bool(f.full_route), work),
        Rule("debug attempts remain", lambda f, o, c: f.checks > 0 and f.debugs_left > 0, debug),
        Rule("otherwise", lambda f, o, c: True, give_up),
    ),
    kinds=(VerifyFacts, VerifyOpinions, Claims),
)  # fmt: skip
