"""Every variation of a roadmap seen in the wild, on the smallest text that shows it."""

import pytest

from autopilot.domain.phase import Phase, PhaseStatus, Roadmap
from autopilot.planning.roadmap import read_roadmap as roadmap


def read(text: str | bytes) -> Roadmap:
    return roadmap.read(text, "ROADMAP.md")


def one(text: str | bytes) -> Phase:
    (phase,) = read(text).phases
    return phase


def section(body: str) -> Phase:
    return one(f"### Phase 5: Name\n{body}\n")


def warnings(text: str) -> list[str]:
    return [note.what for note in read(text).notes]


CANONICAL = """# Roadmap: Shop
## Phases
- [x] **Phase 1: Base** - Foundations
- [ ] **Phase 2: Cart** - Buying things
- [ ] **Phase 2.1: Fix** *(INSERTED)* - Urgent
## Phase Details
### Phase 1: Base
**Goal**: It starts
**Depends on**: Nothing (first phase)
**Requirements**: REQ-01, REQ-02
**Success Criteria** (what must be TRUE):
  1. It answers -- verified by: `curl -f localhost` (expect EXIT:0)
  2. It is `fast`
**Plans**: 2 plans
Plans:
- [x] 01-01: text
### Phase 2: Cart
**Goal:** Carts work
**Depends on:** Phase 1
### Phase 2.1: Fix *(INSERTED)*
**Goal**: Fixed
**Depends on**: Phase 2
## Progress
| Phase | Plans Complete | Status | Completed |
|-------|----------------|--------|-----------|
| 1. Base | 2/2 | Complete | 2026-01-01 |
| 2. Cart | 0/1 | In progress | - |
"""


def test_the_canonical_form_is_read_in_full() -> None:
    first, second, third = read(CANONICAL).phases

    assert (first.id, first.name, first.goal, first.status, first.line) == ("1", "Base", "It starts", "completed", 7)
    assert first.requirements == ("REQ-01", "REQ-02")
    assert [(c.id, c.command, c.source, c.line) for c in first.criteria] == [
        ("SC-1", "curl -f localhost", "roadmap", 12),
        ("SC-2", None, "roadmap", 13),
    ]
    assert (second.status, second.depends_on, second.description) == ("in_progress", ("1",), "Buying things")
    assert (third.id, third.name, third.depends_on) == ("2.1", "Fix", ("2",))
    assert read(CANONICAL).notes == ()


@pytest.mark.parametrize("hashes", ["#", "##", "###", "####", "######"])
def test_r1_any_heading_level_will_do(hashes: str) -> None:
    assert one(f"{hashes} Phase 1: A").name == "A"


@pytest.mark.parametrize("title", ["Phase 1: A\n======", "Phase 1: A\n------"])
def test_r1_underlined_headings_count(title: str) -> None:
    assert one(title).name == "A"


@pytest.mark.parametrize(
    ("written", "means"), [("08", "8"), ("02.14", "2.14"), ("02.13.1", "2.13.1"), ("12A", "12A"), ("CK-01", "CK-1")]
)
def test_r2_ids_are_normalised(written: str, means: str) -> None:
    assert one(f"### Phase {written}: A").id == means


def test_r2_padding_differs_between_list_heading_and_table() -> None:
    text = (
        "- [ ] **Phase 9.1: A**\n### Phase 09.1: A\n## Progress\n| Phase | Status |\n|--|--|\n| 9.1 A | In progress |\n"
    )

    assert (one(text).id, one(text).status) == ("9.1", "in_progress")


def test_r3_two_point_one_and_two_point_ten_are_different() -> None:
    assert [p.id for p in read("### Phase 2.1: A\n### Phase 2.10: B\n### Phase 21: C\n").phases] == [
        "2.1",
        "2.10",
        "21",
    ]


def test_r4_phases_come_in_the_order_of_their_numbers() -> None:
    assert [p.id for p in read("### Phase 2.14: A\n### Phase 2.1: B\n### Phase 1: C\n").phases] == ["1", "2.1", "2.14"]


def test_r5_sections_after_progress_are_read() -> None:
    text = "### Phase 1: A\n## Progress\n| Phase | Status |\n|--|--|\n| 1. A | Done |\n### Phase 2: B\n**Goal**: g\n## Backlog\n### Phase 999.1: C\n"

    assert [(p.id, p.status) for p in read(text).phases] == [
        ("1", "completed"),
        ("2", "not_started"),
        ("999.1", "deferred"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "- [x] Phase 1: Name (3/3 plans) — completed 2026-03-19",
        "- [x] **Phase 1: Name** - text",
        "- [X] **Phase 1: Name** — text",
        "* [x] **Phase 1: Name** -- text (completed 2026-03-19)",
        "- [x] **Phase 1: Name** ✓",
        "- [x] **Phase 1: Name** *(complete)*",
        "- [x] **Phase 1**: Name",
        "1. [x] **Phase 1: Name**",
        "- [x] __Phase 1: Name__ text",
        "- **Phase 1: Name** - text (completed 2026-03-19)",
    ],
)
def test_r6_r7_list_entries_of_every_style(line: str) -> None:
    assert (one(line).name, one(line).status) == ("Name", "completed")


