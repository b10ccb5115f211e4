"""A cut or a changed bit in any file we keep: the right answer, the backup, or an error that names the file."""

import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

from autopilot.agents import transcripts
from autopilot.app import prepare as app
from autopilot.app import wiring as hiring
from autopilot.cli.verbs import status
from autopilot.codemap import cache as book
from autopilot.domain.errors import AutopilotError
from autopilot.domain.events import Noted
from autopilot.journal.answer_files import AskedFile
from autopilot.journal.calibration_file import CalibrationFile
from autopilot.journal.clock import FixedClock
from autopilot.journal.inbox import FileInbox
from autopilot.journal.lock import RunLock, owner
from autopilot.journal.metrics_file import MetricsFile
from autopilot.journal.sqlite import SqliteJournal
from autopilot.journal.state_file import StateFile
from autopilot.planning.config.user_config import read as read_choices
from autopilot.policy.deferral import Calibration, Row
from autopilot.sandbox.keeper import held_calls as kept
from autopilot.sandbox.keeper import keeper
from autopilot.sessions.files.jsonl import LineFile
from autopilot.sessions.files.open_loops import OpenLoops
from autopilot.sessions.machine.registry import Entry, Registry
from autopilot.text.checksum import sealed
from autopilot.workspace.user_repository import Start, read_start
from support.faults import full, record, seed
from support.project import ROADMAP
from support.repos import write
from support.stores import NOON, RUN

SAMPLE, SAID = 150, "00000000000000000001-0123abcd"
Looked = Callable[[Path], Any]


@dataclass(frozen=True, slots=True)
class Kept:
    """
    One file of ours in a folder: how it comes about, and what is read from it.

    `also` are answers that are as good as the right one: the backup, or nothing where nothing decides by it.
    """

    name: str
    make: Callable[[Path], None]
    look: Looked
    also: tuple[Any, ...] = ()
    beside: tuple[str, ...] = ()


def journal(folder: Path) -> SqliteJournal:
    return SqliteJournal(folder / "journal.db", FixedClock(), patience_s=0.05)


def make_journal(folder: Path) -> None:
    with journal(folder) as opened:
        for number in range(3):
            opened.append(RUN, number, Noted(event=f"entry {number}", phase="1", details={"text": "x" * 200}))


def make_live(folder: Path) -> None:
    """As a run leaves it that was killed: the entries are still in the -wal."""
    at_work = folder.with_name(f"{folder.name}-run")
    with journal(at_work) as opened:
        for number in range(3):
            opened.append(RUN, number, Noted(event=f"entry {number}"))
        for name in ("journal.db", "journal.db-wal", "journal.head"):
            shutil.copy(at_work / name, folder / name)
    shutil.rmtree(at_work)


def look_journal(folder: Path) -> Any:
    with journal(folder) as opened:
        return [msgspec.to_builtins(entry) for entry in opened.load(RUN)], opened.verify()


def look_view(folder: Path) -> Any:
    reader = SqliteJournal.read_only(folder / "journal.db")
    return [msgspec.to_builtins(entry) for entry in reader.load(RUN)]


def state_of(note: str) -> dict[str, Any]:
    phases = {"1": {"status": "completed", "alignment_score": 9.4, "name": "Letter"}}
    return {"_meta": {"version": "1.0", "run_id": RUN, "status": "paused", "note": note}, "phases": phases}


def make_state(folder: Path) -> None:
    for note in ("one", "two"):
        StateFile(folder / ".autopilot").write(state_of(note))


def show(folder: Path) -> str:
    return status.show(as_json=False, folder=str(folder))


def make_archive(folder: Path) -> None:
    StateFile(folder).archive(RUN, state_of("old"))


def completed(folder: Path) -> Any:
    return {phase: told.status for phase, told in hiring.past(folder).standings.items()}


def make_calibration(folder: Path) -> None:
    row = Row(run=RUN, phase_id="1", autonomous_confidence=7.5, human_verdict="pass")
    CalibrationFile(folder).write(Calibration(deferral_threshold=5.5, history=(row,)))


def make_metrics(folder: Path) -> None:
    MetricsFile(folder).record({"run_id": RUN, "success_rate": 0.75, "total_estimated_tokens": 1200})


