"""`--discuss`: what is open in a phase is talked about before anything is run, and what was decided is kept."""

from pathlib import Path
from typing import Any

import pytest

from autopilot.domain.errors import AgentUnavailable, AskingStopped
from autopilot.domain.events import PhaseStarted, RunStarted
from autopilot.domain.people import YOU_DECIDE
from autopilot.domain.settings import Modes
from support.asking import LETTER_AREAS, SaidPerson, area, calls, discussing, follow_up, gray_areas, paper, questions
from support.project import honest
from support.repos import write
from support.runs import Drive, driven

CONTEXT = ".planning/phases/01-letter-1/CONTEXT.md"
GREETING = {"areas do you want": "1", "Dear or hello?": "a", "With a name?": "b"}


def project(place: Path, *more: dict[str, Any], phases: tuple[str, ...] = ("1",)) -> Drive:
    return driven(place, [*honest(), gray_areas(), *more], *phases)


def kept(drive: Drive, phase: str = "1") -> dict[str, str | None]:
    return {q["question"]: q["answer"] for q in paper(drive, "discuss-context.json")["phases"][phase]["questions"]}


def test_disc_04_areas_are_presented_and_chosen_before_any_question(place: Path) -> None:
    drive, person = project(place), SaidPerson(GREETING)
    discussing(drive, person, "1")

    assert person.asked[0].text.splitlines() == [
        "Pre-Execution Discussion: Phase 1 -- Letter 1", "", "Domain: A letter that people read",
        "We'll clarify HOW to implement this. (New capabilities belong in other phases.)", "",
        "Which areas do you want to discuss?", "",
        "1. Greeting of the letter -- how Greeting of the letter is done",
        "2. Length of letters -- how Length of letters is done",
        "3. Paper and envelope -- how Paper and envelope is done", "",
        '(Enter numbers separated by commas, e.g., "1, 3" -- or "all" to discuss everything)',
    ]  # fmt: skip
    assert person.texts == ["Dear or hello?", "With a name?"]


def test_disc_06_one_question_at_a_time_with_options_and_a_word_on_depth(place: Path) -> None:
    """DISC-07: the end names what was covered."""
    drive, person = project(place), SaidPerson(GREETING)
    discussing(drive, person, "1")

    first, depth, closing = person.asked[1], person.asked[3], person.asked[4]
    assert (first.text, first.options) == (
        "Greeting of the letter: Question 1\nDear or hello?",
        ("Dear", "Hello", YOU_DECIDE),
    )
    assert (depth.text, depth.options) == (
        "More questions about Greeting of the letter, or move to next area?", ("More questions", "Next area"),
    )  # fmt: skip
    assert closing.text == "That covers Greeting of the letter. Ready to create context?"


def test_disc_09_both_files_are_written(place: Path) -> None:
    """DISC-08."""
    drive = project(place)
    end = discussing(drive, SaidPerson(GREETING), "1")
    held = paper(drive, "discuss-context.json")
    phase, (first, second) = held["phases"]["1"], held["phases"]["1"]["questions"]

    assert (end.exit, end.reason) == (0, "Discussed 1 phase.")
    assert (phase["phase_name"], phase["gray_areas_discussed"]) == ("Letter 1", ["Greeting of the letter"])
    assert (phase["context_md_path"], bool(phase["discussed_at"]), held["version"]) == (CONTEXT, True, "1.0")
    assert (first["answer"], first["area"], first["category"]) == ("Dear", "Greeting of the letter", "preference")
    assert second["answered_at"] >= first["answered_at"]
    assert "### Greeting of the letter\n\n- Dear or hello? Dear\n- With a name? Hello\n" in drive.reads(CONTEXT)


def test_disc_06_more_brings_follow_ups_that_know_the_answers(place: Path) -> None:
    drive = project(place, follow_up("With a comma?", "On a line of its own?"))
    person = SaidPerson({**GREETING, "More questions about": ["a", "b"], "With a comma?": "a"})
    discussing(drive, person, "1")

    assert person.texts == ["Dear or hello?", "With a name?", "With a comma?", "On a line of its own?"]
    assert kept(drive)["With a comma?"] == "yes"
    assert calls(drive) == ["1/gray_areas/1", "1/follow_up/1"]


def test_disc_11_an_idea_for_another_phase_is_put_by_and_the_question_asked_again(place: Path) -> None:
    drive = project(place)
    person = SaidPerson({**GREETING, "Dear or hello?": ["idea: send parcels", "a"]})
    discussing(drive, person, "1")

    assert (
        "send parcels sounds like a new capability -- that belongs in its own phase.\n"
        "I'll note it in Deferred Ideas so it's not lost.\n\nBack to Greeting of the letter: Dear or hello?"
    ) in person.told
    assert drive.reads(CONTEXT).endswith("## Deferred Ideas\n\n- send parcels\n")
    assert kept(drive)["Dear or hello?"] == "Dear"


