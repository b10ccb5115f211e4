"""What a person at the terminal is asked, and what their answers mean."""

import subprocess
import sys

import pytest

from autopilot.cli.terminal_person import TerminalPerson, shown
from autopilot.domain.errors import UsageInvalid
from autopilot.domain.people import NOBODY, Waiting

WAITING = Waiting(
    phase="2", name="Letter", question="look at it", task="02-02 Look", done="1/1", unresolved=("it can be paid",)
)


def typing(*lines: str) -> TerminalPerson:
    """Somebody who types these lines, and then is gone."""
    left = iter(lines)

    def ask(question: str) -> str:
        line = next(left, None)
        if line is None:
            raise UsageInvalid("The question was not answered.", why="The input ended.", do=question)
        return line

    return TerminalPerson(print, read=ask)


@pytest.mark.parametrize(
    ("lines", "goes_on"),
    [(("",), True), (("continue",), True), (("stop",), False), (("what?", "yes"), True), ((), False)],
    ids=["just Enter", "continue", "stop", "asked again", "the input ends"],
)
def test_flag_12_a_pause_asks_whether_to_go_on(lines: tuple[str, ...], goes_on: bool) -> None:
    assert typing(*lines).goes_on("checkpoint") is goes_on


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
def test_stat_05a_a_verdict_is_asked(lines: tuple[str, ...], said: object) -> None:
    assert typing(*lines).verdict(WAITING) == said


def test_stat_05a_the_justification_is_shown() -> None:
    told = "\n".join(shown(WAITING))

    assert "Phase 2 (Letter): look at it" in told
    assert "Task: 02-02 Look" in told
    assert "Not settled: it can be paid" in told


def test_inv_16_without_a_terminal_nobody_is_asked() -> None:
    code = "from autopilot.cli.terminal_person import Nobody, somebody; raise SystemExit(type(somebody(print)) is not Nobody)"

    assert subprocess.run([sys.executable, "-c", code], stdin=subprocess.DEVNULL, check=False).returncode == 0
    assert (NOBODY.goes_on("checkpoint"), NOBODY.verdict(WAITING)) == (False, None)
