"""A roadmap that is edited while a run is open: what changed is said, what is safe is taken, the rest is asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from autopilot.app import prepare as app
from autopilot.domain.errors import RoadmapChanged, UsageLimited
from autopilot.domain.events import PhaseFinished, PhaseStarted
from autopilot.domain.people import Nobody
from autopilot.domain.phase import RoadmapChoice
from autopilot.domain.request import RunRequest
from support.project import plan_answer, reviews, work_answer
from support.repos import write
from support.runs import Drive, driven, parts_of, roadmap_of

ROADMAP = ".planning/ROADMAP.md"
HALT = {"recommendation": "halt", "concerns": ["no"], "independent_evidence": ["letter1.txt:1"]}


def stuck_at_one(place: Path, *phases: str) -> Drive:
    """Phase 1 fails; the others wait for it."""
    answers = [*reviews(), {"role": "judge", "phase": "1", "result": HALT}]
    for name in ("1", "2", "3"):
        answers.append(plan_answer(name, [(f"letter{name}.txt", "done")]))
        answers.append(work_answer(name, f"0{name}-01", f"letter{name}.txt", "done\n"))
    return driven(place, answers, *phases)


def edit(project: Drive, *phases: str) -> None:
    write(project.root, {ROADMAP: roadmap_of(*phases)})


@dataclass(frozen=True, slots=True)
class Decided(Nobody):
    """Somebody at the terminal who says one word."""

    word: RoadmapChoice | None = None

    def roadmap(self, phases: Sequence[str]) -> RoadmapChoice | None:
        return self.word


@pytest.mark.parametrize("again", ["resume", "run"])
def test_a_dependency_that_was_removed_no_longer_blocks(place: Path, again: str) -> None:
    project = stuck_at_one(place, "1", "2>1")
    assert project.run().exit == 10
    assert not (project.root / "letter2.txt").exists()

    edit(project, "1", "2")
    end = project.resume() if again == "resume" else project.run("")

    said = f"{ROADMAP} was edited. Phase 2: it depends on nothing instead of 1."
    assert [line for line in project.warnings if line.startswith(said)]
    assert (end.exit, end.phases["2"].status) == (10, "completed")
    assert (project.root / "letter2.txt").exists()


def test_the_forecast_says_what_a_resume_would_do(place: Path) -> None:
    project = stuck_at_one(place, "1", "2>1")
    project.run()
    edit(project, "1", "2", "3")

    seen = app.foresee(RunRequest(folder=str(project.root), agent=f"scripted:{project.script}", sandbox="none"))

    assert {phase.id: phase.waits_for for phase in seen.phases} == {"1": (), "2": ()}
    assert [note for note in seen.notes if note.startswith("Phase 2: it depends on nothing instead of 1.")]
    assert "Phase 3: it is new. This run does not include it." in seen.notes
    listed = {phase.id: phase.depends_on for phase in app.desk(str(project.root)).roadmap().phases}
    assert listed == {"1": (), "2": (), "3": ()}


def test_a_phase_that_was_removed_and_had_not_started_is_left_out(place: Path) -> None:
    project = stuck_at_one(place, "1", "2>1", "3>1")
    project.run()
    edit(project, "1", "3")

    end = project.resume()

    assert end.phases.keys() == {"1", "3"}
    assert end.phases["3"].status == "completed"
    assert [line for line in project.warnings if "Phase 2: it is gone. It has not started" in line]


def test_a_phase_that_has_started_is_asked_about_before_anything_is_spent(place: Path) -> None:
    project = stuck_at_one(place, "1", "2>1")
    project.run()
    edited = roadmap_of("1", "2").replace("Write letter 1.", "Write a better letter 1.")
    write(project.root, {ROADMAP: edited})
    before = list(project.calls)

    with pytest.raises(RoadmapChanged) as caught:
        project.resume()

    what, _, do = parts_of(caught.value)
    assert (caught.value.exit_code, what) == (11, f"{ROADMAP} changed for phase 1, which this run has started.")
    assert "autopilot resume --roadmap take" in do
    assert "autopilot resume --roadmap keep" in do
    assert project.calls == before
    with pytest.raises(RoadmapChanged):
        project.run("")


@pytest.mark.parametrize("how", ["flag", "person"])
@pytest.mark.parametrize(("choice", "goal"), [("take", "Write a better letter 1."), ("keep", "Write letter 1.")])
def test_a_phase_that_has_started_follows_the_answer(place: Path, choice: RoadmapChoice, goal: str, how: str) -> None:
    project = stuck_at_one(place, "1", "2>1")
    project.run()
    write(project.root, {ROADMAP: roadmap_of("1", "2").replace("Write letter 1.", "Write a better letter 1.")})

    if how == "person":
        project.person = Decided(lambda _: None, word=choice)
        project.resume()
    else:
        project.resume(roadmap=choice)

    assert [started.brief.phase.goal for started in project.of(PhaseStarted) if started.brief.phase.id == "1"] == [
        "Write letter 1.",
        goal,
    ]
    asked = len(project.warnings)
    project.person = Nobody()
    project.resume()
    assert not [line for line in project.warnings[asked:] if "was edited" in line], "it is asked once"


def test_an_open_pass_that_starts_over_keeps_its_work_on_a_branch(place: Path) -> None:
    project = stuck_at_one(place, "1")
    answers = [*reviews(), plan_answer("1", [("letter1.txt", "done"), ("other.txt", "other")])]
    project.rewrite([*answers, work_answer("1", "01-01", "letter1.txt", "done\n"), {
        "role": "execute", "phase": "1", "task": "01-02", "attempt": 1, "outcome": "usage_limited",
    }, work_answer("1", "01-02", "other.txt", "other\n")])  # fmt: skip
    with pytest.raises(UsageLimited):
        project.run(wait=False)
    write(project.root, {ROADMAP: roadmap_of("1").replace("Write letter 1.", "Write a better letter 1.")})

    end = project.resume(roadmap="take", now=True, wait=False)

    assert project.of(PhaseFinished)[0].outcome.reason.startswith("set aside: the roadmap was edited")
    assert "autopilot-diagnostic-phase-1" in project.branches()
    assert (
        "Phase 1: the roadmap was edited, so the phase starts over; "
        "the work so far is kept on the branch autopilot-diagnostic-phase-1."
    ) in project.told()
    assert not [line for line in project.told() if "Failed" in line or "failed" in line]
    assert project.of(PhaseStarted)[-1].brief.phase.goal == "Write a better letter 1."
    assert end.exit == 0


def test_ticks_and_moved_lines_are_no_edits(place: Path) -> None:
    project = stuck_at_one(place, "2", "1")
    project.run()
    write(
        project.root,
        {ROADMAP: "# Roadmap: Letters\n\nSome words.\n\n- [x] **Phase 2: Letter 2**\n" + roadmap_of("2", "1")},
    )

    project.resume()

    assert not [line for line in project.warnings if "was edited" in line]


def test_a_phase_that_passed_is_not_redone_by_an_edit(place: Path) -> None:
    project = stuck_at_one(place, "2", "1")
    project.run()
    write(project.root, {ROADMAP: roadmap_of("2", "1").replace("Write letter 2.", "Write a better letter 2.")})

    project.resume()

    assert [line for line in project.warnings if "To redo it: autopilot --force 2" in line]
    assert [started.brief.phase.id for started in project.of(PhaseStarted)].count("2") == 1