def test_disc_11_words_of_ones_own_are_looked_at_for_new_capabilities_once(place: Path) -> None:
    drive = project(place, follow_up(deferred=("fax it",), specific=("as in my mails",)))
    person = SaidPerson({**GREETING, "With a name?": "as in my mails, and fax it"})
    discussing(drive, person, "1")

    assert calls(drive) == ["1/gray_areas/1", "1/follow_up/1"]
    assert any(line.startswith("fax it sounds like a new capability") for line in person.told)
    assert "## Specific Ideas\n\n- as in my mails\n\n## Deferred Ideas\n\n- fax it\n" in drive.reads(CONTEXT)


def test_disc_07_an_area_can_be_visited_again_before_the_context_is_made(place: Path) -> None:
    drive = project(place)
    person = SaidPerson({**GREETING, "That covers": ["b", "a"], "Which area?": "3", "White or grey?": "b"})
    discussing(drive, person, "1")

    assert person.texts == ["Dear or hello?", "With a name?", "White or grey?", "With a stamp?"]
    assert "- White or grey? grey" in drive.reads(CONTEXT)


def test_disc_05_what_names_no_area_is_asked_again_and_none_may_be_chosen(place: Path) -> None:
    drive, person = project(place), SaidPerson({"areas do you want": ["the first", ""]})

    assert discussing(drive, person, "1").exit == 0
    assert ([asked.kind for asked in person.asked], (drive.root / CONTEXT).exists()) == (["areas", "areas"], False)


@pytest.mark.parametrize(
    "said", ["You decide", "you decide.", "Your call", "up to you!", "c", "YOU DECIDE (Claude's discretion)"]
)
def test_disc_08_you_decide_in_ones_own_words_is_discretion_and_no_decision(place: Path, said: str) -> None:
    drive = project(place)
    discussing(drive, SaidPerson({**GREETING, "Dear or hello?": said}), "1")

    decisions, _, rest = drive.reads(CONTEXT).partition("### Claude's Discretion")
    assert kept(drive)["Dear or hello?"] == YOU_DECIDE
    assert "Dear or hello?" not in decisions
    assert "- Greeting of the letter: Dear or hello?" in rest.partition("## ")[0]


def test_disc_09_an_area_without_an_answer_is_not_discussed(place: Path) -> None:
    drive = project(place)
    person = SaidPerson({**GREETING, "areas do you want": "1, 2"})
    discussing(drive, person, "1")

    assert paper(drive, "discuss-context.json")["phases"]["1"]["gray_areas_discussed"] == ["Greeting of the letter"]
    assert [asked.text for asked in person.asked if asked.kind == "closing"] == [
        "That covers Greeting of the letter. Ready to create context?"
    ]


def test_disc_09_a_discussion_without_any_answer_leaves_no_context(place: Path) -> None:
    drive = project(place)
    discussing(drive, SaidPerson({"areas do you want": "all"}), "1")

    assert "gray_areas_discussed" not in paper(drive, "discuss-context.json")["phases"]["1"]
    assert not (drive.root / CONTEXT).exists()


def test_disc_03_generic_areas_are_objected_to_and_not_presented(place: Path) -> None:
    drive, person = project(place), SaidPerson(GREETING)
    drive.rewrite([gray_areas(*LETTER_AREAS, area("Error handling", "Which?", "How?"))])
    discussing(drive, person, "1")

    assert calls(drive) == ["1/gray_areas/1", "1/gray_areas/1.2"]
    assert "Error handling" not in person.asked[0].text


def test_disc_08_a_context_of_the_user_s_own_is_added_to(place: Path) -> None:
    drive = project(place)
    write(drive.root, {CONTEXT: "# Mine\n\nNo blue ink.\n"})
    discussing(drive, SaidPerson(GREETING), "1")

    assert drive.reads(CONTEXT).startswith("# Mine\n\nNo blue ink.\n\n## Phase Boundary\n")
    assert "- Dear or hello? Dear" in drive.reads(CONTEXT)


def test_disc_12_research_has_what_was_discussed_and_events_tell_of_it(place: Path) -> None:
    """FLAG-17: `--discuss 1` discusses phase 1 and then runs it."""
    drive = project(place)
    end = drive.run("", modes=Modes(discuss="1"), person=SaidPerson(GREETING))

    assert (end.exit, list(end.phases)) == (0, ["1"])
    text = drive.reads(".planning/phases/01-letter-1/RESEARCH.md")
    assert "## User Discussion Context\n\nFrom `.planning/phases/01-letter-1/CONTEXT.md`" in text
    started, recorded = drive.of(RunStarted)[0].consulted
    assert (started.event, started.details) == ("discuss_session_started", {"target_phases": ["1"]})
    assert (recorded.event, recorded.details) == (
        "discuss_answers_recorded", {"phase_id": "1", "questions_asked": 2, "questions_answered": 2},
    )  # fmt: skip
    assert drive.of(PhaseStarted)[0].brief.context is not None


