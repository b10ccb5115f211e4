"""Agents and a person asked without a run: each question has a name, and what was said under it is not asked again."""

from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from autopilot.domain.agent_call import Question, Reply
from autopilot.domain.answers import FollowUpClaim
from autopilot.domain.people import Answering, Asked, Batch, Given, NoAnswers
from autopilot.engine.perform.consultation import FOLDER, Consultation, close, left_open
from autopilot.engine.perform.run_log import Streams
from autopilot.history.record import PhaseRecord
from autopilot.journal.earlier_runs import read_ledger
from support.asking import SaidPerson
from support.engine import Engine, Told, make_engine
from support.records import started

NAME = "discuss-2026-01-01-120000"
ASKED = Asked(key="1/colour", phase="1", text="Which colour?")


def deeper(record: PhaseRecord) -> Question[FollowUpClaim]:
    return Question(role="follow_up", prompt=f"Ask about {record.phase.id}.", answer=FollowUpClaim)


@dataclass
class Room:
    """A sitting that can be left and come back to, as by another process."""

    engine: Engine

    def sit(self, agent: Told | None = None, person: Answering | None = None) -> Consultation:
        streams = Streams(self.engine.journal, FOLDER + NAME, ())
        return Consultation(self.engine.hands(agent or Told()), streams, NAME, person or NoAnswers())


@pytest.fixture
def room(tmp_path: Path) -> Room:
    made = Room(make_engine(tmp_path))
    first = msgspec.structs.replace(started(), run=NAME, base=made.engine.brief.base)
    Streams(made.engine.journal, FOLDER + NAME, ()).append_run(first)
    return made


def told(*asked: str) -> Reply:
    return Reply(outcome="ok", answer=msgspec.json.encode({"questions": asked}).decode())


def test_a_call_of_a_sitting_is_made_once_whoever_comes_back_to_it(room: Room) -> None:
    first, second = Told((told("One?"), told("Two?"))), Told((told("Three?"),))
    brief = room.engine.brief
    for n in (1, 2):
        room.sit(first).agent(brief, "follow_up", n, deeper)

    again = [room.sit(second).agent(brief, "follow_up", n, deeper).questions for n in (1, 2, 3)]

    assert again == [("One?",), ("Two?",), ("Three?",)]
    assert [(call.id, call.attempt) for call in (*first.calls, *second.calls)] == [
        (f"{NAME}/1/follow_up/{n}", n) for n in (1, 2, 3)
    ]


def test_a_phase_that_reads_otherwise_is_asked_about_anew(room: Room) -> None:
    agent, brief = Told(), room.engine.brief
    other = msgspec.structs.replace(brief, requirements=("REQ-9: Another letter.",))
    for one in (brief, other, other):
        room.sit(agent).agent(one, "follow_up", 1, deeper)

    assert len(agent.calls) == 2


def test_what_a_person_said_is_on_disk_and_not_asked_again(room: Room) -> None:
    person, silent = SaidPerson({"colour": "blue"}), SaidPerson()

    assert [room.sit(person=person).ask(ASKED), room.sit(person=silent).ask(ASKED)] == ["blue", "blue"]
    assert (len(person.asked), silent.asked) == (1, [])


def test_what_nobody_said_stays_open(room: Room) -> None:
    assert (room.sit().ask(ASKED), room.sit().heard(ASKED.key)) == (None, None)


def test_each_answer_of_a_batch_is_kept_before_the_next_is_waited_for(room: Room) -> None:
    sitting, taken = room.sit(person=SaidPerson({"colour": "blue"})), list[tuple[Given, str | None]]()
    batch = Batch(text="all", questions=(ASKED, msgspec.structs.replace(ASKED, key="2/colour", phase="2")))
    sitting.answers(batch, lambda given: taken.append((given, room.sit().heard(given.key))))

    assert [(given.key, heard) for given, heard in taken] == [("1/colour", "blue"), ("2/colour", "blue")]


def test_a_sitting_is_no_run(room: Room) -> None:
    assert FOLDER + NAME in room.engine.journal.streams()
    assert FOLDER + NAME not in read_ledger(room.engine.journal).runs


def test_a_sitting_is_open_until_it_is_closed_and_of_its_kind(room: Room) -> None:
    journal = room.engine.journal
    room.sit().agent(room.engine.brief, "follow_up", 1, deeper)
    held = left_open(journal, "discuss")

    assert held is not None
    assert (held.start.run, left_open(journal, "map")) == (NAME, None)
    close(journal, NAME)
    close(journal, NAME)
    assert left_open(journal, "discuss") is None
