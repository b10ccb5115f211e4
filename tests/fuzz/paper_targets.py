"""Targets for the papers of a run: journal, receipts, inbox, people's answers, sessions, what lies beside them."""

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime

from autopilot.domain.errors import AutopilotError
from autopilot.evidence.receipts import check_receipt as recheck
from autopilot.journal import codec
from autopilot.journal.answer_files import CONTEXT_MAP, AskedFile
from autopilot.journal.earlier_runs import ledger_of_archive
from autopilot.journal.head import read_head
from autopilot.journal.inbox import FileInbox
from autopilot.journal.state_file import StateFile
from autopilot.policy import version_bump as versions
from autopilot.sandbox.keeper.held_calls import end_of, paper_of
from autopilot.sessions import learnings
from autopilot.sessions.files import jsonl as lines
from autopilot.sessions.files import loop_record, session_record
from autopilot.sessions.files import next_session as state_fields
from autopilot.text.error_shape import shape
from fuzz.places import scratch

Target = Callable[[bytes], None]
NOW = datetime(2026, 2, 9, 14, 30, tzinfo=UTC)


def fuzz_codec(data: bytes) -> None:
    """A row is an event or damaged; an event is written as it was read."""
    text = data.decode(errors="replace")
    try:
        event = codec.decode(text, len(codec.UPGRADES))
    except AutopilotError:
        return
    assert codec.decode(codec.encode(event), len(codec.UPGRADES)) == event


def fuzz_receipts(data: bytes) -> None:
    try:
        held = recheck.read(data, "r")
    except AutopilotError:
        return
    assert all(recheck.contradictions(held))


def fuzz_inbox(data: bytes) -> None:
    folder = scratch() / "inbox"
    folder.mkdir(exist_ok=True)
    (folder / "1.json").write_bytes(data)
    assert all(said.id == "1" for said in FileInbox(scratch()).waiting())


def fuzz_asked_files(data: bytes) -> None:
    """A paper that is understood can be brought up to date, and one that is not stays as it is."""
    file = AskedFile(scratch(), CONTEXT_MAP)
    file.path.write_bytes(data)
    try:
        file.read()
        file.update(lambda paper: {**paper, "last_updated": "now"})
    except AutopilotError:
        assert file.path.read_bytes() == data
        return
    file.read()


def fuzz_head(data: bytes) -> None:
    path = scratch() / "journal.head"
    path.write_bytes(data)
    read_head(path)


def fuzz_state_file(data: bytes) -> None:
    """state.json and archived runs: another program's, a damaged one, or ours."""
    path = scratch() / "state.json"
    path.write_bytes(data)
    with suppress(AutopilotError):
        StateFile(scratch()).read()
    found = lines.objects_in(data.replace(b"\n", b" "))
    ledger_of_archive(found)


def fuzz_held_calls(data: bytes) -> None:
    place = scratch() / "held"
    place.mkdir(exist_ok=True)
    for name in ("order.json", "result"):
        (place / name).write_bytes(data)
    paper_of(place)
    end_of(place)


def fuzz_session_state(data: bytes) -> None:
    """The front matter that sessions leave for each other, and lock files."""
    text = data.decode(errors="replace")
    state_fields.read(text)
    state_fields.keys_of(text)


def fuzz_session_lines(data: bytes) -> None:
    """Records of sessions and loops, one a line."""
    found = lines.objects_in(data)
    loop_record.recent_loops(found)
    for record in session_record.recent(found, 5):
        if session_record.problem_in(record) is None:
            session_record.normalised(session_record.clamped(record))


def fuzz_learnings(data: bytes) -> None:
    found = lines.objects_in(data)
    known = learnings.understood(found)
    learnings.newest(known)
    learnings.effective(found, NOW)
    learnings.calibrations(data.decode(errors="replace"))
    for one in known[:3]:
        list(learnings.added(known, one))


def fuzz_versions(data: bytes) -> None:
    """Files that name a version: bumped, each still names one."""
    text = data.decode(errors="replace")
    versions.has_rules(text)
    shape(text)
    for path in versions.FILES:
        version, _ = versions.current({path: text})
        if version:
            new = versions.bumped(version, "2")
            changed = versions.with_version(path, text, new, "entry")
            assert changed is None or versions.version_in(path, changed) in {new, None}


TARGETS: dict[str, Target] = {
    "codec": fuzz_codec,
    "receipts": fuzz_receipts,
    "inbox": fuzz_inbox,
    "asked_files": fuzz_asked_files,
    "head": fuzz_head,
    "state_file": fuzz_state_file,
    "held_calls": fuzz_held_calls,
    "session_state": fuzz_session_state,
    "session_lines": fuzz_session_lines,
    "learnings": fuzz_learnings,
    "versions": fuzz_versions,
}
