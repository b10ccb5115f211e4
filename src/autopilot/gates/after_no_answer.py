"""An agent gave no usable answer: ask once more, or give the phase up?"""

from autopilot.domain.results import Unanswered
from autopilot.domain.verdict import Retry, Stop, Verdict
from autopilot.gates.rules import Claims, Evidence, Facts, Gate, Opinions, Rule
from autopilot.history.record import PhaseRecord
from autopilot.policy.task_progress import SAVED, ran_dry


class SilenceFacts(Facts, frozen=True, kw_only=True):
    """`tries` counts the silences of this step in a row."""

    step: str
    outcome: str
    detail: str
    tries: int
    limit: int


def gather(record: PhaseRecord) -> Evidence[SilenceFacts, Opinions, Claims]:
    last = record.finished[-1]
    assert isinstance(last.result, Unanswered)
    tries = 0
    for step in reversed(record.finished):
        if step.step != last.step or not isinstance(step.result, Unanswered):
            break
        tries += 1
    facts = SilenceFacts(
        step=last.step,
        outcome=last.result.outcome,
        detail=last.result.detail,
        tries=tries,
        limit=record.start.settings.limits.unanswered,
    )
    return Evidence(facts, Opinions(), Claims())


def ask_again(f: SilenceFacts, o: Opinions, c: Claims) -> Verdict:
    return Retry(step=f.step, because=f"the last answer could not be used ({f.outcome}): {f.detail}")


def hand_over(f: SilenceFacts, o: Opinions, c: Claims) -> Verdict:
    return Stop(because=SAVED)


def give_up(f: SilenceFacts, o: Opinions, c: Claims) -> Verdict:
    return Stop(because=f"no usable answer in {f.step} after {f.tries} tries ({f.outcome}): {f.detail}", rollback=True)


GATE = Gate(
    name="unanswered",
    question="An agent gave no usable answer: ask once more, or give the phase up?",
    gather=gather,
    rules=(
        Rule("the executor ran out of context", lambda f, o, c: ran_dry(f.step, f.outcome), hand_over),
        Rule("tries remain", lambda f, o, c: f.tries < f.limit, ask_again),
        Rule("otherwise", lambda f, o, c: True, give_up),
    ),
    kinds=(SilenceFacts, Opinions, Claims),
)