def make_inbox(folder: Path) -> None:
    said = FileInbox(folder).put(RUN, "1", "issues_found", ["the door is open"])
    (folder / "inbox" / f"{said.id}.json").unlink()
    named = msgspec.structs.replace(said, id=SAID)
    (folder / "inbox" / f"{SAID}.json").write_bytes(sealed(msgspec.json.format(msgspec.json.encode(named))))


def heard(folder: Path) -> Any:
    return [msgspec.to_builtins(said) for said in FileInbox(folder).waiting()]


def make_answers(folder: Path) -> None:
    question = {"question": "Which colour?", "answer": "blue"}
    AskedFile(folder, "context-map.json").update(lambda p: {**p, "phases": {"1": {"questions": [question]}}})


def make_result(folder: Path) -> None:
    told = "ended 0 1.250 17 0"
    (folder / keeper.RESULT).write_text(f"{told} {keeper.checksum(told)}\n")


def make_paper(folder: Path) -> None:
    paper = kept.Paper(call="r/1/a/1", mark="m", whose="w", cwd="/x", asked="a", boot="b")
    (folder / "order.json").write_bytes(msgspec.json.encode(paper))


def make_book(folder: Path) -> None:
    with book.Opened(str(folder / "repo-map.db")) as opened:
        opened.put_files([("a.py", None), ("b.py", None)])
        opened.put_note("commit", "c0")


def look_book(folder: Path) -> Any:
    return book.with_book(str(folder / "repo-map.db"), lambda opened: (opened.note("commit"), list(opened.paths())))


def make_lines(folder: Path) -> None:
    for name in ("a", "b"):
        LineFile(folder / "sessions.jsonl").append({"name": name})


def make_registry(folder: Path) -> None:
    Registry(folder, lambda: NOON).register(Entry(session_id="one", pid=1))


def make_loop(folder: Path) -> None:
    OpenLoops(folder, "me", lambda _: True).unique("loop")


def make_start(folder: Path) -> None:
    start = Start(branch="main", base="0123456789abcdef" * 2)
    (folder / "start.json").write_bytes(sealed(msgspec.json.format(msgspec.json.encode(start), indent=2)))


def make_lock(folder: Path) -> None:
    with RunLock(folder, RUN):
        pass


def relocked(folder: Path) -> Any:
    with RunLock(folder, RUN):
        found = owner(folder)
        return found.run if found else None


def make_choices(folder: Path) -> None:
    (folder / "config.toml").write_text('sandbox = "auto"\n\n[agent]\nconfine = true\n', encoding="utf-8")


def make_plans(folder: Path) -> None:
    config = b'{"workflow": {"research": false}, "verification": {"min_duration_seconds": 30}}\n'
    write(folder, {".planning/ROADMAP.md": ROADMAP, ".planning/config.json": config.decode()})


def make_transcript(folder: Path) -> None:
    call = transcripts.Transcript(call="r/1", command=("x",), stdin={}, stdout="o", stderr="", exit=0, seconds=1.0)
    assert transcripts.store(folder, call)


