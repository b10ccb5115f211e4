"""The planning files of a new project: what is written reads back as what was said."""

import json

import pytest

from autopilot.domain.errors import AutopilotError, ConfigInvalid, RoadmapInvalid, UsageInvalid
from autopilot.planning.config import read_config as config
from autopilot.planning.edit import new_project as starting
from autopilot.planning.edit.new_project import Answers, Beginning
from autopilot.planning.roadmap import project_md as project
from autopilot.planning.roadmap import read_roadmap as roadmap
from autopilot.planning.roadmap import requirements

TOML = b"""\
name = "Notes"
goal = "Keep notes."
[[phases]]
name = "Store"
goal = "Notes are kept"
criteria = ["a note is kept - verified by `make test`"]
[[phases]]
name = "Show"
[[phases]]
name = "Export"
depends = [1]
"""
MARKDOWN = b"""\
# Notes

Keep notes.

## Phase 1: Store

Goal: Notes are kept

- a note is kept - verified by `make test`

## Show
"""
LIST = b"# Notes\r\n\r\nKeep notes.\r\n\r\n- Store: Notes are kept\r\n- Show - Notes are shown\r\n"


def test_a_toml_file_becomes_a_roadmap_that_reads_back() -> None:
    files = starting.files(starting.read(TOML, "plan.toml"), {})
    phases = roadmap.read(files[starting.ROADMAP], starting.ROADMAP)

    assert [(p.name, p.depends_on) for p in phases.phases] == [("Store", ()), ("Show", ("1",)), ("Export", ("1",))]
    assert phases.phases[0].criteria[0].command == "make test"
    assert phases.phases[0].requirements == ("REQ-01",)
    assert not phases.notes


@pytest.mark.parametrize("content", [MARKDOWN, b"\xef\xbb\xbf" + LIST], ids=["headings", "list, CRLF, BOM"])
def test_a_markdown_file_gives_name_goal_and_phases(content: bytes) -> None:
    read = starting.read(content, "plan.md")

    assert (read.name, read.goal) == ("Notes", "Keep notes.")
    assert [one.name for one in read.phases] == ["Store", "Show"]
    assert read.phases[0].goal == "Notes are kept"


def test_every_file_can_be_read_by_the_reader_of_its_kind() -> None:
    files = starting.files(starting.read(TOML, "plan.toml"), {"package.json": '{"scripts": {"test": "jest"}}'})
    settings = config.read(files[starting.CONFIG], starting.CONFIG)

    assert settings.commands.test == "npm test"
    assert settings.commands_source["test"] == "auto-detected"
    assert [r.id for r in requirements.read(files[starting.REQUIREMENTS])] == ["REQ-01", "REQ-02", "REQ-03"]
    assert project.read(files[starting.PROJECT]).what == "Keep notes."
    assert json.loads(files[starting.CONFIG])["project"]["manifest"] == "package.json"


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"name = ", ConfigInvalid),
        (b"name = 3", ConfigInvalid),
        (b'nmae = "x"', ConfigInvalid),
        (b'name = "x"\ngoal = "y"', UsageInvalid),
        (b'name = "x"\ngoal = "y"\n[[phases]]\nname = "a"\ndepends = [4]', UsageInvalid),
        (b'name = "x"\ngoal = "y"\n[[phases]]\nname = "a"\ncriteria = ["works as intended"]', UsageInvalid),
        (b'name = "x"\ngoal = "y"\n[[phases]]\nname = "a"\ndepends=[2]\n[[phases]]\nname = "b"', RoadmapInvalid),
        (b'name = "x"\ngoal = "y"\n[[phases]]\nname = "***"', RoadmapInvalid),
    ],
    ids=["torn", "odd type", "unknown key", "no phases", "unknown phase", "vague", "a circle", "no name"],
)
def test_what_makes_no_roadmap_is_told_in_three_parts(content: bytes, kind: type[AutopilotError]) -> None:
    with pytest.raises(AutopilotError) as refused:
        starting.files(starting.read(content, "plan.toml"), {})

    assert type(refused.value) is kind
    assert all((refused.value.what, refused.value.why, refused.value.do))


def test_a_phase_may_be_one_sentence() -> None:
    assert starting.phase("Export: Reports as CSV") == Beginning(name="Export", goal="Reports as CSV")
    assert starting.phase("Show notes") == Beginning(name="Show notes", goal="Show notes")
    assert starting.phase("Show all notes of the user on one page").name == "Show notes of user on one"


def test_marks_in_names_do_not_break_the_table() -> None:
    answers = Answers(name="A | B", goal="x", phases=(Beginning(name="**Load** | `save`"),))
    phases = roadmap.read(starting.files(answers, {})[starting.ROADMAP], "R")

    assert [phase.name for phase in phases.phases] == ["Load save"]
