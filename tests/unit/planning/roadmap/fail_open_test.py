"""Nine shapes of roadmap on which other programs found no phases and still reported success."""

import pytest

from autopilot.domain.errors import RoadmapInvalid
from autopilot.planning.roadmap import read_roadmap as roadmap


def ids_of(text: str) -> list[str]:
    return [phase.id for phase in roadmap.read(text, "ROADMAP.md").phases]


SHAPES = {
    "two hashes": ("# R\n\n## Phase 1: A\n\n## Phase 2: B\n", ["1", "2"]),
    "inside details": (
        "## Phases\n<details>\n<summary>v1 (Phases 1-2)</summary>\n\n- [x] Phase 1: A\n\n#### Phase 2: B\n\n</details>\n",
        ["1", "2"],
    ),
    "details without a blank line": ("<details>\n<summary>x</summary>\n- [ ] **Phase 1: A**\n</details>\n", ["1"]),
    "later milestones": (
        "## v1.0 (shipped)\n### Phase 1: A\n## v1.1\n### Phase 2: B\n## v2.0 Phase Details\n#### Phase 3: C\n",
        ["1", "2", "3"],
    ),
    "lettered ids": ("### Phase M-01: A\n### Phase PROJ-42: B\n### Phase 12A: C\n", ["M-1", "PROJ-42", "12A"]),
    "bullets with em dashes": ("## Phases\n- Phase 1 — A\n- **Phase 2** — B\n* Phase 3 – C\n", ["1", "2", "3"]),
    "version heading before": ("# Roadmap v3.2\n## 🚧 v3.2.1 Name\n### 🚧 Phase 4: A\n### ✅ Phase 5: B\n", ["4", "5"]),
    "only a table": ("| Phase | Name | Status |\n|---|---|---|\n| 1 | A | Done |\n| 2 | B | - |\n", ["1", "2"]),
    "a table without a status": ("| Phase | Goal |\n|---|---|\n| 1. A | x |\n| Phase 2: B | y |\n", ["1", "2"]),
    "prose in mid-line": (
        "### Phase 1: A\nSee **Phase 7: Ghost** and Phase 8: Ghost.\n\n## Notes\nAs Phase 9: Ghost shows.\n- what Phase 5: x did\n",
        ["1"],
    ),
    "check-box in a fence": ("### Phase 1: A\n\n```md\n- [ ] **Phase 2: B**\n### Phase 3: C\n```\n", ["1"]),
    "heading in a longer fence": ("### Phase 1: A\n````md\n```\n### Phase 2: B\n```\n### Phase 3: C\n````\n", ["1"]),
    "heading in a comment": (
        "<!--\n### Phase 9: X\n\n### Phase 8: Y\n-->\n### Phase 1: A <!-- Phase 2: B -->\n",
        ["1"],
    ),
}


@pytest.mark.parametrize(("text", "wanted"), SHAPES.values(), ids=SHAPES.keys())
def test_phases_are_found_and_ghosts_are_not(text: str, wanted: list[str]) -> None:
    assert ids_of(text) == wanted


@pytest.mark.parametrize(
    "text", ["", "# Roadmap\n", "## Backlog\n- REQ-1: x\n", "```\n### Phase 1: A\n```\n", "\0\0", "Phase 1: A\n"]
)
def test_no_phases_is_always_an_error_with_three_parts(text: str) -> None:
    with pytest.raises(RoadmapInvalid) as caught:
        roadmap.read(text, "ROADMAP.md")

    assert "no phases" in caught.value.what
    assert caught.value.why
    assert "### Phase 1" in caught.value.do


@pytest.mark.parametrize(
    "text", ["### Phase null: A\n", "### Phase One: A\n", "- [ ] **Phase ٣: A**\n", "### Phase 1-4: A\n"]
)
def test_what_only_looks_like_a_phase_is_named_in_the_error(text: str) -> None:
    with pytest.raises(RoadmapInvalid) as caught:
        roadmap.read(text, "ROADMAP.md")

    assert "ROADMAP.md:1" in caught.value.why


@pytest.mark.parametrize("mark", ["```", "~~~~", "<!-- unfinished"])
def test_an_unclosed_fence_or_comment_is_told_with_its_line(mark: str) -> None:
    notes = roadmap.read(f"### Phase 1: A\n\n{mark}\n### Phase 2: B\n", "ROADMAP.md").notes

    assert [(note.line, "never closed" in note.what) for note in notes if "opened" in note.what] == [(3, True)]
