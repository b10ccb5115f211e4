"""A phase that comes with numbered plans: they are what is carried out, in their order, and none of them twice."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from autopilot.app import prepare as app
from autopilot.cli.parser import parse
from autopilot.cli.verbs import phases
from autopilot.domain.events import PhaseStarted
from autopilot.domain.request import RunRequest
from support.gsd import gsd_plan
from support.project import make_project, plan_answer, reviews, work_answer
from support.repos import git, write
from support.runs import Drive, roadmap_of

DYING = Path(__file__).parents[1] / "support" / "dying_run.py"
FOLDER = ".planning/phases/01-letter-1"
# The second plan waits for the third, which is in an earlier wave.
PLANS = {
    f"{FOLDER}/01-01-PLAN.md": gsd_plan("01", "01", [("ground.txt", "ground")]),
    f"{FOLDER}/01-01-SUMMARY.md": "# Summary\n\nThe ground is laid.\n",
    f"{FOLDER}/01-02-PLAN.md": gsd_plan("01", "02", [("letter1.txt", "done"), ("seal1.txt", "seal")], 3, ["01-03"]),
    f"{FOLDER}/01-03-PLAN.md": gsd_plan("01", "03", [("draft1.txt", "draft")], 2, ["01-01"]),
}
TRUTHS = ["draft1.txt says draft", "letter1.txt says done", "seal1.txt says seal"]
WORK = [
    work_answer("1", "01-03-1", "draft1.txt", "draft 1\n"),
    work_answer("1", "01-02-1", "letter1.txt", "done 1\n"),
    work_answer("1", "01-02-2", "seal1.txt", "seal 1\n"),
]


def project(place: Path, answers: list[dict[str, Any]], files: dict[str, str] = PLANS) -> Drive:
    root = make_project(place / "project", answers, roadmap_of("1"))
    write(root, {"ground.txt": "ground\n", **files})
    git(root, "add", "-A")
    git(root, "commit", "-qm", "plans")
    return Drive(root)


def names(project: Drive) -> set[str]:
    return {path.name for path in (project.root / FOLDER).iterdir()}


def commits(project: Drive) -> list[str]:
    return [line for line in reversed(project.log()) if line.startswith("feat(")]


def test_open_plans_are_carried_out_by_waves_and_done_ones_are_not(place: Path) -> None:
    run = project(place, [*reviews(prose=TRUTHS), *WORK])

    end = run.run()

    assert (end.exit, end.phases["1"].status) == (0, "completed")
    assert run.steps[:3] == ["preflight", "triage", "plan_check"]
    assert commits(run) == [
        "feat(01): 01-03-1 - Write draft1.txt",
        "feat(01): 01-02-1 - Write letter1.txt",
        "feat(01): 01-02-2 - Write seal1.txt",
    ]


def test_the_user_s_files_stay_as_they_are_and_ours_are_not_taken_for_plans(place: Path) -> None:
    run = project(place, [*reviews(prose=TRUTHS), *WORK])
    run.run()

    assert {path: run.reads(path) for path in PLANS} == PLANS
    plans = {name for name in names(run) if "PLAN" in name}
    assert plans == {"01-01-PLAN.md", "01-02-PLAN.md", "01-03-PLAN.md"}
    assert {name for name in names(run) if name.endswith("SUMMARY.md")} == {
        "01-01-SUMMARY.md",
        "01-02-SUMMARY.md",
        "01-03-SUMMARY.md",
    }
    assert "status: complete" in run.reads(f"{FOLDER}/01-02-SUMMARY.md")
    assert "01-03-1" not in run.reads(f"{FOLDER}/01-02-SUMMARY.md")


def test_waves_dependencies_and_what_must_be_true_are_read(place: Path) -> None:
    run = project(place, [*reviews(prose=TRUTHS), *WORK])
    run.run()
    plan = run.of(PhaseStarted)[0].brief.plan
    assert plan is not None

    assert [(part.file, part.wave, part.depends_on, part.files_modified) for part in plan.parts] == [
        ("01-03-PLAN.md", 2, (), ("draft1.txt",)),
        ("01-02-PLAN.md", 3, ("01-03-PLAN.md",), ("letter1.txt", "seal1.txt")),
    ]
    assert [truth for part in plan.parts for truth in part.must_haves.truths] == TRUTHS


@pytest.mark.parametrize("behind", ["1 plan_check", "1 execute", "1 mini_verify", "1 verify"])
def test_a_killed_run_goes_on_with_the_plans_it_had(place: Path, behind: str) -> None:
    run = project(place, [*reviews(prose=TRUTHS), *WORK])
    words = ("all", "--agent", f"scripted:{run.script}", "--unsandboxed")
    path = os.pathsep.join([str(DYING.parents[1]), *filter(None, sys.path)])
    ended = subprocess.run(
        [sys.executable, DYING, run.root, behind, *words],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        check=False,
    )
    assert ended.returncode == -9, ended.stderr.decode()

    end = run.resume()

    assert (end.exit, end.phases["1"].status) == (0, "completed")
    assert len(commits(run)) == len(WORK)
    assert {path: run.reads(path) for path in PLANS} == PLANS


def test_a_plan_that_is_sent_back_is_revised_beside_the_user_s(place: Path) -> None:
    vague = gsd_plan("01", "02", [("letter1.txt", "done")]).replace("<automated>", "<manual>")
    revised = plan_answer("1", [("letter1.txt", "done")])
    files = {f"{FOLDER}/01-02-PLAN.md": vague}
    run = project(place, [*reviews(), revised, work_answer("1", "01-01", "letter1.txt", "done 1\n")], files)

    end = run.run()

    assert end.exit == 0
    assert run.steps[:5] == ["preflight", "triage", "plan_check", "plan", "plan_check"]
    assert run.reads(f"{FOLDER}/01-02-PLAN.md") == vague
    assert names(run) >= {"01-REVISED.md", "01-02-SUMMARY.md"}
    assert not {"PLAN.md", "SUMMARY.md"} & names(run)


def test_once_all_plans_are_done_what_is_missing_gets_the_next_number(place: Path) -> None:
    files = {
        f"{FOLDER}/01-01-PLAN.md": gsd_plan("01", "01", [("ground.txt", "ground")]),
        f"{FOLDER}/01-01-SUMMARY.md": "# Summary\n",
    }
    new = plan_answer("1", [("letter1.txt", "done")])
    run = project(place, [*reviews(), new, work_answer("1", "01-01", "letter1.txt", "done 1\n")], files)

    end = run.run("1")

    assert end.exit == 0
    assert run.steps[:4] == ["preflight", "triage", "research", "plan"]
    assert names(run) >= {"01-02-PLAN.md", "01-02-SUMMARY.md"}
    assert not {"PLAN.md", "SUMMARY.md"} & names(run)


def test_research_the_user_brought_is_not_made_again(place: Path) -> None:
    files = {f"{FOLDER}/01-RESEARCH.md": "# Research\n", f"{FOLDER}/01-CONTEXT.md": "# Context\nBe brief.\n"}
    run = project(place, [*reviews(), plan_answer("1", [("letter1.txt", "done")]), *_letter()], files)

    assert run.run().exit == 0

    brief = run.of(PhaseStarted)[0].brief
    assert "research" not in run.steps
    assert (brief.research, brief.context and brief.context.file) == ("01-RESEARCH.md", f"{FOLDER}/01-CONTEXT.md")
    assert "RESEARCH.md" not in names(run)


def test_a_dry_run_and_the_lists_count_the_plans(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = project(place, [*reviews(prose=TRUTHS), *WORK])
    write(run.root, {".planning/phases/07-gone/07-01-PLAN.md": "# Plan\n"})

    seen = app.foresee(RunRequest(folder=str(run.root), phases="all", agent=f"scripted:{run.script}"))

    assert [(plan.file, plan.done, plan.tasks) for plan in seen.phases[0].plan_files] == [
        ("01-01-PLAN.md", True, 1),
        ("01-02-PLAN.md", False, 2),
        ("01-03-PLAN.md", False, 1),
    ]
    assert seen.other_plans == (".planning/phases/07-gone/07-01-PLAN.md",)
    assert seen.phases[0].skipped == "research and plan, since there is a plan"
    row = app.survey(str(run.root)).phases[0]
    assert (row.plans, row.plans_done) == (3, 1)
    assert app.desk(str(run.root)).plans() == {"1": (3, 1, 0)}


def test_a_plan_without_a_task_that_can_be_read_is_listed_as_unreadable(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = make_project(place / "project", [], roadmap_of("1", "2"))
    write(root, {f"{FOLDER}/PLAN.md": "# Plan\n\nThink about it.\n"})
    desk = app.desk(str(root))

    assert phases.perform(parse("phases list", []), desk) == 0
    assert "0/1, unreadable" in next(line for line in capsys.readouterr().out.splitlines() if "Letter 1" in line)
    phases.perform(parse("phases list", ["--json"]), desk)
    assert [phase["plans_unreadable"] for phase in json.loads(capsys.readouterr().out)["phases"]] == [1, 0]


def _letter() -> list[dict[str, Any]]:
    return [work_answer("1", "01-01", "letter1.txt", "done 1\n")]


def test_state_json_names_the_plan_as_it_is_called(place: Path) -> None:
    files = {
        f"{FOLDER}/01-01-PLAN.md": gsd_plan("01", "01", [("ground.txt", "ground")]),
        f"{FOLDER}/01-01-SUMMARY.md": "",
    }
    run = project(place, [*reviews(), plan_answer("1", [("letter1.txt", "done")]), *_letter()], files)
    run.run("1")

    assert run.state()["phases"]["1"]["steps"]["plan"]["output"] == f"{FOLDER}/01-02-PLAN.md"
