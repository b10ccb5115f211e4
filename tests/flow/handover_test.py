"""After a context hand-over no accepted task disappears, and what was accepted is verified (CTXE-01r)."""

import io
from pathlib import Path
from typing import Any

import pytest

from autopilot.domain.events import PhaseFinished, PhaseStarted, StepFinished
from autopilot.domain.request import RunEnd
from autopilot.domain.results import MiniVerified, Verified
from autopilot.views.lines.plain import PlainView
from support.project import plan_answer, reviews, work_answer
from support.repos import git
from support.runs import Drive, driven

FOLDER = ".planning/phases/01-letter-1"
# The roadmap's only criterion holds as soon as the first task is done.
PLAN = plan_answer("1", [("letter1.txt", "done"), ("other.txt", "other")])
FIRST = work_answer("1", "01-01", "letter1.txt", "done\n", attempt=1)
REST = work_answer("1", "01-02", "other.txt", "other\n", attempt=2)
RAN_OUT = [
    pytest.param({"outcome": "context_exhausted"}, id="the adapter saw it"),
    pytest.param({"result": {"context_exhausted": True, "tasks_completed": "1/1"}}, id="the agent says so"),
]


def exhausted(**more: Any) -> dict[str, Any]:
    """The executor of the second task stops in the middle."""
    return work_answer("1", "01-02", "half.txt", "half\n", attempt=1, **more)


def shown(project: Drive, end: RunEnd) -> str:
    out = io.StringIO()
    view = PlainView(out)
    for stream, entry in project.entries:
        view(stream, entry)
    view.announce(end)
    return out.getvalue()


@pytest.mark.parametrize("how", RAN_OUT)
def test_ctxe_01r_the_task_that_is_left_is_carried_out(place: Path, how: dict[str, Any]) -> None:
    """CTXE-01w, CTXE-01r, CTX-04: HANDOFF.md, the restart text, then the rest of the plan and nothing twice."""
    project = driven(place, [*reviews(), PLAN, FIRST, exhausted(**how), REST])

    end = project.run()

    assert (end.exit, end.phases["1"].reason) == (10, "context_exhaustion: partial progress saved to HANDOFF.md")
    assert project.of(PhaseFinished)[0].outcome.issues == ("context_exhaustion: partial progress saved to HANDOFF.md",)
    restart = "Context getting full. 0 phases completed so far. To continue, run:\n  autopilot resume\n"
    assert restart in shown(project, end)
    assert "| 01-02 | Write other.txt | simple |" in project.reads(f"{FOLDER}/HANDOFF.md")
    (paper,) = (project.root / ".autopilot").glob("handoff-*.md")
    assert paper.read_text(encoding="utf-8").endswith(f"- **Next phase:** 1\n- **Remaining phases:** 1\n\n{restart}")
    assert project.log() == ["start"]

    paid = len(project.steps)
    again = project.resume()

    assert again.exit == 0
    told = shown(project, again)
    assert "Phase 1: HANDOFF.md detected. Resuming from partial progress (1/2 tasks completed)." in told
    assert project.steps[paid : paid + 6] == ["execute", "mini_verify", "verify", "judge", "judge_divergence", "rate"]
    assert [call for call in project.calls if "execute" in call] == ["1/execute/1", "1/execute/2", "1/execute/3"]
    subjects = [line for line in project.log() if not line.startswith("docs")]
    assert subjects == ["feat(01): 01-02 - Write other.txt", "feat(01): 01-01 - Write letter1.txt", "start"]
    assert not (project.root / "half.txt").exists()
    assert project.of(PhaseFinished)[-1].outcome.tasks_completed == "2/2"


def test_verify_covers_the_whole_plan_that_was_handed_over(place: Path) -> None:
    project = driven(place, [*reviews(), PLAN, FIRST, exhausted(outcome="context_exhausted"), REST])
    project.run()
    project.resume()

    (seen,) = (step.result for step in project.of(StepFinished) if isinstance(step.result, Verified))
    assert {"grep -q done letter1.txt", "grep -q other other.txt"} <= {check.command for check in seen.checks}
    assert [step.result.task for step in project.of(StepFinished) if isinstance(step.result, MiniVerified)] == [
        "01-01",
        "01-02",
    ]


def test_a_phase_does_not_pass_while_a_handed_over_task_is_undone(place: Path) -> None:
    idle = work_answer("1", "01-02", "half.txt", "half\n", attempt=2)
    stuck = {"role": "debug", "result": {"fixed": True}}
    project = driven(place, [*reviews(), PLAN, FIRST, exhausted(outcome="context_exhausted"), idle, stuck])
    project.run()

    end = project.resume()

    assert end.exit == 10
    assert "other.txt" in end.phases["1"].reason
    assert not (project.root / "letter1.txt").exists(), "nothing of a failed phase lands"


def test_an_executor_that_is_exhausted_again_and_again_gets_to_the_end(place: Path) -> None:
    three = plan_answer("1", [("letter1.txt", "done"), ("other.txt", "other"), ("third.txt", "third")])
    dry = {"outcome": "context_exhausted"}
    project = driven(
        place,
        [
            *reviews(), three,
            work_answer("1", "01-01", "half.txt", "half\n", attempt=1, **dry),
            work_answer("1", "01-01", "letter1.txt", "done\n", attempt=2),
            work_answer("1", "01-02", "half.txt", "half\n", attempt=1, **dry),
            work_answer("1", "01-02", "other.txt", "other\n", attempt=2),
            work_answer("1", "01-03", "half.txt", "half\n", attempt=1, **dry),
            work_answer("1", "01-03", "third.txt", "third\n", attempt=2),
        ],
    )  # fmt: skip

    assert [project.run().exit, project.resume().exit, project.resume().exit, project.resume().exit] == [10, 10, 10, 0]
    assert [project.steps.count(step) for step in ("research", "plan", "plan_check", "verify")] == [1, 1, 1, 1]
    assert project.of(PhaseFinished)[-1].outcome.tasks_completed == "3/3"
    log = project.reads(f"{FOLDER}/EXECUTION-LOG.md")
    assert [f"## Task 01-0{n}" in log for n in (1, 2, 3)] == [True] * 3


def test_once_the_line_has_moved_every_task_of_the_accepted_plan_is_carried_out(place: Path) -> None:
    """Another phase passed meanwhile, so the work on the old commits cannot be continued; the plan still counts."""
    moved = work_answer("1", "01-01", "letter1.txt", "done\n", attempt=2)
    project = driven(
        place,
        [
            *reviews(), PLAN, FIRST, exhausted(outcome="context_exhausted"), moved, REST,
            plan_answer("2", [("letter2.txt", "done")]),
            work_answer("2", "02-01", "letter2.txt", "done\n"),
        ],
        "1",
        "2",
    )  # fmt: skip

    assert project.run().exit == 10
    assert (project.root / "letter2.txt").exists()
    committed = git(project.root, "ls-tree", "-r", "--name-only", "HEAD").split()
    assert {f"{FOLDER}/HANDOFF.md", f"{FOLDER}/PLAN.md"} <= set(committed), "STATE-15: also of a phase that failed"
    paid = len(project.steps)
    assert project.resume().exit == 0

    again = project.steps[paid:]
    assert again[:6] == ["preflight", "triage", "execute", "mini_verify", "execute", "mini_verify"]
    assert project.of(PhaseStarted)[-1].brief.accepted
    assert project.of(PhaseFinished)[-1].outcome.tasks_completed == "2/2"
