"""A person's verdict on a phase that waits: during a run, at its end, after it, and with the power cut in between."""

import json
from pathlib import Path

import pytest

from autopilot.domain.errors import UsageInvalid
from autopilot.domain.events import Entry, PhaseFinished, PhaseLanded, PhaseStarted, VerdictGiven
from autopilot.journal.inbox import FileInbox
from support.deferring import Told, script
from support.project import work_answer
from support.runs import Drive, driven

CHAIN = ("1", "2>1", "3>2")


def waiting(place: Path, *phases: str) -> Drive:
    """A run of the chain that has ended with phase 2 waiting."""
    project = driven(place, script("2"), *(phases or CHAIN))
    assert project.run().exit == 11
    return project


def landed(project: Drive) -> list[str]:
    return [f"letter{n}.txt" for n in "123" if (project.root / f"letter{n}.txt").exists()]


def test_what_waits_holds_up_the_landing_and_a_pass_brings_the_rest(place: Path) -> None:
    """STAT-05a, STAT-05b, AMB-40: dependents ran meanwhile; nothing of theirs is lost or redone."""
    project = waiting(place)
    assert landed(project) == ["letter1.txt"]

    end = project.verdict("2", "pass")

    assert (end.taken, end.landed, landed(project)) == (True, ("2", "3"), ["letter1.txt", "letter2.txt", "letter3.txt"])
    phase = project.state()["phases"]["2"]
    assert (phase["status"], phase["human_verdict"]["verdict"]) == ("completed", "pass")
    assert "human_verdict_recorded" in [line["event"] for line in project.state()["event_log"]]


def test_papers_of_phases_that_landed_late_are_committed_too(place: Path) -> None:
    project = waiting(place)
    project.verdict("2", "pass")

    assert all((project.root / f".planning/phases/0{n}-letter-{n}/PLAN.md").exists() for n in "123")
    assert project.log()[0] == "docs(03): planning files of phase 3"


def test_what_needs_an_agent_after_a_pass_is_left_to_resume(place: Path) -> None:
    project = waiting(place)
    assert project.verdict("2", "pass").do == "autopilot resume"

    end = project.resume()

    assert (end.exit, end.phases["2"].reason) == (0, "accepted by a person")
    assert end.closing.integration == "pass"
    assert "Already finished" in project.resume().reason


def test_a_refused_phase_fails_and_what_stands_on_it_is_told(place: Path) -> None:
    project = waiting(place)

    end = project.verdict("2", "issues", "no greeting", "no date")

    assert (end.behind, end.landed, end.do) == (("3",), (), "autopilot resume")
    phase = project.state()["phases"]["2"]
    assert (phase["status"], phase["reason"]) == ("failed", "a person found: no greeting; no date")
    assert landed(project) == ["letter1.txt"]


def test_issues_are_the_feedback_of_the_next_pass_and_it_mends_what_there_is(place: Path) -> None:
    project = waiting(place)
    project.verdict("2", "issues", "no greeting")
    mended = work_answer("2", "2-R1", "letter2.txt", "done, dear\n")
    project.rewrite([*script(), mended])

    end = project.resume()

    brief = project.of(PhaseStarted)[-1].brief
    assert (brief.cycle, brief.feedback, brief.found) == (1, ("no greeting",), ("no greeting",))
    assert end.exit == 0
    assert (project.reads("letter2.txt"), project.reads("letter3.txt")) == ("done, dear\n", "done\n")
    assert not project.of(PhaseLanded)[-1].note


def test_a_refused_phase_without_a_word_of_why_is_done_again(place: Path) -> None:
    project = waiting(place, "1", "2>1")
    project.verdict("2", "fail")
    project.rewrite(script())

    assert project.resume().exit == 0
    assert project.of(PhaseStarted)[-1].brief.cycle == 0
    assert project.reads("letter2.txt") == "done\n"


def test_a_mended_phase_may_wait_again(place: Path) -> None:
    project = waiting(place, "1", "2>1")
    project.verdict("2", "fail", "no greeting")
    project.rewrite([*script("2"), work_answer("2", "2-R1", "letter2.txt", "done, dear\n")])

    assert project.resume().exit == 11
    assert project.verdict("2", "pass").landed == ("2",)
    assert project.reads("letter2.txt") == "done, dear\n"


