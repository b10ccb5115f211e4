"""Edits are worked out first and written last, and never over somebody else's change."""

from pathlib import Path

import pytest

from autopilot.app import prepare as app
from autopilot.domain.errors import RepositoryInvalid
from autopilot.planning.edit.planning_editor import Desk
from support.repos import git, write

ROADMAP = "- [ ] **Phase 1: Store notes** - Notes are kept\n- [x] **Phase 2: Show notes** - Notes are shown\n"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    git(tmp_path, "init", "-q")
    write(tmp_path, {"ROADMAP.md": ROADMAP})
    return app.desk(str(tmp_path))


def test_an_edit_changes_nothing_until_it_is_saved(desk: Desk) -> None:
    edit = desk.add("Export reports as CSV", ("1",), None, ())
    assert (desk.root / "ROADMAP.md").read_text(encoding="utf-8") == ROADMAP

    edit.save()
    assert [phase.id for phase in desk.roadmap().phases] == ["1", "2", "3"]


def test_a_file_changed_meanwhile_is_not_overwritten(desk: Desk) -> None:
    edit = desk.add("Export reports as CSV", (), None, ())
    write(desk.root, {"ROADMAP.md": ROADMAP + "\nmy own words\n"})

    with pytest.raises(RepositoryInvalid, match=r"ROADMAP\.md changed while it was being edited"):
        edit.save()
    assert (desk.root / "ROADMAP.md").read_text(encoding="utf-8").endswith("my own words\n")


def test_a_new_phase_tells_what_it_waits_for(desk: Desk) -> None:
    assert desk.add("Export reports as CSV", ("1", "2"), None, ()).warnings == (
        "it waits for phase 1, not completed yet",
    )
    assert desk.insert("2", "Export reports as CSV", None, ()).warnings == ()


def test_removing_the_last_phase_left_is_told(desk: Desk) -> None:
    desk.remove("1").save()

    assert desk.remove("2").warnings == (
        "phase 2 is completed",
        "it is the only phase: a roadmap without one cannot be run",
    )


def test_a_roadmap_elsewhere_keeps_init_away(desk: Desk) -> None:
    with pytest.raises(RepositoryInvalid, match=r"already: ROADMAP\.md"):
        desk.start("Notes", "Keep notes", (("Store: Notes are kept", ()),), None)
