"""How high a row of the scorecard may stand: each cap by a case that makes it decide, and all of them only lower."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.answers import CriterionScore, RateOpinion, Trace
from autopilot.domain.phase import Criterion
from autopilot.policy.score_caps import CAPS, Sight, capped, held, located, score
from support.records import DONE, ran
from support.strategies import edge_values

JOIN = Criterion(id="01-01.2", text="Join opens the event URL -- verified by: trace onClick", behavioural=True)
SHOWN = Criterion(id="01-01.1", text="the page lists events", command=DONE)


def row(**more: Any) -> CriterionScore:
    usual = {"criterion": "Join opens event URL", "score": 9.8, "evidence": "join.tsx:4: join -> open", "justification": "as asked",
             "verification_command": "grep -n open join.tsx"}  # fmt: skip
    return CriterionScore(**{**usual, **more})


def trace(**more: Any) -> Trace:
    usual = {"handler": "join", "terminal_action": "opens the URL", "criterion_match": "Join opens event URL", "status": "VERIFIED"}  # fmt: skip
    return Trace(**{**usual, **more})


def sight(*traces: Trace, **more: Any) -> Sight:
    return Sight(**{"criteria": (SHOWN, JOIN), "behavioural": (JOIN,), "traces": traces, **more})


@pytest.mark.parametrize(
    ("given_row", "seen", "wanted", "why"),
    [
        (row(), sight(trace()), 9.8, ()),
        (row(), sight(), 6.9, ("no trace confirms its terminal behaviour",)),
        (row(), sight(trace(status="BEHAVIORAL_UNVERIFIABLE")), 6.9, ("no trace confirms its terminal behaviour",)),
        (row(), sight(trace(terminal_action=" ")), 6.9, ("no trace confirms its terminal behaviour",)),
        (row(), sight(trace(criterion_match="Quit asks first")), 6.9, ("no trace confirms its terminal behaviour",)),
        (row(), sight(trace(), trace(status="CONTRADICTED")), 4.9, ("a trace contradicts it",)),
        (row(evidence="join.tsx:4"), sight(trace()), 7.0, (CAPS[3].name,)),
        (row(verification_command=""), sight(trace()), 7.0, (CAPS[3].name,)),
        (row(criterion="everything is fine"), sight(), 6.9, ("no trace confirms its terminal behaviour",)),
        (row(criterion="the page lists events", evidence="a.tsx:1"), sight(), 9.8, ()),
        (row(), Sight(), 9.8, ()),
    ],
    ids=[
        "traced", "no trace", "not to be followed", "no action", "about another", "contradicted", "only a command",
        "only a trace", "in other words", "another criterion", "nothing to touch",
    ],
)  # fmt: skip
def test_rate_05_behaviour_counts_as_far_as_a_trace_bears_it_out(
    given_row: CriterionScore, seen: Sight, wanted: float, why: tuple[str, ...]
) -> None:
    assert capped(given_row, seen) == (wanted, why)


@pytest.mark.parametrize(
    ("evidence", "wanted"),
    [
        ("src/a.ts:3", 9.8), ("`a.ts` at line 3", 9.8), ("a.ts, line 3", 9.8), ("app/[id]/page.tsx:9-12", 9.8),
        ("seen by running it", 6.9), ("http://localhost:8080", 6.9), ("at 10:30", 6.9), ("", 6.9),
    ],
)  # fmt: skip
def test_rate_09_without_a_line_of_a_file_a_criterion_stays_below_seven(evidence: str, wanted: float) -> None:
    assert located(evidence) == (wanted > 7)
    assert capped(row(evidence=evidence), Sight())[0] == wanted


def test_rate_09_what_is_above_seven_has_to_be_justified() -> None:
    assert capped(row(justification=" "), Sight()) == (7.0, ("nothing justifies what is above 7.0",))


@pytest.mark.parametrize("about", [{"verification_command": DONE}, {"criterion": "TEXT of SC-1 "}])
@pytest.mark.parametrize(("passed", "wanted"), [(True, 9.8), (False, 6.9)], ids=["holds", "fails"])
def test_sbox_02_a_criterion_whose_command_fails_cannot_score_seven(
    about: dict[str, str], passed: bool, wanted: float
) -> None:
    assert capped(row(**about), Sight(checks=(ran("SC-1", passed=passed),)))[0] == wanted


def test_what_is_brought_down_keeps_what_the_rater_said_and_why() -> None:
    opinion, lowered = held(RateOpinion(alignment_score=9.8, scorecard=(row(evidence="fine"), row())), Sight())

    assert [r.score for r in opinion.scorecard] == [6.9, 9.8]
    assert [(low.said, low.counted, low.because) for low in lowered] == [(9.8, 6.9, ("no file:line evidence",))]


@given(edge_values(CriterionScore), edge_values(Sight))
def test_no_cap_ever_lifts_a_score(given_row: CriterionScore, seen: Sight) -> None:
    counted, because = capped(given_row, seen)

    assert counted <= max(given_row.score, 0.0)
    assert (counted < min(max(given_row.score, 0.0), 10.0)) == bool(because)


@given(st.lists(st.floats(0, 10, allow_nan=False), min_size=1, max_size=4), st.booleans())
def test_a_trace_that_contradicts_never_helps(scores: list[float], passed: bool) -> None:
    opinion = RateOpinion(alignment_score=10.0, scorecard=tuple(row(score=number) for number in scores))
    checks = (ran("SC-1", passed=passed),)
    fine, bad = (sight(trace(), *more, checks=checks) for more in ((), (trace(status="contradicts"),)))

    assert score(held(opinion, bad)[0]) <= score(held(opinion, fine)[0]) <= score(opinion)
