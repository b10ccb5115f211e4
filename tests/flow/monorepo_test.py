"""A project in a folder of a larger repository: found from inside it, run in it, and no trouble to its neighbor."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from autopilot.app import prepare as app
from autopilot.domain.events import PhaseLanded, StepFinished
from autopilot.domain.request import RunRequest
from autopilot.domain.results import Executed, Verified
from autopilot.workspace.user_files import find_root
from support.project import plan_answer, reviews, toml, work_answer
from support.repos import git, make_repo, write
from support.runs import Drive, roadmap_of

DYING = Path(__file__).parents[1] / "support" / "dying_run.py"
X, Y = "packages/x", "packages/y"
FILES = {
    "README.md": "many\n",
    ".gitignore": "node_modules/\n",
    f"{X}/main.txt": "x\n",
    f"{Y}/main.txt": "y\n",
    f"{Y}/shared.txt": "shared\n",
    "tools/helper.txt": "helper\n",
}


def planned(phase: str = "1") -> list[dict[str, Any]]:
    work = work_answer(phase, f"0{phase}-01", f"letter{phase}.txt", "done 1\n")
    return [*reviews(), plan_answer(phase, [(f"letter{phase}.txt", "done")]), work]


@pytest.fixture
def top(place: Path) -> Path:
    """Two projects in one repository, each with its own planning files."""
    files = {**FILES, **{f"{one}/.planning/ROADMAP.md": roadmap_of("1") for one in (X, Y)}}
    return make_repo(place / "repo", files)


def drive(top: Path, folder: str, answers: list[dict[str, Any]] | None = None) -> Drive:
    script = top.parent / f"{folder.replace('/', '-')}.toml"
    script.write_text(toml(answers or planned()), encoding="utf-8")
    return Drive(top / folder, agent=f"scripted:{script}")


def test_the_nearest_planning_folder_is_the_project(top: Path) -> None:
    (top / X / "src" / "deep").mkdir(parents=True)

    assert find_root(top / X / "src" / "deep") == top / X
    assert find_root(top / Y) == top / Y
    assert find_root(top / "tools") == top


def test_a_planning_folder_above_the_repository_is_none_of_it(top: Path) -> None:
    (top.parent / ".planning").mkdir()

    assert find_root(top / "tools") == top


@pytest.mark.parametrize("tracked", [True, False], ids=["tracked", "untracked"])
def test_a_run_in_a_folder_lands_there_and_nowhere_else(top: Path, tracked: bool) -> None:
    if not tracked:
        git(top, "rm", "-rq", "--cached", f"{X}/.planning")
        git(top, "commit", "-qm", "planning files are not tracked")
    run = drive(top, X)

    end = run.run()

    assert (end.exit, end.phases["1"].status) == (0, "completed")
    assert [landed.landed for landed in run.of(PhaseLanded)] == [True]
    assert (top / X / "letter1.txt").read_text() == "done 1\n"
    assert not (top / "letter1.txt").exists()
    assert not (top / ".autopilot").exists()
    assert not (top / ".planning").exists()
    assert (top / X / ".planning/phases/01-letter-1/SUMMARY.md").is_file()
    assert git(top, "status", "--porcelain", "--", ".", f":!{X}/.planning") == ""
    assert ".autopilot" not in git(top, "ls-files")
    changed = set(git(top, "diff", "--name-only", "HEAD~1" if not tracked else "HEAD~2", "HEAD").splitlines())
    assert {path for path in changed if "/.planning/" not in path} == {f"{X}/letter1.txt"}
    assert all(path.startswith(f"{X}/") for path in changed)


def test_files_are_named_from_the_project_s_folder(top: Path) -> None:
    run = drive(top, X)
    run.run()

    worked = next(s.result for s in run.of(StepFinished) if isinstance(s.result, Executed))
    assert [file.path for file in worked.work.change.files] == ["letter1.txt"]


def test_commands_run_in_the_project_s_folder_of_the_whole_repository(top: Path) -> None:
    roadmap = (
        "# Roadmap: Letters\n\n### Phase 1: Letter 1\n**Goal**: Write it.\n**Success Criteria** (what must be TRUE):\n"
        "  1. It is there -- verified by: `test -f main.txt && grep -q done letter1.txt`\n"
        "  2. The neighbor is there -- verified by: `grep -q shared ../y/shared.txt && grep -q done letter1.txt`\n"
    )
    write(top, {f"{X}/.planning/ROADMAP.md": roadmap, f"{X}/Makefile": "test:\n\tgrep -q x main.txt\n"})
    git(top, "add", "-A")
    git(top, "commit", "-qm", "criteria")
    run = drive(top, X)

    end = run.run(sandbox="auto" if app.has_sandbox() else "none")

    assert end.exit == 0
    seen = next(s.result for s in run.of(StepFinished) if isinstance(s.result, Verified))
    assert {(check.command, check.passed) for check in seen.gates} == {("make test", True)}
    assert all(check.passed for check in seen.checks)


def test_two_projects_of_a_repository_do_not_disturb_each_other(top: Path) -> None:
    one, other = drive(top, X), drive(top, Y)

    assert (one.run().exit, other.run().exit) == (0, 0)

    assert (top / X / "letter1.txt").read_text() == (top / Y / "letter1.txt").read_text() == "done 1\n"
    for project in (one, other):
        assert (project.root / ".autopilot" / "journal.db").is_file()
        assert app.survey(str(project.root)).completed == 1
    assert git(top, "status", "--porcelain") == ""


def test_a_neighbor_s_open_run_is_not_taken_for_one_s_own(top: Path) -> None:
    drive(top, X).run()

    seen = app.foresee(RunRequest(folder=str(top / Y), phases="all", agent="scripted:none.toml"))

    assert (seen.resumes, [phase.id for phase in seen.phases]) == (None, ["1"])


@pytest.mark.parametrize("behind", ["1 plan_check", "1 execute", "1 verify", "1 end"])
def test_a_killed_run_is_resumed_from_a_folder_below_the_project(top: Path, behind: str) -> None:
    run = drive(top, X)
    deep = top / X / "src"
    deep.mkdir()
    words = ("all", "--agent", run.agent, "--unsandboxed")
    path = os.pathsep.join([str(DYING.parents[1]), *filter(None, sys.path)])
    ended = subprocess.run(
        [sys.executable, DYING, deep, behind, *words],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        check=False,
    )
    assert ended.returncode == -9, ended.stderr.decode()

    end = Drive(deep).resume()

    assert (end.exit, end.phases["1"].status) == (0, "completed")
    assert (top / X / "letter1.txt").read_text() == "done 1\n"
    assert len([line for line in git(top, "log", "--format=%s").splitlines() if line.startswith("feat(01)")]) == 1


def test_a_receipt_of_a_folder_s_project_can_be_checked(top: Path) -> None:
    run = drive(top, X)
    assert run.run().exit == 0

    checked = app.check_receipt(str(top / X), "1", None, "none", run.warnings.append)

    assert (checked.same, checked.differences) == (True, ())


def test_dependency_folders_of_the_project_are_linked_where_they_are(top: Path) -> None:
    if not app.has_sandbox():
        pytest.skip("dependency folders are linked only where a sandbox guards them")
    write(top, {f"{X}/node_modules/lib/index.js": "1\n", "node_modules/top/index.js": "2\n"})
    roadmap = (
        "# Roadmap: Letters\n\n### Phase 1: Letter 1\n**Goal**: Write it.\n**Success Criteria** (what must be TRUE):\n"
        "  1. It is there -- verified by: "
        "`test -f node_modules/lib/index.js && test -f ../../node_modules/top/index.js && grep -q done letter1.txt`\n"
    )
    write(top, {f"{X}/.planning/ROADMAP.md": roadmap})
    run = drive(top, X)

    assert run.run(sandbox="auto").exit == 0
    assert not git(top, "ls-files", "node_modules", f"{X}/node_modules")


def test_a_link_in_place_of_the_project_s_folder_leads_nowhere(top: Path) -> None:
    """An executor that swaps the folder for a link gets nothing outside of its clone written."""
    if not app.has_sandbox():
        pytest.skip("nothing is confined on this machine")
    victim = top.parent / "victim"
    victim.mkdir()
    (victim / "main.txt").write_text("x\n")
    agent = top.parent / "agent.py"
    agent.write_text(
        "import json, os, pathlib, shutil, sys\ncall = json.load(sys.stdin)\nhere = pathlib.Path.cwd()\n"
        "if call['role'] == 'execute':\n"
        f"    os.chdir('/'); shutil.rmtree(here); here.symlink_to({str(victim)!r})\n"
        "    print(json.dumps({'tasks_completed': '1/1', 'tasks_failed': '0/1'}))\n"
        "elif call['role'] == 'plan':\n"
        "    for path, text in json.loads(pathlib.Path(sys.argv[1]).read_text()).items():\n"
        "        path = here / path.replace('{dir}', call['phase']['dir'])\n"
        "        path.parent.mkdir(parents=True, exist_ok=True); path.write_text(text)\n"
        "    print(json.dumps({'total_tasks': 1}))\n"
        "else:\n    print(json.dumps({'key_findings': ['x'], 'pass': True, 'confidence': 9}))\n",
        encoding="utf-8",
    )
    written = top.parent / "plan.json"
    written.write_text(json.dumps(plan_answer("1", [("letter1.txt", "done")])["write"]))
    run = Drive(top / X, agent=f"exec:{sys.executable} {agent} {written}")

    end = run.run(sandbox="auto")

    assert end.exit != 0
    assert {path.name for path in victim.iterdir()} == {"main.txt"}
    assert (top / X / "main.txt").read_text() == "x\n"
