"""How well a phase is described: the score, its factors, and when to warn."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.forecast import Confidence, Sufficiency
from autopilot.domain.phase import Criterion, Phase
from autopilot.planning.start.sufficiency import (
    Context,
    log_line,
    low_line,
    low_summary,
    quick,
    rescored,
    sufficiency,
    weighted,
)

ABOUT = "# Shop\n\n## What This Is\n\nA till.\n\n## Core Value\n\nNo wrong sums.\n"
RUNNABLE, PROSE = Criterion(id="1", text="it runs", command="make test"), Criterion(id="2", text="it is nice")
SPECIFIC, VAGUE = "SHOP-1: An order of 50 gets ten percent off", "SHOP-2: Discounts"


def context(**more: Any) -> Context:
    given_ = {"goal": "Discounts", "criteria": (RUNNABLE,), "requirements": (SPECIFIC,), "about": ABOUT} | more
    phase = Phase(id="3", name="Three", goal=given_.pop("goal"), criteria=given_.pop("criteria"))
    return Context(phase=phase, **given_)


@pytest.mark.parametrize(
    ("more", "factors", "score"),
    [
        ({}, (10, 10, 9, 10), 10),
        ({"criteria": (RUNNABLE, PROSE)}, (6, 10, 9, 10), 8),
        ({"criteria": (PROSE,)}, (2, 10, 9, 10), 7),
        ({"criteria": ()}, (2, 10, 9, 10), 7),
        ({"requirements": (SPECIFIC, VAGUE)}, (10, 6, 9, 10), 8),
        ({"requirements": ("SHOP-3",)}, (10, 6, 9, 10), 8),
        ({"requirements": ()}, (10, 2, 9, 10), 7),
        ({"requirements": ("TBD",)}, (10, 2, 9, 10), 7),
        ({"about": "# Shop\n\nA till.\n"}, (10, 10, 6, 10), 9),
        ({"about": None}, (10, 10, 2, 10), 9),
        ({"dependencies": "pending"}, (10, 10, 9, 5), 9),
        ({"dependencies": "missing"}, (10, 10, 9, 1), 9),
        ({"criteria": (), "requirements": (), "about": None, "dependencies": "missing"}, (2, 2, 2, 1), 2),
    ],
    ids=lambda value: " ".join(value) or "all there" if isinstance(value, dict) else "",
)
def test_cmap_01_four_factors_make_the_score(more: dict[str, Any], factors: tuple[int, ...], score: int) -> None:
    """CMAP-01a..e."""
    found = sufficiency(context(**more))

    assert (found.criteria, found.requirements, found.docs, found.deps) == factors
    assert found.score == score


@pytest.mark.parametrize("goal", ["", "  ", "[To be planned]", "TBD", "Goal: [To be defined]", "tbd later"])
def test_cmap_01f_a_stub_scores_one_whatever_else_is_there(goal: str) -> None:
    assert sufficiency(context(goal=goal)) == Sufficiency(score=1)
    assert quick(context(goal=goal)) == Confidence(score=1, reason="the goal is a stub")


@pytest.mark.parametrize(
    ("factors", "score"),
    [((5, 5, 5, 5), 5), ((6, 6, 2, 2), 5), ((7, 6, 5, 5), 6), ((10, 10, 10, 10), 10), ((0, 0, 0, 0), 1), ((10, 0, 0, 0), 4)],
)  # fmt: skip
def test_amb_07_halves_are_rounded_up_and_the_score_stays_between_1_and_10(
    factors: tuple[int, int, int, int], score: int
) -> None:
    assert weighted(dict(zip(("criteria", "requirements", "docs", "deps"), factors, strict=True))) == score


def test_amb_07_exactly_a_half_goes_up() -> None:
    """0.35 * 2 + 0.35 * 4 + 0.15 * 9 + 0.15 * 7 = 4.5."""
    assert weighted({"criteria": 2, "requirements": 4, "docs": 9, "deps": 7}) == 5


@pytest.mark.parametrize(
    ("more", "score", "reason"),
    [
        ({"requirements": ()}, 3, "no requirements are mapped"),
        ({"requirements": (), "criteria": ()}, 3, "no requirements are mapped"),
        ({"criteria": (PROSE,)}, 4, "no criterion has a verification command"),
        ({}, 10, ""),
        ({"criteria": (RUNNABLE, PROSE), "requirements": (VAGUE,), "about": None, "dependencies": "missing"}, 5, ""),
    ],
    ids=["no requirements", "no requirements nor criteria", "no commands", "all there", "never below five"],
)
def test_amb_08_the_quick_score_has_fixed_values(more: dict[str, Any], score: int, reason: str) -> None:
    """CMAP-05a."""
    assert quick(context(**more)) == Confidence(score=score, reason=reason)


@given(st.sampled_from([(), (PROSE,), (RUNNABLE,)]), st.lists(st.text(max_size=30), max_size=3), st.text(max_size=40))
def test_every_score_lies_between_1_and_10(criteria: tuple[Criterion, ...], named: list[str], goal: str) -> None:
    found = context(criteria=criteria, requirements=tuple(named), goal=goal)

    assert 1 <= sufficiency(found).score <= 10
    assert 1 <= quick(found).score <= 10


def test_cmap_01g_the_log_line_has_its_form() -> None:
    found = Sufficiency(score=8, criteria=6, requirements=10, docs=9, deps=10)

    assert log_line("3", found) == "Phase 3: context sufficiency 8/10 (6 criteria, 10 requirements, 9 docs, 10 deps)"


def test_cmap_05_a_low_score_is_told_with_a_shell_command_and_a_good_one_is_silent() -> None:
    """CMAP-05b, CMAP-05c."""
    told = low_line("3", Confidence(score=4, reason="no commands"))

    assert told == ("Phase 3 has low context confidence (4/10): no commands. Consider running `autopilot map 3` first.")
    assert low_line("3", Confidence(score=5)) == ""


def test_amb_08_the_warning_is_one_line_for_all_phases() -> None:
    found = {"1": Confidence(score=3, reason="a"), "2": Confidence(score=9), "3": Confidence(score=3, reason="a")}

    assert low_summary(found | {"4": Confidence(score=1, reason="b")}) == (
        "Low context confidence: phase 4 (1/10: b); phases 1, 3 (3/10: a). "
        "Consider running `autopilot map 1,3,4` first."
    )
    assert low_summary({"2": Confidence(score=9)}) == ""


@pytest.mark.parametrize(
    ("more", "answers", "score"),
    [
        ({"requirements": ()}, [("requirements", True), ("domain", True)], 10),
        ({"requirements": ()}, [("requirements", True), ("domain", False)], 8),
        ({"requirements": ()}, [("requirements", False), ("criteria", False)], 7),
        ({"criteria": ()}, [("criteria", True)], 10),
        ({"about": None, "criteria": ()}, [("architecture", True)], 7),
        ({"goal": "TBD"}, [("domain", True)], 1),
        ({"goal": "TBD", "requirements": ()}, [("domain", True), ("requirements", True)], 10),
        ({}, [("no such category", True)], 10),
    ],
    ids=["all", "some", "none", "criteria", "documents", "a stub with one", "a stub with two", "unknown"],
)
def test_cmap_03e_answers_lift_the_factor_they_are_about(
    more: dict[str, Any], answers: list[tuple[str, bool]], score: int
) -> None:
    assert rescored(context(**more), answers).score == score


@given(st.lists(st.tuples(st.sampled_from(["criteria", "domain", "dependencies", "x"]), st.booleans())))
def test_cmap_03e_no_answer_ever_lowers_the_score(answers: list[tuple[str, bool]]) -> None:
    told = context(criteria=(PROSE,), requirements=(VAGUE,), about=None)

    assert sufficiency(told).score <= rescored(told, answers).score <= 10