def test_r8_a_phase_may_be_only_listed_or_only_headed() -> None:
    text = "## Phases\n- [ ] **Phase 1: A** - Words\n## Details\n### Phase 2: B\n**Status**: `completed`\n**Scope**: Only this.\n"
    first, second = read(text).phases

    assert (first.goal, first.line) == ("Words", 2)
    assert (second.goal, second.status) == ("Only this.", "completed")


def test_r9_a_table_of_phases_in_details_has_dependencies() -> None:
    text = "<details>\n\n| Phase | Description | Status | Depends on |\n|--|--|--|--|\n| 01 | A `x|y` | Done | — |\n| 02 | B | Done | 01 |\n\n</details>\n"
    first, second = read(text).phases

    assert (first.name, first.depends_on, second.depends_on, second.status) == ("A x|y", (), ("1",), "completed")


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Rework (INSERTED)", "Rework"), ("Rework *(INSERTED)*", "Rework"), ("Rework (STUB, INSERTED 2026-05-03)", "Rework"),
        ("Tech debt: label fix", "Tech debt: label fix"), ("“Quotes” → done 你好 🚀", "“Quotes” → done 你好 🚀"),
        ("Definition of done", "Definition of done"), ("A" * 200, "A" * 200), ("Use `code` and **bold**", "Use code and bold"),
    ],
)  # fmt: skip
def test_r10_titles_keep_their_words_and_lose_their_marks(title: str, name: str) -> None:
    assert one(f"### Phase 1: {title}").name == name


def test_r10_backlog_is_deferred() -> None:
    assert one("### Phase 7: Later (BACKLOG)").status == "deferred"


@pytest.mark.parametrize(
    "label",
    [
        "**Goal**: It works",
        "**Goal:** It works  ",
        "Goal: It works",
        "__Goal__: It works",
        "**Goal:**\nIt works",
        "**Goal**: It\nworks",
    ],
)
def test_r11_labels_of_every_style(label: str) -> None:
    assert section(label).goal == "It works"


def test_r11_labels_may_stand_apart_and_in_any_order() -> None:
    phase = section("**Requirements:** A-1\n\n**Depends on:** Phase 3\n\n**Goal**: g")

    assert (phase.goal, phase.depends_on, phase.requirements) == ("g", ("3",), ("A-1",))


def test_r12_scope_stands_in_for_a_goal() -> None:
    assert section("**Milestone Goal:** big\n**Scope**: small").goal == "small"


def test_r13_a_goal_lost_onto_the_heading_line_is_found() -> None:
    phase = one("### Phase 1: Name?**Goal**: The goal\n**Depends on**: Nothing")

    assert (phase.name, phase.goal) == ("Name?", "The goal")


@pytest.mark.parametrize(
    "text", [b"\xef\xbb\xbf### Phase 1: A\r\n**Goal**: g\r\n", b"### Phase 1: A\r**Goal**: g\xff\r"]
)
def test_r14_bom_line_ends_and_broken_bytes_do_no_harm(text: bytes) -> None:
    assert one(text).goal.startswith("g")


@pytest.mark.parametrize(
    ("said", "needs"),
    [
        ("Nothing", ()), ("Nothing (first phase)", ()), ("None (extends Phase 2)", ()), ("-", ()), ("—", ()),
        ("Nothing (independent of Phases 144–146's code)", ()), ("N/A", ()),
        ("Phase 1, Phase 2", ("1", "2")), ("Phase 4 (reason), Phase 4.1 (why, 9), Phase 3 (x)", ("4", "4.1", "3")),
        ("Phases 1, 2, 3 (…)", ("1", "2", "3")), ("Phases 1 and 2", ("1", "2")), ("Phase 1 & Phase 02", ("1", "2")),
        ("Phase 4 (v1.0 complete)", ("4",)), ("01-foundation-gui-bootstrap", ("1",)), ("Phase 04.1-03 drift probe", ("4.1",)),
        ("Phase 4 first slice. NOT on Phase 04.1", ("4",)), ("Phase 4, NOT Phase 2", ("4",)),
        ("Existing blog (Phase 0 foundation)", ()), ("**Phase 1**", ("1",)), ("1, 2", ("1", "2")), ("Phase 1\nand Phase 2", ("1", "2")),
        ("Phases 1-3", ("1", "2", "3")), ("Phases 1 through 3", ("1", "2", "3")), ("All previous phases", ("1", "2", "3", "4", "4.1")),
        ("Phase 09", ("9",)), ("Phase 1; Phase 2", ("1", "2")),
    ],
)  # fmt: skip
def test_r15_dependencies_in_every_wording(said: str, needs: tuple[str, ...]) -> None:
    text = (
        "".join(f"### Phase {n}: X\n" for n in ("1", "2", "3", "4", "4.1"))
        + f"### Phase 5: Y\n**Depends on**: {said}\n"
    )

    assert read(text).phases[-1].depends_on == needs


