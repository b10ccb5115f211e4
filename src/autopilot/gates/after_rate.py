"""The phase's gate: is it done, worth another plan, or over? Every pass of a phase goes through this table."""

from autopilot.domain.answers import Recommendation, VerifyOpinion
from autopilot.domain.results import Compared, Judged, Rated, Verified
from autopilot.domain.verdict import Advance, AskHuman, Retry, Stop, Verdict
from autopilot.gates.after_divergence import DivergenceOpinions, harsher
from autopilot.gates.after_verify import VerifyFacts, VerifyOpinions, bare, content, facts_hold, facts_of, shallow
from autopilot.gates.rules import Claims, Evidence, Facts, Gate, Opinions, Rule, joined
from autopilot.history.record import PhaseRecord
from autopilot.policy.answer_check import UNJUSTIFIED
from autopilot.policy.caveats import is_users_word, nothing_new, tests_failed
from autopilot.policy.deferral import REJECTED, confident, generic, no_reason, only_looks, specific
from autopilot.policy.task_progress import failed_tasks, nothing_built, replans

MIN_SCORE = 7.0
UNSHOWN = (
    "every criterion that can be run held before the work: nothing shows that something new was built. Is it done?"
)
UNGUARDED = f"the test command fails here, and {UNSHOWN}"
UNBUILT = "nothing was built, and every criterion that can be run held before: is the phase done already?"


class RateFacts(Facts, frozen=True, kw_only=True):
    """
    `nothing_new`: no command that failed before the work passes now. `preserving`: the user says that this is so.
    """

    verification: VerifyFacts
    for_a_person: tuple[str, ...]
    replans: int
    limit: int
    failed_tasks: int = 0
    nothing_built: bool = False
    nothing_new: bool = False
    preserving: bool = False
    tests_failed: bool = False


class RateOpinions(Opinions, frozen=True, kw_only=True):
    """`score` None: nobody rated."""

    verifier: VerifyOpinion | None = None
    first: Recommendation | None = None
    second: Recommendation | None = None
    score: float | None = None
    deductions: tuple[str, ...] = ()
    lowest: tuple[str, ...] = ()


def gather(record: PhaseRecord) -> Evidence[RateFacts, RateOpinions, Claims]:
    rated = record.latest(Rated)
    facts = RateFacts(
        verification=facts_of(record),
        for_a_person=tuple(f"{task.id} {task.title}" for task in record.tasks if task.type != "auto"),
        replans=replans(record),
        failed_tasks=len(failed_tasks(record)),
        nothing_built=nothing_built(record),
        nothing_new=nothing_new(record),
        preserving=is_users_word(record),
        tests_failed=tests_failed(record),
        # A remediation mends what there is (CENF-01g): under a new plan the old one's criteria would no longer be run.
        limit=0 if record.brief.cycle else record.start.settings.limits.replans,
    )
    opinions = RateOpinions(
        verifier=record.latest(Verified).opinion,
        first=record.latest(Judged).opinion.recommendation,
        second=record.latest(Compared).opinion.word,
        score=rated.score,
        deductions=tuple(f"{s.criterion}: {rated.why(s)}" for s in rated.opinion.scorecard if s.score < MIN_SCORE),
        lowest=tuple(s.criterion for s in sorted(rated.opinion.scorecard, key=lambda s: s.score)[:3]),
    )
    return Evidence(facts, opinions, Claims())


def agreed(o: RateOpinions) -> bool:
    judge = DivergenceOpinions(first=o.first, second=o.second)
    return content(VerifyOpinions(verifier=o.verifier)) and harsher(judge) == "proceed"


def low(o: RateOpinions) -> bool:
    return o.score is None or o.score < MIN_SCORE


def verify(f: RateFacts, o: RateOpinions, c: Claims) -> Verdict:
    return Retry(step="verify", because="the tree moved since the facts were made")


def stop(f: RateFacts, o: RateOpinions, c: Claims) -> Verdict:
    failing = (*f.verification.failing, *(f"task {task} is not proven" for task in f.verification.unproven))
    return Stop(because=joined(failing) or "verifier or judge do not let it pass", rollback=True)


