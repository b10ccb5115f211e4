"""A request to end a wait reaches the waits it names, whenever they look, and no other."""

from pathlib import Path

from autopilot.journal.inbox import FileNudge


def test_it_names_every_wait_it_was_made_for_and_no_other(tmp_path: Path) -> None:
    nudge = FileNudge(tmp_path)
    assert not nudge.names("run/1/execute/1@12:00")

    nudge.put(["run/1/execute/1@12:00", "run/2/plan/1@12:01"])

    assert FileNudge(tmp_path).names("run/1/execute/1@12:00")
    assert FileNudge(tmp_path).names("run/2/plan/1@12:01")
    assert not nudge.names("run/1/execute/1@13:00")
    assert not nudge.names("run/1/execute/1")


def test_a_file_of_an_earlier_version_names_nothing(tmp_path: Path) -> None:
    (tmp_path / "inbox").mkdir()
    (tmp_path / "inbox" / "retry").write_text("0123456789abcdef", encoding="ascii")

    assert not FileNudge(tmp_path).names("run/1/execute/1@12:00")
