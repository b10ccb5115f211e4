"""The session loop on the real engine with a scripted agent: it executes, and every switch stops it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autopilot import looping
from autopilot.cli import main
from autopilot.domain.request import RunRequest
from autopilot.journal.clock import SystemClock
from autopilot.looping import LoopRequest
from autopilot.sessions import ending, flags
from autopilot.sessions.loop import LoopEnd
from autopilot.sessions.registry import Entry, Registry
from support.history import good_history
from support.project import plan_answer, reviews, work_answer
from support.repos import git
from support.runs import Drive, driven


@pytest.fixture
def land(place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A place with a registry of its own."""
    monkeypatch.setenv("AUTOPILOT_SESSIONS", str(place / "active"))
    yield place


def letters(*phases: str, word: str = "done") -> list[dict[str, Any]]:
    answers: list[dict[str, Any]] = []
    for n in phases:
        answers += [
            plan_answer(n, [(f"letter{n}.txt", "done")]),
            work_answer(n, f"0{n}-01", f"letter{n}.txt", f"{word}\n"),
        ]
    return answers


def project_of(land: Path, *phases: str, answers: list[dict[str, Any]] | None = None) -> Drive:
    project = driven(land, [*reviews(), *(letters(*(p[0] for p in phases)) if answers is None else answers)], *phases)
    good_history(project.root, SystemClock().now())
    return project


def loop(project: Drive, *words: str) -> LoopEnd:
    base = RunRequest(folder=str(project.root), agent=f"scripted:{project.script}", sandbox="none")
    return looping.run(LoopRequest(flags=flags.parse(list(words)), base=base), project.hear, project.warnings.append)


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


def test_without_a_history_the_first_choice_is_left_to_the_user(land: Path) -> None:
    project = driven(land, [*reviews(), *letters("1")], "1")

    end = loop(project)

    assert (end.record.fallback_to_manual, ending.exit_code(end)) == (True, 11)
    assert project.entries == []