def test_a_verdict_given_while_the_run_goes_on_is_taken_in_at_its_next_step(place: Path) -> None:
    """AMB-04: later phases of the same run can learn from it."""
    project = driven(place, script("2"), *CHAIN)

    def say(entry: Entry) -> None:
        if isinstance(entry.event, PhaseStarted) and entry.event.brief.phase.id == "3":
            FileInbox(project.root / ".autopilot").put(project.entries[0][0], "2", "pass")

    project.meanwhile = say
    end = project.run()

    assert (end.exit, landed(project)) == (0, ["letter1.txt", "letter2.txt", "letter3.txt"])
    kinds = [type(entry.event) for _, entry in project.entries]
    assert kinds.index(VerdictGiven) < len(kinds) - kinds[::-1].index(PhaseFinished)
    assert "PASS (confidence calibration)" in project.reads(".autopilot/learnings.md")
    assert FileInbox(project.root / ".autopilot").waiting() == ()


def test_the_verb_leaves_its_word_to_a_run_that_holds_the_lock(place: Path) -> None:
    project = driven(place, script("2"), *CHAIN)
    said: list[bool] = []

    def say(entry: Entry) -> None:
        if isinstance(entry.event, PhaseStarted) and entry.event.brief.phase.id == "3":
            said.append(project.verdict("2", "pass").taken)

    project.meanwhile = say

    assert (project.run().exit, said) == (0, [False])


def test_a_word_that_a_run_left_lying_is_taken_in_by_the_next_command(place: Path) -> None:
    project = waiting(place)
    FileInbox(project.root / ".autopilot").put(project.entries[0][0], "2", "pass")

    assert project.resume().exit == 0
    assert landed(project) == ["letter1.txt", "letter2.txt", "letter3.txt"]


def test_at_the_end_a_person_at_the_terminal_is_shown_why_and_asked(place: Path) -> None:
    """STAT-05a, INV-16: only there; without a terminal nobody is asked."""
    project = driven(place, script("2"), *CHAIN)
    project.person = person = Told(words={"2": ("pass", ())})

    end = project.run()

    assert [(w.phase, w.task, w.unresolved) for w in person.asked] == [("2", "02-02 Look at it", ("it can be paid",))]
    assert (end.exit, len(project.of(VerdictGiven))) == (0, 1)
    assert landed(project) == ["letter1.txt", "letter2.txt", "letter3.txt"]


def test_a_person_who_says_later_leaves_the_run_waiting(place: Path) -> None:
    project = driven(place, script("2"), *CHAIN)
    project.person = Told()

    assert project.run().exit == 11
    assert project.of(VerdictGiven) == []


def test_a_verdict_on_an_older_run_reaches_it(place: Path) -> None:
    project = driven(place, script("2", phases="123"), "1", "2>1", "3")
    assert project.run("2", lenient=True).exit == 10  # phase 1 is not done
    assert project.run("1-2").exit == 11
    assert project.run("3").exit == 0

    end = project.verdict("2", "pass")

    assert (end.taken, end.landed) == (True, ())
    assert "git merge" in end.notes[0]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (("1", "pass"), "does not wait"),
        (("9", "pass"), "no run has worked on it"),
        (("2", "perhaps"), "no verdict"),
        (("2", "issues"), "No issue was named"),
        (("2", "pass", "no date"), "takes no issues"),
    ],
    ids=["it is completed", "an unknown phase", "no known word", "issues without one", "a pass with issues"],
)
def test_what_is_no_verdict_is_refused_and_nothing_written(place: Path, said: tuple[str, ...], why: str) -> None:
    project = waiting(place, "1", "2>1")

    with pytest.raises(UsageInvalid, match=why):
        project.verdict(*said)
    assert FileInbox(project.root / ".autopilot").waiting() == ()


def test_no_agent_can_give_a_verdict(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = waiting(place, "1", "2>1")
    monkeypatch.setenv("AUTOPILOT_CALL", "run/2/execute/1")

    with pytest.raises(UsageInvalid, match="An agent may not"):
        project.verdict("2", "pass")


def test_a_second_word_on_a_phase_changes_nothing(place: Path) -> None:
    project = waiting(place, "1", "2>1")
    inbox, run = FileInbox(project.root / ".autopilot"), project.entries[0][0]
    inbox.put(run, "2", "pass")
    inbox.put(run, "2", "fail")

    assert project.resume().exit == 0
    log = [(line["event"], line["phase"]) for line in project.state()["event_log"]]
    assert log.count(("human_verdict_recorded", "2")) == 1
    assert ("human_verdict_refused", "2") in log


def test_calibration_outlives_the_run(place: Path) -> None:
    """AMB-12: kept in a file of its own."""
    project = waiting(place, "1", "2>1")
    project.verdict("2", "pass")
    project.resume()

    kept = json.loads(project.reads(".autopilot/calibration.json"))
    assert kept["deferral_threshold"] == 6.0
    assert [(row["phase_id"], row["human_verdict"], row["counted"]) for row in kept["history"]] == [
        ("2", "pass", False)
    ]
