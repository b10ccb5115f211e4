"""Does the judge see a reason to stop before it has read anybody's report?"""

from autopilot.domain.answers import JudgeOpinion
from autopilot.domain.results import Judged
from autopilot.domain.verdict import Advance, Retry, Stop, Verdict
from autopilot.gates.rules import Claims, Evidence, Facts, Gate, Opinions, Rule, joined
from autopilot.history.record import PhaseRecord
from autopilot.policy.answer_check import rejected
from autopilot.policy.task_progress import Route, full_route

ECHO = "Judge agrees with verifier on all points without presenting independent evidence. Possible rubber-stamp."


class JudgeFacts(Facts, frozen=True, kw_only=True):
    """
    `rejected` counts the answers about this phase that were not accepted before.

    `full_route` is where the work begins, for a phase of which only was checked whether it is there already.
    """

    rejected: int = 0
    full_route: Route = ""


class JudgeOpinions(Opinions, frozen=True, kw_only=True):
    judge: JudgeOpinion | None = None


def gather(record: PhaseRecord) -> Evidence[JudgeFacts, JudgeOpinions, Claims]:
    facts = JudgeFacts(rejected=rejected(record), full_route=full_route(record))
    return Evidence(facts, JudgeOpinions(judge=record.latest(Judged).opinion), Claims())


def unconvinced(o: JudgeOpinions) -> bool:
    """JUDG-02, VRFY-04: a judge without a concern or without evidence of its own has not judged."""
    return o.judge is None or not o.judge.concerns or not o.judge.independent_evidence


def stop(f: JudgeFacts, o: JudgeOpinions, c: Claims) -> Verdict:
    assert o.judge is not None
    return Stop(because=f"judge recommends {o.judge.recommendation}: {joined(o.judge.concerns)}", rollback=True)


def work(f: JudgeFacts, o: JudgeOpinions, c: Claims) -> Verdict:
    assert o.judge is not None
    return Retry(step=f.full_route, because=f"not there already: {joined(o.judge.concerns) or 'the judge objects'}")


def echoes(o: JudgeOpinions) -> bool:
    """VRFY-04: it agrees on every point and shows nothing of its own."""
    judge = o.judge
    return bool(judge and judge.verifier_agreement and not judge.verifier_missed and not judge.independent_evidence)


def judge_again(f: JudgeFacts, o: JudgeOpinions, c: Claims) -> Verdict:
    needed = "A judgement needs at least one concern and evidence you gathered yourself."
    if echoes(o):
        return Retry(step="judge", because=f"{ECHO} {needed}", rejects="VRFY-04")
    return Retry(step="judge", because=needed, rejects="JUDG-02")


def give_up(f: JudgeFacts, o: JudgeOpinions, c: Claims) -> Verdict:
    because = ECHO if echoes(o) else "the judge presented no concern or no evidence of its own, for the second time"
    return Stop(because=because, rollback=True)


def go_on(f: JudgeFacts, o: JudgeOpinions, c: Claims) -> Verdict:
    return Advance()


def condemned(o: JudgeOpinions) -> bool:
    return o.judge is not None and o.judge.recommendation in {"rollback", "halt"}


GATE = Gate(
    name="after_judge",
    question="Does the judge see a reason to stop before it has read anybody's report?",
    gather=gather,
    rules=(
        Rule("the judge objects, and nobody has worked on it yet",
             lambda f, o, c: condemned(o) and bool(f.full_route), work),
        Rule("the judge wants a rollback or a halt", lambda f, o, c: condemned(o), stop),
        Rule("the judge has a concern and its own evidence", lambda f, o, c: not unconvinced(o), go_on),
        Rule("nothing was rejected before", lambda f, o, c: not f.rejected, judge_again),
        Rule("otherwise", lambda f, o, c: True, give_up),
    ),
    kinds=(JudgeFacts, JudgeOpinions, Claims),
)  # fmt: skip
