"""Several phases at a time: they overlap, are merged, and none of them loses what another does."""

import json
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from autopilot.app import prepare as app
from autopilot.domain.events import (
    Entry,
    MergeRefused,
    PhaseFinished,
    PhaseMerged,
    PhaseStarted,
    RunFinished,
    StepFinished,
)
from autopilot.domain.settings import Modes, RunCaps
from support.aftermath import survivors
from support.letters import Letters, MeetingLetters
from support.project import plan_answer, reviews, work_answer
from support.repos import git, write
from support.runs import Drive, driven
from support.waiting import soon

JOBS = Modes(jobs=3)


def letters(*phases: str, sleep: float = 0.0) -> list[dict[str, Any]]:
    """Plans and work for the phases, as they ought to be; each has its own file."""
    return [answer for n in phases for answer in letter(n, f"letter{n}.txt", "done\n", sleep=sleep)]


def letter(phase: str, file: str, text: str, sleep: float = 0.0) -> list[dict[str, Any]]:
    return [
        plan_answer(phase, [(file, "done")]),
        work_answer(phase, f"0{phase}-01", file, text, sleep=sleep),
    ]


def test_phases_that_need_nothing_of_each_other_run_at_the_same_time(place: Path) -> None:
    project = driven(place, [*reviews(), *letters("1", "2", "3", sleep=0.5)], "1", "2", "3")

    end = project.run(modes=JOBS)

    kinds = [type(entry.event) for _, entry in project.entries]
    assert end.exit == 0
    assert kinds.index(PhaseFinished) > max(n for n, kind in enumerate(kinds) if kind is PhaseStarted)
    assert [project.reads(f"letter{n}.txt") for n in "123"] == ["done\n"] * 3


def test_what_the_phases_did_is_one_line_that_holds_every_commit(place: Path) -> None:
    project = driven(place, [*reviews(), *letters("1", "2", "3")], "1", "2", "3")
    project.run(modes=JOBS)

    assert {f"feat({n:02}): {n:02}-01 - Write letter{n}.txt" for n in (1, 2, 3)} <= set(project.log())
    joined = [merged for merged in project.of(PhaseMerged) if merged.base != merged.onto]
    assert len(joined) == 2
    assert all(merged.checks and all(check.passed for check in merged.checks) for merged in joined)
    assert git(project.root, "status", "--porcelain") == ""


def test_a_phase_waits_for_those_it_depends_on_and_starts_from_their_work(place: Path) -> None:
    project = driven(place, [*reviews(), *letters("1", "2", "3")], "1", "2>1", "3")

    assert project.run(modes=JOBS).exit == 0

    order = [e.event for _, e in project.entries if isinstance(e.event, PhaseStarted | PhaseMerged)]
    begun = next(event for event in order if isinstance(event, PhaseStarted) and event.brief.phase.id == "2")
    merged = next(event for event in order if isinstance(event, PhaseMerged) and event.phase == "1")
    assert order.index(merged) < order.index(begun)


def test_a_failed_phase_blocks_those_that_need_it_and_nobody_else(place: Path) -> None:
    """LOOP-02."""
    bad = letter("1", "letter1.txt", "not yet\n")
    project = driven(place, [*reviews(), *bad, *letters("2", "3")], "1", "2>1", "3")
    write(project.root, {".planning/config.json": '{"limits": {"task_fixes": 0, "debug_attempts": 0, "replans": 0}}'})

    end = project.run(modes=JOBS)

    assert (end.exit, {n: phase.status for n, phase in end.phases.items()}) == (
        10, {"1": "failed", "2": "skipped", "3": "completed"},
    )  # fmt: skip
    assert project.reads("letter3.txt") == "done\n"


def test_of_two_that_do_not_go_together_the_later_is_done_again_on_top(place: Path) -> None:
    """AMB-11."""
    fights = [
        plan_answer("1", [("both.txt", "one"), ("letter1.txt", "done")]),
        work_answer("1", "01-01", "both.txt", "one\n", sleep=0.5),
        work_answer("1", "01-02", "letter1.txt", "done\n"),
        plan_answer("2", [("both.txt", "two"), ("letter2.txt", "done")]),
        work_answer("2", "02-01", "both.txt", "two\n", attempt=1),
        work_answer("2", "02-01", "both.txt", "one\ntwo\n", attempt=2),
        work_answer("2", "02-02", "letter2.txt", "done\n"),
    ]
    project = driven(place, [*reviews(), *fights], "1", "2")

    assert project.run(modes=JOBS).exit == 0

    (refused,) = project.of(MergeRefused)
    again = project.of(PhaseStarted)[-1].brief
    assert (refused.phase, refused.conflicts) == ("2", ("both.txt",))
    assert (again.phase.id, again.number, again.cycle, again.base) == ("2", 1, 0, refused.onto)
    assert again.feedback == ("conflict with what was merged before: both.txt",)
    assert project.reads("both.txt") == "one\ntwo\n"


