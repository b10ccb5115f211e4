"""The first promise: an agent's words can only lower its verdict. Walked through every gate there is."""

from typing import Any, get_args, get_origin, get_type_hints

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autopilot.domain.answers import FixClaim, PlanClaim, ResearchClaim, VerifyOpinion, WorkClaim
from autopilot.domain.events import StepFinished
from autopilot.domain.evidence import Claim, Fact, Opinion
from autopilot.domain.results import Executed, Fixed
from autopilot.domain.verdict import END, Advance, Retry, Verdict, rank, takes_a_word
from autopilot.gates import after_divergence, after_phase, after_rate, after_task, after_verify
from autopilot.gates.rules import Claims, Evidence, Facts, Gate, Opinions, Rule
from autopilot.pipeline import ENDING, PIPELINE, stage_named
from support.gates import AnyGate, all_gates
from support.records import Story, retold, whole, work
from support.strategies import edge_values

GATES = all_gates()
NEED_OPINIONS = (
    "after_plan_check",
    "after_mini_verify",
    "after_verify",
    "after_judge",
    "after_divergence",
    "after_rate",
)
STEPS = st.sampled_from([stage.name for stage in PIPELINE])
PLACES = {"step": STEPS, "next_stop": st.sampled_from(["execute", "verify"])}

every_gate = pytest.mark.parametrize("gate", GATES.values(), ids=GATES)


def kinds(gate: AnyGate) -> tuple[st.SearchStrategy[Any], st.SearchStrategy[Any], st.SearchStrategy[Any]]:
    facts, opinions, claims = gate.kinds
    return edge_values(facts, PLACES), edge_values(opinions), edge_values(claims)


def accepted(verdict: Verdict) -> bool:
    """It goes on, and not because the task was set aside as failed."""
    return isinstance(verdict, Advance) and not verdict.because.startswith("task FAILED")


def standing(verdict: Verdict) -> int:
    """How good a verdict is for the work. A task set aside goes on too, but without what was done."""
    return rank(verdict) if accepted(verdict) or not isinstance(verdict, Advance) else 0


def is_lifted(words: Verdict, silence: Verdict) -> bool:
    """The words got more than silence would have got."""
    if accepted(words) and accepted(silence):
        return words != silence
    return standing(words) > standing(silence)


@every_gate
@settings(max_examples=40)
@given(data=st.data())
def test_no_claim_gets_more_than_silence_would(gate: AnyGate, data: st.DataObject) -> None:
    """VRFY-06v: nobody's word about its own work counts for it."""
    facts, opinions, claims = (data.draw(kind) for kind in kinds(gate))

    assert not is_lifted(gate.judge(facts, opinions, claims), gate.judge(facts, opinions, gate.kinds[2]()))


class Boast(Claims, frozen=True, kw_only=True):
    done: bool = False


def test_a_gate_that_believed_a_claim_would_be_caught() -> None:
    gate: Gate[None, Facts, Opinions, Boast] = Gate(
        name="credulous",
        question="",
        gather=lambda _: Evidence(Facts(), Opinions(), Boast()),
        rules=(
            Rule("it says so", lambda f, o, c: c.done, lambda f, o, c: Advance()),
            Rule("otherwise", lambda f, o, c: True, lambda f, o, c: Retry(step="fix", because="not done")),
        ),
        kinds=(Facts, Opinions, Boast),
    )

    assert is_lifted(gate.judge(Facts(), Opinions(), Boast(done=True)), gate.judge(Facts(), Opinions(), Boast()))


@every_gate
@settings(max_examples=40)
@given(data=st.data())
def test_every_verdict_leads_to_a_step_that_exists(gate: AnyGate, data: st.DataObject) -> None:
    facts, opinions, claims = (data.draw(kind) for kind in kinds(gate))
    known = {stage.name for stage in (*PIPELINE, *ENDING)} | {"remediate", "quality", "gaps", "split", END}

    match gate.judge(facts, opinions, claims):
        case Advance(to=to):
            assert to is None or to in known
        case Retry(step=step):
            assert step in known


