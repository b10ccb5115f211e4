"""REQUIREMENTS.md, PROJECT.md and STATE.md in the shapes seen."""

import pytest

from autopilot.domain.phase import Phase, Roadmap
from autopilot.planning.roadmap import phase_type as types
from autopilot.planning.roadmap import project_md as project
from autopilot.planning.roadmap import requirements, state_md

TEXT = """# Requirements: Shop
## v1 Requirements
### Auth
- [x] **AUTH-01**: Sign in
- [ ] **AUTH-02**: Sign out — v1.3 Phase 4
- [ ] **FR-1.1**: No table row
## v2 Requirements
- **PAY-01**: Pay
## Out of Scope
- **X-01**: Never
## Traceability
| Requirement | Phase | Status |
|-------------|-------|--------|
| AUTH-01 | Phase 1: Base | Complete (P1) |
| AUTH-02 |   | FAILED (deferred to v1.1+) |
| PAY-01 | All phases | Pending |
"""


def test_requirements_have_scope_category_phase_and_status() -> None:
    first, second, third, later, never = requirements.read(TEXT)

    assert (first.id, first.text, first.category, first.phases, first.done) == (
        "AUTH-01",
        "Sign in",
        "Auth",
        ("1",),
        True,
    )
    assert (second.phases, second.status, second.done) == (("4",), "FAILED (deferred to v1.1+)", False)
    assert (third.id, third.phases, third.line) == ("FR-1.1", (), 6)
    assert (later.scope, later.phases, never.scope) == ("deferred", ("all",), "out")


def test_the_table_counts_before_the_roadmap_and_the_roadmap_before_the_suffix() -> None:
    phases = (
        Phase(id="1", name="A", requirements=("FR-1.1", "NEW-01")),
        Phase(id="2", name="B", requirements=("AUTH-01",)),
    )
    mapped = requirements.mapping(requirements.read(TEXT), Roadmap(path="R", phases=phases))

    assert mapped == {"1": ("AUTH-01", "FR-1.1", "PAY-01", "NEW-01"), "2": ("PAY-01",)}


@pytest.mark.parametrize(
    "text",
    [
        "### REQ-01: Title\n- **Priority:** P0\n", "#### REQ-01: Title\n", "- [ ] REQ-01: Title\n", "- **REQ-01** — Title\n", "* [ ] `REQ-01`: Title\n",
    ],
)  # fmt: skip
def test_requirements_of_every_style(text: str) -> None:
    assert [(r.id, r.text) for r in requirements.read(text)] == [("REQ-01", "Title")]


def test_a_reverse_table_maps_too() -> None:
    text = "- [ ] **CI-01**: a\n- [ ] **CI-02**: b\n\n| Phase | Requirements | Count |\n|--|--|--|\n| Phase 5 — Name | CI-01, CI-02 | 2 |\n"

    assert [r.phases for r in requirements.read(text)] == [("5",), ("5",)]


def test_a_file_without_ids_has_none() -> None:
    assert requirements.read("# Requirements\n- a box\n- another\n") == ()


def test_project_sections_are_read() -> None:
    text = "# Shop\n## What This Is\nA shop.\n## Core Value\nSpeed\n## Requirements\n### Validated\n- ✓ Old\n### Active\n- [ ] New\n### Out of Scope\n- No\n## Constraints\n- Fast\n## Key Decisions\n| Decision | Why |\n|--|--|\n| Use X | Y |\n"
    read = project.read(text)

    assert (read.name, read.what, read.core_value) == ("Shop", "A shop.", "Speed")
    assert (read.validated, read.active, read.out_of_scope, read.constraints) == (
        ("Old",),
        ("New",),
        ("No",),
        ("Fast",),
    )
    assert read.decisions == (("Use X", "Y"),)


def test_state_says_where_the_project_stands() -> None:
    text = "---\nmilestone: v1.1\nstopped_at: Plan 2\n---\n# Project State\n## Current Position\nPhase: 03 of 7 (Cart)\nPlan: 1 of 2\nStatus: In progress\nProgress: [██░] 61%\n\n| Phase | Name | Status |\n|--|--|--|\n| 01 | Base | Done |\n"
    read = state_md.read(text)

    assert (read.phase, read.phase_name, read.plan, read.percent) == ("3", "Cart", "1 of 2", 61)
    assert (read.status, read.milestone, read.stopped_at) == ("In progress", "v1.1", "Plan 2")
    assert [(row.id, row.cells) for row in read.phases] == [("1", {"name": "Base", "status": "Done"})]


@pytest.mark.parametrize(
    ("files", "kind"),
    [
        (("web/a.ts", "web/b.ts"), "ui"), (("x/a.tsx",), "ui"), (("src/protocols/a.md", "AGENTS.md"), "protocol"), (("a.json", "b.yaml"), "data"),
        (("a.json", "b.tsx"), "mixed"), (("src/a.py",), "mixed"), ((), "mixed"),
    ],
)  # fmt: skip
def test_a_phases_type_follows_its_files(files: tuple[str, ...], kind: str) -> None:
    assert types.phase_type(Phase(id="1", name="Engine"), files, "./web/") == kind


def test_without_files_words_tell_a_ui_phase() -> None:
    assert types.phase_type(Phase(id="1", name="Settings page"), ()) == "ui"
