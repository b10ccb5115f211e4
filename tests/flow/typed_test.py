"""Phases by their type: what a user touches is traced, and what a data or protocol phase brings can be read."""

from pathlib import Path
from typing import Any

import pytest

from autopilot.domain.events import Noted, PhaseFinished, StepFinished
from autopilot.domain.results import Compared, Rated, Verified
from autopilot.policy.facts.behavior_traces import NOT_TRACED
from support.project import plan_answer, reviews, work_answer
from support.repos import write
from support.runs import Drive, driven

CODE = "export const Join = () => <a onClick={openJoin}>Join</a>\nimport { openJoin } from './open'\n"
OPEN = "export const openJoin = () => window.open(url)\n"
BEHAVIOUR = "Join opens the event URL -- verified by: trace onClick to its action"
TRACE = {
    "handler": "onClick", "file_line": "src/join.tsx:1", "chain": "onClick -> openJoin -> window.open",
    "terminal_action": "opens the URL", "criterion_match": "Join opens the event URL", "status": "VERIFIED",
}  # fmt: skip


def roadmap(goal: str, command: str, *more: str) -> str:
    listed = "\n".join(
        f"  {n}. {text}" for n, text in enumerate((f"It is there -- verified by: `{command}`", *more), 1)
    )
    return (
        f"# Roadmap\n\n### Phase 1: Letter 1\n**Goal**: {goal}.\n**Success Criteria** (what must be TRUE):\n{listed}\n"
    )


def said(role: str, attempt: int | None = None, **result: Any) -> dict[str, Any]:
    usual = next(answer["result"] for answer in reviews(prose=[BEHAVIOUR]) if answer["role"] == role)
    return {"role": role, "phase": "1", "result": {**usual, **result}} | ({"attempt": attempt} if attempt else {})


def page(place: Path, *answers: dict[str, Any]) -> Drive:
    """A ui phase done right; reviewers as given, the others content."""
    plan = plan_answer("1", [("src/join.tsx", "openJoin")])
    text = (
        plan["write"]["{dir}/PLAN.md"]
        .replace("**Done:**", f"- {BEHAVIOUR}\n**Done:**")
        .replace("**Files:** src/join.tsx", "**Files:** src/join.tsx, src/open.ts")
    )
    plan["write"]["{dir}/PLAN.md"] = text
    work = work_answer("1", "01-01", "src/join.tsx", CODE)
    work["write"]["src/open.ts"] = OPEN
    row = {
        "criterion": "Join opens the event URL", "score": 9.4, "evidence": "src/join.tsx:1 onClick -> openJoin -> open",
        "justification": "as asked", "verification_command": "grep -n open src/join.tsx",
    }  # fmt: skip
    rated = said("rate", scorecard=[row])
    project = driven(place, [*reviews(prose=[BEHAVIOUR]), rated, plan, work, *answers])
    write(project.root, {".planning/ROADMAP.md": roadmap("A page to join", "grep -q openJoin src/join.tsx", BEHAVIOUR)})
    return project


def result(project: Drive, kind: type[Any]) -> Any:
    return next(s.result for s in reversed(project.of(StepFinished)) if isinstance(s.result, kind))


def test_rate_05_a_ui_phase_whose_behaviour_is_traced_passes(place: Path) -> None:
    traced = (said("verify", behavioral_traces=[TRACE]), said("judge_divergence", retraced=[TRACE]))
    project = page(place, *traced)

    end = project.run()

    assert (end.exit, end.phases["1"].score) == (0, 9.4)
    assert result(project, Verified).handlers == ("onClick (src/join.tsx)",)
    assert project.of(PhaseFinished)[-1].outcome.issues == (
        "PTV-03: build: no build command is configured, so nothing shows that this user interface builds",
    )


def test_judg_06_a_ui_phase_nobody_traced_is_held_below_seven_with_a_concern(place: Path) -> None:
    project = page(place)

    end = project.run()

    assert (end.exit, result(project, Rated).score) == (10, 6.9)
    assert result(project, Compared).concerns == (NOT_TRACED,)
    folder = ".planning/phases/01-letter-1"
    assert "held at 6.9: no trace confirms its terminal behaviour" in project.reads(f"{folder}/SCORECARD.md")
    assert f"### Concerns\n- {NOT_TRACED}\n" in project.reads(f"{folder}/JUDGE-REPORT.md")
    wanted = "Verifier did not perform behavioral traces for UI phase 1. Verification may be shallow."
    assert wanted in project.of(PhaseFinished)[-1].outcome.issues


