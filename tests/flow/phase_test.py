"""One phase on its way through the pipeline: what each turn leads to."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from autopilot.domain.events import PhaseFinished, StepFinished
from autopilot.domain.results import Executed, PlanChecked, Verified
from support.project import honest, plan_answer, plan_text, rate_answer, reviews, work_answer
from support.repos import git, write
from support.runs import driven

STRAIGHT = [
    "preflight", "triage", "research", "plan", "plan_check", "execute", "mini_verify", "verify", "judge",
    "judge_divergence", "rate",
]  # fmt: skip
PLAN = plan_answer("1", [("letter1.txt", "done")])
GOOD = work_answer("1", "01-01", "letter1.txt", "done 1\n")
BAD = work_answer("1", "01-01", "letter1.txt", "not yet\n")
MINE = "notes.txt"


def debugger(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "debug", "result": {"fixed": True}, "write": {"letter1.txt": text}, **more}


def answer(role: str, attempt: int | None = None, **result: Any) -> dict[str, Any]:
    return {"role": role, "result": result} | ({"attempt": attempt} if attempt else {})


def test_rslt_01_a_pass_tells_what_it_rests_on(place: Path) -> None:
    project = driven(place, [*reviews(), PLAN, GOOD])

    assert project.run().exit == 0
    outcome = project.of(PhaseFinished)[-1].outcome
    assert outcome.evidence.files_checked == ("letter1.txt",)
    assert {"grep -q done letter1.txt", "grep -> found"} <= set(outcome.evidence.commands_run)
    assert outcome.evidence.git_diff_summary == "1 files changed, 1 insertions(+), 0 deletions(-)"
    assert git(project.root, "diff", "--shortstat", f"{outcome.commit}~", outcome.commit).startswith(
        "1 file changed, 1 "
    )


def test_three_phases_are_driven_home_and_land(place: Path) -> None:
    """PIPE-01."""
    project = driven(place, honest(), "1", "2>1", "3>2")
    write(project.root, {MINE: "uncommitted\n"})

    end = project.run()

    assert (end.exit, [p.status for p in end.phases.values()]) == (0, ["completed"] * 3)
    assert [line for line in project.log() if line.startswith("feat")] == [
        "feat(03): 03-01 - Write letter3.txt",
        "feat(02): 02-02 - Write letter2.txt",
        "feat(02): 02-01 - Write draft2.txt",
        "feat(01): 01-01 - Write letter1.txt",
    ]
    assert project.reads("letter3.txt") == "done 3\n"
    assert project.reads(MINE) == "uncommitted\n"
    assert project.steps[: len(STRAIGHT)] == STRAIGHT


def test_work_that_is_already_there_is_only_verified(place: Path) -> None:
    """PIPE-02: and not rated, for there is no work to rate."""
    project = driven(place, reviews())
    write(project.root, {"letter1.txt": "done\n"})
    git(project.root, "add", "-A")
    git(project.root, "commit", "-qm", "by hand")

    assert project.run().exit == 12
    assert project.steps == ["preflight", "triage", "verify", "judge", "judge_divergence"]


def test_a_plan_that_is_there_is_checked_and_carried_out(place: Path) -> None:
    """PIPE-03, RSCH-01, PLAN-01."""
    project = driven(place, [*reviews(), GOOD])
    folder = ".planning/phases/01-letter-1"
    write(project.root, {f"{folder}/{name.removeprefix('{dir}/')}": text for name, text in PLAN["write"].items()})

    assert project.run().exit == 0
    assert project.steps == [step for step in STRAIGHT if step not in {"research", "plan"}]


def test_pipe_04_without_research_only_that_step_is_left_out(place: Path) -> None:
    """RSCH-01."""
    project = driven(place, [*reviews(), PLAN, GOOD])
    write(project.root, {".planning/config.json": '{"workflow": {"research": false}}\n'})

    assert project.run().exit == 0
    assert project.steps == [step for step in STRAIGHT if step != "research"]


def test_a_plan_whose_criteria_already_hold_is_verified_by_them(place: Path) -> None:
    """TRGE-02."""
    roadmap = "# Roadmap\n\n### Phase 1: Letter 1\n**Goal**: Write letter 1.\n"
    project = driven(place, reviews())
    folder = ".planning/phases/01-letter-1"
    files = {f"{folder}/{name.removeprefix('{dir}/')}": text for name, text in PLAN["write"].items()}
    write(project.root, {".planning/ROADMAP.md": roadmap, "letter1.txt": "done\n", **files})
    git(project.root, "add", "-A")
    git(project.root, "commit", "-qm", "by hand")

    assert project.run().exit == 12
    assert len(project.of(StepFinished)) == 5
    assert [len(s.result.checks) for s in project.of(StepFinished) if isinstance(s.result, Verified)] == [2]


def test_a_plan_rejected_three_times_fails_the_phase(place: Path) -> None:
    """PCHK-12."""
    no = answer("plan_check", **{"pass": False, "confidence": 9})
    plans = [plan_answer("1", [(f"letter{n}.txt", "done")]) | {"attempt": n} for n in (1, 2, 3)]
    project = driven(place, [no, *reviews(), *plans])

    assert project.run().exit == 10
    assert project.steps[2:] == ["research", *["plan", "plan_check"] * 3]


def test_a_plan_that_leaves_a_requirement_out_is_sent_back_by_machine(place: Path) -> None:
    """PLAN-06, PCHK-01."""
    table = "| Requirement | Task(s) | Description |\n|---|---|---|\n| REQ-01 | 01-01 | the letter |\n\n## Wave 1"
    text = PLAN["write"]["{dir}/PLAN.md"].replace("## Wave 1", f"## Traceability\n{table}")
    complete = {**PLAN, "attempt": 2, "write": {"{dir}/PLAN.md": text}}
    project = driven(place, [*reviews(), PLAN, complete, GOOD])
    roadmap = project.reads(".planning/ROADMAP.md").replace("**Depends", "**Requirements**: REQ-01\n**Depends")
    write(project.root, {".planning/ROADMAP.md": roadmap, ".planning/REQUIREMENTS.md": "- [ ] **REQ-01**: A letter.\n"})
    write(project.root, {".planning/config.json": '{"workflow": {"self_audit": false}}\n'})

    assert project.run().exit == 0
    assert project.steps[3:7] == ["plan", "plan_check", "plan", "plan_check"]
    assert [call for call in project.calls if "plan_check" in call] == ["1/plan_check/2"]


def test_a_rejected_plan_handed_in_again_unchanged_counts_as_none(place: Path) -> None:
    project = driven(place, [answer("plan_check", **{"pass": False, "confidence": 9}), *reviews(), PLAN])

    end = project.run()

    assert project.steps[2:] == ["research", "plan", "plan_check", "plan", "plan"]
    assert "no new .planning/phases/01-letter-1/PLAN.md was written" in end.phases["1"].reason


def test_a_revised_plan_keeps_the_tests_it_did_not_touch(place: Path) -> None:
    no = answer("plan_check", 1, **{"pass": False, "confidence": 9})
    text = PLAN["write"]["{dir}/PLAN.md"].replace("**Done:**", "**Done:** By all means:")
    revised = {**PLAN, "attempt": 2, "write": {"{dir}/PLAN.md": text}}
    project = driven(place, [no, *reviews(), PLAN, revised, GOOD])

    assert project.run().exit == 0
    assert len(project.of(PhaseFinished)[-1].outcome.commit_shas) == 1


@pytest.mark.parametrize("written", [{}, {"{dir}/PLAN.md": "prose\n"}], ids=["none", "without tasks"])
def test_an_unreadable_plan_is_asked_for_again(place: Path, written: dict[str, str]) -> None:
    unreadable = {"role": "plan", "attempt": 1, "result": {"total_tasks": 7}, "write": written}
    project = driven(place, [unreadable, *reviews(), {**PLAN, "attempt": 2}, GOOD])

    assert project.run().exit == 0
    assert project.steps[2:6] == ["research", "plan", "plan", "plan_check"]


def test_broken_work_is_mended_and_leaves_one_commit(place: Path) -> None:
    project = driven(place, [*reviews(), PLAN, BAD, debugger("done now\n")])

    assert project.run().exit == 0
    assert project.steps[5:8] == ["execute", "fix", "mini_verify"]
    assert [line for line in project.log() if "01-01" in line] == ["feat(01): 01-01 - Write letter1.txt"]
    assert project.reads("letter1.txt") == "done now\n"


def test_a_reviewer_who_objects_sends_the_task_back(place: Path) -> None:
    """PVRF-01e."""
    objection = answer("mini_verify", 1, **{"pass": False, "commands_run": ["cat"], "concerns": ["too short"]})
    project = driven(place, [*reviews(), objection, PLAN, GOOD, debugger("done, and longer\n")])

    assert project.run().exit == 0
    assert project.steps[5:9] == ["execute", "mini_verify", "fix", "mini_verify"]


def set_aside(debugged: str) -> list[dict[str, Any]]:
    """The first task never works, the second does; then the whole phase is debugged."""
    hopeless = debugger("still not\n", task="01-01")
    saved = debugger(debugged)
    plan = plan_answer("1", [("letter1.txt", "done"), ("other.txt", "other")])
    return [*reviews(), plan, BAD, hopeless, work_answer("1", "01-02", "other.txt", "other\n"), saved]


def test_pvrf_01e_a_task_that_cannot_be_mended_is_set_aside_and_saved_by_debugging(place: Path) -> None:
    project = driven(place, set_aside("done at last\n"))

    assert project.run().exit == 0
    assert project.steps[5:11] == ["execute", "fix", "fix", "execute", "mini_verify", "verify"]
    subjects = [line for line in project.log() if not line.startswith("docs")]
    assert subjects == ["fix(01): debug attempt 1", "feat(01): 01-02 - Write other.txt", "start"]


def test_a_task_that_nothing_saves_fails_the_phase(place: Path) -> None:
    """PGAT-07, DBG-04, PFAIL-01: three attempts and never a fourth."""
    project = driven(place, set_aside("never\n"))

    end = project.run()

    assert end.exit == 10
    assert "max retries exceeded" in end.phases["1"].reason
    assert project.steps.count("debug") == 3
    assert project.log() == ["start"]
    outcome = project.of(PhaseFinished)[-1].outcome
    assert (outcome.debug_attempts, outcome.recommendation) == (3, "halt")
    assert outcome.diagnostic_branch == "autopilot-diagnostic-phase-1"


def test_a_failed_verification_is_debugged(place: Path) -> None:
    """PGAT-03, DBG-05."""
    objection = answer("verify", 1, **{"pass": False, "commands_run": ["cat"], "failures": ["no greeting"]})
    project = driven(place, [*reviews(), objection, PLAN, GOOD, debugger("done, with greetings\n")])

    assert project.run().exit == 0
    assert project.steps[7:10] == ["verify", "debug", "verify"]
    assert project.reads("letter1.txt") == "done, with greetings\n"


def test_vrfy_12_a_verifier_who_ran_nothing_is_asked_once_more_with_a_warning(place: Path) -> None:
    idle = answer("verify", 1, **{"pass": True})
    project = driven(place, [*reviews(), idle, PLAN, GOOD])

    assert project.run().exit == 0
    assert project.steps[7:9] == ["verify", "verify"]
    warning = "Verifier reported empty commands_run. Verification without command execution is not accepted."
    assert project.of(PhaseFinished)[-1].outcome.issues == (warning,)


CARRIED_OVER = {
    "verify": ({"pass": True, "commands_run": ["ls"], "scope_creep": ["none, executor reported"]}, "verifier referenced executor reported in scope_creep[]"),
    "judge": ({"recommendation": "proceed", "concerns": ["verifier noted it"], "independent_evidence": ["a:1"]}, "judge referenced verifier noted in concerns[]"),
    "rate": ({"alignment_score": 9.4, "scorecard": [{"score": 9.4, "evidence": "a:1, judge noted", "justification": "x"}], "commands_run": ["ls"]}, "rater referenced judge noted in scorecard[].evidence"),
}  # fmt: skip


@pytest.mark.parametrize("role", CARRIED_OVER)
def test_words_of_another_role_are_asked_for_again_and_then_taken_with_an_issue(place: Path, role: str) -> None:
    said, issue = CARRIED_OVER[role]
    project = driven(place, [*reviews(), {"role": role, "phase": "1", "result": said}, PLAN, GOOD])

    assert project.run().exit == 0
    assert [call for call in project.calls if f"/{role}/" in call] == [f"1/{role}/1", f"1/{role}/1.2"]
    assert project.of(PhaseFinished)[-1].outcome.issues == (f"cross_contamination: {issue}",)


def test_rate_02_an_integer_score_twice_is_taken_with_a_warning(place: Path) -> None:
    whole = rate_answer(10)
    project = driven(place, [*reviews(), {**whole, "phase": "1"}, PLAN, GOOD])

    assert project.run().exit == 0
    assert [call for call in project.calls if "/rate/" in call] == ["1/rate/1", "1/rate/1.2"]
    assert project.of(PhaseFinished)[-1].outcome.issues[0].startswith("Integer alignment score detected (10).")


@pytest.mark.parametrize("word", ["rollback", "halt"])
@pytest.mark.parametrize("role", ["judge", "judge_divergence"])
def test_a_judge_who_condemns_fails_the_phase_and_its_work_is_kept_aside(place: Path, role: str, word: str) -> None:
    """PGAT-05, PGAT-06, RBK-01, RBK-03."""
    verdict = answer(role, 1, recommendation=word, concerns=["wrong"], independent_evidence=["letter1.txt:1"])
    project = driven(place, [*reviews(), verdict, PLAN, GOOD])

    end = project.run()

    assert (end.exit, project.log()) == (10, ["start"])
    assert not (project.root / "letter1.txt").exists()
    assert git(project.root, "show", "autopilot-diagnostic-phase-1:letter1.txt") == "done 1"
    outcome = project.of(PhaseFinished)[-1].outcome
    assert (outcome.rollback, outcome.recommendation) == (True, word)
    assert (outcome.rollback_to, outcome.diagnostic_branch) == (
        git(project.root, "rev-parse", "HEAD"),
        "autopilot-diagnostic-phase-1",
    )
    assert outcome.rollback_from == git(project.root, "rev-parse", "autopilot-diagnostic-phase-1")


def test_rbk_02_a_rollback_resets_nothing(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, real = place / "git.log", shutil.which("git")
    write(place, {"bin/git": f'#!/bin/sh\necho "$@" >> {log}\nexec {real} "$@"\n'})
    (place / "bin/git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{place / 'bin'}{os.pathsep}{os.environ['PATH']}")
    no = answer("judge", 1, recommendation="rollback", concerns=["wrong"], independent_evidence=["letter1.txt:1"])
    project = driven(place, [*reviews(), no, PLAN, GOOD])

    assert project.run().exit == 10
    commands = log.read_text(encoding="utf-8").splitlines()
    assert any("autopilot-diagnostic-phase-1" in command for command in commands)
    assert not [command for command in commands if " reset" in f" {command}" and "--hard" in command]


def test_a_low_score_is_planned_again_once(place: Path) -> None:
    """PGAT-04."""
    better = plan_answer("1", [("more1.txt", "more")]) | {"attempt": 2}
    more = work_answer("1", "01-01", "more1.txt", "more\n", attempt=2)
    low = rate_answer(6.9, attempt=1)
    project = driven(place, [*reviews(), low, PLAN, GOOD, better, more])

    assert project.run().exit == 0
    assert project.steps == [*STRAIGHT, *STRAIGHT[2:]]
    assert project.reads("letter1.txt") + project.reads("more1.txt") == "done 1\nmore\n"
    checked = [s.result.plan.text for s in project.of(StepFinished) if isinstance(s.result, PlanChecked)]
    assert checked[1] == plan_text("1", [("more1.txt", "more")])


def test_a_second_low_score_fails_the_phase(place: Path) -> None:
    """PGAT-04."""
    better = plan_answer("1", [("more1.txt", "more")]) | {"attempt": 2}
    more = work_answer("1", "01-01", "more1.txt", "more\n", attempt=2)
    project = driven(place, [*reviews(6.9), PLAN, GOOD, better, more])

    end = project.run()

    assert (end.exit, end.phases["1"].reason) == (10, "alignment too low (6.9) after 1 re-plan(s)")
    assert project.log() == ["start"]


def test_a_task_for_a_person_makes_the_run_wait(place: Path) -> None:
    """HUM-03."""
    checkpoint = '\n<task id="01-02" type="checkpoint:human-verify">\n### Task 01-02: Look at it\n</task>\n'
    written = {**PLAN["write"], "{dir}/PLAN.md": PLAN["write"]["{dir}/PLAN.md"] + checkpoint}
    reason = {"criterion": "it can be paid", "methods_attempted": ["a dry run"], "why_insufficient": "a real payment"}
    said = {"pass": True, "commands_run": ["grep"], "autonomous_confidence": 4, "deferral_evidence": [reason]}
    unsure = {"role": "verify", "result": said}
    project = driven(place, [*reviews()[:3], unsure, *reviews()[4:], {**PLAN, "write": written}, GOOD])

    end = project.run()

    assert (end.exit, end.phases["1"].status) == (11, "needs_human_verification")
    assert project.steps == STRAIGHT
    assert "01-02 Look at it" in end.phases["1"].reason
    assert project.log() == ["start"]


def test_hum_01_a_verifier_who_is_sure_enough_may_not_defer(place: Path) -> None:
    """HUM-01, HUM-02: at a confidence of 6 the phase is completed, whatever the verifier would leave to a person."""
    checkpoint = '\n<task id="01-02" type="checkpoint:human-verify">\n### Task 01-02: Look at it\n</task>\n'
    written = {**PLAN["write"], "{dir}/PLAN.md": PLAN["write"]["{dir}/PLAN.md"] + checkpoint}
    reason = {"criterion": "it can be paid", "methods_attempted": ["a dry run"], "why_insufficient": "a real payment"}
    said = {"pass": True, "commands_run": ["grep"], "autonomous_confidence": 6, "deferral_evidence": [reason]}
    sure = {"role": "verify", "result": said}
    project = driven(place, [*reviews()[:3], sure, *reviews()[4:], {**PLAN, "write": written}, GOOD])

    end = project.run()

    assert (end.exit, end.phases["1"].status) == (0, "completed")
    assert project.of(PhaseFinished)[-1].outcome.human_verify_justification is None


def test_an_answer_nobody_can_read_is_repaired_once(place: Path) -> None:
    project = driven(place, [*reviews(), PLAN, {**GOOD, "result": {"evidence": 7}}])

    end = project.run()

    assert end.exit == 10
    assert [call for call in project.calls if "execute" in call] == [
        "1/execute/1", "1/execute/1.2", "1/execute/2", "1/execute/2.2",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "role", ["research", "plan_check", "mini_verify", "verify", "judge", "judge_divergence", "rate"]
)
def test_garbage_for_ever_fails_the_phase_and_never_hangs(place: Path, role: str) -> None:
    garbage = {"role": role, "phase": "1", "text": "I am sure it is all fine."}
    project = driven(place, [*reviews(), garbage, PLAN, GOOD])

    end = project.run()

    assert end.exit == 10
    assert f"no usable answer in {role} after 2 tries" in end.phases["1"].reason
    assert project.log() == ["start"]


@pytest.mark.parametrize("outcome", ["timeout", "crashed"])
def test_an_agent_that_breaks_down_is_asked_again_on_a_clean_clone(place: Path, outcome: str) -> None:
    first = work_answer("1", "01-01", "half.txt", "half\n", attempt=1, outcome=outcome)
    project = driven(place, [*reviews(), PLAN, first, {**GOOD, "attempt": 2}])

    assert project.run().exit == 0
    assert not (project.root / "half.txt").exists()
    assert [type(s.verdict).__name__ for s in project.of(StepFinished) if s.step == "execute"] == ["Retry", "Advance"]
    assert sum(isinstance(s.result, Executed) for s in project.of(StepFinished)) == 1
