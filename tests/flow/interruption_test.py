"""Agents and their keepers killed from outside, and sandboxes that do not start: no try of the agent's is used up."""

import sys
from pathlib import Path

import pytest

from autopilot.domain.events import AgentAnswered, RunStopped, StepFinished
from autopilot.domain.results import Unanswered
from support.letters import Letters
from support.repos import write
from support.runs import Drive

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="keepers need Linux")

STRUCK = """
mkdir -p "$here/struck"
count=$(ls "$here/struck" | grep -c "^$AUTOPILOT_ROLE-")
if [ "$count" -lt {times} ]; then
  touch "$here/struck/$AUTOPILOT_ROLE-$count"
  {death}
fi
"""
PROGRAM, KEEPER = "kill -9 $$", "kill -9 $PPID; sleep 5"


def struck(place: Path, death: str, times: int, *roles: str) -> Drive:
    """One letter. The first calls of these roles die in the middle of their work."""
    letters = Letters(place)
    for role in roles:
        answer = letters.home / "answers" / f"1-{role}-1.sh"
        text = answer.read_text(encoding="utf-8")
        half = "echo half > letter1.txt\n" if role == "execute" else ""
        write(letters.home, {f"answers/1-{role}-1.sh": STRUCK.format(times=times, death=half + death) + text})
    return Drive(letters.root, agent=letters.agent)


@pytest.mark.parametrize("death", [PROGRAM, KEEPER, "kill -15 $$", "exit 137"])
def test_an_agent_killed_from_outside_is_asked_again_and_has_not_failed(place: Path, death: str) -> None:
    drive = struck(place, death, 4, "plan", "execute", "verify", "judge")

    assert drive.run("1").exit == 0
    assert not [step for step in drive.of(StepFinished) if isinstance(step.result, Unanswered)]
    outcomes = [answer.outcome for answer in drive.of(AgentAnswered)]
    assert outcomes.count("cancelled") == 16
    assert drive.reads("letter1.txt") == "done 1\n"
    assert any("The execute agent was interrupted (" in line and "Asking it again." in line for line in drive.told())


def test_a_program_that_always_dies_stops_the_run_and_fails_no_phase(place: Path) -> None:
    drive = struck(place, PROGRAM, 10_000, "execute")
    end = drive.run("1")

    stopped = drive.of(RunStopped)[-1]
    assert (end.exit, stopped.brake, stopped.do) == (21, "interruptions", "autopilot resume --now")
    assert "10 calls of exec:" in stopped.reason
    assert stopped.reason.endswith("killed from outside by SIGKILL")
    assert end.phases["1"].status == "in_progress"

    text = (place / "agent" / "answers" / "1-execute-1.sh").read_text(encoding="utf-8")
    write(place / "agent", {"answers/1-execute-1.sh": text.replace("10000", "0")})
    assert drive.resume(now=True).exit == 0
