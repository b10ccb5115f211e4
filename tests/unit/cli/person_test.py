"""What a person at the terminal is asked, and what their answers mean."""

import io
import sys

import pytest

from autopilot.cli.person import TerminalPerson, at_terminal, shown
from autopilot.domain.person import NOBODY, Waiting

WAITING = Waiting(
    phase="2", name="Letter", question="look at it", task="02-02 Look", done="1/1", unresolved=("it can be paid",)
)


def typed(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


@pytest.mark.parametrize(
    ("lines", "goes_on"),
    [(("",), True), (("continue",), True), (("stop",), False), (("what?", "yes"), True), ((), False)],
    ids=["just Enter", "continue", "stop", "asked again", "the input ends"],
)
def test_flag_12_a_pause_asks_whether_to_go_on(
    monkeypatch: pytest.MonkeyPatch, lines: tuple[str, ...], goes_on: bool
) -> None:
    typed(monkeypatch, *lines)

    assert TerminalPerson().goes_on("checkpoint") is goes_on


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (("pass",), ("pass", ())),
        (("fail", ""), ("fail", ())),
        (("issues", "no date", "no name", ""), ("issues_found", ("no date", "no name"))),
        (("issues", "", "later"), None),
        (("",), None),
        ((), None),
    ],
    ids=["pass", "fail", "issues", "issues without one", "later", "the input ends"],
)
def test_stat_05a_a_verdict_is_asked(monkeypatch: pytest.MonkeyPatch, lines: tuple[str, ...], said: object) -> None:
    typed(monkeypatch, *lines)

    assert TerminalPerson().verdict(WAITING) == said


def test_stat_05a_the_justification_is_shown() -> None:
    told = "\n".join(shown(WAITING))

    assert "Phase 2 (Letter): look at it" in told
    assert "Task: 02-02 Look" in told
    assert "Not settled: it can be paid" in told


def test_inv_16_without_a_terminal_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, "pass")

    assert at_terminal() is NOBODY
    assert (NOBODY.goes_on("checkpoint"), NOBODY.verdict(WAITING)) == (False, None)
