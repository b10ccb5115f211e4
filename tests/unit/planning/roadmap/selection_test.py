"""Which phases are meant, in which order they run, and where their files are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.errors import RoadmapInvalid, UsageInvalid
from autopilot.domain.phase import Phase, Roadmap
from autopilot.planning.plan.folders import folder_of, new_folder, plan_files
from autopilot.planning.roadmap.order import dependents, order
from autopilot.planning.roadmap.selection import select

PHASES = (
    Phase(id="1", name="A", status="completed"),
    Phase(id="3", name="B"),
    Phase(id="3.1", name="C", depends_on=("3", "3.2")),
    Phase(id="3.2", name="D"),
    Phase(id="7", name="E", depends_on=("3.1",)),
    Phase(id="7.1", name="F", status="deferred"),
    Phase(id="10", name="G", depends_on=("1", "99")),
)
ROADMAP = Roadmap(path="ROADMAP.md", phases=PHASES)


def chosen(expression: str, completed: frozenset[str] = frozenset()) -> list[str]:
    return [phase.id for phase in select(expression, ROADMAP, completed)]


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("3", ["3"]), ("03", ["3"]), ("3.1", ["3.1"]), ("Phase 3", ["3"]), ("3-7", ["3", "3.1", "3.2", "7"]), ("3 - 7", ["3", "3.1", "3.2", "7"]),
        ("3–7", ["3", "3.1", "3.2", "7"]), ("3.1-3.2", ["3.1", "3.2"]), ("10,1,3", ["1", "3", "10"]), ("7 3.1 10", ["3.1", "7", "10"]),
        ("1, 3-3.1 7", ["1", "3", "3.1", "7"]), ("3,3", ["3"]), ("1", ["1"]), ("7.1", ["7.1"]), ("all", ["3", "3.1", "3.2", "7", "10"]),
        ("ALL", ["3", "3.1", "3.2", "7", "10"]), ("next", ["3"]), (" 3 ", ["3"]), ("7-7.1", ["7", "7.1"]),
    ],
)  # fmt: skip
def test_expressions_mean_phases_in_roadmap_order(expression: str, wanted: list[str]) -> None:
    assert chosen(expression) == wanted


def test_all_and_next_leave_out_what_is_recorded_as_completed() -> None:
    assert chosen("all", frozenset({"03", "10"})) == ["3.1", "3.2", "7"]
    assert chosen("next", frozenset({"3"})) == ["3.2"]


@pytest.mark.parametrize("expression", ["all", "next"])
def test_nothing_outstanding_selects_nothing(expression: str) -> None:
    assert chosen(expression, frozenset({"3", "3.1", "3.2", "7", "10"})) == []


@pytest.mark.parametrize("expression", ["9", "3-9", "2-7", "3,99", "3.10"])
def test_an_unknown_phase_is_refused_with_those_there_are(expression: str) -> None:
    with pytest.raises(RoadmapInvalid, match="not found in roadmap") as caught:
        chosen(expression)

    assert caught.value.do == "Available phases: 1, 3, 3.1, 3.2, 7, 7.1, 10"


@pytest.mark.parametrize(
    "expression", ["", "x", "-", "3-", "-3", "3--7", "..", "7-3", "every", "3;rm -rf", "1" * 3000, ",", "٣"]
)
def test_nonsense_is_refused(expression: str) -> None:
    with pytest.raises(UsageInvalid):
        chosen(expression)


@given(st.text(max_size=30))
def test_any_words_select_or_are_refused(expression: str) -> None:
    try:
        found = chosen(expression)
    except (UsageInvalid, RoadmapInvalid):
        return
    assert set(found) <= {phase.id for phase in PHASES}


def test_dependencies_run_first_and_ties_keep_the_roadmaps_order() -> None:
    assert [p.id for p in order(tuple(reversed(PHASES)), ROADMAP)] == ["1", "3", "3.2", "3.1", "7", "7.1", "10"]


def test_a_cycle_is_refused_by_name() -> None:
    loop = (Phase(id="1", name="A", depends_on=("2",), line=4), Phase(id="2", name="B", depends_on=("1",), line=9))

    with pytest.raises(RoadmapInvalid, match=r"1 -> 2 -> 1|2 -> 1 -> 2"):
        order(loop, Roadmap(path="R", phases=loop))


def test_a_cycle_outside_the_selection_does_not_matter() -> None:
    loop = (
        Phase(id="1", name="A", depends_on=("2",)),
        Phase(id="2", name="B", depends_on=("1",)),
        Phase(id="3", name="C"),
    )

    assert [p.id for p in order(loop[2:], Roadmap(path="R", phases=loop))] == ["3"]


def test_dependents_are_found_through_others() -> None:
    assert dependents("3.2", ROADMAP) == {"3.1", "7"}
    assert dependents("03", ROADMAP) == {"3.1", "7"}
    assert dependents("99", ROADMAP) == {"10"}


@given(st.lists(st.lists(st.integers(0, 30), max_size=4), max_size=30))
def test_every_order_respects_every_dependency(needs: list[list[int]]) -> None:
    phases = tuple(
        Phase(id=str(n), name="x", depends_on=tuple(str(need) for need in wanted if need < n))
        for n, wanted in enumerate(needs)
    )
    place = {phase.id: at for at, phase in enumerate(order(phases, Roadmap(path="R", phases=phases)))}

    assert len(place) == len(phases)
    assert all(place[need] < place[phase.id] for phase in phases for need in phase.depends_on)


@pytest.mark.parametrize(
    ("phase_id", "folder"),
    [
        ("1", "01-foundation"), ("10", "10-x"), ("2.1", "02.1-a"), ("2.10", "02.10-b"), ("8", "8-unpadded"), ("4", "codenexus-04-parity"),
        ("CK-1", "CK-01-y"), ("6", "06"), ("21", "21-new-name"), ("2", "02-new-name"),
    ],
)  # fmt: skip
def test_a_phase_finds_its_own_folder_and_no_other(phase_id: str, folder: str) -> None:
    existing = [
        "10-x",
        "11-1",
        "01-foundation",
        "02.1-a",
        "02.10-b",
        "8-unpadded",
        "codenexus-04-parity",
        "CK-01-y",
        "06",
        "notes",
    ]

    assert folder_of(Phase(id=phase_id, name="New name!"), existing) == folder


def test_of_two_folders_the_one_with_its_name_is_taken() -> None:
    assert folder_of(Phase(id="3", name="Shop cart"), ["03-old", "03-shop-cart", "x-03-shop-cart"]) == "03-shop-cart"


@given(st.text(max_size=80))
def test_a_new_folder_is_always_a_plain_name(name: str) -> None:
    folder = new_folder(Phase(id="2.1", name=name))

    assert folder.startswith("02.1")
    assert len(folder) <= 45
    assert set(folder) <= set("abcdefghijklmnopqrstuvwxyz0123456789.-")


def test_plan_files_are_told_from_files_that_only_sound_like_them() -> None:
    names = [
        "01-10-PLAN.md",
        "01-02-PLAN.md",
        "PLAN.md",
        "PAPER_TRADING_PLAN.md",
        "_PLAN-reference.md",
        "01-02B-PLAN.md",
        "01-W0-PLAN.md",
        "02-01-PLAN.md",
        "01-02-SUMMARY.md",
    ]

    assert [plan.name for plan in plan_files(names, "1")] == [
        "PLAN.md",
        "01-W0-PLAN.md",
        "01-02-PLAN.md",
        "01-02B-PLAN.md",
        "01-10-PLAN.md",
    ]
