"""Phases put into a roadmap and taken out again: the parser sees exactly that, and no other byte changes."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autopilot.domain.errors import AutopilotError, RoadmapInvalid
from autopilot.domain.phase import Roadmap
from autopilot.planning.edit import draft as drafting
from autopilot.planning.edit import edit
from autopilot.planning.edit import state_md_table as edit_state
from autopilot.planning.edit.style import NewPhase
from autopilot.planning.roadmap import read_roadmap as roadmap
from support.roadmaps import roadmaps

ROOT = Path(__file__).parents[4]
CORPUS = ROOT.parent / "shared" / "corpus"
FILES = sorted(CORPUS.rglob("*ROADMAP.md")) if CORPUS.is_dir() else []

SIMPLE = """\
# Roadmap

- [x] **Phase 1: Store notes** - Notes are kept
- [ ] **Phase 2: Show notes** - Notes are shown

## Phase Details

### Phase 1: Store notes
**Goal**: Notes are kept
**Depends on**: Nothing
**Success Criteria** (what must be TRUE):
  1. a file is there - verified by `test -f notes`
**Plans**: 2 plans

### Phase 2: Show notes
**Goal**: Notes are shown
**Depends on**: Phase 1

## Progress

**Execution Order:** Phases execute in numeric order: 1 → 2

