"""The session loop on the real engine with a scripted agent: it executes, and every switch stops it."""

import json
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from autopilot.app import prepare as app
from autopilot.app.loop import run_loop as looping
from autopilot.app.loop.run_loop import LoopRequest, Timing
from autopilot.cli import main
from autopilot.domain.events import Entry as Entry_
from autopilot.domain.events import PhaseFinished, PhaseStarted, RunStopped, StepFinished
from autopilot.domain.request import RunRequest
from autopilot.journal.clock import SystemClock, TickingClock
from autopilot.sessions import flags
from autopilot.sessions import loop_summary as ending
from autopilot.sessions.backlog import Backlog, work_for
from autopilot.sessions.files.open_loops import CUT_OFF
from autopilot.sessions.loop import LoopEnd
from autopilot.sessions.machine.registry import Entry, Registry
from autopilot.sessions.selector import Executed
from support.history import good_history
from support.processes import PowerCut
from support.project import plan_answer, rate_answer, reviews, work_answer
from support.repos import git, write
from support.runs import Drive, driven


@pytest.fixture
def land(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place with a registry of its own."""
    monkeypatch.setenv("AUTOPILOT_SESSIONS", str(place / "active"))
    return place


def letters(*phases: str, word: str = "done") -> list[dict[str, Any]]:
    answers: list[dict[str, Any]] = []
    for n in phases:
        answers += [
            plan_answer(n, [(f"letter{n}.txt", "done")]),
            work_answer(n, f"0{n}-01", f"letter{n}.txt", f"{word}\n"),
        ]
    return answers


def project_of(land: Path, *phases: str, answers: list[dict[str, Any]] | None = None) -> Drive:
    content = letters(*(phase[0] for phase in phases)) if answers is None else answers
    project = driven(land, [*content, *reviews()], *phases)
    good_history(project.root, SystemClock().now())
    return project


def loop(project: Drive, *words: str, timing: Timing | None = None, lenient: bool = False) -> LoopEnd:
    agent = f"scripted:{project.script}"
    base = RunRequest(folder=str(project.root), agent=agent, sandbox="none", lenient=lenient)
    request = LoopRequest(flags=flags.parse(list(words)), base=base)
    return looping.run(request, project.hear, project.warnings.append, timing)


def commit(root: Path, files: dict[str, str]) -> None:
    write(root, files)
    git(root, "add", "--", *files)
    git(root, "commit", "-qm", "config")


def lines(project: Drive, name: str) -> list[dict[str, Any]]:
    text = project.reads(f".autopilot/metrics/{name}.jsonl")
    return [json.loads(line) for line in text.splitlines()]


def test_with_a_good_history_the_default_threshold_lets_sessions_run(land: Path) -> None:
    project = project_of(land, "1", "2>1", "3>2", "4>3")

    end = loop(project, "--max-sessions=3")

    assert end.exhausted
    assert (end.record.iterations_completed, ending.exit_code(end)) == (2, 0)
    assert {f"letter{n}.txt" for n in "1234"} <= set(git(project.root, "ls-files").split())
    (record,) = lines(project, "autopilot")
    sessions = lines(project, "sessions")[-2:]
    assert [line["session_id"] for line in sessions] == record["sessions"]
    assert {line["autopilot_run_id"] for line in sessions} == {record["autopilot_run_id"]}
    assert [line["effectiveness"]["planned_issues"] for line in sessions] == [3, 1]


@pytest.mark.parametrize(
    ("mode", "backlog", "flag"),
    [("deep", Backlog(weak=("1",)), "quality"), ("housekeeping", Backlog(gaps=("1",)), "gaps")],
    ids=["deep", "housekeeping"],
)
def test_what_the_other_modes_choose_is_run_by_the_engine(
    land: Path, mode: Executed, backlog: Backlog, flag: str
) -> None:
    mend = work_answer("1", "1-R1", "letter1.txt", "done, and dated\n")
    scores = [rate_answer(9.2, attempt=1), rate_answer(9.9, attempt=2), rate_answer(9.9)]
    project = driven(land, [*letters("1"), mend, *scores, *reviews()], "1")
    assert project.run("1").exit == 0
    base = RunRequest(folder=str(project.root), agent=f"scripted:{project.script}", sandbox="none")

    end = app.start(work_for(mode, backlog, base).request, project.hear, project.warnings.append)
    assert end.exit == 0
    assert project.of(PhaseStarted)[-1].brief.mode == flag
    assert project.reads("letter1.txt") == "done, and dated\n"


def test_without_a_history_the_first_choice_is_left_to_the_user(land: Path) -> None:
    project = driven(land, [*reviews(), *letters("1")], "1")

    end = loop(project)

    assert (end.record.fallback_to_manual, ending.exit_code(end)) == (True, 11)
    assert project.entries == []


def test_a_loop_that_did_all_it_was_asked_for_ends_well(land: Path) -> None:
    end = loop(project_of(land, "1"), "--max-sessions=1")

    assert (end.record.kill_switch, ending.exit_code(end)) == ("max-sessions-reached", 0)
    assert end.record.kill_switch_detail == "iterations_completed=1 >= max-sessions=1"


def test_when_its_hours_are_over_no_other_session_begins(land: Path) -> None:
    timing = Timing(now=TickingClock(SystemClock().now(), step_s=1200).now)

    end = loop(project_of(land, "1"), "--max-hours=1", timing=timing)

    assert (end.record.kill_switch, ending.exit_code(end)) == ("max-hours-exceeded", 20)
    assert end.record.iterations_completed == 1


def test_when_its_tokens_are_spent_no_other_session_begins(land: Path) -> None:
    answers = [{**answer, "usage": {"output_tokens": 50}} for answer in letters("1")]

    end = loop(project_of(land, "1", answers=answers), "--max-tokens=60")

    assert (end.record.kill_switch, ending.exit_code(end)) == ("token-budget-exceeded", 20)
    assert (end.record.iterations_completed, end.record.total_tokens_used) == (1, 100)


def test_a_crowded_machine_gets_no_session(land: Path) -> None:
    registry = Registry(land / "active", lambda: datetime.now(UTC))
    for number in range(7):
        registry.register(Entry(session_id=f"peer-{number}", pid=1))
    project = project_of(land, "1")

    end = loop(project)

    assert (end.record.kill_switch, ending.exit_code(end)) == ("resource-overload", 21)
    assert project.entries == []


def test_work_of_another_kind_is_not_begun_unsure(land: Path) -> None:
    project = project_of(land, "1", answers=[rate_answer(8.0), *letters("1")])

    end = loop(project, lenient=True)

    assert (end.record.kill_switch, ending.exit_code(end)) == ("low-confidence-fallback", 21)
    assert end.record.iterations_completed == 1


def test_ctrl_c_lets_the_session_finish_and_begins_no_other(land: Path) -> None:
    project = project_of(land, "1")

    def press(entry: Entry_) -> None:
        if isinstance(entry.event, PhaseStarted):
            os.kill(os.getpid(), signal.SIGINT)

    project.meanwhile = press
    end = loop(project)

    assert (end.record.kill_switch, ending.exit_code(end)) == ("user-abort", 130)
    assert (end.record.iterations_completed, lines(project, "sessions")[-1]["agent_summary"]["complete"]) == (1, 1)


def test_a_second_ctrl_c_stops_at_once_and_the_run_can_go_on(land: Path) -> None:
    project = project_of(land, "1")

    def press(entry: Entry_) -> None:
        if isinstance(entry.event, StepFinished) and entry.event.step == "execute" and not project.of(RunStopped):
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)

    project.meanwhile = press
    end = loop(project)
    project.meanwhile = lambda _: None

    assert (end.record.kill_switch, end.record.iterations_completed, ending.exit_code(end)) == ("user-abort", 0, 130)
    assert project.resume().exit == 0


def test_an_agent_that_goes_in_circles_ends_the_loop(land: Path) -> None:
    project = project_of(land, "1", answers=[{"role": "plan", "outcome": "timeout"}])
    config = {"workflow": {"research": False}, "limits": {"unanswered": 50}}
    commit(project.root, {".planning/config.json": json.dumps(config)})

    end = loop(project)

    assert (end.record.kill_switch, ending.exit_code(end)) == ("spiral", 21)


def test_a_phase_that_fails_ends_the_loop(land: Path) -> None:
    condemned = {"role": "judge", "phase": "1", "result": {"recommendation": "halt", "concerns": ["wrong"]}}
    project = project_of(land, "1", answers=[condemned, *letters("1")])

    end = loop(project)

    assert (end.record.kill_switch, ending.exit_code(end)) == ("failed-wave", 21)
    assert end.record.iterations_completed == 1


def test_a_session_that_leaves_most_of_it_to_a_person_ends_the_loop(land: Path) -> None:
    text = (
        "# Plan: Phase 1 -- Letter 1\n\n## Wave 1\n"
        '<task id="01-01" type="checkpoint:human-action">\n### Task 01-01: Post the letter\n</task>\n'
    )
    plan = {"role": "plan", "result": {"total_tasks": 1}, "write": {"{dir}/PLAN.md": text}}

    end = loop(project_of(land, "1", answers=[plan]))

    assert (end.record.kill_switch, ending.exit_code(end)) == ("carryover-too-high", 21)


def test_a_session_without_a_sign_of_life_ends_the_loop(land: Path) -> None:
    hours = (n * 3600.0 * 24 * 365 * 100 for n in range(1, 100_000))
    timing = Timing(seconds=lambda: next(hours), look_every_s=0.01)

    end = loop(project_of(land, "1"), timing=timing)

    assert (end.record.kill_switch, ending.exit_code(end)) == ("stall-timeout", 21)
    assert end.record.stall_recovery_count >= 1


def test_trouble_that_keeps_sessions_from_taking_place_has_its_own_exit_code(land: Path) -> None:
    project = project_of(land, "1")
    project.script.unlink()

    end = loop(project)

    assert end.record.kill_switch == "failed-wave"
    assert ending.exit_code(end) == 2


def test_a_dry_run_tells_the_iterations_and_starts_none(
    land: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project = project_of(land, "1", "2>1", "3>2", "4>3")
    monkeypatch.chdir(project.root)

    code = main.main(["loop", "--max-sessions", "3", "--dry-run", "--max-hours=", "--confidence-threshold=x"])

    told = capsys.readouterr()
    assert code == 0
    assert "1. feature of phase 1, 2, 3: confidence 0.85, would run" in told.out
    assert "2. feature of phase 4: confidence 0.85, would run" in told.out
    assert "3. ends here: nothing is left to do" in told.out
    assert "--confidence-threshold=x is no number; the default 0.85 is used." in told.err
    assert [line["dry_run"] for line in lines(project, "autopilot")] == [True]
    assert not (project.root / ".autopilot" / "journal.db").exists()


def test_the_verb_tells_what_stopped_it_and_what_to_do(
    land: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project = project_of(land, "1")
    monkeypatch.chdir(project.root)
    agent = ["--agent", f"scripted:{project.script}", "--unsandboxed"]

    assert main.main(["loop", "--max-sessions=1", *agent]) == 0
    told = capsys.readouterr().out
    assert "stopped by max-sessions-reached: iterations_completed=1 >= max-sessions=1" in told
    assert "what to do: All sessions asked for are done." in told
    assert main.main(["loop", "--json", *agent]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["exit"] == 0


def test_a_loop_that_is_killed_loses_nothing_and_the_next_one_goes_on(land: Path) -> None:
    project = project_of(land, "1")
    argv = [sys.executable, "-m", "autopilot", "loop", "--agent", f"scripted:{project.script}", "--unsandboxed"]
    victim = subprocess.Popen(argv, cwd=project.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert victim.stdout is not None
    assert any("Step: EXECUTE" in line for line in victim.stdout), "it never came to the work"
    victim.kill()
    victim.communicate()

    end = loop(project)

    assert (end.exhausted, ending.exit_code(end)) == (True, 0)
    cut_off, whole = lines(project, "autopilot")
    assert (cut_off["kill_switch_detail"], cut_off["kill_switch"]) == (CUT_OFF, None)
    assert whole["autopilot_run_id"] != cut_off["autopilot_run_id"]
    assert project.log().count("feat(01): 01-01 - Write letter1.txt") == 1
    assert not list((project.root / ".autopilot" / "metrics" / "open-loops").iterdir())


def test_a_run_that_was_cut_off_is_a_session_of_its_own(land: Path) -> None:
    project = project_of(land, "1", "2", "3")

    def cut(entry: Entry_) -> None:
        if isinstance(entry.event, PhaseFinished):
            raise PowerCut

    project.meanwhile = cut
    with pytest.raises(PowerCut):
        project.run("1,2")
    project.meanwhile = lambda _: None
    end = loop(project, "--max-sessions=1")

    assert (end.record.kill_switch, ending.exit_code(end)) == ("max-sessions-reached", 0)
    assert lines(project, "sessions")[-1]["effectiveness"]["planned_issues"] == 1