def test_r15_a_phase_that_is_not_there_is_kept_and_told() -> None:
    text = "### Phase 5: A\n**Goal**: g\n**Depends on**: Phase 3\n"

    assert one(text).depends_on == ("3",)
    assert "not in this roadmap" in warnings(text)[0]


def test_r15_free_text_is_told() -> None:
    assert any("cannot tell" in what for what in warnings("### Phase 1: A\n**Depends on**: the vendor\n"))


def test_r16_no_dependency_line_means_none() -> None:
    assert section("**Goal**: g\n- Context: depends on Phase 6").depends_on == ()


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("A-01, A-02", ("A-01", "A-02")), ("[A-01, A-02]", ("A-01", "A-02")), ("`A-01`", ("A-01",)),
        ("METR-01–METR-03", ("METR-01", "METR-02", "METR-03")), ("A-09 through A-11", ("A-09", "A-10", "A-11")),
        ("AI-02 (enhanced)", ("AI-02",)), ("FR-5.1, 3NF-01, SOLID-SRP-01", ("FR-5.1", "3NF-01", "SOLID-SRP-01")),
        ("REFINE-PROMPTS, DOC-README, 03.6-T1", ("REFINE-PROMPTS", "DOC-README", "03.6-T1")),
        ("TBD", ()), ("TBD (to be defined, like A-01)", ()), ("None (see A-01)", ()), ("(no new requirements — see A-01)", ()),
    ],
)  # fmt: skip
def test_r17_requirements_in_every_wording(said: str, wanted: tuple[str, ...]) -> None:
    assert section(f"**Requirements**: {said}").requirements == wanted


def test_r17_covers_as_a_list() -> None:
    assert section("- **Covers:**\n  - A-01\n  - A-02: text").requirements == ("A-01", "A-02")


@pytest.mark.parametrize(
    "block",
    [
        "**Success Criteria** (what must be TRUE):\n  1. one\n  2. two",
        "**Success Criteria (what must be TRUE)**:\n1. one\n2. two",
        "**Success Criteria:**\n\n1. one\n\n2. two",
        "Success Criteria:\n- one\n- two",
        "#### Success Criteria\n- one\n- two",
        "**UAT**:\n- [x] one\n- [ ] two",
        "**Acceptance Criteria**:\n  1. one\n   2. two",
        "**Deliverables**:\n* one\n* two",
    ],
)
def test_r18_criteria_of_every_style(block: str) -> None:
    assert [c.text for c in section(f"{block}\n**Plans**: 3\n- [ ] 05-01: no").criteria] == ["one", "two"]


def test_r18_items_over_several_lines_are_one() -> None:
    criteria = section("**Success Criteria**:\n  1. one\n     goes on\n     - and deeper\n  2. two").criteria

    assert [(c.text, c.line) for c in criteria] == [("one goes on - and deeper", 3), ("two", 6)]


def test_r18_code_that_nothing_introduces_is_no_command() -> None:
    assert section("**Success Criteria**:\n1. Running `rm -rf /` works").criteria[0].command is None


def test_r19_plan_and_uat_boxes_are_no_phases() -> None:
    text = "### Phase 1: A\n**Goal**: g\n**Plans:** 1\n- [x] 01-01-PLAN.md — x\n- [ ] Phase 7: verified\n**Wave 2** *(blocked on Wave 1)*\n- [ ] TBD (run /gsd:plan-phase 13)\n- Plan 1.1: x\n"

    assert [p.id for p in read(text).phases] == ["1"]


@pytest.mark.parametrize(
    ("word", "status"),
    [
        ("Complete", "completed"), ("Completed", "completed"), ("Done", "completed"), ("In progress", "in_progress"),
        ("In Progress", "in_progress"), ("Planned", "not_started"), ("Pending", "not_started"), ("Not started", "not_started"),
        ("Deferred (v1.0)", "deferred"), ("Not complete", "not_started"), ("Partially done", "in_progress"),
        ("Incomplete", "not_started"), ("✅ Done", "completed"), ("", "not_started"), ("whatever", "not_started"),
    ],
)  # fmt: skip
def test_r20_status_words(word: str, status: PhaseStatus) -> None:
    assert one(f"| Phase | Plans | Status |\n|--|--|--|\n| 01.1. Name | 0/1 | {word} |\n").status == status