def plan_again(f: RateFacts, o: RateOpinions, c: Claims) -> Verdict:
    issues, focus = joined(o.deductions) or "none named", joined(o.lowest) or "every criterion"
    return Retry(step="research", because=f"Previous attempt scored {o.score}/10. Issues: {issues}. Focus on: {focus}")


def give_up(f: RateFacts, o: RateOpinions, c: Claims) -> Verdict:
    return Stop(because=f"alignment too low ({o.score}) after {f.replans} re-plan(s)", rollback=True)


def left_over(f: RateFacts, o: RateOpinions, c: Claims) -> bool:
    """STAT-06b: something is for a person, and the verifier is less sure than the threshold asks for."""
    return bool(f.for_a_person) and not confident(o.verifier, f.verification.threshold)


def unreasoned(f: RateFacts, o: RateOpinions, c: Claims) -> bool:
    """HUM-01, STAT-03: the verifier is not sure, yet names nothing it tried; or only that somebody should look."""
    return left_over(f, o, c) and not specific(o.verifier)


def to_look(f: RateFacts, o: RateOpinions) -> bool:
    """STAT-03: all that speaks for a person is that somebody should look."""
    silent = not (o.verifier and o.verifier.deferral_evidence)
    said = generic(o.verifier) or (silent and all(only_looks(task) for task in f.for_a_person))
    return said and not f.failed_tasks


def verify_again(f: RateFacts, o: RateOpinions, c: Claims) -> Verdict:
    wanted = no_reason(f.verification.threshold)
    if to_look(f, o):
        return Retry(step="verify", because=f"{REJECTED} {wanted}", rejects="STAT-03")
    return Retry(step="verify", because=f"{UNJUSTIFIED} {wanted}", rejects="STAT-02")


def reject(f: RateFacts, o: RateOpinions, c: Claims) -> Verdict:
    said = REJECTED if to_look(f, o) else UNJUSTIFIED
    return Stop(because=f"max retries exceeded: {said}", rollback=True)


def ask(f: RateFacts, o: RateOpinions, c: Claims) -> Verdict:
    return AskHuman(question=f"needs a person: {joined(f.for_a_person)}")


def ask_whether_there(f: RateFacts, o: RateOpinions, c: Claims) -> Verdict:
    """Opinions are all that speaks for it, and they cannot let a phase pass."""
    return AskHuman(question=UNBUILT)


def unshown(f: RateFacts) -> bool:
    """No fact speaks for the work, and neither the user's word nor green tests stand in for one."""
    return f.nothing_new and (f.tests_failed or not f.preserving)


def ask_whether_new(f: RateFacts, o: RateOpinions, c: Claims) -> Verdict:
    return AskHuman(question=UNGUARDED if f.tests_failed else UNSHOWN)


def complete(f: RateFacts, o: RateOpinions, c: Claims) -> Verdict:
    return Advance()


def sound(f: RateFacts, o: RateOpinions) -> bool:
    seen = f.verification
    shown = not shallow(seen) and not bare(seen, VerifyOpinions(verifier=o.verifier))
    return facts_hold(seen) and shown and agreed(o)


GATE = Gate(
    name="after_rate",
    question="The phase's gate: is it done, worth another plan, or over?",
    gather=gather,
    rules=(
        Rule("the facts are stale", lambda f, o, c: not f.verification.fresh, verify),
        Rule("a fact fails, or verifier or judge object", lambda f, o, c: not sound(f, o), stop),
        Rule("the score is below 7, a re-plan remains", lambda f, o, c: low(o) and f.replans < f.limit, plan_again),
        Rule("the score is below 7", lambda f, o, c: low(o), give_up),
        Rule("a task is left to a person without a reason, nothing was rejected before",
             lambda f, o, c: unreasoned(f, o, c) and not f.verification.rejected, verify_again),
        Rule("a task is left to a person without a reason", unreasoned, reject),
        Rule("a task is left to a person", left_over, ask),
        Rule("nothing was built", lambda f, o, c: f.nothing_built, ask_whether_there),
        Rule("nothing shows that something new was built", lambda f, o, c: unshown(f), ask_whether_new),
        Rule("otherwise", lambda f, o, c: True, complete),
    ),
    kinds=(RateFacts, RateOpinions, Claims),
)  # fmt: skip
