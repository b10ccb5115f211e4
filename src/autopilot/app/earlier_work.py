"""What earlier runs left of the phases a run is to work on: which to take up again, and what is known of each."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from autopilot.domain.events import RunStarted
from autopilot.domain.phase import Plan
from autopilot.domain.request import RunRequest
from autopilot.domain.rework import (
    QUALITY,
    Before,
    Standing,
    again_flags,
    gap_target,
    redoes,
    refines,
    sorted_by_shortfall,
)
from autopilot.domain.verdict import ALREADY_SATISFIED
from autopilot.engine.close.confidence import deficiencies, feedback
from autopilot.engine.decide.rework_loops import standing_record
from autopilot.engine.perform.run_log import Streams
from autopilot.history.record import PhaseRecord, RunRecord
from autopilot.journal.earlier_runs import Ledger
from autopilot.journal.sqlite import SqliteJournal
from autopilot.journal.state_file import StateFile
from autopilot.planning.roadmap import selection
from autopilot.planning.start import rework_selection as again
from autopilot.planning.start import shortfalls
from autopilot.planning.start.read_project import Project
from autopilot.planning.start.rework_selection import Chosen
from autopilot.workspace.user_files import read_bytes

NO_SCORECARD = (
    "SCORECARD.md not available for phase {phase}. "
    "Deriving gap analysis from judge concerns and verifier criteria results."
)


def pick(request: RunRequest, project: Project, ledger: Ledger) -> Chosen:
    """
    The phases a request means. Raises for those its flags do not apply to.

    The words that began a run which can go on mean that run, whatever has become of its phases since.
    """
    if redoes(request.modes):
        newest = ledger.newest.start.settings.modes if ledger.newest and ledger.resumable else None
        repeated = newest is not None and again_flags(newest) == again_flags(request.modes)
        known = ledger.known_at_start(project.roadmap) if repeated else ledger.known(project.roadmap)
        return again.chosen(request, project.roadmap, known)
    return Chosen(phases=selection.wanted(request, project.roadmap, ledger.completed(project.roadmap)))


def with_past(first: RunStarted, picked: Chosen, root: Path, project: Project, ledger: Ledger) -> RunStarted:
    """The run's first event with what is known of its targets' past, and the lines on phases it leaves alone."""
    known = ledger.known(project.roadmap)
    archive = Archive(root, project, first, ledger)
    told = {target: known[target] for target in first.targets if _worked_on(known[target], first)}
    before = {target: archive.before(target, standing) for target, standing in told.items()}
    satisfied = tuple(phase for phase, standing in known.items() if standing.status == ALREADY_SATISFIED)
    remarks = (*picked.remarks, *archive.remarks)
    return msgspec.structs.replace(first, before=before, remarks=remarks, satisfied=satisfied)


def _worked_on(standing: Standing, first: RunStarted) -> bool:
    marked = standing.status == "completed" and redoes(first.settings.modes)
    return marked or standing.run != "" or bool(standing.history) or standing.score is not None


class Archive:
    """Everything written about phases so far; `remarks` grows with what had to be looked for elsewhere."""

    def __init__(self, root: Path, project: Project, first: RunStarted, ledger: Ledger) -> None:
        self._root, self._project, self._first, self._ledger = root, project, first, ledger
        self.remarks: list[str] = []

    def before(self, phase: str, standing: Standing) -> Before:
        bare = Before(status=standing.status, score=standing.score, history=standing.history)
        if standing.status != "completed" or not refines(self._first.settings.modes):
            return bare
        return self._recorded(phase, bare, standing.run) or self._from_papers(phase, bare)

    def _recorded(self, phase: str, bare: Before, run: str) -> Before | None:
        """From the journal: the pass the phase stands on, or what the run that did not better it knew of it."""
        if not run:
            return None
        streams = Streams(SqliteJournal.read_only(self._root / ".autopilot" / "journal.db"), run, ())
        record = standing_record(streams.run(), phase, streams.passes(phase))
        return self._of_pass(bare, record) if record else _as_known(streams.run(), phase)

    def _of_pass(self, bare: Before, record: PhaseRecord) -> Before:
        return msgspec.structs.replace(
            bare,
            plan=record.plan or self._whole_plan(record.phase.id),
            feedback=feedback(record, QUALITY),
            deficiencies=sorted_by_shortfall(deficiencies(record, gap_target(bare.score))),
        )

    def _from_papers(self, phase: str, bare: Before) -> Before:
        folder = self._first.folders.get(phase, f".planning/phases/{phase}")
        papers = dict(self._papers(phase, folder))
        if self._first.settings.modes.gaps is not None and not shortfalls.has_scorecard(papers):
            self.remarks.append(NO_SCORECARD.format(phase=phase))
        found = shortfalls.found(papers, folder, gap_target(bare.score), self._issues(phase))
        return msgspec.structs.replace(
            bare,
            plan=self._whole_plan(phase),
            feedback=tuple(one.feedback for one in found),
            deficiencies=found,
        )

    def _whole_plan(self, phase: str) -> Plan | None:
        """Those of its plan files that are done, too: what is mended was made by all of them."""
        found = self._project.phase_files.get(phase)
        return found.whole if found else None

    def _papers(self, phase: str, folder: str) -> Iterator[tuple[str, str]]:
        diagnostic = f".autopilot/diagnostics/phase-{phase}-{shortfalls.DIAGNOSTIC}"
        places = {name: f"{folder}/{name}" for name in shortfalls.PAPERS} | {shortfalls.DIAGNOSTIC: diagnostic}
        for name, place in places.items():
            held = read_bytes(self._root / place)
            if held is not None:
                yield name, held.decode("utf-8", "replace")

    def _issues(self, phase: str) -> tuple[str, ...]:
        """What the newest archived state that knows the phase has noted of it."""
        for state in reversed(StateFile(self._root / ".autopilot").archived()):
            phases = state.get("phases")
            told = phases.get(phase) if isinstance(phases, dict) else None
            issues = told.get("issues") if isinstance(told, dict) else None
            if isinstance(issues, list):
                return tuple(issue for issue in issues if isinstance(issue, str))
        return ()


def _as_known(run: RunRecord, phase: str) -> Before | None:
    return run.start.before.get(phase)
