"""Do all criteria and gates hold on a fresh checkout, and does the blind verifier agree?"""

from autopilot.domain.answers import VerifyOpinion
from autopilot.domain.behaviour import reading
from autopilot.domain.deferral import CONFIDENT, confident, person_only
from autopilot.domain.honesty import blockers
from autopilot.domain.progress import debugs, debugs_left, unproven
from autopilot.domain.record import PhaseRecord
from autopilot.domain.results import Verified
from autopilot.domain.verdict import Advance, AskHuman, Retry, Stop, Verdict
from autopilot.gates.after_task import described
from autopilot.gates.rules import Claims, Evidence, Facts, Gate, Opinions, Rule, joined

TWO_MINUTES = 120


class VerifyFacts(Facts, frozen=True, kw_only=True):
    """
    `reviews` counts verifications of this very commit, so that asking again has an end.

    `observed` counts the commands we saw the verifier run in `seconds`; None where nobody could watch: then our own
    runs of every criterion stand in for it. `threshold` is how sure a verifier has to be that no person is needed.
    """

    checks: int
    failing: tuple[str, ...]
    unproven: tuple[str, ...]
    fresh: bool
    person_only: bool = False
    reviews: int
    debugs: int
    debugs_left: int
    seconds: float = 0.0
    least_seconds: float = 0.0
    observed: int | None = None
    threshold: float = CONFIDENT


class VerifyOpinions(Opinions, frozen=True, kw_only=True):
    verifier: VerifyOpinion | None = None


def gather(record: PhaseRecord) -> Evidence[VerifyFacts, VerifyOpinions, Claims]:
    return Evidence(facts_of(record), VerifyOpinions(verifier=record.latest(Verified).opinion), Claims())


def facts_of(record: PhaseRecord) -> VerifyFacts:
    seen = record.latest(Verified)
    broken = tuple(run for run in seen.gates if not run.passed and run.check not in seen.old_failures)
    return VerifyFacts(
        checks=len(seen.checks),
        failing=(
            *(described(run) for run in (*seen.checks, *broken) if not run.passed),
            *blockers(seen.broken),
            *seen_wrong(seen),
        ),
        unproven=unproven(record, (run.command for run in seen.checks if run.passed)),
        fresh=seen.commit == record.commit and seen.on_its_tree,
        person_only=person_only(record),
        reviews=sum(v.commit == seen.commit for v in record.results(Verified)),
        debugs=debugs(record),
        debugs_left=debugs_left(record),
        seconds=seen.seconds,
        least_seconds=record.start.settings.limits.min_verification_seconds,
        observed=seen.observed if seen.opinion else None,
        threshold=record.start.settings.deferral_threshold,
    )


def seen_wrong(seen: Verified) -> tuple[str, ...]:
    """VIS-04: critical and major issues our browser found, that were not there before."""
    return tuple(issue.told for issue in seen.visual.blocking) if seen.visual else ()


def facts_hold(f: VerifyFacts) -> bool:
    """The one definition of "the facts allow a pass": checked here, nothing failing or bent, every task proven."""
    return f.checks > 0 and f.fresh and not f.failing and not f.unproven


def shallow(f: VerifyFacts) -> bool:
    """VRFY-03a, AMB-17: seen running nothing, or in too short a time fewer commands than there are criteria."""
    if f.observed is None:
        return False
    return f.observed == 0 or (f.seconds < f.least_seconds and f.observed < f.checks)


def idle(o: VerifyOpinions) -> bool:
    """VRFY-03b."""
    return o.verifier is None or not o.verifier.commands_run


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
    return joined((*f.failing, *hollow) or said) or objection(f, o)


def objection(f: VerifyFacts, o: VerifyOpinions) -> str:
    if not f.checks:
        return "nothing was checked"
    return doubt(f, o) if idle(o) or shallow(f) else "the verifier objects"


def debug(f: VerifyFacts, o: VerifyOpinions, c: Claims) -> Verdict:
    return Retry(step="debug", because=complaint(f, o))


def doubt(f: VerifyFacts, o: VerifyOpinions) -> str:
    if idle(o) or f.observed == 0:
        return "Verifier reported empty commands_run. Verification without command execution is not accepted."
    least = "2-minute" if f.least_seconds == TWO_MINUTES else f"{f.least_seconds:g}-second"
    return f"Verifier completed in {f.seconds:.0f} seconds -- below {least} minimum. Possible rubber-stamp."


def verify_again(f: VerifyFacts, o: VerifyOpinions, c: Claims) -> Verdict:
    return Retry(step="verify", because=doubt(f, o))


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
             lambda f, o, c: facts_hold(f) and content(o) and not shallow(f), go_on),
        Rule("only the verifier ran nothing or too little, first time",
             lambda f, o, c: facts_hold(f) and (idle(o) or shallow(f)) and f.reviews == 1, verify_again),
        Rule("debug attempts remain", lambda f, o, c: f.checks > 0 and f.debugs_left > 0, debug),
        Rule("otherwise", lambda f, o, c: True, give_up),
    ),
    kinds=(VerifyFacts, VerifyOpinions, Claims),
)  # fmt: skip