CLAIM_KINDS: tuple[type[Claim], ...] = (ResearchClaim, PlanClaim, WorkClaim, FixClaim)


@settings(max_examples=25)
@given(data=st.data())
@pytest.mark.parametrize("passed", [True, False], ids=["good work", "bad work"])
def test_no_claim_in_a_record_gets_any_step_of_it_a_better_verdict(passed: bool, data: st.DataObject) -> None:
    claims = {kind: data.draw(edge_values(kind)) for kind in CLAIM_KINDS}
    told = Story().planned()
    told.step("execute", Executed(work=work(passed=passed)), commit="c1").step("fix", Fixed(work=work(passed=passed)))
    for record in (told.record, whole()):
        for n, entry in enumerate(record.entries):
            assert isinstance(entry.event, StepFinished)
            so_far = msgspec.structs.replace(record, entries=record.entries[: n + 1])
            gate = stage_named(entry.event.step).gate
            silent = retold(so_far, {kind: kind() for kind in CLAIM_KINDS})
            assert not is_lifted(gate.decide(retold(so_far, claims)), gate.decide(silent))


@given(edge_values(after_verify.VerifyFacts), edge_values(after_verify.VerifyOpinions))
def test_verification_never_passes_on_facts_that_do_not_hold(
    facts: after_verify.VerifyFacts, opinions: after_verify.VerifyOpinions
) -> None:
    verdict = after_verify.GATE.judge(facts, opinions, Claims())

    assert after_verify.facts_hold(facts) or not isinstance(verdict, Advance)


# Often nearly a pass, so that what is missing is often the one thing that decides.
AGREES = VerifyOpinion(passed=True, commands_run=("ls",))
WORD = st.sampled_from(["proceed"] * 6 + ["debug", None])
NEARLY: dict[str, st.SearchStrategy[Any]] = {
    "first": WORD,
    "second": WORD,
    "verifier": st.sampled_from(
        [AGREES, AGREES, AGREES, VerifyOpinion(passed=False), VerifyOpinion(passed=True), None]
    ),
    "failing": st.sampled_from([(), (), ("a",)]),
    "unproven": st.sampled_from([(), (), ("01-01",)]),
    "for_a_person": st.just(()),
}


@settings(max_examples=200)
@given(edge_values(after_rate.RateFacts, NEARLY), edge_values(after_rate.RateOpinions, NEARLY))
def test_a_phase_never_passes_on_facts_that_do_not_hold(
    facts: after_rate.RateFacts, opinions: after_rate.RateOpinions
) -> None:
    if isinstance(after_rate.GATE.judge(facts, opinions, Claims()), Advance):
        seen = facts.verification
        assert seen.checks > 0
        assert seen.fresh
        assert not seen.failing
        assert not seen.unproven
        assert opinions.score is not None
        assert opinions.score >= 7
        assert opinions.first == opinions.second == "proceed"
        assert opinions.verifier is not None
        assert opinions.verifier.passed


@given(edge_values(after_task.TaskFacts, PLACES), edge_values(after_task.TaskClaims))
def test_a_task_never_passes_unchecked_failing_or_without_proof(
    facts: after_task.TaskFacts, claims: after_task.TaskClaims
) -> None:
    verdict = after_task.GATE.judge(facts, Opinions(), claims)

    if accepted(verdict):
        assert facts.checks > 0
        assert not (*facts.failing, *facts.broken_gates, *facts.findings)
        assert not facts.must_change or (facts.changed and (facts.proves_something or facts.exempt))


