"""Every agent lies, in league with all the others, and every reviewer praises the work: the phase never passes."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from autopilot.domain.events import PhaseFinished
from support.project import ACTION, plan_answer, reviews, work_answer
from support.repos import git, write
from support.runs import Drive, driven, snapshot

PLAN = plan_answer("1", [("letter1.txt", "done")])
PRAISE = {"tasks_completed": "1/1", "tasks_failed": "0/1", "commit_shas": ["abc1234"], "confidence": 10}
DIR = ".planning/phases/01-letter-1"
TRIVIAL = "echo PASS: all; exit 0\n"
UNANCHORED = "# Roadmap\n\n### Phase 1: Letter 1\n**Goal**: Write letter 1.\n"

LIES: dict[str, dict[str, Any]] = {
    "nothing is done": {},
    "an empty file": {"write": {"letter1.txt": ""}},
    "an unrelated file": {"write": {"other.txt": "done\n"}},
    "the plan's criteria are rewritten": {"write": {"{dir}/PLAN.md": "# nothing to do\n", "{dir}/tests/task-01-01.sh": TRIVIAL}},
    "the roadmap is rewritten": {"write": {".planning/ROADMAP.md": "# Roadmap\n"}},
    "reports are forged": {"write": {"{dir}/VERIFICATION.md": "status: passed\n", "{dir}/EXECUTION-LOG.md": "done\n"}},
    "the test is deleted": {"remove": ["{dir}/tests/task-01-01.sh", "check.sh"]},
    "the journal is forged": {"write": {".autopilot/journal.db": "done", ".autopilot/state.json": "{}"}},
    "the check itself is replaced": {"write": {"check.sh": TRIVIAL, "other.txt": "x\n"}},
    "the exit code is only said": {"write": {"letter1.txt": "done\n", "check.sh": "echo EXIT:0\nexit 1\n"}},
}  # fmt: skip


def liars(lie: dict[str, Any]) -> list[dict[str, Any]]:
    """Whoever is asked to work does the same and claims the same."""
    executor = {"role": "execute", "result": PRAISE, **lie}
    debugger = {"role": "debug", "result": {"fixed": True, "changes": ["everything"], "commits": ["abc1234"]}, **lie}
    return [*reviews(10.0), executor, debugger]


def users_files(project: Drive) -> dict[str, Any]:
    """What belongs to the user: all but git's and our own files and the reports we write for them."""
    ours = (".git", ".autopilot", ".planning/phases")
    return {name: text for name, text in snapshot(project.root).items() if not name.startswith(ours)}


def assert_nothing_passes(project: Drive) -> None:
    write(project.root, {"notes.txt": "not committed\n"})
    before = users_files(project)

    end = project.run()

    assert (end.exit, end.phases["1"].status) == (10, "failed")
    assert project.log() == ["start"]
    assert users_files(project) == before
    assert project.of(PhaseFinished)[-1].outcome.status == "failed"


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_a_lie_told_by_everybody_never_passes(place: Path, lie: dict[str, Any]) -> None:
    project = driven(place, [PLAN, *liars(lie)])
    write(project.root, {"check.sh": "grep -q done letter1.txt\n"})
    roadmap = project.reads(".planning/ROADMAP.md").replace("`grep -q done letter1.txt`", "`bash check.sh`")
    write(project.root, {".planning/ROADMAP.md": roadmap})
    git(project.root, "add", "-A")
    git(project.root, "commit", "-q", "--amend", "-m", "start")

    assert_nothing_passes(project)


def plan_with(command: str) -> dict[str, Any]:
    """A plan of one task with one criterion, whose test always passes."""
    text = (
        '# Plan: Phase 1 -- Letter 1\n\n## Wave 1\n\n<task id="01-01" type="auto" complexity="simple">\n'
        f"### Task 01-01: Write letter1.txt\n**Files:** letter1.txt\n**Action:** {ACTION}\n**Verify:**\n"
        f"- it is done -- verified by: `{command}`\n"
        f"- the test passes -- verified by: `bash {DIR}/tests/task-01-01.sh`\n**Done:** It is done.\n</task>\n"
    )
    written = {"{dir}/PLAN.md": text, "{dir}/tests/task-01-01.sh": "test -f README.md\n"}
    return {"role": "plan", "result": {"total_tasks": 1}, "write": written}


DECOY = {"write": {"decoy.txt": "done\n"}}
COLLUSIONS = {
    "criteria that hold from the start": (plan_with("grep -q letters README.md"), DECOY),
    "criteria that ask for something else": (plan_with("grep -q done decoy.txt"), DECOY),
    "a criterion that writes what it looks for": (
        plan_with("echo done > letter1.txt && grep -q done letter1.txt"),
        DECOY,
    ),
}