JOURNAL = ("journal.db", "journal.db-wal", "journal.head", "journal.db-shm")
# Nothing but a changed bit in them is as good as the right answer: they guard what a run goes by.
GUARDED = {
    "journal": Kept("journal.db", make_journal, look_journal, beside=JOURNAL),
    "journal, seen by a view": Kept("journal.db", make_journal, look_view, beside=JOURNAL),
    "journal's HEAD": Kept("journal.head", make_journal, look_journal, beside=JOURNAL),
    "journal of a killed run": Kept("journal.db", make_live, look_journal, beside=JOURNAL),
    "journal's -wal": Kept("journal.db-wal", make_live, look_journal, beside=JOURNAL),
    "journal's -wal, seen by a view": Kept("journal.db-wal", make_live, look_view, beside=JOURNAL),
    "state": Kept(
        ".autopilot/state.json",
        make_state,
        lambda folder: StateFile(folder / ".autopilot").read(),
        also=(state_of("one"),),
    ),
    "state's backup": Kept(
        ".autopilot/state.json.backup", make_state, lambda folder: StateFile(folder / ".autopilot").read()
    ),
    "status": Kept(".autopilot/state.json", make_state, show),
    "archive": Kept(f"archive/{RUN}.json", make_archive, completed),
    "calibration": Kept(
        "calibration.json", make_calibration, lambda folder: CalibrationFile(folder).read(), also=(Calibration(),)
    ),
    "inbox": Kept(f"inbox/{SAID}.json", make_inbox, heard),
    "keeper's result": Kept(keeper.RESULT, make_result, kept.end_of, also=(None,)),
    "where a run began": Kept("start.json", make_start, lambda folder: read_start(folder / "start.json")),
    "lock": Kept("lock", make_lock, relocked),
}
# Files for people, and caches: read as they are, or passed over, but never the end of the program.
OPEN = {
    "metrics": Kept("archive/metrics.json", make_metrics, lambda folder: MetricsFile(folder).checked()),
    "answers": Kept("context-map.json", make_answers, lambda folder: AskedFile(folder, "context-map.json").read()),
    "keeper's paper": Kept("order.json", make_paper, kept.paper_of),
    "map": Kept("repo-map.db", make_book, look_book, beside=("repo-map.db-journal",)),
    "config": Kept(".planning/config.json", make_plans, lambda folder: str(app.read_project(folder))),
    "roadmap": Kept(".planning/ROADMAP.md", make_plans, lambda folder: str(app.read_project(folder))),
    "transcript": Kept("r/1.json", make_transcript, lambda folder: transcripts.recorded(folder, "r/1")),
    "lines": Kept("sessions.jsonl", make_lines, lambda folder: LineFile(folder / "sessions.jsonl").read()),
    "registry": Kept("one.json", make_registry, lambda folder: Registry(folder, lambda: NOON).peers()),
    "open loops": Kept(
        "open-loops/loop.json", make_loop, lambda folder: OpenLoops(folder, "next", lambda _: False).recover()
    ),
    "choices": Kept(
        "config.toml",
        make_choices,
        lambda folder: read_choices((folder / "config.toml").read_bytes().decode("utf-8", "replace"), "config.toml"),
    ),
}


def harms(content: bytes, name: str) -> Iterator[tuple[str, bytes]]:
    """A cut at every byte and three changed bits in each, or a sample of them."""
    chance = random.Random(f"{seed()} {name}")
    cuts: list[tuple[int, int]] = [(at, -1) for at in range(len(content))]
    flips = [(at, bit) for at in range(len(content)) for bit in chance.sample(range(8), 3)]
    every = cuts + flips
    for at, bit in every if full() else chance.sample(every, min(SAMPLE, len(every))):
        if bit < 0:
            yield f"cut at byte {at}", content[:at]
        else:
            yield f"bit {bit} of byte {at}", content[:at] + bytes([content[at] ^ (1 << bit)]) + content[at + 1 :]


def answer(one: Kept, folder: Path) -> Any:
    """What is read, or the error in three parts that names the file."""
    try:
        return one.look(folder)
    except AutopilotError as error:
        stem = Path(one.name).name.split(".")[0]
        named = stem in f"{error.what} {error.why} {error.do}"
        return "told" if error.why and error.do and named else f"not named: {error.what}"


def outcomes(one: Kept, name: str, folder: Path) -> dict[str, Any]:
    """By what was done to the file: the answer."""
    folder.mkdir()
    one.make(folder)
    kept_files = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    content, found = kept_files[folder / one.name], {}
    found[""] = answer(one, folder)
    for harm, harmed in harms(content, name):
        for beside in one.beside:
            (folder / beside).unlink(missing_ok=True)
        for path, whole in kept_files.items():
            path.write_bytes(whole)
        (folder / one.name).write_bytes(harmed)
        found[harm] = answer(one, folder)
    return found


@pytest.mark.parametrize("name", GUARDED)
def test_damage_gives_the_right_answer_or_an_error_that_names_the_file(tmp_path: Path, name: str) -> None:
    one = GUARDED[name]
    found = outcomes(one, name, tmp_path / "home")

    good = (found.pop(""), *one.also, "told")
    record(f"corruption: {name}", harms=len(found), told=sum(came == "told" for came in found.values()))
    assert {harm: came for harm, came in found.items() if came not in good} == {}


@pytest.mark.parametrize("name", OPEN)
def test_damage_to_what_people_write_or_nobody_goes_by_never_ends_the_program(tmp_path: Path, name: str) -> None:
    found = outcomes(OPEN[name], name, tmp_path / "home")

    record(f"corruption: {name}", harms=len(found))
    assert [came for came in found.values() if str(came).startswith("not named")] == []
