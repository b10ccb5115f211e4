"""The reports about a run that are more than its state: the report of a batch, and what verdicts have taught."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from autopilot.domain.events import AgentAnswered, RunFinished, stream_of
from autopilot.domain.process import Try, refused
from autopilot.domain.request import RunEnd
from autopilot.domain.results import COMPLETION
from autopilot.engine.close.diagnostics import write_calibrations
from autopilot.engine.close.postmortem import postmortem_of
from autopilot.engine.decide.next_step import Finish, next_move
from autopilot.engine.perform.run_log import Streams
from autopilot.engine.run.result import run_end
from autopilot.history.digest import digest_of
from autopilot.history.record import PhaseRecord, RunRecord
from autopilot.journal.calibration_file import CalibrationFile
from autopilot.journal.diagnostic_files import FileDiagnostics
from autopilot.journal.durable_files import write_atomic
from autopilot.policy.deferral import adjusted, learnt
from autopilot.state.build_state import state_of
from autopilot.state.metrics import metrics_of
from autopilot.text.clean import harmless
from autopilot.text.redact import redact
from autopilot.views.lines.announcement import kept_lines, remaining
from autopilot.views.lines.retelling import account
from autopilot.views.markdown.batch_report import NAME, Batch, batch_report
from autopilot.views.markdown.completion_report import Ended


def known_passes(streams: Streams) -> dict[str, tuple[PhaseRecord, ...]]:
    """Every target's passes with those of its parts, and behind them the run's own end, if it has come to that."""
    targets = streams.run().start.targets
    found = {phase: streams.passes(phase) for target in targets for phase in (target, *streams.parts(target))}
    ends = streams.completions()
    return found | ({COMPLETION: ends} if ends else {})


def ended_of(streams: Streams, finished: RunFinished) -> tuple[Ended, RunEnd, dict[str, Any]]:
    """What the report of a run's end is made of, its end in few words, and its whole state."""
    run, passes = streams.run(), known_passes(streams)
    records = [record for found in passes.values() for record in found]
    state = state_of(run, passes, events=None)
    end = run_end(run, map(digest_of, records), finished)
    told = {stream_of(run.start.run, p.phase.id, p.brief.number): p.entries for p in records}
    ended = Ended(
        run=run,
        finished=finished,
        metrics=metrics_of(state) | _paid(run, end),
        account=account(run.entries, told),
        left=tuple(remaining(end, run.start)),
        kept=tuple(kept_lines(end)),
        closing=end.closing,
        refused=refused(_tries(records)),
    )
    return ended, end, state


def _tries(records: Iterable[PhaseRecord]) -> Iterator[Try]:
    for event in (entry.event for record in records for entry in record.entries):
        yield from event.tries if isinstance(event, AgentAnswered) else ()


def _paid(run: RunRecord, end: RunEnd) -> dict[str, Any]:
    """Who worked and what it cost, the steps after the last phase included: the next forecast goes by it."""
    settings, agent = run.start.settings, run.start.settings.agent.partition(":")[0]
    return {"agent": agent, "model": settings.model, "total_usd": end.usd, "paid_tokens": end.tokens}


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
