"""A person's verdict on a phase that waits: during a run, at its end, after it, and with the power cut in between."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from autopilot.domain.errors import UsageInvalid
from autopilot.domain.events import Entry, PhaseFinished, PhaseLanded, PhaseStarted, RunFinished, VerdictGiven
from autopilot.domain.settings import Modes
from autopilot.journal.inbox import FileInbox
from autopilot.journal.sqlite import SqliteJournal
from support.deferring import Told, script
from support.project import work_answer
from support.runs import Drive, Stage, driven, playground

WRITES = 6
CHAIN = ("1", "2>1", "3>2")


PLAIN = '{"workflow": {"research": false, "integration_check": false, "self_audit": false}}'


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    """A run of the chain that has ended with phase 2 waiting; nothing follows its last phase."""
    with playground() as place, playground() as aside:
        project = driven(place, script("2"), *CHAIN)
        (project.root / ".planning/config.json").write_text(PLAIN, encoding="utf-8")
        assert project.run().exit == 11
        yield Stage.of(place, aside, project)


@pytest.fixture
def project(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Drive:
    monkeypatch.setenv("AUTOPILOT_CACHE", str(stage.place / "cache"))
    return stage.again()


def landed(project: Drive) -> list[str]:
    return [f"letter{n}.txt" for n in "123" if (project.root / f"letter{n}.txt").exists()]


def test_what_waits_holds_up_the_landing_and_a_pass_brings_the_rest(project: Drive) -> None:
    """STAT-05a, STAT-05b, AMB-40: dependents ran meanwhile; nothing of theirs is lost or redone."""
    assert landed(project) == ["letter1.txt"]

    end = project.verdict("2", "pass")

    assert (end.taken, end.landed, landed(project)) == (True, ("2", "3"), ["letter1.txt", "letter2.txt", "letter3.txt"])
    phase = project.state()["phases"]["2"]
    assert (phase["status"], phase["human_verdict"]["verdict"]) == ("completed", "pass")
    assert "human_verdict_recorded" in [line["event"] for line in project.state()["event_log"]]


def test_papers_of_phases_that_landed_late_are_committed_too(project: Drive) -> None:
    project.verdict("2", "pass")

    assert all((project.root / f".planning/phases/0{n}-letter-{n}/PLAN.md").exists() for n in "123")
    assert project.log()[0] == "docs(03): planning files of phase 3"


def test_what_needs_an_agent_after_a_pass_is_left_to_resume(place: Path) -> None:
    project = driven(place, script("1", phases="12"), "1", "2>1")
    assert project.run().exit == 11
    assert project.verdict("1", "pass").do == "autopilot resume"

    end = project.resume()

    assert (end.exit, end.phases["1"].reason) == (0, "accepted by a person")
    assert end.closing.integration == "pass"
    assert "Already finished" in project.resume().reason


def test_a_refused_phase_fails_and_what_stands_on_it_is_told(project: Drive) -> None:

    end = project.verdict("2", "issues", "no greeting", "no date")

    assert (end.behind, end.landed, end.do) == (("3",), (), "autopilot resume")
    phase = project.state()["phases"]["2"]
    assert (phase["status"], phase["reason"]) == ("failed", "a person found: no greeting; no date")
    assert landed(project) == ["letter1.txt"]


def test_issues_are_the_feedback_of_the_next_pass_and_it_mends_what_there_is(project: Drive) -> None:
    project.verdict("2", "issues", "no greeting")
    mended = work_answer("2", "2-R1", "letter2.txt", "done, dear\n")
    project.rewrite([*script(), mended])

    end = project.resume()

    brief = project.of(PhaseStarted)[-1].brief
    assert (brief.cycle, brief.feedback, brief.found) == (1, ("no greeting",), ("no greeting",))
    assert end.exit == 0
    assert (project.reads("letter2.txt"), project.reads("letter3.txt")) == ("done, dear\n", "done\n")
    assert not project.of(PhaseLanded)[-1].note


def test_a_refused_phase_without_a_word_of_why_does_not_pass_as_it_is(project: Drive) -> None:
    project.verdict("2", "fail")
    project.rewrite([*script(), work_answer("2", "2-R1", "letter2.txt", "done, and more\n")])

    assert project.resume().exit == 0
    assert "did not say why" in project.of(PhaseStarted)[-1].brief.feedback[0]
    assert project.reads("letter2.txt") == "done, and more\n"


def test_a_mended_phase_may_wait_again(project: Drive) -> None:
    project.verdict("2", "fail", "no greeting")
    project.rewrite([*script("2"), work_answer("2", "2-R1", "letter2.txt", "done, dear\n")])

    assert project.resume().exit == 11
    assert project.verdict("2", "pass").landed == ("2", "3")
    assert project.reads("letter2.txt") == "done, dear\n"


def test_a_verdict_given_while_the_run_goes_on_is_taken_in_at_its_next_step(place: Path) -> None:
    """AMB-04: later phases of the same run can learn from it."""
    project = driven(place, script("1", phases="12"), "1", "2>1")
    said: list[bool] = []

    def say(entry: Entry) -> None:
        if isinstance(entry.event, PhaseStarted) and entry.event.brief.phase.id == "2":
            said.append(project.verdict("1", "pass").taken)

    project.meanwhile = say

    assert (project.run().exit, said) == (0, [False])
    kinds = [type(entry.event) for _, entry in project.entries]
    assert kinds.index(VerdictGiven) < len(kinds) - kinds[::-1].index(PhaseFinished)
    assert "PASS (confidence calibration)" in project.reads(".autopilot/learnings.md")
    assert FileInbox(project.root / ".autopilot").waiting() == ()


def test_a_word_that_a_run_left_lying_is_taken_in_by_the_next_command(project: Drive) -> None:
    FileInbox(project.root / ".autopilot").put(project.entries[0][0], "2", "pass")

    assert "Already finished" in project.resume().reason
    assert landed(project) == ["letter1.txt", "letter2.txt", "letter3.txt"]


def test_at_the_end_a_person_at_the_terminal_is_shown_why_and_asked(place: Path) -> None:
    """STAT-05a, INV-16: only there; without a terminal nobody is asked."""
    project = driven(place, script("1", phases="1"), "1")
    project.person = person = Told(words={"1": ("pass", ())})

    end = project.run()

    assert [(w.phase, w.task, w.unresolved) for w in person.asked] == [("1", "01-02 Look at it", ("it can be paid",))]
    assert (end.exit, len(project.of(VerdictGiven))) == (0, 1)
    assert landed(project) == ["letter1.txt"]


def test_a_person_who_says_later_leaves_the_run_waiting(place: Path) -> None:
    project = driven(place, script("1", phases="1"), "1")
    project.person = Told()

    assert project.run().exit == 11
    assert project.of(VerdictGiven) == []


def test_a_verdict_on_an_older_run_reaches_it(place: Path) -> None:
    project = driven(place, script("1", phases="12"), "1", "2")
    assert project.run("1").exit == 11
    assert project.run("2").exit == 0

    end = project.verdict("1", "pass")

    assert (end.taken, end.landed) == (True, ())
    assert "git merge" in end.notes[0]


def test_with_several_phases_at_a_time_a_verdict_does_the_same(place: Path) -> None:
    """AMB-40: the line goes on over a phase that waits; what is refused holds it up until it is mended."""
    project = driven(place, script("2"), "1", "2>1", "3>2")
    (project.root / ".planning/config.json").write_text(PLAIN, encoding="utf-8")
    assert project.run(modes=Modes(jobs=2)).exit == 11
    assert landed(project) == ["letter1.txt"]

    assert project.verdict("2", "issues", "no greeting").behind == ("3",)
    project.rewrite([*script(), work_answer("2", "2-R1", "letter2.txt", "done, dear\n")])

    assert project.resume().exit == 0
    assert landed(project) == ["letter1.txt", "letter2.txt", "letter3.txt"]
    assert project.reads("letter2.txt") == "done, dear\n"


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
def test_what_is_no_verdict_is_refused_and_nothing_written(project: Drive, said: tuple[str, ...], why: str) -> None:
    with pytest.raises(UsageInvalid, match=why):
        project.verdict(*said)
    assert FileInbox(project.root / ".autopilot").waiting() == ()


def test_no_agent_can_give_a_verdict(project: Drive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOPILOT_CALL", "run/2/execute/1")

    with pytest.raises(UsageInvalid, match="An agent may not"):
        project.verdict("2", "pass")


def test_a_second_word_on_a_phase_changes_nothing(project: Drive) -> None:
    inbox, run = FileInbox(project.root / ".autopilot"), project.entries[0][0]
    inbox.put(run, "2", "pass")
    inbox.put(run, "2", "fail")

    project.resume()
    log = [(line["event"], line["phase"]) for line in project.state()["event_log"]]
    assert log.count(("human_verdict_recorded", "2")) == 1
    assert ("human_verdict_refused", "2") in log


def test_calibration_outlives_the_run(project: Drive) -> None:
    """AMB-12: kept in a file of its own."""
    project.verdict("2", "pass")

    kept = json.loads(project.reads(".autopilot/calibration.json"))
    assert kept["deferral_threshold"] == 6.0
    assert [(row["phase_id"], row["human_verdict"], row["counted"]) for row in kept["history"]] == [
        ("2", "pass", False)
    ]


@pytest.mark.parametrize("write", range(1, WRITES + 1))
def test_death_between_a_verdict_and_its_effect_loses_and_doubles_nothing(project: Drive, write: int) -> None:
    run = project.entries[0][0]
    FileInbox(project.root / ".autopilot").put(run, "2", "pass")
    assert dying(project, write) == -signal.SIGKILL

    project.resume()

    assert landed(project) == ["letter1.txt", "letter2.txt", "letter3.txt"]
    assert len(project.log()) == len(set(project.log())) == 6
    events = [entry.event for entry in SqliteJournal.read_only(project.root / ".autopilot/journal.db").load(run)]
    assert [event.phase for event in events if isinstance(event, VerdictGiven)] == ["2"]
    assert isinstance(events[-1], RunFinished)
    assert events[-1].exit_code == 0


def test_a_verdict_taken_in_is_so_many_writes(project: Drive) -> None:
    FileInbox(project.root / ".autopilot").put(project.entries[0][0], "2", "pass")

    assert dying(project, WRITES + 1) == 0


def dying(project: Drive, write: int) -> int:
    """Take in what was said in a process that is killed right after the journal write of that number."""
    script = Path(__file__).parent.parent / "support" / "dying_verdict.py"
    return subprocess.run([sys.executable, str(script), str(project.root), str(write)], check=False).returncode