| Phase | Plans Complete | Status | Completed |
|-------|----------------|--------|-----------|
| 1. Store notes | 2/2 | Complete | 2026-01-01 |
| 2. Show notes | 0/1 | Not started | - |
"""


def phases_of(content: bytes) -> Roadmap:
    return roadmap.read(content, "ROADMAP.md")


def new_phase(content: bytes, *, depends: tuple[str, ...] = ()) -> NewPhase:
    criteria = ("a file is made - verified by `test -f out.csv`",)
    return drafting.added(phases_of(content), "Export reports as CSV files", depends, None, criteria)


def new_between(content: bytes, after: str) -> NewPhase:
    return drafting.inserted(phases_of(content), after, "Urgent repair of storage", None, ())


def check_round_trip(content: bytes, grown: bytes, new: NewPhase) -> None:
    """The parser reads the old phases and the new one; taking it out again leaves the bytes of before."""
    before, after = phases_of(content), phases_of(grown)
    written = next(phase for phase in after.phases if phase.id == new.id)
    assert sorted(p.id for p in after.phases) == sorted([*(p.id for p in before.phases), new.id])
    assert (written.name, written.goal, written.depends_on) == (new.name, new.goal, new.depends_on)
    assert [c.text for c in written.criteria] == [*new.criteria]
    assert edit.remove(grown, "ROADMAP.md", new.id) == content


@given(content=roadmaps())
@settings(max_examples=80, deadline=None)
def test_add_then_remove_leaves_every_byte(content: bytes) -> None:
    new = new_phase(content, depends=(phases_of(content).phases[0].id,))

    check_round_trip(content, edit.add(content, "ROADMAP.md", new), new)


@given(content=roadmaps(), place=st.integers(0, 20))
@settings(max_examples=80, deadline=None)
def test_insert_then_remove_leaves_every_byte(content: bytes, place: int) -> None:
    phases = phases_of(content).phases
    new = new_between(content, phases[place % len(phases)].id)

    check_round_trip(content, edit.insert(content, "ROADMAP.md", new), new)


@pytest.mark.skipif(not FILES, reason="the corpus of public planning files is not here")
@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(CORPUS)))
def test_roadmaps_in_the_wild_are_edited_and_restored_to_the_byte(path: Path) -> None:
    content = path.read_bytes()
    try:
        phases = phases_of(content).phases
    except RoadmapInvalid:
        with pytest.raises(RoadmapInvalid, match="has no phases"):
            edit.remove(content, "ROADMAP.md", "1")
        return
    added = new_phase(content, depends=(phases[-1].id,))
    check_round_trip(content, edit.add(content, "ROADMAP.md", added), added)
    for after in {phases[0].id, phases[len(phases) // 2].id, phases[-1].id}:
        inserted = new_between(content, after)
        check_round_trip(content, edit.insert(content, "ROADMAP.md", inserted), inserted)


def test_a_new_phase_is_written_everywhere_its_neighbour_is() -> None:
    grown = edit.add(SIMPLE.encode(), "R", new_phase(SIMPLE.encode(), depends=("1",))).decode()

    assert "- [ ] **Phase 3: Export reports as CSV files** - Export reports as CSV files\n" in grown
    assert "### Phase 3: Export reports as CSV files\n**Goal**: Export reports" in grown
    assert "**Depends on**: Phase 1\n**Success Criteria** (what must be TRUE):\n  1. a file is made" in grown
    assert "| 3. Export reports as CSV files | 0/TBD | Not started | - |\n" in grown
    assert "numeric order: 1 → 3 → 2\n" in grown


def test_an_inserted_phase_follows_its_last_sibling() -> None:
    once = edit.insert(SIMPLE.encode(), "R", new_between(SIMPLE.encode(), "1"))
    twice = edit.insert(once, "R", new_between(once, "1")).decode()

    assert [phase.id for phase in phases_of(twice.encode()).phases] == ["1", "1.1", "1.2", "2"]
    assert "- [ ] **Phase 1.2: Urgent repair of storage** *(INSERTED)* - [To be planned]\n" in twice
    assert "numeric order: 1 → 1.1 → 1.2 → 2\n" in twice
    assert twice.index("| 1.1. Urgent") < twice.index("| 1.2. Urgent") < twice.index("| 2. Show")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("## Phase 01 — One\n**Goal:** x\n", "\n## Phase 02 — Export reports as CSV files\n**Goal:** Export"),
        ("#### Phase 1: One\n\n- **Goal**: x  \n", "\n#### Phase 2: Export reports as CSV files\n\n- **Goal**: Export reports as CSV files  \n"),
        ("* [x] Phase 1: One — done it\n", "\n* [ ] Phase 2: Export reports as CSV files — Export"),
        ("- **Phase 1**: One\n", "\n- **Phase 2**: Export reports as CSV files - Export"),
        ("- [ ] **Phase CK-01: One** - x\n", "\n- [ ] **Phase CK-02: Export reports as CSV files** - Export"),
        ("|Phase|Status|\n|---|---|\n|1 One|Done|\n", "\n|2 Export reports as CSV files|Not started|\n"),
    ],
    ids=["level 2, padded, dash", "level 4, bullets, hard breaks", "plain list", "bold number", "prefix", "tight table"],
)  # fmt: skip
def test_the_new_phase_is_written_as_its_neighbour_is(text: str, wanted: str) -> None:
    grown = edit.add(text.encode(), "R", new_phase(text.encode()))

    assert wanted in grown.decode()
    assert edit.remove(grown, "R", new_phase(text.encode()).id) == text.encode()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"], ids=["no BOM", "BOM"])
def test_line_ends_bom_and_bytes_that_are_no_text_stay(end: str, bom: bytes) -> None:
    content = bom + SIMPLE.replace("\n", end).encode().replace(b"are kept", b"are \xff kept  ") + b"\xfe tail"
    grown = edit.add(content, "R", new_phase(content))

    assert grown.startswith(bom)
    assert b"are \xff kept  " in grown
    assert grown.count(b"\r\n") == grown.count(b"\r") if end == "\r\n" else grown.count(end.encode()) > 0
    assert end != "\n" or b"\r" not in grown
    assert edit.remove(grown, "R", "3") == content


def test_a_footer_stays_at_the_end() -> None:
    text = "### Phase 1: One\n**Goal**: x\n\n---\n*Last updated: today*\n"
    grown = edit.add(text.encode(), "R", new_phase(text.encode())).decode()

    assert grown.endswith("\n\n---\n*Last updated: today*\n")
    assert edit.remove(grown.encode(), "R", "1").decode().endswith("\n\n---\n*Last updated: today*\n")


def test_shipped_work_in_a_details_block_gets_no_new_phase() -> None:
    text = "<details>\n\n### Phase 1: One\n**Goal**: x\n\n</details>\n\n## Progress\n\nsoon\n"
    grown = edit.add(text.encode(), "R", new_phase(text.encode())).decode()

    assert grown.index("</details>") < grown.index("### Phase 2") < grown.index("## Progress")
    assert edit.remove(grown.encode(), "R", "2").decode() == text


def test_a_phase_written_twice_is_not_removed_by_guessing() -> None:
    text = SIMPLE + "\n### Phase 1: Another one\n**Goal**: y\n"

    with pytest.raises(RoadmapInvalid, match=r"more than once in R \(lines 3, 8,") as refused:
        edit.remove(text.encode(), "R", "1")
    assert refused.value.why
    assert refused.value.do


def test_an_order_that_names_the_new_phase_already_stays() -> None:
    text = SIMPLE.replace("1 → 2", "1 → 3 → 2")
    grown = edit.add(text.encode(), "R", new_phase(text.encode())).decode()

    assert "numeric order: 1 → 3 → 2\n" in grown


def test_a_phase_that_could_not_be_taken_out_again_is_not_put_in() -> None:
    text = "#### Phase 2.1: C\n## Progress\n- [x] Phase 2: B\n```\nnever closed\n---\n\n"

    with pytest.raises(RoadmapInvalid, match="cannot be edited safely"):
        edit.insert(text.encode(), "R", new_between(text.encode(), "2"))


def test_what_cannot_be_read_back_is_refused() -> None:
    text = "### Phase 1: One\n**Goal**: x\n\n```\nnever closed\n"

    with pytest.raises(RoadmapInvalid, match="cannot be edited safely"):
        edit.add(text.encode(), "R", new_phase(text.encode()))


STATE = "# State\r\n\r\n**By Phase:**\r\n\r\n| Phase | Name | Status | Version |\r\n|--|--|--|--|\r\n| 1 | Store | Completed | v1 |\r\n| 2 | Show | Not Started | - |\r\n"


def test_the_table_by_phase_gets_a_row_and_loses_it_again() -> None:
    new = new_between(SIMPLE.encode(), "1")
    grown = edit_state.add(STATE.encode(), new)

    assert b"v1 |\r\n| 1.1 | Urgent repair of storage | Not started | - |\r\n| 2 |" in grown
    assert edit_state.remove(grown, "1.1") == STATE.encode()


@pytest.mark.parametrize(
    "text",
    ["", "# State\n", STATE.replace("Status", "Plans"), "**By Phase:**\n\n| Phase | Status |\n|-|-|\n| - | - |\n"],
)
def test_a_state_file_without_such_a_table_stays_as_it_is(text: str) -> None:
    assert edit_state.add(text.encode(), new_phase(SIMPLE.encode())) == text.encode()
    assert edit_state.remove(text.encode(), "3") == text.encode()


PIECES = [*'ab1.:-|*_`#<>()[]!\\\n\r\t"', "\u2028", "\x1b", "é", "Phase ", "Goal: ", " - ", "<!--", "-->", "(done) "]
ODD = st.lists(st.sampled_from(PIECES), max_size=20).map("".join)


@given(text=ODD, goal=ODD, criterion=ODD)
@settings(max_examples=150, deadline=None)
def test_any_words_are_written_faithfully_or_refused(text: str, goal: str, criterion: str) -> None:
    content = SIMPLE.encode()
    try:
        new = drafting.added(phases_of(content), f"Write {text} down", (), goal, (f"see 1 {criterion}",))
        grown = edit.add(content, "R", new)
    except AutopilotError:
        return
    assert [phase.id for phase in phases_of(grown).phases] == ["1", "2", new.id]
    assert edit.remove(grown, "R", new.id) == content
