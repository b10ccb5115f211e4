"""Which command proves a criterion, and what it must show."""

import pytest

from autopilot.domain.phase import Expectation
from autopilot.domain.settings import Commands
from autopilot.planning.plan.criteria import criterion, fill


@pytest.mark.parametrize(
    "text",
    [
        "It runs -- verified by: `make x`", "It runs — verified by: `make x`", "It runs – verified by `make x`",
        "It runs verified by `make x`", "It runs (verified by: `make x`)", "It runs - Verified By: ``make x``",
    ],
)  # fmt: skip
def test_a_command_is_what_verified_by_introduces(text: str) -> None:
    """PLAN-04."""
    assert criterion(text, "SC-1", "roadmap", 4).command == "make x"


@pytest.mark.parametrize(
    "text",
    [
        "Running `npm test` works",
        "Clean — verified by grepping for `slugify`",
        "verified by: ``",
        "verified by: `open",
        "unverified by `x`",
        "Closed to the world (verified via `nmap` from off-host)",
        "The backup is there, verified by `mc ls` against the bucket",
        "Nothing else changed -- verified by: `git diff` review",
        "It builds -- verified by: `make all` then more prose",
        "Ports are closed, checked with `nmap`",
        "It is noted -- verified by: `echo done`",
        "It runs -- verified by: `make x || true`",
        "It runs -- verified by: `true`",
    ],
)
def test_other_code_is_prose(text: str) -> None:
    assert criterion(text, "SC-1", "roadmap", 4).command is None


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("", Expectation()), ("(returns 2)", Expectation(form="count", number=2)), ("(returns 0)", Expectation(form="count")),
        ("(returns at least 2)", Expectation(form="at_least", number=2)), ("(at least 3)", Expectation(form="at_least", number=3)),
        ("(expect >= 6)", Expectation(form="at_least", number=6)), ("(returns > 0)", Expectation(form="at_least", number=1)),
        ("(returns 2 or more)", Expectation(form="at_least", number=2)), ("(expect EXIT:0)", Expectation()),
        ("(expect EXIT:3)", Expectation(number=3)), ("(exit code 1)", Expectation(number=1)), ("(expect match)", Expectation()),
        ('(expect "all ok")', Expectation(form="text", text="all ok")), ("(expect all ok)", Expectation(form="text", text="all ok")),
        ("(all tests pass)", Expectation()), ("(returns no matches)", Expectation(number=1)), (". Then more prose", Expectation()),
        ("returns at least 2", Expectation(form="at_least", number=2)), ("exits 1.", Expectation(number=1)),
        ("passes", Expectation()), (", and the page loads", Expectation()),
    ],
)  # fmt: skip
def test_the_expectation_grammar(said: str, wanted: Expectation) -> None:
    read = criterion(f"x -- verified by: `grep a b` {said}", "1", "plan", 1)

    assert (read.command, read.expect) == ("grep a b", wanted)


@pytest.mark.parametrize(
    "said", ["(returns true)", "(at most 3)", "(returns 2-5)", "(should be fast)", "(< 10)", "(returns 1.5)"]
)
def test_a_demand_we_cannot_check_is_not_run_on_a_guess(said: str) -> None:
    assert criterion(f"x -- verified by: `cmd` {said}", "1", "plan", 1).command is None


def test_the_bare_name_of_a_program_is_a_command_behind_a_colon() -> None:
    assert criterion("It runs -- verified by: `pytest`", "1", "plan", 1).command == "pytest"
    assert criterion("It runs, verified by `./check.sh`", "1", "plan", 1).command == "./check.sh"


def test_no_output_is_only_understood_of_grep() -> None:
    assert criterion("x verified by: `ls y` (no output)", "1", "plan", 1).command is None


@pytest.mark.parametrize(
    "text",
    [
        "Dragging saves -- verified by: `read DragPanel and trace onDrop -> save()`", "x -- verified by: `Trace click to call`",
        "Trace the click from button to store", "x -- verified by: inspect the store and trace it",
    ],
)  # fmt: skip
def test_behavioural_criteria_never_reach_a_shell(text: str) -> None:
    read = criterion(text, "1", "plan", 1)

    assert (read.command, read.behavioural) == (None, True)


def test_several_commands_must_all_succeed() -> None:
    assert criterion("x -- verified by: `a` and `b`", "1", "plan", 1).command == "a && b"


@pytest.mark.parametrize(
    ("command", "filled"),
    [
        ("{project.commands.test} -q", "pytest -q"), ("{project.commands.lint}", None), ("{project.commands.nope}", None),
        ("{project.commands.test} && {project.commands.lint}", None), ("make", "make"),
    ],
)  # fmt: skip
def test_placeholders_take_the_projects_commands(command: str, filled: str | None) -> None:
    read = criterion(f"x verified by: `{command}` (returns 2)", "1", "plan", 1)

    assert fill(read, Commands(test="pytest")).command == filled
    assert fill(read, Commands(test="pytest")).expect == read.expect