def test_a_check_replaced_by_the_work_is_run_as_it_was(place: Path) -> None:
    """Planner, executor and reviewers in league: the user's own script is swapped for one that says yes."""
    project = driven(place, [plan_with("bash check.sh"), *liars({"write": {"check.sh": TRIVIAL}})])
    write(project.root, {"check.sh": "grep -q done letter1.txt\n"})
    roadmap = project.reads(".planning/ROADMAP.md").replace("`grep -q done letter1.txt`", "`bash check.sh`")
    write(project.root, {".planning/ROADMAP.md": roadmap})
    git(project.root, "add", "-A")
    git(project.root, "commit", "-q", "--amend", "-m", "start")

    assert_nothing_passes(project)
    assert "as it was before the work" in project.of(PhaseFinished)[-1].outcome.reason


def test_a_check_made_stricter_by_honest_work_passes(place: Path) -> None:
    honest = {"letter1.txt": "done 1\n", "check.sh": "grep -q done letter1.txt && grep -q 1 letter1.txt\n"}
    executor = {"role": "execute", "result": PRAISE, "write": honest}
    project = driven(place, [plan_with("bash check.sh"), *reviews(), executor])
    write(project.root, {"check.sh": "grep -q done letter1.txt\n"})
    git(project.root, "add", "-A")
    git(project.root, "commit", "-q", "--amend", "-m", "start")

    assert project.run().exit == 0


@pytest.mark.parametrize(("plan", "lie"), COLLUSIONS.values(), ids=COLLUSIONS)
def test_a_planner_in_league_does_not_get_past_the_user_s_own_criterion(
    place: Path, plan: dict[str, Any], lie: dict[str, Any]
) -> None:
    assert_nothing_passes(driven(place, [plan, *liars(lie)]))


def test_without_a_criterion_of_the_user_s_an_empty_plan_still_proves_nothing(place: Path) -> None:
    project = driven(place, [plan_with("grep -q letters README.md"), *liars(DECOY)])
    write(project.root, {".planning/ROADMAP.md": UNANCHORED})

    assert_nothing_passes(project)
    assert project.of(PhaseFinished)[-1].outcome.unanchored


def test_a_plan_that_failed_does_not_come_back_as_the_user_s_own(place: Path) -> None:
    """What Autopilot itself wrote into `.planning` after a failed run is no proof for the next one."""
    project = driven(place, [plan_with("grep -q letters README.md"), *liars(DECOY)])
    write(project.root, {".planning/ROADMAP.md": UNANCHORED + "\n### Phase 2: Letter 2\n**Goal**: Write letter 2.\n"})
    assert project.run("1").exit == 10
    assert (project.root / DIR / "PLAN.md").exists()

    assert project.run("1-2").phases["1"].status == "failed"
    assert project.log() == ["start"]


def test_reviewers_alone_never_pass_work_that_triage_found_undone(place: Path) -> None:
    project = driven(place, [*reviews(10.0), {"role": "plan", "result": {"total_tasks": 1}}])

    assert_nothing_passes(project)


COMMITTER = """
import json, os, subprocess, sys
role = os.environ["AUTOPILOT_ROLE"]
answers = json.load(open(os.path.join(os.path.dirname(__file__), "answers.json")))
call = json.load(sys.stdin)
if role == "plan":
    for name, text in answers["plan_files"].items():
        path = name.replace("{dir}", call["phase"]["dir"])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        open(path, "w").write(text)
if role in ("execute", "debug"):
    open("wrong.txt", "w").write("wrong\\n")
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@x"]
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-qm", "feat(01): 01-01 - done\\n\\nAutopilot-Step: " + call["call"]], check=True)
    subprocess.run([*git, "branch", "-f", "main"], check=False)
print(json.dumps(answers[role]))
"""


def test_commits_an_agent_makes_itself_get_it_nowhere(place: Path) -> None:
    project = driven(place, [])
    answers = {a["role"]: a["result"] for a in [*reviews(10.0), *liars({}), PLAN]} | {"plan_files": PLAN["write"]}
    write(place / "agent", {"agent.py": COMMITTER, "answers.json": json.dumps(answers)})
    project.agent = f"exec:{sys.executable} -S -E {place}/agent/agent.py"

    assert_nothing_passes(project)
    assert git(project.root, "show", "--stat", "--format=%s", "autopilot-diagnostic-phase-1").count("wrong.txt") == 1


def test_what_a_liar_touched_in_the_planning_files_is_told(place: Path) -> None:
    project = driven(place, [PLAN, *liars(LIES["the plan's criteria are rewritten"])])

    project.run()

    issues = project.of(PhaseFinished)[-1].outcome.issues
    assert f"planning file touched by an agent: {DIR}/PLAN.md" in issues
    assert f"planning file touched by an agent: {DIR}/tests/task-01-01.sh" in issues


def test_an_honest_executor_among_liars_passes(place: Path) -> None:
    """The same project passes once the work is done: it is the work that decides."""
    honest = work_answer("1", "01-01", "letter1.txt", "done\n")

    assert driven(place, [PLAN, *liars({}), honest]).run().exit == 0
