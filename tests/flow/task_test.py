"""Tasks on their way through execution: what is undone, split up, or handed over."""

from pathlib import Path
from typing import Any

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
