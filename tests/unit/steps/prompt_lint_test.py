"""The templates themselves: short, few demands, no narration, and nothing in them that nobody fills in (PRMT-01)."""

import re
from pathlib import Path

import pytest

from autopilot import steps

PACKAGE = Path(steps.__file__).parent
TEMPLATES = {path.stem: path.read_text(encoding="utf-8") for path in sorted((PACKAGE / "prompts").glob("*.md"))}
CODE = "\n".join(path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py")))
MOST_DEMANDS, MOST_LETTERS, MOST_LINES, WIDEST = 7, 2_200, 40, 130
DEMAND = re.compile(r"\b(?:must(?: not)?|shall|never|always|required?|do not|don't|important)\b", re.IGNORECASE)
NARRATION = re.compile(
    r"\b(?:I|I'm|I'll|let me|let's|we|our|please|thank|step by step|as an ai|you are an? (?:expert|senior|world)|"
    r"remember that|note that|take a deep breath)\b",
    re.IGNORECASE,
)
HOLE = re.compile(r"\{\{(\w+)\}\}")

every_template = pytest.mark.parametrize("name", TEMPLATES)


def demands(text: str) -> int:
    return len(DEMAND.findall(text))


def narrates(text: str) -> list[str]:
    return NARRATION.findall(text)


def given_to(name: str) -> set[str]:
    """The values that the code hands to the template, wherever it fills it in."""
    calls = re.findall(rf'render\(\s*"{name}",(.*?)\n?\)\n', CODE, re.DOTALL)
    return {value for call in calls for value in re.findall(r"\b(\w+)=", call)}


@every_template
def test_prmt_01_a_prompt_makes_at_most_seven_demands(name: str) -> None:
    """AMB-33: the bound holds for every template of ours."""
    assert demands(TEMPLATES[name]) <= MOST_DEMANDS


@every_template
def test_prom_03_a_prompt_narrates_nothing(name: str) -> None:
    assert narrates(TEMPLATES[name]) == []


@every_template
def test_prmt_01_a_prompt_stays_short(name: str) -> None:
    lines = TEMPLATES[name].splitlines()

    assert len(TEMPLATES[name]) <= MOST_LETTERS
    assert len(lines) <= MOST_LINES
    assert max(map(len, lines)) <= WIDEST


@every_template
def test_prmt_01_every_hole_of_a_prompt_is_filled_in_by_the_code(name: str) -> None:
    holes = set(HOLE.findall(TEMPLATES[name]))

    assert holes
    assert holes <= given_to(name)


@every_template
def test_prom_04_every_prompt_asks_for_issues_in_its_answer(name: str) -> None:
    asked = TEMPLATES[name].partition("Answer with JSON: ")[2]

    assert "issues_detected" in asked


def test_there_are_templates_to_look_at() -> None:
    assert len(TEMPLATES) >= 12


@pytest.mark.parametrize(
    ("text", "found"),
    [("You MUST a. You must not b. Never c.", 3), ("Mustard is always required.", 2), ("Write it.", 0)],
)
def test_the_lint_counts_demands(text: str, found: int) -> None:
    assert demands(text) == found


@pytest.mark.parametrize("text", ["Let me explain.", "You are an expert planner.", "Please plan.", "First, I read it."])
def test_the_lint_hears_narration(text: str) -> None:
    assert narrates(text)
