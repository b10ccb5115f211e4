"""What a command must show, and what its words cannot talk away."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.phase import Criterion, Expectation, padded
from autopilot.domain.verdict import Advance, AskHuman, Retry, Stop, Verdict, rank
from autopilot.policy.facts.criteria import is_met

EXIT, COUNT = Expectation(), Expectation(form="count", number=3)
AT_LEAST, TEXT = Expectation(form="at_least", number=2), Expectation(form="text", text="ok")


@pytest.mark.parametrize(
    ("expect", "code", "output", "met"),
    [
        (EXIT, 0, "", True),
        (EXIT, 1, "", False),
        (EXIT, -9, "", False),
        (EXIT, None, "", False),
        (Expectation(number=1), 1, "", True),
        (Expectation(number=1), 0, "", False),
        (EXIT, 0, "EXIT:1\n", False),
        (Expectation(number=1), 0, "no match\nEXIT:1\n", True),
        (EXIT, 1, "EXIT:0\n", False),
        (EXIT, 0, "it printed EXIT:1 in a line", True),
        (COUNT, 0, "3\n", True),
        (COUNT, 1, "3\n", False),
        (AT_LEAST, 2, "2", False),
        (TEXT, 2, "not ok: 2xtwo", True),
        (COUNT, 0, "13\n", False),
        (COUNT, 0, "", False),
        (COUNT, None, "3\n", False),
        (Expectation(form="count"), 1, "0\n", True),
        (AT_LEAST, 0, "2", True),
        (AT_LEAST, 0, "1", False),
        (AT_LEAST, 0, "-2", False),
        (AT_LEAST, 0, "none", False),
        (TEXT, 0, "all ok here", True),
        (TEXT, 0, "OK", False),
        (TEXT, None, "ok", False),
    ],
)
def test_an_expectation_is_met_or_not(expect: Expectation, code: int | None, output: str, met: bool) -> None:
    """SBOX-01."""
    assert expect.met(code, output) == met


@given(st.sampled_from([EXIT, COUNT, AT_LEAST, TEXT, Expectation(number=1)]), st.text())
def test_a_command_cut_off_meets_nothing(expect: Expectation, output: str) -> None:
    assert not expect.met(None, output)


@given(st.integers(1, 255), st.text() | st.sampled_from(["EXIT:0", "EXIT:0\n", "\nEXIT:0\n"]))
def test_no_output_makes_a_failure_a_success(code: int, output: str) -> None:
    assert not EXIT.met(code, output)


@pytest.mark.parametrize(("phase", "wanted"), [("3", "03"), ("12", "12"), ("2.1", "02.1")])
def test_a_phase_s_number_is_padded(phase: str, wanted: str) -> None:
    assert padded(phase) == wanted


def test_verdicts_have_an_order() -> None:
    ordered: list[Verdict] = [Stop(because=""), AskHuman(question=""), Retry(step="", because=""), Advance()]

    assert [rank(verdict) for verdict in ordered] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("output", "holds"),
    [
        ("PASS: a\nRESULTS: 1 passed, 0 failed\n", True),
        ("PASS: a\nFAIL: b\n", False),
        ("  FAIL b\n", False),
        ("", True),
    ],
)
def test_tspc_01_a_test_specification_that_prints_a_failure_has_failed(output: str, holds: bool) -> None:
    spec = Criterion(id="1", text="it passes", command="bash .planning/phases/01-x/tests/task-01-01.sh")

    assert is_met(spec, 0, output) == holds
    assert not is_met(spec, 1, output)
    assert is_met(Criterion(id="1", text="it passes", command="make check"), 0, output)
