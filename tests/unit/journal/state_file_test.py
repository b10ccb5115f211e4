"""state.json: whole, backed up, archived, and never another tool's."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from autopilot.domain.errors import RepositoryInvalid
from autopilot.journal.state_file import StateFile

RUN = "run-2026-01-01-120000"


def state(note: str = "", run: str = RUN, **more: Any) -> dict[str, Any]:
    return {"_meta": {"version": "1.0", "run_id": run, "note": note}, "phases": {}, **more}


def on_disk(path: Path) -> dict[str, Any]:
    """What the file says, its checksum left out."""
    held: dict[str, Any] = msgspec.json.decode(path.read_bytes())
    assert held.pop("crc32")
    return held


def test_what_was_written_is_read(tmp_path: Path) -> None:
    """STATE-09: the state before is kept as backup."""
    file = StateFile(tmp_path / ".autopilot")
    assert file.read() is None
    file.write(state("one"))
    file.write(state("two"))

    assert file.read() == state("two")
    assert on_disk(tmp_path / ".autopilot" / "state.json.backup") == state("one")


def test_it_is_written_for_people_to_read(tmp_path: Path) -> None:
    StateFile(tmp_path).write(state("größe"))

    text = (tmp_path / "state.json").read_text(encoding="utf-8")
    assert text.startswith('{\n  "_meta": {\n    "version": "1.0"')
    assert text.endswith("}\n")
    assert "größe" in text


@pytest.mark.parametrize("harm", [b"", b"{", b"\xff", b"\x00" * 100], ids=["empty", "cut off", "no text", "zeros"])
def test_a_damaged_file_is_read_from_its_backup_which_is_kept(tmp_path: Path, harm: bytes) -> None:
    """RSM-01, STATE-09: a bad file falls back to the backup."""
    StateFile(tmp_path).write(state("one"))
    StateFile(tmp_path).write(state("two"))
    (tmp_path / "state.json").write_bytes(harm)

    assert StateFile(tmp_path).read() == state("one")
    StateFile(tmp_path).write(state("three"))
    assert StateFile(tmp_path).read() == state("three")
    assert on_disk(tmp_path / "state.json.backup") == state("one")


@pytest.mark.parametrize(
    "content",
    [
        b"{}",
        b"[]",
        b'"text"',
        b"not json",
        b'{"_meta": 1}',
        b'{"_meta": {"version": "0.9", "run_id": "run-2026-01-01-120000"}}',
        b'{"_meta": {"version": "1.0", "run_id": "session-5"}}',
        b'{"_meta": {"version": "1.0", "run_id": ["run-2026-01-01-120000"]}}',
        b'{"_meta": {"version": "1.0", "run_id": "run-2026-01-01-120000/../x"}}',
        b'{"currentPhase": 3, "tasks": []}',
    ],
)
def test_a_foreign_file_is_never_overwritten(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "state.json").write_bytes(content)

    for act in (
        StateFile(tmp_path).read,
        lambda: StateFile(tmp_path).write(state()),
        lambda: StateFile(tmp_path).archive(RUN),
    ):
        with pytest.raises(RepositoryInvalid, match="not written by Autopilot"):
            act()
    assert (tmp_path / "state.json").read_bytes() == content
    assert [path.name for path in tmp_path.iterdir()] == ["state.json"]


def test_keys_with_the_older_prefix_are_read(tmp_path: Path) -> None:
    StateFile(tmp_path).write({**state(), "phases": {"phase_6.1": {"status": "failed"}, "7": {}}})

    held = StateFile(tmp_path).read()
    assert held is not None
    assert held["phases"] == {"6.1": {"status": "failed"}, "7": {}}


def test_a_state_without_phases_is_read_as_it_is(tmp_path: Path) -> None:
    StateFile(tmp_path).write({**state(), "phases": None})

    assert StateFile(tmp_path).read() == {**state(), "phases": None}


def test_archiving_moves_the_file_away(tmp_path: Path) -> None:
    """STATE-12: the state goes to `archive/<run id>.json`."""
    file = StateFile(tmp_path)
    file.write(state("one"))
    file.write(state("two"))
    target = file.archive(RUN)

    assert target == tmp_path / "archive" / f"{RUN}.json"
    assert on_disk(target) == state("two")
    assert file.read() is None
    assert {path.name for path in tmp_path.iterdir()} == {"archive"}
    assert file.archive(RUN) is None


def test_archiving_can_be_done_again_after_a_crash(tmp_path: Path) -> None:
    file = StateFile(tmp_path)
    file.write(state("short"))
    (tmp_path / "archive").mkdir()
    (tmp_path / "archive" / f"{RUN}.json").write_bytes(b'{"half')

    file.archive(RUN, state("whole log"))
    file.archive(RUN, state("whole log"))
    assert on_disk(tmp_path / "archive" / f"{RUN}.json") == state("whole log")
    assert file.read() is None


def test_archiving_one_run_leaves_the_state_of_another(tmp_path: Path) -> None:
    file = StateFile(tmp_path)
    file.write(state("new", run="run-2026-01-02-120000"))

    file.archive(RUN, state("old"))
    assert file.read() == state("new", run="run-2026-01-02-120000")
