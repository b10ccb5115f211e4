"""A new phase from the user's words: number, title, criteria, overlap."""

import pytest

from autopilot.domain.errors import AutopilotError, RoadmapInvalid, UsageInvalid
from autopilot.domain.phase import Roadmap
from autopilot.planning.edit import draft as drafting
from autopilot.planning.roadmap import read_roadmap as roadmap


def roadmap_of(*ids: str) -> Roadmap:
    return roadmap.read("".join(f"### Phase {one}: Name {one}\n**Goal**: goal of {one}\n\n" for one in ids), "R")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("export reports as CSV", "Export reports as CSV"),
        ("Export reports as CSV, so that others can read them.", "Export reports as CSV"),
        ("we need to rewrite the whole parser for speed and for clarity", "Rewrite whole parser for speed"),
        ("Add **bold** `code` | pipes", "Add bold code pipes"),
        ("Fix: the login page", "Fix: the login page"),
        ("支持 导出 报告", "支持 导出 报告"),
    ],
)
def test_a_title_has_two_to_six_words_of_the_text(text: str, title: str) -> None:
    assert drafting.title(text) == title
    assert 2 <= len(title.split()) <= 6


@pytest.mark.parametrize("text", ["", "Login", "***", "<!-- hidden --> work here"])
def test_a_text_that_names_nothing_is_refused(text: str) -> None:
    with pytest.raises(UsageInvalid):
        drafting.title(text)


@pytest.mark.parametrize(
    ("ids", "wanted"),
    [
        (("1", "2"), "3"),
        (("2", "10", "9.1"), "11"),
        (("1", "999.1"), "2"),
        (("2.13.1", "12A"), "13"),
        (("CK-01", "CK-07"), "CK-8"),
    ],
    ids=" ".join,
)
def test_a_phase_at_the_end_gets_the_next_whole_number(ids: tuple[str, ...], wanted: str) -> None:
    assert drafting.added(roadmap_of(*ids), "Export all reports", (), None, ()).id == wanted


@pytest.mark.parametrize(
    ("ids", "after", "wanted"),
    [
        (("1", "2"), "1", "1.1"),
        (("2", "2.9", "2.10"), "2", "2.11"),
        (("02", "02.13.1"), "2", "2.14"),
        (("2", "2.1"), "2.1", "2.2"),
    ],
)
def test_an_inserted_phase_gets_the_next_decimal(ids: tuple[str, ...], after: str, wanted: str) -> None:
    new = drafting.inserted(roadmap_of(*ids), after, "Urgent repair", None, ())

    assert (new.id, new.goal, new.depends_on) == (wanted, "[To be planned]", (after,))


@pytest.mark.parametrize(
    "text",
    [
        "should work correctly",
        "The login should work correctly",
        "properly handles errors",
        "Export is implemented correctly",
        "It functions as expected.",
        "works as intended",
        "",
    ],
)
def test_a_criterion_that_anything_meets_is_refused(text: str) -> None:
    with pytest.raises(UsageInvalid, match="nothing that can be checked"):
        drafting.checkable(text)


@pytest.mark.parametrize(
    "text",
    [
        "Export works as intended - verified by `make export`",
        "It properly handles 404 answers",
        "The page lists every note of the signed-in user",
    ],
)
def test_a_criterion_that_says_what_is_seen_is_taken(text: str) -> None:
    assert drafting.checkable(text) == text


def test_a_phase_that_is_there_already_is_noticed() -> None:
    phases = roadmap.read("### Phase 1: CSV export\n**Goal**: Users export reports as CSV files.\n", "R")
    found = drafting.overlapping(phases, "Export reports as CSV file")

    assert found is not None
    assert found[0].id == "1"
    assert found[1] > 0.7
    assert drafting.overlapping(phases, "Sign in with a passkey") is None


def test_a_dependency_that_does_not_exist_is_told() -> None:
    with pytest.raises(RoadmapInvalid, match="no phase '7'") as refused:
        drafting.added(roadmap_of("1", "2"), "Export all reports", ("7",), None, ())

    assert isinstance(refused.value, AutopilotError)
    assert refused.value.do == "Phases of this roadmap: 1, 2"
