"""What public planning files taught us, each cut down to the lines that matter."""

import pytest

from autopilot.domain.errors import ConfigInvalid
from autopilot.domain.phase import Phase
from autopilot.planning.config import read_config as config
from autopilot.planning.plan import read_plan as plan
from autopilot.planning.roadmap import read_roadmap as roadmap
from autopilot.planning.roadmap import requirements


def first(text: str) -> Phase:
    return roadmap.read(text, "R").phases[0]


@pytest.mark.parametrize(
    ("title", "done"),
    [
        ("Parser (complete)", True),
        ("Parser *(completed 2026-04-13, UAT 8/8)*", True),
        ("Parser ✅", True),
        ("Parser ✅ (3 plans)", True),
        ("Parser — completed 2026-04-13", True),
        ("Parser (complete rewrite)", False),
        ("Parser (done by hand so far)", False),
        ("Parser (wave 1 ✅, wave 2 open)", False),
    ],
)
def test_only_a_mark_of_completion_completes_a_heading(title: str, done: bool) -> None:
    assert (first(f"### Phase 1: {title}\n**Goal**: g\n").status == "completed") is done


@pytest.mark.parametrize(
    ("entry", "done"),
    [
        ("- ✅ **Phase 1: Parser** - text", True),
        ("- **Phase 1: Parser** ✅ - text", True),
        ("- **Phase 1: Parser** - text (completed 2026-04-13)", True),
        ("- **Phase 1: Parser** - shows ✅ when all is well", False),
        ("- **Phase 1: Parser** - the list (done or not) is kept", False),
        ("- [ ] **Phase 1: Parser** - text ✅", False),
    ],
)
def test_ticks_inside_a_description_complete_nothing(entry: str, done: bool) -> None:
    assert (first(f"## Phases\n{entry}\n").status == "completed") is done


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("Complete", "completed"),
        ("Complete (P1)", "completed"),
        ("Done", "completed"),
        ("Completely open", "not_started"),
        ("Complete except the docs", "in_progress"),
        ("Done, pending review", "in_progress"),
        ("Completed but not merged", "in_progress"),
    ],
)
def test_a_status_with_a_reservation_is_not_completed(words: str, status: str) -> None:
    assert first(f"### Phase 1: A\n**Status**: {words}\n").status == status


def test_a_list_of_shipped_phases_gives_names_and_no_goals() -> None:
    text = "## Phases\n- [x] Phase 1: A — B (2/2 plans) — completed 2026-02-13\n- [x] Phase 2: C — what it is for\n"
    read = roadmap.read(text, "R").phases

    assert [(phase.name, phase.goal) for phase in read] == [("A — B", ""), ("C", "what it is for")]


def test_a_description_goes_on_over_its_indented_lines() -> None:
    text = (
        "## Phases\n- [ ] **Phase 1: A** — Prove it with\n      a real run\n  **Plans:** 2\n- [ ] **Phase 2: B** - b\n"
    )

    assert [phase.description for phase in roadmap.read(text, "R").phases] == ["Prove it with a real run", "b"]


@pytest.mark.parametrize("stub", ["[To be defined]", "[To be defined -- pending discussion]", "TBD", "TBD (later)"])
def test_a_criterion_still_to_be_defined_is_none(stub: str) -> None:
    assert first(f"### Phase 1: A\n**Success Criteria**:\n  1. {stub}\n").criteria == ()


@pytest.mark.parametrize("text", ["TODO items can be added", "TODO `x` is gone", "N/A is shown for an empty row"])
def test_a_criterion_that_only_begins_like_a_stub_is_kept(text: str) -> None:
    assert len(first(f"### Phase 1: A\n**Success Criteria**:\n  1. {text}\n").criteria) == 1


def test_a_headed_task_has_the_type_size_and_files_its_labels_say() -> None:
    text = "### Task 1: Look\n**Type:** checkpoint:human-verify\n**Complexity:** low\n**Files to modify:**\n- `a.py`\n- `b.py`\n\n**Description:** Do it.\n"
    task = plan.read(text, {}).tasks[0]

    assert (task.type, task.complexity, task.files) == ("checkpoint:human-verify", "simple", ("a.py", "b.py"))
    assert task.action == "Do it."


def test_the_first_version_named_is_the_one_in_scope() -> None:
    text = "## v2.0 Requirements\n- [ ] **A-01**: a\n## v3 Requirements\n- **B-01**: b\n## Future\n- **C-01**: c\n"

    assert [r.scope for r in requirements.read(text)] == ["in", "deferred", "deferred"]


def test_a_requirement_keeps_the_lines_that_continue_it() -> None:
    text = (
        "- [x] **A-01\n**: broken\n- [ ] **A-02**: first\n  second\n  - no part of it\n- **Multi-dialect** — a word\n"
    )

    assert [(r.id, r.text) for r in requirements.read(text)] == [("A-01", "broken"), ("A-02", "first second")]


def test_half_a_character_in_the_config_is_refused() -> None:
    with pytest.raises(ConfigInvalid, match="surrogates"):
        config.read(b'{"project": {"commands": {"test": "\\ud800"}}}', "config.json")
