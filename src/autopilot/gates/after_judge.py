"""Does the judge see a reason to stop before it has read anybody's report?"""

from autopilot.domain.answers import JudgeOpinion
from autopilot.domain.record import PhaseRecord
from autopilot.domain.results import Judged
from autopilot.domain.verdict import Advance, Retry, Stop, Verdict
from autopilot.gates.rules import Claims, Evidence, Facts, Gate, Opinions, Rule, joined

ECHO = "Judge agrees with verifier on all points without presenting independent evidence. Possible rubber-stamp."


class JudgeFacts(Facts, frozen=True, kw_only=True):
    """`asked` counts the judge's answers about this commit."""

    asked: int


class JudgeOpinions(Opinions, frozen=True, kw_only=True):
    judge: JudgeOpinion | None = None


def gather(record: PhaseRecord) -> Evidence[JudgeFacts, JudgeOpinions, Claims]:
    asked = sum(isinstance(s.result, Judged) and s.commit == record.commit for s in record.finished)
    return Evidence(JudgeFacts(asked=asked), JudgeOpinions(judge=record.latest(Judged).opinion), Claims())


def unconvinced(o: JudgeOpinions) -> bool:
    """JUDG-02, VRFY-04: a judge without a concern or without evidence of its own has not judged."""
    return o.judge is None or not o.judge.concerns or not o.judge.independent_evidence


def stop(f: JudgeFacts, o: JudgeOpinions, c: Claims) -> Verdict:
    assert o.judge is not None
    return Stop(because=f"judge recommends {o.judge.recommendation}: {joined(o.judge.concerns)}", rollback=True)


def echoes(o: JudgeOpinions) -> bool:
    """VRFY-04: it agrees on every point and shows nothing of its own."""
    judge = o.judge
    return bool(judge and judge.verifier_agreement and not judge.verifier_missed and not judge.independent_evidence)


def judge_again(f: JudgeFacts, o: JudgeOpinions, c: Claims) -> Verdict:
    needed = "A judgement needs at least one concern and evidence you gathered yourself."
    return Retry(step="judge", because=f"{ECHO} {needed}" if echoes(o) else needed)


def give_up(f: JudgeFacts, o: JudgeOpinions, c: Claims) -> Verdict:
    because = ECHO if echoes(o) else "the judge presented no concern or no evidence of its own, twice"
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
        Rule("the judge wants a rollback or a halt", lambda f, o, c: condemned(o), stop),
        Rule("the judge has a concern and its own evidence", lambda f, o, c: not unconvinced(o), go_on),
        Rule("first time", lambda f, o, c: f.asked <= 1, judge_again),
        Rule("otherwise", lambda f, o, c: True, give_up),
    ),
    kinds=(JudgeFacts, JudgeOpinions, Claims),
)