def test_rate_05_a_trace_that_contradicts_is_debugged_whatever_the_verifier_concludes(place: Path) -> None:
    wrong = {**TRACE, "status": "CONTRADICTED", "terminal_action": "opens a fixed page"}
    answers = (
        said("verify", 1, behavioral_traces=[wrong]),
        said("verify", 2, behavioral_traces=[TRACE]),
        said("judge_divergence", retraced=[TRACE]),
        {"role": "debug", "result": {"fixed": True}, "write": {"src/open.ts": f"{OPEN}// the event's own\n"}},
    )
    project = page(place, *answers)

    assert project.run().exit == 0
    assert project.steps[7:10] == ["verify", "debug", "verify"]


def test_judg_06_a_judge_who_retraces_nothing_is_asked_again_and_told_on(place: Path) -> None:
    project = page(place, said("verify", behavioral_traces=[TRACE]))

    assert project.run().exit == 0
    assert [call for call in project.calls if "divergence" in call] == [
        "1/judge_divergence/1",
        "1/judge_divergence/1.2",
    ]
    assert "Judge did not re-trace" in " ".join(project.of(PhaseFinished)[-1].outcome.issues)


def test_rate_05_a_judge_s_own_trace_can_bring_the_score_below_five(place: Path) -> None:
    wrong = {**TRACE, "status": "CONTRADICTED"}
    project = page(place, said("verify", behavioral_traces=[TRACE]), said("judge_divergence", retraced=[wrong]))

    assert project.run().exit == 10
    assert result(project, Rated).score == 4.9


TYPED = {
    "PTV-01 protocol": ("agents/judge.md", "# judge\n```json\n{'a': 1}\n```\n", '# judge\n```json\n{"a": 1}\n```\n'),
    "PTV-02 data": ("data/judge.json", '{"judge": 1,}\n', '{"judge": 1}\n'),
}


@pytest.mark.parametrize(("path", "bad", "good"), TYPED.values(), ids=TYPED)
def test_content_that_cannot_be_read_is_debugged_before_anybody_is_asked(
    place: Path, path: str, bad: str, good: str
) -> None:
    mended = {"role": "debug", "result": {"fixed": True}, "write": {path: good}}
    answers = [*reviews(), plan_answer("1", [(path, "judge")]), work_answer("1", "01-01", path, bad), mended]
    project = driven(place, answers)
    write(project.root, {".planning/ROADMAP.md": roadmap("The judge", f"grep -q judge {path}")})

    assert project.run().exit == 0
    assert project.steps[7:10] == ["verify", "debug", "verify"]
    assert [call for call in project.calls if "/verify/" in call] == ["1/verify/2"]
    assert project.reads(path) == good


def test_content_that_nobody_mends_fails_the_phase(place: Path) -> None:
    bad = TYPED["PTV-02 data"][1]
    useless = {"role": "debug", "result": {"fixed": True}}
    answers = [*reviews(), plan_answer("1", [("a.json", "judge")]), work_answer("1", "01-01", "a.json", bad), useless]
    project = driven(place, answers)
    write(project.root, {".planning/ROADMAP.md": roadmap("The judge", "grep -q judge a.json")})

    end = project.run()

    assert (end.exit, project.log()) == (10, ["start"])
    assert "a.json: cannot be read: line 1" in end.phases["1"].reason


def test_vrfy_06_a_report_that_repeats_another_role_is_warned_of_once(place: Path) -> None:
    told = said("judge", independent_evidence=["letter:1 -- as the verifier says"])
    work = work_answer("1", "01-01", "letter1.txt", "done\n")
    project = driven(place, [*reviews(), told, plan_answer("1", [("letter1.txt", "done")]), work])

    assert project.run().exit == 0
    warned = [note for note in project.of(Noted) if note.event == "cross_contamination_warning"]
    assert [note.details for note in warned] == [{"file": "JUDGE-REPORT.md", "pattern": "as the verifier", "line": 4}]