@pytest.mark.parametrize(
    ("phases", "modes", "discussed"),
    [
        ("", Modes(discuss=""), ["1", "2"]),
        ("2", Modes(discuss=""), ["2"]),
        ("1", Modes(discuss="2", complete=True), ["2"]),
        ("all", Modes(discuss="", complete=True), ["1", "2"]),
        ("1", Modes(discuss="", quality="1"), ["1"]),
    ],
    ids=["FLAG-18 nothing", "FLAG-18 range", "FLAG-06", "FLAG-21", "FLAG-20 quality"],
)
def test_the_discussion_comes_first_whatever_else_is_asked_for(
    place: Path, phases: str, modes: Modes, discussed: list[str]
) -> None:
    """INV-16: nobody being there, it also ends there, before anything is run."""
    drive = project(place, phases=("1", "2"))
    end = drive.run(phases, modes=modes)

    assert (end.exit, drive.entries) == (11, [])
    assert [call.partition("/")[0] for call in calls(drive)] == discussed


@pytest.mark.parametrize(
    "modes", [Modes(discuss="", force="1"), Modes(discuss="", gaps="1")], ids=["FLAG-19 force", "FLAG-20 gaps"]
)
def test_a_completed_phase_is_discussed_before_it_is_taken_up_again(place: Path, modes: Modes) -> None:
    drive = project(place)
    assert drive.run("1").exit == 0
    done = len(drive.entries)
    end = drive.run("", modes=modes)

    assert (end.exit, len(drive.entries)) == (11, done)
    assert [call.partition("/")[0] for call in calls(drive)] == ["1"]


def test_flag_06_a_discussion_comes_before_a_mapping(place: Path) -> None:
    drive = project(place, questions("Which colour?", "How long?"))
    drive.run("1", modes=Modes(discuss="", map=""), person=SaidPerson(GREETING))

    assert calls(drive) == ["1/gray_areas/1", "1/question/1"]
    assert drive.entries


def test_without_anybody_questions_wait_and_the_file_that_answers_them_costs_nothing_more(place: Path) -> None:
    drive = project(place)
    assert discussing(drive, None, "1").exit == 11
    waiting = paper(drive, "questions.json")["questions"]
    assert (waiting[0]["kind"], waiting[1]["question"], len(waiting)) == ("areas", "Dear or hello?", 7)

    said = '[phases.1.discuss]\n"Greeting of the letter" = ["a", "without"]\nideas = ["parcels"]\n'
    write(drive.root, {"said.toml": said})
    drive.rewrite([*honest(), follow_up()])
    assert discussing(drive, None, "1", answers="said.toml").exit == 0
    assert kept(drive) == {"Dear or hello?": "Dear", "With a name?": "without"}
    assert "- parcels" in drive.reads(CONTEXT)


def test_whoever_leaves_goes_on_where_they_left(place: Path) -> None:
    drive, again = project(place), SaidPerson(GREETING)
    with pytest.raises(AskingStopped):
        discussing(drive, SaidPerson(GREETING, leaves="With a name?"), "1")
    assert kept(drive) == {"Dear or hello?": "Dear"}

    discussing(drive, again, "1")
    assert (again.texts, calls(drive)) == (["With a name?"], ["1/gray_areas/1"])
    assert [asked.kind for asked in again.asked] == ["question", "depth", "closing"]


def test_what_was_answered_in_an_earlier_discussion_is_not_asked_again(place: Path) -> None:
    drive, again = project(place), SaidPerson({**GREETING, "areas do you want": "1, 3"})
    discussing(drive, SaidPerson(GREETING), "1")
    discussing(drive, again, "1")

    assert again.texts == ["White or grey?", "With a stamp?"]
    assert paper(drive, "discuss-context.json")["phases"]["1"]["gray_areas_discussed"] == ["Greeting of the letter"]
    assert "- Dear or hello? Dear" in drive.reads(CONTEXT)


def test_a_run_that_was_stopped_goes_on_without_another_discussion(place: Path) -> None:
    drive = project(place)
    drive.rewrite([*honest(), gray_areas(), {"role": "research", "phase": "1", "outcome": "auth"}])
    with pytest.raises(AgentUnavailable):
        drive.run("1", modes=Modes(discuss=""), person=SaidPerson(GREETING))
    drive.rewrite(honest())
    silent = SaidPerson()

    assert drive.run("1", modes=Modes(discuss=""), person=silent).exit == 0
    assert silent.asked == []


def test_a_discussion_asked_for_after_a_failure_is_held_and_a_new_run_knows_it(place: Path) -> None:
    drive = project(place)
    drive.rewrite([*honest(), gray_areas(), {"role": "research", "phase": "1", "outcome": "auth"}])
    with pytest.raises(AgentUnavailable):
        drive.run("1")
    drive.rewrite([*honest(), gray_areas()])

    assert drive.run("1", modes=Modes(discuss=""), person=SaidPerson(GREETING)).exit == 0
    assert [bool(start.contexts) for start in drive.of(RunStarted)] == [False, True]