def test_work_that_is_red_only_together_is_done_again_on_top(place: Path) -> None:
    quiet = "test ! -e loud.txt || ! grep -q loud letter{n}.txt"
    roadmap = "# Roadmap\n" + "".join(
        f"\n### Phase {n}: Letter {n}\n**Goal**: Write letter {n}.\n**Success Criteria** (what must be TRUE):\n"
        f"  1. It is there -- verified by: `grep -q done letter{n}.txt`\n  2. Quiet -- verified by: `{quiet.format(n=n)}`\n"
        for n in (1, 2)
    )
    answers = [
        plan_answer("1", [("letter1.txt", "done")]),
        work_answer("1", "01-01", "letter1.txt", "done\n", write={"letter1.txt": "done\n", "loud.txt": "\n"}),
        plan_answer("2", [("letter2.txt", "done")]),
        work_answer("2", "02-01", "letter2.txt", "done, loud\n", attempt=1, sleep=1.0),
        work_answer("2", "02-01", "letter2.txt", "done, low\n", attempt=2),
    ]
    project = driven(place, [*reviews(), *answers], "1")
    write(project.root, {".planning/ROADMAP.md": roadmap})
    git(project.root, "commit", "-qam", "loud")
    project.run(modes=JOBS)

    (refused,) = project.of(MergeRefused)
    assert (refused.phase, refused.conflicts) == ("2", ())
    assert "red once merged with the line" in refused.because
    assert project.reads("letter2.txt") == "done, low\n"


@contextmanager
def running(letters: Letters) -> Iterator[subprocess.Popen[bytes]]:
    words = ["run", "all", "--agent", letters.agent, "--unsandboxed", "--jobs", "3"]
    with subprocess.Popen(
        [sys.executable, "-m", "autopilot", *words],
        cwd=letters.root,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as run:
        try:
            yield run
        finally:
            run.kill()


def test_three_agents_meet_each_other_at_work(place: Path) -> None:
    letters = MeetingLetters(place)
    with running(letters) as run:
        assert run.wait() == 0

    assert letters.all_met()
    assert set(letters.calls().values()) == {1}


@pytest.mark.skipif(sys.platform != "linux", reason="orphans are found through /proc")
def test_killed_in_the_middle_of_all_three_nothing_is_lost_and_nobody_is_asked_again(place: Path) -> None:
    letters = MeetingLetters(place, held=True)
    with running(letters) as run:
        assert soon(letters.all_met)
        run.send_signal(signal.SIGKILL)
        run.wait()
    letters.go()
    drive = Drive(letters.root)

    assert drive.resume().exit == 0
    assert set(letters.calls().values()) == {1}
    assert not survivors(letters.root)
    assert sorted(set(letters.users_work()["files"])) == ["notes.txt", "scratch/idea.txt", "todo.txt"]


@pytest.mark.skipif(sys.platform != "linux", reason="orphans are found through /proc")
@pytest.mark.parametrize("how", ["stop", "SIGINT"])
def test_a_stop_takes_every_child_of_every_phase_with_it(place: Path, how: str) -> None:
    letters = MeetingLetters(place, held=True)
    with running(letters) as run:
        assert soon(letters.all_met)
        if how == "stop":
            app.stop(str(letters.root), now=False)
        else:
            run.send_signal(signal.SIGINT)
        assert run.wait() == 130
    assert not survivors(letters.root)


def test_a_gate_that_is_red_only_together_keeps_the_later_phase_out(place: Path) -> None:
    together = "test ! -e letter1.txt || test ! -e letter2.txt"
    project = driven(place, [*reviews(), *letters("1"), *letters("2", sleep=0.5)], "1", "2")
    limits = {"task_fixes": 0, "debug_attempts": 0, "replans": 0}
    config = {"project": {"commands": {"test": together}}, "workflow": {"research": False}, "limits": limits}
    write(project.root, {".planning/config.json": json.dumps(config)})

    end = project.run(modes=JOBS)

    (refused,) = project.of(MergeRefused)
    assert refused.because == f"red once merged with the line: test: `{together}`"
    assert (end.phases["1"].status, end.phases["2"].status) == ("completed", "failed")
    assert not (project.root / "letter2.txt").exists()


def test_a_cap_stops_every_phase_and_the_run_can_be_resumed(place: Path) -> None:
    costly = {"usage": {"input_tokens": 900, "output_tokens": 0}}
    answers = [{**answer, **costly} for answer in letters("1", "2", "3")]
    project = driven(place, [*reviews(), *answers], "1", "2", "3")

    end = project.run(modes=JOBS, caps=RunCaps(tokens=2000))

    assert (end.exit, project.of(RunFinished)[-1].brake) == (20, "tokens_per_run")
    assert not [thread for thread in threading.enumerate() if thread.name in {"1", "2", "3", "line"}]


def test_a_bug_in_one_phase_ends_the_run_and_keeps_what_the_others_finished(place: Path) -> None:
    project = driven(place, [*reviews(), *letters("1", "2", "3")], "1", "2", "3")

    def break_down(entry: Entry) -> None:
        if isinstance(entry.event, StepFinished) and entry.event.step == "execute":
            project.meanwhile = lambda _: None
            raise LookupError("a bug")

    project.meanwhile = break_down
    with pytest.raises(LookupError):
        project.run(modes=JOBS)

    assert project.resume().exit == 0
    assert max(Counter(project.calls).values()) == 1
