"""Nothing a session or a loop wrote is lost: many writers at once, cut-off lines, and processes that died."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from autopilot.domain.errors import StorageFailed
from autopilot.sessions.files.jsonl import LineFile, objects_in
from autopilot.sessions.files.loop_record import LoopRecord, recent_loops
from autopilot.sessions.files.open_loops import CUT_OFF, OpenLoops
from autopilot.sessions.machine.registry import Entry, Registry

WRITER = """
import sys
from pathlib import Path
from autopilot.sessions.files.jsonl import LineFile
for number in range(5):
    LineFile(Path(sys.argv[1])).append({"writer": sys.argv[2], "number": number, "filler": "x" * 5000})
"""


def record(name: str, **more: object) -> LoopRecord:
    moment = "2026-03-01T09:00:00.000Z"
    base = LoopRecord(
        autopilot_run_id=name,
        started_at=moment,
        completed_at=moment,
        max_sessions=5,
        max_hours=4,
        confidence_threshold=0.85,
    )
    return replace(base, **more)


def loops(folder: Path, owner: str = "me", alive: frozenset[str] = frozenset()) -> OpenLoops:
    return OpenLoops(folder, owner, alive.__contains__)


def test_forty_writers_at_once_leave_forty_lines(tmp_path: Path) -> None:
    file = LineFile(tmp_path / "metrics" / "autopilot.jsonl")
    with ThreadPoolExecutor(max_workers=40) as pool:
        list(pool.map(lambda n: file.append(record(f"loop-{n}")), range(40)))

    assert {line["autopilot_run_id"] for line in file.read()} == {f"loop-{n}" for n in range(40)}
    assert len(file.path.read_bytes().splitlines()) == 40


def test_writers_in_processes_of_their_own_do_not_cut_each_other(tmp_path: Path) -> None:
    path = tmp_path / "sessions.jsonl"
    argv = [sys.executable, "-c", WRITER, str(path)]
    writers = [subprocess.Popen([*argv, str(n)]) for n in range(8)]
    assert [writer.wait() for writer in writers] == [0] * 8

    assert len({(line["writer"], line["number"]) for line in LineFile(path).read()}) == 40


def test_a_line_that_was_cut_off_does_not_swallow_the_next(tmp_path: Path) -> None:
    file = LineFile(tmp_path / "a.jsonl")
    file.append({"a": 1})
    file.path.write_bytes(file.path.read_bytes() + b'{"a": 2, "half')
    file.append({"a": 3})

    assert [line["a"] for line in file.read()] == [1, 3]


@given(st.binary(max_size=200))
def test_any_bytes_can_be_read(content: bytes) -> None:
    assert all(isinstance(line, dict) for line in objects_in(content))


def test_a_folder_that_cannot_be_written_is_told_in_three_parts(tmp_path: Path) -> None:
    (tmp_path / "metrics").write_text("a file")
    with pytest.raises(StorageFailed, match="is a link or no folder"):
        LineFile(tmp_path / "metrics" / "a.jsonl").append({})


def test_unknown_fields_and_foreign_lines_are_no_damage() -> None:
    import msgspec

    line = msgspec.to_builtins(record("a")) | {"from_the_future": {"x": 1}}
    found = recent_loops((line, {"kind": "other"}, {**line, "max_hours": "four"}))

    assert [loop.autopilot_run_id for loop in found] == ["a"]


def test_loops_of_one_minute_have_names_of_their_own(tmp_path: Path) -> None:
    with ThreadPoolExecutor(max_workers=20) as pool:
        names = list(pool.map(lambda n: loops(tmp_path, f"p{n}").unique("main-0900-autopilot"), range(20)))

    assert len(set(names)) == 20
    assert "main-0900-autopilot" in names


def test_a_name_in_the_records_is_not_given_again(tmp_path: Path) -> None:
    first = loops(tmp_path)
    first.closed(record(first.unique("main-0900")))

    assert loops(tmp_path).unique("main-0900") == "main-0900-2"


def test_a_loop_whose_process_died_gets_its_record(tmp_path: Path) -> None:
    dead = loops(tmp_path, "dead")
    name = dead.unique("main-0900")
    dead.opened(record(name, iterations_completed=2, sessions=("s1", "s2")))

    (found,) = loops(tmp_path, "me").recover()

    assert (found.sessions, found.kill_switch_detail) == (("s1", "s2"), CUT_OFF)
    assert [line["autopilot_run_id"] for line in dead.lines.read()] == [name]
    assert loops(tmp_path, "me").recover() == ()


def test_a_loop_that_still_runs_is_left_alone(tmp_path: Path) -> None:
    running = loops(tmp_path, "running")
    running.opened(record(running.unique("main-0900")))

    assert loops(tmp_path, "me", alive=frozenset({"running"})).recover() == ()
    assert running.lines.read() == ()


def test_a_loop_killed_between_its_record_and_its_end_is_recorded_once(tmp_path: Path) -> None:
    dead = loops(tmp_path, "dead")
    name = dead.unique("main-0900")
    dead.opened(record(name))
    dead.lines.append(record(name))

    assert loops(tmp_path, "me").recover() == ()
    assert len(dead.lines.read()) == 1


def test_a_session_lives_as_long_as_its_heart_beats(tmp_path: Path) -> None:
    times = [datetime(2026, 3, 1, tzinfo=UTC)]
    registry = Registry(tmp_path / "active", lambda: times[0])
    registry.register(Entry(session_id="a", pid=1, mode="deep"))
    times[0] += timedelta(minutes=14)
    beaten = registry.heartbeat("a", status="wave", wave=3)
    times[0] += timedelta(minutes=14)

    assert beaten is not None
    assert (beaten.status, beaten.current_wave) == ("wave", 3)
    assert [peer.session_id for peer in registry.peers("b")] == ["a"]
    assert [registry.deregister("a"), registry.deregister("a")] == [True, False]
    assert registry.heartbeat("a") is None


def test_entries_are_for_their_owner_alone(tmp_path: Path) -> None:
    registry = Registry(tmp_path / "active", lambda: datetime.now(UTC))
    registry.register(Entry(session_id="a", pid=1))

    assert (tmp_path / "active" / "a.json").stat().st_mode & 0o777 == 0o600
    with pytest.raises(ValueError, match="path separators"):
        registry.register(Entry(session_id="../a", pid=1))
