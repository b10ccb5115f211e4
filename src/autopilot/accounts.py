"""The papers about a run that are more than its state: the report of a batch, and what verdicts have taught."""

from pathlib import Path

from autopilot.domain.calibration import adjusted, learnt
from autopilot.domain.completion import COMPLETION
from autopilot.domain.plain_text import harmless
from autopilot.domain.record import PhaseRecord
from autopilot.domain.secrets import redact
from autopilot.engine.decide import Finish, next_move
from autopilot.engine.papers import write_calibrations
from autopilot.engine.postmortem import postmortem_of
from autopilot.engine.streams import Streams
from autopilot.journal.calibration_file import CalibrationFile
from autopilot.journal.diagnostics import FileDiagnostics
from autopilot.journal.files import write_atomic
from autopilot.journal.metrics import metrics_of
from autopilot.journal.projection import state_of
from autopilot.views.batch_report import NAME, Batch, batch_report


def known_passes(streams: Streams) -> dict[str, tuple[PhaseRecord, ...]]:
    """Every target's passes with those of its parts, and behind them the run's own end, if it has come to that."""
    targets = streams.run().start.targets
    found = {phase: streams.passes(phase) for target in targets for phase in (target, *streams.parts(target))}
    ending = streams.completion()
    return found | ({COMPLETION: (ending,)} if ending else {})


def calibrate(home: Path, streams: Streams) -> None:
    """
    LRNG-04, STAT-06a: what a person said of the run's phases becomes a learning and may move the threshold.

    The journal is told before the file: cut off between the two, the file is brought up to it the next time.
    """
    write_calibrations(streams.run(), FileDiagnostics(home))
    file = CalibrationFile(home)
    known, note = adjusted(learnt(file.read(), streams.run()))
    if note is not None:
        streams.append_run(note)
    if known.history:
        file.write(known)


def write_batch_report(home: Path, streams: Streams) -> None:
    """CMPL-04a. Nothing for a run in another mode."""
    run, passes = streams.run(), known_passes(streams)
    if not run.start.settings.modes.complete:
        return
    state = state_of(run, passes, events=None)
    causes = {phase: _cause(records) for phase, records in passes.items() if phase != COMPLETION and records}
    batch = Batch(run=run, state=state, metrics=metrics_of(state), causes=causes)
    write_atomic(home / NAME, redact(harmless(batch_report(batch))).encode())


def _cause(records: tuple[PhaseRecord, ...]) -> str:
    """What the post-mortem of the phase's last pass says; empty for one that did not fail."""
    end = next_move(records[-1])
    if not isinstance(end, Finish) or end.status != "failed":
        return ""
    cause = postmortem_of(records[-1], end).root_cause
    return f"{cause.category}: {end.reason}"