@pytest.mark.parametrize("name", NEED_OPINIONS)
@settings(max_examples=40)
@given(data=st.data())
def test_where_opinions_are_needed_missing_ones_never_pass(name: str, data: st.DataObject) -> None:
    facts, _, claims = kinds(GATES[name])

    assert not accepted(GATES[name].judge(data.draw(facts), GATES[name].kinds[1](), data.draw(claims)))


@given(edge_values(after_phase.PhaseFacts))
def test_a_pass_nobody_rated_is_accepted_only_for_an_earlier_one(facts: after_phase.PhaseFacts) -> None:
    verdict = after_phase.GATE.judge(facts, after_phase.PhaseOpinions(), Claims())

    assert facts.completed_before or facts.satisfied or not isinstance(verdict, Advance)


@given(edge_values(after_phase.PhaseFacts), edge_values(after_phase.PhaseOpinions))
def test_what_held_before_any_work_is_never_a_plain_pass(
    facts: after_phase.PhaseFacts, opinions: after_phase.PhaseOpinions
) -> None:
    """TRGE-03, INTG-01: whatever anybody says; only the roadmap itself can say that the phase is done."""
    verdict = after_phase.GATE.judge(
        msgspec.structs.replace(facts, satisfied=True, marked_done=False), opinions, Claims()
    )

    assert not isinstance(verdict, Advance) or takes_a_word(verdict) or facts.completed_before


@given(edge_values(after_rate.RateFacts), edge_values(after_rate.RateOpinions))
def test_no_opinion_lets_a_phase_pass_in_which_nothing_was_built(
    facts: after_rate.RateFacts, opinions: after_rate.RateOpinions
) -> None:
    """INTG-08."""
    verdict = after_rate.GATE.judge(msgspec.structs.replace(facts, nothing_built=True), opinions, Claims())

    assert not isinstance(verdict, Advance)


@given(edge_values(after_phase.PhaseFacts), edge_values(after_phase.PhaseOpinions))
def test_a_pass_that_did_not_complete_is_accepted_only_for_an_earlier_one(
    facts: after_phase.PhaseFacts, opinions: after_phase.PhaseOpinions
) -> None:
    verdict = after_phase.GATE.judge(facts, opinions, Claims())

    if isinstance(verdict, Advance):
        assert facts.status == "completed" or facts.completed_before


@given(edge_values(after_divergence.DivergenceOpinions))
def test_of_two_words_the_harsher_counts(opinions: after_divergence.DivergenceOpinions) -> None:
    words = {opinions.first, opinions.second}

    assert (after_divergence.harsher(opinions) == "proceed") == (words == {"proceed"})


def parts(kind: Any) -> set[Any]:
    """Every class a value of the type can hold, itself included."""
    if not (isinstance(kind, type) and issubclass(kind, msgspec.Struct)):
        return {part for inner in get_args(kind) for part in parts(inner)} if get_origin(kind) else set()
    return {kind} | {part for hint in get_type_hints(kind).values() for part in parts(hint)}


def holds(kind: type, *bases: type) -> set[str]:
    return {part.__name__ for part in parts(kind) if issubclass(part, bases)}


@every_gate
def test_the_three_kinds_never_mix(gate: AnyGate) -> None:
    facts, opinions, claims = gate.kinds

    assert not holds(facts, Claim, Opinion, Claims, Opinions)
    assert not holds(opinions, Claim, Fact, Claims, Facts)
    assert not holds(claims, Fact, Opinion, Facts, Opinions)


def test_the_walk_into_types_sees_what_is_deep_inside() -> None:
    assert "VerifyFacts" in holds(after_rate.RateFacts, Facts)
    assert "VerifyOpinion" in holds(after_rate.RateOpinions, Opinion)


@every_gate
@settings(max_examples=40)
@given(data=st.data())
def test_silence_of_everybody_never_crashes_a_gate(gate: AnyGate, data: st.DataObject) -> None:
    facts = data.draw(kinds(gate)[0])

    assert gate.judge(facts, gate.kinds[1](), gate.kinds[2]()) is not None
