"""Every run writes its session record, and a session of the loop is exactly one run."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from autopilot.app.loop import run_loop as looping
from autopilot.app.loop.run_loop import LoopRequest
from autopilot.cli import main
from autopilot.domain.errors import Interrupted
from autopilot.domain.events import Entry as Entry_
from autopilot.domain.events import PhaseStarted, RunResumed, RunStarted, StepFinished
from autopilot.domain.request import RunRequest
from autopilot.domain.settings import Modes
from autopilot.sessions import flags
from autopilot.sessions import loop_summary as ending
from autopilot.sessions.loop import LoopEnd
from autopilot.sessions.machine.registry import Entry, Registry
from autopilot.sessions.selector import Executed
from support.processes import PowerCut
from support.project import plan_answer, reviews, work_answer
from support.repos import git, write
from support.runs import Drive, driven


@pytest.fixture
def land(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AUTOPILOT_SESSIONS", str(place / "active"))
    return place


def letters(*phases: str) -> list[dict[str, Any]]:
    return [
        answer
        for n in phases
        for answer in (
            plan_answer(n, [(f"letter{n}.txt", "done")]),
            work_answer(n, f"0{n}-01", f"letter{n}.txt", "done\n"),
        )
    ]


def condemned(*phases: str) -> list[dict[str, Any]]:
    said = {"recommendation": "halt", "concerns": ["wrong"]}
    return [{"role": "judge", "phase": phase, "result": said} for phase in phases]


def project_of(land: Path, *phases: str, fails: tuple[str, ...] = ()) -> Drive:
    return driven(land, [*condemned(*fails), *letters(*(phase[0] for phase in phases)), *reviews()], *phases)


def loop(project: Drive, *words: str, mode: Executed | None = None) -> LoopEnd:
    base = RunRequest(folder=str(project.root), agent=f"scripted:{project.script}", sandbox="none")
    request = LoopRequest(flags=flags.parse(list(words)), base=base, mode=mode)
    return looping.run(request, project.hear, project.warnings.append)


def sessions(project: Drive) -> list[dict[str, Any]]:
    text = project.reads(".autopilot/metrics/sessions.jsonl")
    return [json.loads(line) for line in text.splitlines()]


def configure(project: Drive, **section: Any) -> None:
    config = {"workflow": {"research": False}, "sessions": section}
    write(project.root, {".planning/config.json": json.dumps(config)})
    git(project.root, "add", "-A")
    git(project.root, "commit", "-qm", "config")


def test_a_run_by_hand_writes_its_session_record(land: Path) -> None:
    project = project_of(land, "1", "2", fails=("2",))

    project.run("1,2")

    (record,) = sessions(project)
    assert record["autopilot_run_id"] is None
    assert (record["session_type"], record["run"]) == ("feature", project.of(RunStarted)[0].run)
    assert record["agent_summary"] == {"complete": 1, "partial": 0, "failed": 1, "spiral": 0}
    assert record["effectiveness"]["completion_rate"] == 0.5
    assert [wave["isolation"] for wave in record["waves"]] == ["clone"]


def test_resume_is_a_session_of_what_was_left(land: Path) -> None:
    project = project_of(land, "1", "2")

    def interrupt(entry: Entry_) -> None:
        if isinstance(entry.event, PhaseStarted) and entry.event.brief.phase.id == "2":
            raise Interrupted

    project.meanwhile = interrupt
    with pytest.raises(Interrupted):
        project.run("1,2")
    project.meanwhile = lambda _: None
    assert project.resume().exit == 0

    first, second = sessions(project)
    assert (first["status"], second["status"]) == ("abandoned", "completed")
    assert (second["effectiveness"]["planned_issues"], second["agent_summary"]["complete"]) == (1, 1)
    assert first["session_id"] != second["session_id"]


def test_a_pause_for_a_look_leaves_nothing_over(land: Path) -> None:
    project = project_of(land, "1", "2", "3")

    assert project.run("1-3", modes=Modes(checkpoint_every=1)).exit == 11

    (record,) = sessions(project)
    assert (record["effectiveness"]["planned_issues"], record["effectiveness"]["carryover"]) == (1, 0)


def test_after_three_runs_by_hand_the_loop_works_at_its_default(land: Path) -> None:
    project = project_of(land, "1", "2", "3", "4")
    for phase in "123":
        assert project.run(phase).exit == 0

    end = loop(project)

    assert (end.exhausted, end.record.iterations_completed, ending.exit_code(end)) == (True, 1, 0)
    assert project.reads("letter4.txt") == "done\n"
    assert [line["autopilot_run_id"] for line in sessions(project)] == [None] * 3 + [end.record.autopilot_run_id]


def test_a_first_loop_says_what_is_missing_and_what_to_type(
    land: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project = project_of(land, "1")
    monkeypatch.chdir(project.root)
    agent = ["--agent", f"scripted:{project.script}", "--unsandboxed"]

    assert main.main(["loop", *agent]) == 11
    said = capsys.readouterr().out
    assert "This project has 0, and every `autopilot run` counts as one." in said
    assert "`autopilot loop --mode feature` starts now" in said
    assert main.main(["loop", "--mode", "feature", *agent]) == 0
    assert "ended because no phase needs a feature session" in capsys.readouterr().out
    assert project.reads("letter1.txt") == "done\n"


def test_a_mode_named_by_the_user_is_compared_with_the_selectors(land: Path) -> None:
    project = project_of(land, "1", "2", fails=("2",))
    project.run("2")

    end = loop(project, "--max-sessions=1", mode="feature")

    assert end.record.iterations_completed == 1
    assert sessions(project)[-1]["session_type"] == "feature"
    assert '"subject":"plan-retro-selected-vs-feature"' in project.reads(".autopilot/metrics/learnings.jsonl")
    assert loop(project, mode="housekeeping").exhausted


def test_an_interrupted_run_of_many_phases_is_resumed_once_and_counted_right(land: Path) -> None:
    """In a run of six phases, two of which fail, the loop must neither drive the run twice nor miscount it."""
    project = project_of(land, *"123456", fails=("3", "5"))

    def cut(entry: Entry_) -> None:
        if isinstance(entry.event, StepFinished):
            raise PowerCut

    project.meanwhile = cut
    with pytest.raises(PowerCut):
        project.run("1-6")
    project.meanwhile = lambda _: None
    end = loop(project, mode="feature")

    assert end.record.kill_switch == "failed-wave"
    assert (len(project.of(RunStarted)), len(project.of(RunResumed))) == (1, 1)
    (record,) = sessions(project)
    assert record["agent_summary"] == {"complete": 4, "partial": 0, "failed": 2, "spiral": 0}
    assert (record["total_waves"], record["total_agents"]) == (1, 6)


def test_resource_awareness_can_be_switched_off(land: Path) -> None:
    crowd(land, 7)
    project = project_of(land, "1")
    configure(project, **{"resource-awareness": False})

    end = loop(project, "--max-sessions=1", mode="feature")

    assert (end.record.kill_switch, end.record.resource_verdict_at_start) == ("max-sessions-reached", None)
    assert project.reads("letter1.txt") == "done\n"


def test_how_many_other_sessions_stop_the_loop_can_be_set(land: Path) -> None:
    crowd(land, 7)
    project = project_of(land, "1")
    configure(project, **{"autopilot-peer-abort": 7})

    assert loop(project, "--max-sessions=1", mode="feature").record.kill_switch == "max-sessions-reached"
    configure(project, **{"autopilot-peer-abort": 5})
    end = loop(project, mode="feature")
    assert (end.record.kill_switch, end.record.kill_switch_detail) == (
        "resource-overload",
        "verdict=critical peers=7 > threshold=5",
    )


def crowd(land: Path, count: int) -> None:
    registry = Registry(land / "active", lambda: datetime.now(UTC))
    for number in range(count):
        registry.register(Entry(session_id=f"peer-{number}", pid=1))


def test_what_the_loop_does_not_use_is_named(land: Path) -> None:
    project = project_of(land, "1")
    write(
        project.root,
        {
            ".autopilot/metrics/sessions.jsonl": '{"session_id": "x", "schema_version": "2"}\n',
            ".planning/STATE.md": "---\nrecommended-mode: 5\n---\n",
        },
    )

    loop(project)

    assert any("STATE.md: recommended-mode is 5. Autopilot ignores it." in said for said in project.warnings)
    assert any("sessions.jsonl, line 1: session missing required field" in said for said in project.warnings)


def test_a_run_whose_record_cannot_be_written_says_so_and_ends_as_it_would(land: Path) -> None:
    project = project_of(land, "1")
    write(project.root, {".autopilot/metrics": "a file where a folder belongs\n"})

    assert project.run("1").exit == 0
    assert any(said.startswith("The session of run-") and "is not recorded" in said for said in project.warnings)
