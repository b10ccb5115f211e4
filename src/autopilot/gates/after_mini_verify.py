"""Does a second pair of eyes agree that the task is done?"""

from autopilot.domain.answers import TaskOpinion
from autopilot.domain.results import MiniVerified
from autopilot.domain.verdict import SET_ASIDE, Advance, Retry, Verdict
from autopilot.gates.rules import Claims, Evidence, Facts, Gate, Opinions, Rule, joined
from autopilot.history.record import PhaseRecord
from autopilot.policy.task_progress import diff_growing, fixes_of, next_stop, reviews_of

NOTHING_RUN = "Your previous answer listed no commands_run. Run each criterion's command and list what you ran."


class MiniFacts(Facts, frozen=True, kw_only=True):
    reviews: int
    fixes: int
    limit: int
    next_stop: str
    growing: bool = False


class MiniOpinions(Opinions, frozen=True, kw_only=True):
    reviewer: TaskOpinion | None = None


def gather(record: PhaseRecord) -> Evidence[MiniFacts, MiniOpinions, Claims]:
    seen = record.latest(MiniVerified)
    facts = MiniFacts(
        reviews=reviews_of(record, seen.task),
        fixes=fixes_of(record, seen.task),
        limit=record.start.settings.limits.task_fixes,
        next_stop=next_stop(record, after=seen.task),
        growing=diff_growing(record, seen.task),
    )
    return Evidence(facts, MiniOpinions(reviewer=seen.opinion), Claims())


def idle(o: MiniOpinions) -> bool:
    """EXEC-05 of the later rules: a review that ran nothing is none, whatever it says."""
    return o.reviewer is None or not o.reviewer.commands_run


def complaint(o: MiniOpinions) -> str:
    if o.reviewer is None or idle(o):
        return "the reviewer ran nothing"
    failed = tuple(f"{r.criterion}: {r.evidence}" for r in o.reviewer.criteria_results if r.failed)
    return joined(failed or o.reviewer.concerns) or "the reviewer does not accept the task"


def review_again(f: MiniFacts, o: MiniOpinions, c: Claims) -> Verdict:
    return Retry(step="mini_verify", because=NOTHING_RUN)


def next_task(f: MiniFacts, o: MiniOpinions, c: Claims) -> Verdict:
    return Advance(to=f.next_stop)


def fix(f: MiniFacts, o: MiniOpinions, c: Claims) -> Verdict:
    return Retry(step="fix", because=complaint(o))


def set_aside(f: MiniFacts, o: MiniOpinions, c: Claims) -> Verdict:
    why = "diff_growing: " if f.growing else ""
    return Advance(to=f.next_stop, because=f"{SET_ASIDE}{why}{complaint(o)}")


def content(f: MiniFacts, o: MiniOpinions, c: Claims) -> bool:
    if o.reviewer is None or idle(o):
        return False
    return o.reviewer.passed and not any(r.failed for r in o.reviewer.criteria_results)


GATE = Gate(
    name="after_mini_verify",
    question="Does a second pair of eyes agree that the task is done?",
    gather=gather,
    rules=(
        Rule("the reviewer ran something and is content", content, next_task),
        Rule("the reviewer ran nothing, first time", lambda f, o, c: idle(o) and f.reviews == 1, review_again),
        Rule("fixes remain", lambda f, o, c: f.fixes < f.limit and not f.growing, fix),
        Rule("otherwise", lambda f, o, c: True, set_aside),
    ),
    kinds=(MiniFacts, MiniOpinions, Claims),
)
