"""Tasks on their way through execution: what is undone, split up, or handed over."""

from pathlib import Path
from typing import Any

import pytest

from autopilot.domain.errors import Interrupted
from autopilot.domain.events import Entry, StepStarted
from support.project import plan_answer, reviews, work_answer
from support.repos import git, write
from support.runs import driven

FILES = {"changed.txt": "as it was\n", "removed.txt": "still here\n", "old-name.txt": "named\n", "mode.sh": "echo\n"}


def messy(text: str, **more: Any) -> dict[str, Any]:
    """Work that touches files in every way there is and does not do what was asked."""
    return {
        "write": {"letter1.txt": text, "changed.txt": "changed\n", "added/new.txt": "new\n", "new-name.txt": "named\n"},
        "remove": ["removed.txt", "old-name.txt"],
        "executable": ["mode.sh"],
        **more,
    }


def test_corr_02_a_failed_task_leaves_nothing_behind(place: Path) -> None:
    plan = plan_answer("1", [("letter1.txt", "done"), ("other.txt", "other")])
    bad = {**work_answer("1", "01-01", "", ""), **messy("not yet\n")}
    hopeless = messy("still not\n", role="debug", task="01-01", result={"fixed": True})
    saved = {"role": "debug", "result": {"fixed": True}, "write": {"letter1.txt": "done\n"}}
    project = driven(place, [*reviews(), plan, bad, hopeless, work_answer("1", "01-02", "other.txt", "other\n"), saved])
    write(project.root, FILES)
    git(project.root, "add", "-A")
    git(project.root, "commit", "-qm", "files")
    before = git(project.root, "ls-tree", "-r", "HEAD").splitlines()

    assert project.run().exit == 0
    assert project.steps[5:9] == ["execute", "fix", "fix", "execute"]
    after = [line for line in git(project.root, "ls-tree", "-r", "HEAD").splitlines() if ".planning/phases" not in line]
    assert {line.partition("\t")[2] for line in set(after) ^ set(before)} == {"letter1.txt", "other.txt"}


NINE = [(f"part{n}.txt", f"word{n}") for n in range(1, 9)] + [("letter1.txt", "done")]


def nine(**more: Any) -> list[dict[str, Any]]:
    """Nine tasks in one plan, and one answer that carries them all out."""
    written = {file: f"{word}\n" for file, word in NINE} | {"nobody.txt": "named me\n"}
    batch = {"role": "execute", "result": {"tasks_completed": "9/9", "tasks_failed": "0/9"}, "write": written, **more}
    return [*reviews(), plan_answer("1", NINE), batch]


def test_pvrf_01h_more_than_eight_tasks_are_one_call_and_one_commit_each(place: Path) -> None:
    project = driven(place, nine())

    assert project.run().exit == 0
    assert [call for call in project.calls if "execute" in call] == ["1/execute/1"]
    assert project.steps.count("mini_verify") == 9
    subjects = [line for line in project.log() if line.startswith("feat")]
    assert subjects == [f"feat(01): 01-0{n} - Write {NINE[n - 1][0]}" for n in range(9, 0, -1)]
    touched = git(project.root, "show", "--format=", "--name-only", "HEAD~1").split()
    assert sorted(touched) == ["letter1.txt", "nobody.txt"]


def test_pvrf_01h_a_task_of_a_batch_that_fails_is_mended_alone(place: Path) -> None:
    written = {file: f"{word}\n" for file, word in NINE} | {"part2.txt": "not yet\n"}
    mended = {"role": "debug", "task": "01-02", "result": {"fixed": True}, "write": {"part2.txt": "word2\n"}}
    project = driven(place, [*nine(write=written), mended])

    assert project.run().exit == 0
    assert project.steps[5:10] == ["execute", "mini_verify", "execute", "fix", "mini_verify"]
    assert len([line for line in project.log() if line.startswith("feat")]) == 9
    assert project.reads("part2.txt") == "word2\n"


@pytest.mark.parametrize("at", [1, 2, 9], ids=["before the call", "within the batch", "at its end"])
def test_pvrf_01h_a_batch_that_is_cut_off_goes_on_without_a_second_call(place: Path, at: int) -> None:
    project = driven(place, nine())
    cut: list[Entry] = []

    def stop(entry: Entry) -> None:
        """The run is cut off right after it has begun the nth task."""
        event = entry.event
        if isinstance(event, StepStarted) and (event.step, event.n) == ("execute", at) and not cut:
            cut.append(entry)
            raise Interrupted

    project.meanwhile = stop
    with pytest.raises(Interrupted):
        project.run()

    assert project.resume().exit == 0
    assert [call for call in project.calls if "execute" in call] == ["1/execute/1"]
    assert len([line for line in project.log() if line.startswith("feat")]) == 9


def test_hum_04_a_plan_for_a_person_only_is_not_executed(place: Path) -> None:
    text = (
        "# Plan: Phase 1 -- Letter 1\n\n## Wave 1\n"
        '<task id="01-01" type="checkpoint:human-action">\n### Task 01-01: Post the letter\n</task>\n'
    )
    plan = {"role": "plan", "result": {"total_tasks": 1}, "write": {"{dir}/PLAN.md": text}}
    project = driven(place, [*reviews(), plan])

    end = project.run()

    assert (end.exit, end.phases["1"].status, end.phases["1"].score) == (11, "needs_human_verification", None)
    assert project.steps[4:] == ["plan_check", "verify"]
