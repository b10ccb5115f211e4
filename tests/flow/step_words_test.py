"""The words for steps are the same wherever they are shown, and what research left is in state.json."""

from hashlib import sha256
from pathlib import Path

from autopilot.domain.events import PhaseFinished
from support.project import plan_answer, reviews, work_answer
from support.runs import driven

PLAN = plan_answer("1", [("letter1.txt", "done")])
GOOD = work_answer("1", "01-01", "letter1.txt", "done 1\n")


def test_ret_05_state_json_and_the_return_use_the_same_words(place: Path) -> None:
    project = driven(place, [*reviews(), PLAN, GOOD])
    project.run()

    returned = project.of(PhaseFinished)[-1].outcome.pipeline_steps
    shown = project.state()["phases"]["1"]["steps"]
    assert {name: step["status"] for name, step in shown.items()} == {n: s.status for n, s in returned.items()}


def test_state_04_research_names_its_file_and_hash_also_if_its_agent_wrote_none(place: Path) -> None:
    project = driven(place, [*reviews(), PLAN, GOOD])
    project.run()

    research = project.state()["phases"]["1"]["steps"]["research"]
    assert research["output"] == ".planning/phases/01-letter-1/RESEARCH.md"
    assert research["hash"] == f"sha256:{sha256((project.root / research['output']).read_bytes()).hexdigest()}"
