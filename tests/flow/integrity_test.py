"""Whole runs with reviewers who do too little: rejected once a phase, and looked at harder when all scores agree."""

from pathlib import Path
from typing import Any

import pytest

from autopilot.domain.errors import Interrupted
from autopilot.domain.events import Entry, PhaseFinished, PhaseStarted, StepFinished
from autopilot.domain.verdict import Retry
from support.project import LOOKED, plan_answer, reviews, work_answer
from support.repos import git, write
from support.runs import Drive, driven

PLAN = plan_answer("1", [("letter1.txt", "done")])
GOOD = work_answer("1", "01-01", "letter1.txt", "done 1\n")
ECHO = "Judge agrees with verifier on all points without presenting independent evidence. Possible rubber-stamp."
IDLE = "Verifier reported empty commands_run. Verification without command execution is not accepted."


def answer(role: str, attempt: int | None = None, **result: Any) -> dict[str, Any]:
    return {"role": role, "phase": "1", "result": result} | ({"attempt": attempt} if attempt else {})


def echo(attempt: int | None = None) -> dict[str, Any]:
    return answer("judge", attempt, recommendation="proceed", concerns=["short"], verifier_agreement=True)


def idle(attempt: int | None = None) -> dict[str, Any]:
    return answer("verify", attempt, **{"pass": True, "autonomous_confidence": 9})


def rejected(drive: Drive) -> list[str]:
    verdicts = (done.verdict for done in drive.of(StepFinished))
    return [verdict.rejects for verdict in verdicts if isinstance(verdict, Retry) and verdict.rejects]


def written_before(place: Path) -> Drive:
    """A project whose letter is there, so that its phase is only reviewed."""
    project = driven(place, reviews(), "1")
    write(project.root, {"letter1.txt": "done\n"})
    git(project.root, "add", "-A")
    git(project.root, "commit", "-qm", "by hand")
    return project


def letters(place: Path, count: int) -> Drive:
    """A project of so many phases, each of which is done at once and rated alike."""
    names = [str(n) for n in range(1, count + 1)]
    plans = [plan_answer(n, [(f"letter{n}.txt", "done")]) for n in names]
    works = [work_answer(n, f"0{n}-01", f"letter{n}.txt", "done\n") for n in names]
    return driven(place, [*reviews(), *plans, *works], *names)


def test_intg_04a_verifier_judge_and_rater_are_agents_of_their_own(place: Path) -> None:
    """SPWN-02, VRFY-02: and the judge's report has its comparison."""
    project = driven(place, [*reviews(), PLAN, GOOD])

    assert project.run().exit == 0
    outcome = project.of(PhaseFinished)[-1].outcome
    assert all(outcome.pipeline_steps[step].agent_spawned for step in ("verify", "judge", "rate"))
    assert "## Divergence Analysis" in project.reads(".planning/phases/01-letter-1/JUDGE-REPORT.md")


@pytest.mark.parametrize(
    ("lazy", "rules", "why"),
    [
        ((echo(),), ["VRFY-04"], ECHO),
        ((idle(),), ["VRFY-03b"], IDLE),
        ((idle(1), echo()), ["VRFY-03b"], ECHO),
    ],
    ids=["VRFY-04 the judge twice", "VRFY-03b the verifier twice", "INTG-04b the verifier, then the judge"],
)
def test_amb_34_the_second_rejection_fails_the_phase(
    place: Path, lazy: tuple[dict[str, Any], ...], rules: list[str], why: str
) -> None:
    project = driven(place, [*reviews(), *lazy, PLAN, GOOD])

    assert project.run().exit == 10
    assert rejected(project) == rules
    outcome = project.of(PhaseFinished)[-1].outcome
    assert (outcome.status, why in outcome.reason) == ("failed", True)


def test_amb_34_a_reviewer_who_does_its_part_the_second_time_is_accepted(place: Path) -> None:
    """VRFY-04: what was rejected stays among the issues."""
    project = driven(place, [*reviews(), echo(1), PLAN, GOOD])

    assert project.run().exit == 0
    assert rejected(project) == ["VRFY-04"]
    assert project.of(PhaseFinished)[-1].outcome.issues[0].startswith(ECHO)


@pytest.mark.parametrize(
    "shown",
    [[], ["letter1.txt:99 -- done"], ["nowhere.txt:1 -- done"]],
    ids=["no place", "no such line", "no such file"],
)
def test_intg_08_work_that_was_there_needs_places_to_be_shown(place: Path, shown: list[str]) -> None:
    """RET-08, INTG-02: and even then it is no pass."""
    project = written_before(place)
    bare = {**LOOKED, "files_checked": shown}
    project.rewrite([*reviews(), answer("verify", 1, **{"pass": True, "autonomous_confidence": 9, **bare})])

    assert project.run().exit == 12
    assert rejected(project) == ["INTG-08"]
    outcome = project.of(PhaseFinished)[-1].outcome
    assert (outcome.satisfied, outcome.reason) == (True, "already satisfied: nothing was built")


def test_intg_05b_after_five_uniform_scores_the_next_phase_is_judged_harder_also_after_a_crash(place: Path) -> None:
    """INTG-05a, PRE-01, CMAP-05b: told once, and what passed is not done again."""
    project = letters(place, 6)

    def cut(entry: Entry) -> None:
        if isinstance(entry.event, PhaseFinished) and entry.event.outcome.phase == "5":
            raise Interrupted

    project.meanwhile = cut
    with pytest.raises(Interrupted):
        project.run()
    project.meanwhile = lambda _: None

    assert project.resume().exit == 0
    assert [started.brief.enhanced for started in project.of(PhaseStarted)] == [False] * 5 + [True]
    assert [call for call in project.calls if "judge/" in call and call.endswith(".2")] == ["6/judge/1.2"]
    assert "Enhanced verification: the judge named 1 of at least 2 concerns." in (
        project.of(PhaseFinished)[-1].outcome.issues
    )
    uniform = [line for line in project.warnings if line.startswith("Uniform alignment scores")]
    assert [line.partition(" x ")[2][:8] for line in uniform] == ["3 phases", "5 phases"]
    assert sum("ow context confidence" in line for line in project.warnings) == 1
    assert "Phase 4 already verified in this run -- skipping." in project.warnings