@pytest.mark.parametrize(("box", "cell"), [(" ", "Complete"), ("x", "Not started")])
def test_r20_where_box_and_table_disagree_the_phase_is_disputed_and_both_lines_are_told(box: str, cell: str) -> None:
    text = f"- [{box}] **Phase 1: A** - d\n\n| Phase | Status |\n|--|--|\n| 1. A | {cell} |\n"
    (note,) = read(text).notes

    assert one(text).status == "disputed"
    assert note.severity == "error"
    assert "check-box says" in note.what
    assert "(line 1)" in note.what
    assert "(line 5)" in note.what


def test_r21_tables_and_fences_inside_a_phase_make_no_phases() -> None:
    text = "### Phase 1: A\n**Goal**: g\n\n| Phase | Status |\n|--|--|\n| 15.1 | done |\n\n```md\n## Path to 9/10\n### Phase 3: X\n```\n**Depends on**: Nothing\n\n**Requirements**: A-1\n"

    assert (one(text).id, one(text).requirements) == ("1", ("A-1",))


def test_r22_milestone_headings_end_a_section() -> None:
    text = "### Phase 1: A\n**Goal**: g\n---\n**Mode:** mvp\n**UI hint**: yes\n### v1.1 Name\n**Requirements**: B-1\n### Phase 2: C\n"

    assert [(p.id, p.requirements) for p in read(text).phases] == [("1", ()), ("2", ())]


def test_r24_indented_fields_below_a_bullet_are_its_own() -> None:
    text = "## ROADMAP.md draft\n- **Phase 1**: Base (x).\n  **Goal:** Build it.\n  Plans:\n  - [x] 01-01 — y\n- **Phase 2**: Next.\n"
    first, second = read(text).phases

    assert (first.name, first.goal, second.name) == ("Base (x).", "Build it.", "Next.")


def test_r24_numbers_that_start_again_in_another_milestone_are_other_phases() -> None:
    text = "### M1\n- [x] Phase 1 — A\n### M2\n- [ ] Phase 1 — B\n"

    assert [(p.id, p.name, p.status, p.milestone) for p in read(text).phases] == [
        ("1", "B", "not_started", "M2"),
        ("M1-1", "A", "completed", "M1"),
    ]
    assert read(text).notes == ()


@pytest.mark.parametrize(
    "goal", ["[To be planned]", "[Urgent work - to be planned]", "TBD", "[To be defined during planning]"]
)
def test_r25_placeholder_goals_are_told(goal: str) -> None:
    assert warnings(f"### Phase 1: A\n**Goal**: {goal}\n") == ["phase 1 has no goal yet"]


def test_r26_a_tail_without_heading_belongs_to_no_one() -> None:
    text = "### Phase 1: A\n**Goal**: mine\n## Coverage\n*footer*\n\n**Goal:** other\n**Depends on:** Phase 9\n"

    assert (one(text).goal, one(text).depends_on) == ("mine", ())


def test_a_repeated_heading_is_told_and_the_first_counts() -> None:
    text = "### Phase 2: A\n**Goal**: one\n### Phase 02: B\n**Goal**: two\n"

    assert (one(text).name, one(text).goal) == ("A", "one")
    assert [note.line for note in read(text).notes] == [3]


def test_a_cycle_is_an_error_with_its_phases() -> None:
    text = (
        "### Phase 1: A\n**Goal**: g\n**Depends on**: Phase 2\n### Phase 2: B\n**Goal**: g\n**Depends on**: Phase 1\n"
    )
    (note,) = read(text).notes

    assert (note.file, note.severity) == ("ROADMAP.md", "error")
    assert note.what.endswith(("1 -> 2 -> 1", "2 -> 1 -> 2"))


def test_a_phase_that_depends_on_itself_is_told() -> None:
    text = "### Phase 1: A\n**Goal**: g\n**Depends on**: Phase 1\n"

    assert one(text).depends_on == ()
    assert warnings(text) == ["phase 1 depends on itself: ignored"]


def test_a_sub_heading_that_speaks_of_a_phase_does_not_end_its_section() -> None:
    text = "### Phase 1: A\n#### Phase 1 results\n**Goal**: g\n### Phase 2 B\n"

    assert [(p.id, p.goal) for p in read(text).phases] == [("1", "g"), ("2", "")]


def test_a_phase_may_say_that_it_is_a_refactoring() -> None:
    assert section("**Goal**: Tidy up\n**Kind**: refactor").kind == "refactor"
    assert section("**Goal**: Build").kind == "feature"
