"""The frame around the steps: budgets, traces, priming, and phases that run out of context."""

import io
import json
import re
from pathlib import Path

from autopilot.domain.events import PhaseFinished, StepFinished
from autopilot.domain.request import RunEnd
from autopilot.domain.results import Executed
from autopilot.domain.verdict import Retry
from autopilot.views.lines.plain import PlainView
from support.project import plan_answer, reviews, work_answer
from support.repos import git, write
from support.runs import Drive, driven

FOLDER = ".planning/phases/01-letter-1"
PLAN = plan_answer("1", [("letter1.txt", "done")])
GOOD = work_answer("1", "01-01", "letter1.txt", "done 1\n")
TWO = plan_answer("1", [("other.txt", "other"), ("letter1.txt", "done")])
FIRST = work_answer("1", "01-01", "other.txt", "other\n", attempt=1)


def shown(project: Drive, end: RunEnd) -> str:
    """What the run printed in plain lines."""
    out = io.StringIO()
    view = PlainView(out)
    for stream, entry in project.entries:
        view(stream, entry)
    view.announce(end)
    return out.getvalue()


def test_dir_01_a_phase_leaves_every_file_whose_step_ran(place: Path) -> None:
    project = driven(place, [*reviews(), PLAN, GOOD])
    end = project.run()

    papers = {str(path.relative_to(project.root / FOLDER)) for path in (project.root / FOLDER).rglob("*.*")}
    assert end.exit == 0
    assert papers >= {
        "RESEARCH.md", "PLAN.md", "EXECUTION-LOG.md", "VERIFICATION.md", "JUDGE-REPORT.md", "SCORECARD.md",
        "TRIAGE.json", "TRACE.jsonl", "SUMMARY.md", "tests/task-01-01.sh", "research-trace.jsonl", "plan-trace.jsonl",
        "plan_check-trace.jsonl", "execute-trace.jsonl", "verify-trace.jsonl", "judge-trace.jsonl",
    }  # fmt: skip
    assert not papers & {"HANDOFF.md", "CONTEXT.md", "debug-trace.jsonl"}
    committed = git(project.root, "ls-tree", "-r", "--name-only", "HEAD").split()
    assert f"{FOLDER}/execute-trace.jsonl" in committed


def test_obsv_02b_a_trace_that_cannot_be_written_is_an_issue_and_no_stop(place: Path) -> None:
    project = driven(place, [*reviews(), PLAN, GOOD])
    # A folder where the file is made: nobody can write there, whatever their rights.
    write(project.root, {f"{FOLDER}/.TRACE.jsonl.autopilot-part/in-the-way.txt": "x\n"})

    end = project.run()

    issue = "trace could not be written: Is a directory"
    assert (end.exit, project.of(PhaseFinished)[0].outcome.issues) == (0, (issue,))
    assert f"  Issue: {issue}\n" in shown(project, end)
    assert (project.root / FOLDER / "SUMMARY.md").exists()


def test_exec_06_the_baseline_is_run_once_and_reported_in_the_log(place: Path) -> None:
    count = place / "compiled.txt"
    command = f"echo x >> {count}; echo 2 errors; test -e letter1.txt"
    project = driven(place, [*reviews(), PLAN, GOOD])
    write(project.root, {".planning/config.json": json.dumps({"project": {"commands": {"compile": command}}})})
    write(project.root, {"post.py": "LETTERS = ['letter1']\n", "other.py": "pass\n"})
    git(project.root, "add", "-A")
    git(project.root, "commit", "-qm", "files")

    assert project.run().exit == 0
    (done,) = [s.result for s in project.of(StepFinished) if isinstance(s.result, Executed)]
    assert done.primed is not None
    assert (done.primed.baseline, done.work.gates_before[0].passed) == ("FAIL (2 errors)", False)
    assert count.read_text(encoding="utf-8") == "x\nx\n"
    log = project.reads(f"{FOLDER}/EXECUTION-LOG.md")
    found = r"repo-map: (loaded with \d+ files|not found); learnings: no learnings file found\n"
    assert re.search(
        rf"- \*\*Priming:\*\* PLAN\.md; key files: post\.py, other\.py; compile: FAIL \(2 errors\); {found}", log
    )


def test_bud_02_an_agent_that_talks_too_much_is_cut_and_told_on(place: Path) -> None:
    verdict = '{"pass": true, "commands_run": ["grep -> found"]}'
    wordy = {"role": "mini_verify", "text": "I looked at it.\n" * 100 + verdict, "phase": "1"}
    project = driven(place, [*reviews(), wordy, PLAN, GOOD])

    end = project.run()

    warning = "Agent mini_verify exceeded budget (101 > 30 lines). Truncating to JSON/SUMMARY only."
    assert (end.exit, project.of(PhaseFinished)[0].outcome.issues) == (0, (warning,))
    assert f"[Phase 1] {warning}\n" in shown(project, end)


MET = [{"task_id": "01-01", "criteria_met": ["other.txt says other"]}]
ALREADY_THERE = {
    "role": "execute",
    "task": "01-01",
    "result": {"tasks_completed": "1/1", "tasks_failed": "0/1", "evidence": MET, "commit_shas": []},
}


def test_exec_s1_code_of_the_users_plan_that_is_there_already_needs_evidence_and_no_commit(place: Path) -> None:
    project = driven(place, [*reviews(), ALREADY_THERE, work_answer("1", "01-02", "letter1.txt", "done\n")])
    planned = {f"{FOLDER}/{name.removeprefix('{dir}/')}": text for name, text in TWO["write"].items()}
    write(project.root, {**planned, "other.txt": "other\n"})
    git(project.root, "add", "-A")
    git(project.root, "commit", "-qm", "by hand")

    assert project.run().exit == 0
    assert [line for line in project.log() if line.startswith("feat")] == ["feat(01): 01-02 - Write letter1.txt"]
    first = project.reads(f"{FOLDER}/EXECUTION-LOG.md").partition("## Task 01-02")[0]
    assert "- **Status:** COMPLETED\n- **Commit SHA:** none\n" in first
    assert "  - PASS: other.txt says other -- " in first
    assert "  - PASS: the test passes -- " in first


def test_exec_s1_in_a_plan_of_this_run_doing_nothing_is_no_work(place: Path) -> None:
    idle = {"role": "debug", "result": {"fixed": True}}
    project = driven(place, [*reviews(), TWO, ALREADY_THERE, idle])
    write(project.root, {"other.txt": "other\n"})
    git(project.root, "add", "-A")
    git(project.root, "commit", "-qm", "by hand")

    assert project.run().exit == 10
    assert project.of(StepFinished)[5].verdict == Retry(step="fix", because="nothing was changed")
