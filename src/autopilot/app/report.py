"""The report of a run on request: read its journal and what lies beside it, and hand it to the view that draws it."""

import gc
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autopilot.app.finish import ended_of
from autopilot.app.ownership import check_folder, check_untracked
from autopilot.app.receipts import held_at
from autopilot.app.wiring import processes_of
from autopilot.domain.attempt import Brief
from autopilot.domain.errors import ReceiptInvalid, UsageInvalid
from autopilot.domain.events import Entry, RunFinished, RunStopped, stream_of
from autopilot.domain.receipt import FILE
from autopilot.engine.perform.run_log import Streams
from autopilot.history.record import PhaseRecord, RunRecord, kept_entries
from autopilot.journal.clock import SystemClock
from autopilot.journal.diagnostic_files import FileDiagnostics
from autopilot.journal.durable_files import make_folder, write_atomic
from autopilot.journal.metrics_file import MetricsFile
from autopilot.journal.sqlite import ReadOnlyJournal, SqliteJournal
from autopilot.planning.roadmap import ids
from autopilot.text.clean import harmless
from autopilot.text.redact import Redactor
from autopilot.views.lines.retelling import account
from autopilot.views.markdown.completion_report import report
from autopilot.views.report import diffs
from autopilot.views.report.data import data
from autopilot.views.report.page import page
from autopilot.views.report.source import ReceiptSeen, Told
from autopilot.workspace.read_diffs import differences, reader
from autopilot.workspace.user_files import find_root, phase_folders

NAME = "report.html"
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Reports:
    """About the newest run of the repository around `folder`, or about the one whose name begins as said."""

    folder: str

    def text(self, run: str | None) -> str:
        """The completion report; of a run that is not over, how far it has come."""
        home = find_root(Path(self.folder)) / ".autopilot"
        streams, redact = _streams(home, run), Redactor.of(os.environ)
        record = streams.run()
        match record.end:
            case RunFinished() as finished:
                told = report(ended_of(streams, finished)[0], _up_to(MetricsFile(home).read(), record.start.run))
            case end:
                why = f"stopped, {end.reason}" if isinstance(end, RunStopped) else "not over"
                told = f"{account(record.entries, _entries(streams))}\nThe run is {why}. Go on with: autopilot resume\n"
        return redact(harmless(told)).rstrip("\n")

    def stranger(self) -> str:
        """Why the runs are not the user's own, in words; empty where they are."""
        path = find_root(Path(self.folder)) / ".autopilot" / "journal.db"
        strange = SqliteJournal.look(path).bound.strange
        return f"These runs are not yours, and nothing here was checked: {strange}." if strange else ""

    def data(self, run: str | None) -> dict[str, Any]:
        """The same as the page, for programs."""
        with _all_needed():
            return data(_told(find_root(Path(self.folder)), run), Redactor.of(os.environ))

    def page(self, run: str | None, file: str | None) -> str:
        """Write the page to the file, or to its place below `.autopilot`; where it is."""
        root = find_root(Path(self.folder))
        with _all_needed():
            told = _told(root, run)
            git = reader(root / ".autopilot" / "repo.git", processes_of(root), os.environ)
            told = replace(told, diffs=differences(git, diffs.wanted(told)))
            drawn = page(told, Redactor.of(os.environ)).encode("utf-8", "replace")
        path = Path(self.folder, file) if file else home_of(root) / NAME
        make_folder(path.parent)
        write_atomic(path, drawn)
        return str(path)


def home_of(root: Path) -> Path:
    """Where a page may be written: nothing is put below a folder that came with the repository."""
    check_folder(root / ".autopilot")
    check_untracked(root)
    return root / ".autopilot"


def _entries(streams: Streams) -> dict[str, tuple[Entry, ...]]:
    run = streams.run().start.run
    return {stream_of(run, p.phase.id, p.brief.number): p.entries for p in streams.all_passes()}


@contextmanager
def _all_needed() -> Iterator[None]:
    """Of a long run a hundred thousand values are held to the end: to look for garbage among them takes a second."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


def _streams(home: Path, run: str | None) -> Streams:
    journal = SqliteJournal.look(home / "journal.db")
    return Streams(journal, _named(_runs(journal), run), ())


def _runs(journal: ReadOnlyJournal) -> list[str]:
    """Oldest first; a journal that can be read has one."""
    return [stream for stream in journal.streams() if "/" not in stream]


def _named(names: list[str], wanted: str | None) -> str:
    """The newest run, or the one whose name begins as was asked for."""
    if wanted is None:
        return names[-1]
    full = wanted if wanted.startswith("run-") else f"run-{wanted}"
    found = [name for name in names if name == full] or [name for name in names if name.startswith(full)]
    if len(found) == 1:
        return found[0]
    listed = ", ".join((found or names)[-_SHOWN:])
    raise UsageInvalid(
        f"{'Several runs begin with' if found else 'There is no run'} {wanted!r}.",
        why="A report is about one run of the journal.",
        do=f"Name one of: {listed}.",
    )


def _told(root: Path, run: str | None) -> Told:
    home, journal = root / ".autopilot", SqliteJournal.look(root / ".autopilot" / "journal.db")
    names = _runs(journal)
    name, papers = _named(names, run), FileDiagnostics(home)
    held = journal.load_run(name)
    record, passes = RunRecord(entries=held[name]), dict[str, list[PhaseRecord]]()
    for brief in record.briefs:
        earlier = passes.setdefault(brief.phase.id, [])
        earlier.append(_pass(record, brief, held, earlier))
    return Told(
        run=record,
        passes={phase: tuple(found) for phase, found in passes.items()},
        now=SystemClock().now(),
        ending=_pass(record, record.completing, held) if record.completing else None,
        runs=_up_to(MetricsFile(home).read(), name),
        learnings=papers.learnings() if name == names[-1] else papers.learnings_of(name),
        receipts=tuple(_receipts(root)),
    )


def _pass(
    run: RunRecord, brief: Brief, held: Mapping[str, tuple[Entry, ...]], earlier: Sequence[PhaseRecord] = ()
) -> PhaseRecord:
    """`earlier` are the passes of the phase before this one."""
    stream = stream_of(run.start.run, brief.phase.id, brief.number)
    kept = kept_entries(brief, earlier[brief.continues.number]) if brief.continues else ()
    return PhaseRecord(start=run.start, brief=brief, entries=held.get(stream, ()), kept=kept)


def _up_to(runs: tuple[dict[str, Any], ...], name: str) -> tuple[dict[str, Any], ...]:
    """A run is compared with those before it; one that has not ended yet with none after it either."""
    own = next((place for place, run in enumerate(runs) if run["run_id"] == name), None)
    return runs if own is None else runs[: own + 1]


def _receipts(root: Path) -> Iterator[ReceiptSeen]:
    """In the order of the phases; one that cannot be read is no reason to show none."""
    folders = ((folder, folder.partition("-")[0]) for folder in phase_folders(root))
    for folder, phase in sorted(folders, key=lambda pair: ids.sort_key(ids.normalise(pair[1]))):
        path = root / ".planning" / "phases" / folder / FILE
        shown = str(path.relative_to(root))
        if not path.is_file():
            continue
        try:
            held = held_at(path)
        except ReceiptInvalid as error:
            yield ReceiptSeen(phase=phase, path=shown, trouble=error.what)
            continue
        proof = held.statement.proof
        yield ReceiptSeen(
            phase=proof.phase,
            path=shown,
            run=proof.run,
            result=held.statement.predicate.result,
            commit=proof.commit,
            passed=proof.checks.passed,
            total=proof.checks.total,
            signed=held.signature is not None,
        )
