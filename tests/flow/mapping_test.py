"""`--map`: what phases do not say is asked for once, kept for good, and told to who researches."""

from pathlib import Path
from typing import Any

import pytest

from autopilot.app import prepare as app
from autopilot.domain.errors import AskingStopped, ConfigInvalid, UsageInvalid
from autopilot.domain.events import RunStarted
from autopilot.domain.settings import Modes, RunCaps
from support.asking import SaidPerson, calls, mapping, paper, questions, request
from support.project import honest
from support.repos import write
from support.runs import Drive, driven

ASKED = ("Which colour?", "How long?")
COLOUR, LENGTH = {"Which colour?": "blue"}, {"How long?": "a page"}
BOTH = {**COLOUR, **LENGTH}


def project(place: Path, *phases: str, **more: Any) -> Drive:
    return driven(place, [*honest(), questions(*ASKED, **more)], *(phases or ("1",)))


def kept(drive: Drive, phase: str = "1") -> dict[str, str | None]:
    asked = paper(drive, "context-map.json")["phases"][phase]["questions"]
    return {question["question"]: question["answer"] for question in asked}


def events(drive: Drive) -> list[str]:
    return [line["event"] for line in paper(drive, f"archive/{drive.of(RunStarted)[0].run}.json")["event_log"]]


def test_cmap_03a_all_questions_are_shown_together_and_scores_told_before_and_after(place: Path) -> None:
    """CMAP-01g, CMAP-03e."""
    drive, person = project(place, "1", "2"), SaidPerson(BOTH)

    end = mapping(drive, person)

    assert (end.exit, end.reason, end.phases) == (0, "Mapped 2 phases: 4 of 4 questions answered.", {})
    (batch,) = person.batches
    assert batch.text == (
        "Context Mapping: 2 phases need additional information\n\n"
        "## Phase 1: Letter 1 (score: 6/10)\n1. Which colour? [requirements]\n2. How long? [requirements]\n\n"
        "## Phase 2: Letter 2 (score: 6/10)\n1. Which colour? [requirements]\n2. How long? [requirements]\n\n"
        'Answer below, one line each (e.g., "Phase 3, Q1: ...").'
    )
    assert "Phase 1: context sufficiency 6/10 (10 criteria, 2 requirements, 2 docs, 10 deps)" in person.told
    assert "Phase 1: context sufficiency 8/10 (10 criteria, 9 requirements, 2 docs, 10 deps)" in person.told
    assert "  Phase 2: Letter 2: 6/10 -> 8/10" in person.told[-1]


def test_cmap_03d_the_map_has_the_fields_of_the_rule(place: Path) -> None:
    drive = project(place)
    mapping(drive, SaidPerson(COLOUR))
    held = paper(drive, "context-map.json")
    (phase,), (first, second) = held["phases"].values(), held["phases"]["1"]["questions"]

    assert (held["version"], phase["phase_name"], phase["context_score"], phase["score_after"]) == (
        "1.0",
        "Letter 1",
        6,
        7,
    )
    assert held["last_updated"] >= phase["mapped_at"] >= first["answered_at"]
    assert (first["answer"], first["category"], first["why_needed"]) == (
        "blue",
        "requirements",
        "the roadmap does not say",
    )
    assert (second["answer"], second["answered_at"]) == (None, None)


def test_flag_15_a_mapping_alone_runs_nothing(place: Path) -> None:
    """FLAG-16: nor does --lenient beside it."""
    drive = project(place)
    end = drive.run("", modes=Modes(map=""), lenient=True, person=SaidPerson(BOTH))

    assert (end.exit, drive.entries) == (0, [])
    assert not (drive.root / ".autopilot" / "state.json").exists()
    with pytest.raises(UsageInvalid, match="No run found"):
        drive.resume()


def test_cmap_02a_a_phase_that_says_enough_costs_no_agent(place: Path) -> None:
    drive, person = project(place), SaidPerson(BOTH)
    mapping(drive, person)
    mapping(drive, person)

    assert calls(drive) == ["1/question/1"]
    assert person.told[-1] == "Every phase says enough to be worked on."


def test_cmap_03c_only_what_is_open_is_asked_again_under_its_number(place: Path) -> None:
    drive, second = project(place), SaidPerson(BOTH)
    mapping(drive, SaidPerson(COLOUR))
    mapping(drive, second)

    assert [(asked.text, asked.number) for asked in second.batches[0].questions] == [("How long?", 2)]
    assert (kept(drive), calls(drive)) == (BOTH, ["1/question/1"])


def test_cmap_02b_a_return_with_one_question_is_repaired_or_rejected(place: Path) -> None:
    drive = driven(place, [questions("Which colour?")])
    person = SaidPerson(BOTH)
    mapping(drive, person)

    assert calls(drive) == ["1/question/1", "1/question/1.2"]
    assert any("rejected" in line for line in person.told)
    assert kept(drive) == {}


def test_a_phase_without_an_answering_agent_is_told_and_passed_over(place: Path) -> None:
    drive = driven(place, [questions(*ASKED, phase="2")], "1", "2")
    person = SaidPerson(BOTH)

    assert mapping(drive, person).exit == 0
    assert any(line.startswith("Phase 1: no questions could be had: ") for line in person.told)
    assert kept(drive, "2") == BOTH


def test_without_anybody_the_questions_wait_and_a_file_answers_them(place: Path) -> None:
    drive = project(place)
    end = mapping(drive)

    assert end.exit == 11
    assert "2 questions wait for an answer in .autopilot/questions.json" in end.reason
    assert [(q["phase"], q["number"]) for q in paper(drive, "questions.json")["questions"]] == [("1", 1), ("1", 2)]
    write(drive.root, {"said.txt": "Phase 1, Q1: blue\nPhase 1, Q2: a page\n"})
    assert mapping(drive, answers="said.txt").exit == 0
    assert (kept(drive), calls(drive)) == (BOTH, ["1/question/1"])
    assert paper(drive, "questions.json")["questions"] == []


def test_flag_14_all_is_mapped_before_anything_runs_and_research_is_told(place: Path) -> None:
    """CMAP-04, CMAP-06, INV-16: `--complete --map`."""
    drive, person = project(place, "1", "2"), SaidPerson(BOTH)
    end = drive.run("all", modes=Modes(complete=True, map=""), person=person)

    assert (end.exit, len(person.batches), calls(drive)) == (0, 1, ["1/question/1", "2/question/1"])
    assert "## User-Provided Context\n\n- Which colour? -> blue\n" in drive.reads(
        ".planning/phases/01-letter-1/RESEARCH.md"
    )
    (started, completed) = drive.of(RunStarted)[0].consulted
    assert (started.event, started.details) == (
        "context_mapping_started",
        {"target_phases": ["1", "2"], "mode": "--map"},
    )
    assert (completed.event, completed.details) == (
        "context_mapping_completed",
        {"phases_scored": 2, "phases_below_threshold": 2, "questions_generated": 4, "questions_answered": 4,
         "context_map_path": ".autopilot/context-map.json"},
    )  # fmt: skip
    assert events(drive)[:3] == ["context_mapping_started", "context_mapping_completed", "run_started"]


def test_cmap_00_a_range_behind_the_flag_is_what_is_mapped(place: Path) -> None:
    """FLAG-16: the run beside it is lenient."""
    drive, person = project(place, "1", "2"), SaidPerson(BOTH)
    end = drive.run("1", modes=Modes(map="2"), lenient=True, person=person)

    assert (end.exit, calls(drive), drive.of(RunStarted)[0].settings.pass_threshold) == (0, ["2/question/1"], 7.0)


def test_a_run_does_not_begin_while_questions_wait_for_somebody(place: Path) -> None:
    drive = project(place)

    assert (drive.run("1", modes=Modes(map="")).exit, drive.entries) == (11, [])


def test_cmap_03f_what_was_mapped_once_is_known_in_later_runs(place: Path) -> None:
    """CMAP-05c: and such a phase is not warned about."""
    drive = project(place)
    mapping(drive, SaidPerson(BOTH))

    assert drive.run("1").exit == 0
    assert "- How long? -> a page" in drive.reads(".planning/phases/01-letter-1/RESEARCH.md")
    assert not any("Low context confidence" in line for line in drive.warnings)


def test_cmap_05b_a_run_of_phases_that_say_little_is_warned_once(place: Path) -> None:
    """CMAP-05a, AMB-08."""
    drive = project(place, "1", "2")

    assert drive.run("1").exit == 0
    assert [line for line in drive.warnings if "context" in line] == [
        (
            "Phase 1 has low context confidence (3/10): no requirements are mapped. "
            "Consider running `autopilot map 1` first."
        )
    ]


def test_whoever_leaves_keeps_what_was_answered_and_is_asked_the_rest(place: Path) -> None:
    drive, second = project(place), SaidPerson(BOTH)

    with pytest.raises(AskingStopped, match="Stopped") as raised:
        mapping(drive, SaidPerson(BOTH, leaves="How long?"))
    assert (raised.value.exit_code, kept(drive)) == (130, {"Which colour?": "blue", "How long?": None})
    mapping(drive, second)
    assert (kept(drive), [a.text for a in second.batches[0].questions]) == (BOTH, ["How long?"])


def test_an_answer_that_only_the_journal_has_is_not_asked_for_again(place: Path) -> None:
    """As when the process died between the journal and the file."""
    drive, silent = project(place), SaidPerson()
    with pytest.raises(AskingStopped):
        mapping(drive, SaidPerson(BOTH, leaves="How long?"))
    write(
        drive.root,
        {".autopilot/context-map.json": drive.reads(".autopilot/context-map.json").replace('"blue"', "null")},
    )
    assert kept(drive)["Which colour?"] is None

    mapping(drive, silent)
    assert (kept(drive)["Which colour?"], [a.text for a in silent.batches[0].questions]) == ("blue", ["How long?"])


@pytest.mark.parametrize("words", ["{", '{"version": "7"}'], ids=["damaged", "foreign"])
def test_cmap_03c_a_map_that_is_not_ours_stops_mapping_and_runs_and_is_left_alone(place: Path, words: str) -> None:
    drive = project(place)
    write(drive.root, {".autopilot/context-map.json": words})

    with pytest.raises(ConfigInvalid, match=r"context-map\.json cannot be used"):
        mapping(drive, SaidPerson(BOTH))
    with pytest.raises(ConfigInvalid, match=r"context-map\.json cannot be used"):
        drive.run("1")
    assert drive.reads(".autopilot/context-map.json") == words


def test_a_cap_holds_for_questions_too(place: Path) -> None:
    drive = project(place)
    asked = request(drive, modes=Modes(map=""), caps=RunCaps(tokens=10))
    end = app.consult(asked, drive.warnings.append, SaidPerson(BOTH))

    assert (end.exit, end.reason.partition(":")[0], calls(drive)) == (20, "tokens_per_run reached", [])


def test_a_secret_in_an_answer_is_kept_nowhere(place: Path) -> None:
    drive, secret = project(place), "ghp_" + "a1B2" * 9
    mapping(drive, SaidPerson({"Which colour?": f"as in {secret}"}))

    assert "as in" in str(kept(drive)["Which colour?"])
    assert not any(
        secret.encode() in path.read_bytes() for path in (drive.root / ".autopilot").glob("*") if path.is_file()
    )
