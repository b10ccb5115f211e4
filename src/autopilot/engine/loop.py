"""The shell around the two decisions: the only code that runs phases and writes the run's stream."""

from collections.abc import Callable
from typing import assert_never

import msgspec

from autopilot.domain.completion import COMPLETION
from autopilot.domain.events import (
    Brief,
    CompletionStarted,
    LandingStarted,
    Noted,
    PhaseFinished,
    PhaseLanded,
    PhaseOutcome,
    PhaseSkipped,
    PhaseStarted,
    RunEvent,
    RunFinished,
    RunStopped,
)
from autopilot.domain.phase import padded
from autopilot.domain.progress import command_runs
from autopilot.domain.record import PassEnd, PhaseRecord, RunRecord
from autopilot.domain.results import Verified
from autopilot.domain.secrets import redact
from autopilot.domain.tries import WORKING
from autopilot.domain.verdict import Retry
from autopilot.engine.brakes import Brake, Tripped, due_notes, over_cap, tripped
from autopilot.engine.briefs import brief_for
from autopilot.engine.completing import complete, completion_brief
from autopilot.engine.decide import Finish, Run, next_move
from autopilot.engine.hands import Hands
from autopilot.engine.orchestrate import Complete, Continue, End, Land, Skip, Spawn, line, next_phase
from autopilot.engine.outcome import evidenced, outcome_of, rolled_back, set_aside
from autopilot.engine.papers import (
    contamination_notes,
    write_calibrations,
    write_confidence,
    write_postmortem,
    write_trace,
)
from autopilot.engine.perform import perform
from autopilot.engine.receipting import receipt_files
from autopilot.engine.streams import Streams
from autopilot.engine.trace import trace_files
from autopilot.pipeline import PHASE_GATE, artifacts


def run_all(hands: Hands, streams: Streams) -> RunFinished | RunStopped:
    """Drive the run to its end, or to the brake that stops it, from wherever its journal left off."""
    while True:
        try:
            event = next_event(hands, streams)
        except Tripped as stop:
            event = stop.brake.event()
        streams.append_run(event)
        if isinstance(event, RunFinished | RunStopped):
            return event
        if isinstance(event, PhaseFinished):
            hands.atlas.chart(line(streams.run()))


def next_event(hands: Hands, streams: Streams) -> RunEvent:
    """Do what comes next in the run, and say what came of it. Raises `Tripped` when a brake forbids it."""
    run = streams.run()
    match next_phase(run):
        case Spawn() as spawn:
            heed(tripped, hands, streams)
            write_calibrations(run, hands.diagnostics)
            return PhaseStarted(brief=brief_for(spawn, run, streams.passes(spawn.phase.id), hands))
        case Continue(brief=brief):
            return finish_pass(brief, run, hands, streams)
        case Skip() | End() as told:
            return noted(told)
        case Land() as landing:
            return land(landing, run, hands, streams)
        case Complete(base=base, brief=begun):
            return (
                complete(begun, hands, streams)
                if begun
                else CompletionStarted(brief=completion_brief(run, streams, base))
            )
        case _ as never:
            assert_never(never)


def noted(told: Skip | End) -> PhaseSkipped | RunFinished:
    """What is only written down."""
    if isinstance(told, Skip):
        return PhaseSkipped(phase=told.phase, reason=told.reason, blocking_phase=told.blocking)
    return RunFinished(status=told.status, exit_code=told.exit_code, reason=told.reason)


def heed(
    brakes: Callable[[RunRecord, tuple[PhaseRecord, ...], str], Brake | None], hands: Hands, streams: Streams
) -> None:
    brake = brakes(streams.run(), streams.all_passes(), hands.clock.now())
    if brake is not None:
        raise Tripped(brake)


def run_phase(brief: Brief, hands: Hands, streams: Streams) -> tuple[PhaseRecord, Finish]:
    """Run one pass to its end, from wherever its journal left off."""
    record = streams.phase(brief)
    hands.facts.recall(command_runs(record))
    while True:
        move = next_move(record)
        if isinstance(move, Finish):
            return record, move
        heed(tripped if tries_again(move, record) else over_cap, hands, streams)
        before, record = record.commit, perform(move, record, hands, streams)
        if record.commit != before:
            # RMAP-07: the map follows every commit.
            hands.atlas.chart(record.commit)
        for note in due_notes(streams.run(), streams.all_passes()):
            streams.append_run(note)


def tries_again(move: Run, record: PhaseRecord) -> bool:
    """Whether the step is a try at the work or something done once more, and not the check of a try."""
    sent_back = bool(record.finished) and isinstance(record.finished[-1].verdict, Retry)
    return move.stage.name in WORKING or sent_back


def finish_pass(brief: Brief, run: RunRecord, hands: Hands, streams: Streams) -> PhaseFinished:
    record, finish = run_phase(brief, hands, streams)
    passes = streams.passes(brief.phase.id)
    lost = write_trace(traces(passes), hands.workspace)
    outcome = evidenced(outcome_of(record, finish), record, hands.workspace.change(brief.base, record.commit))
    if rolled_back(record, finish):
        branch = hands.workspace.branch(f"autopilot-diagnostic-phase-{record.phase.id}", record.commit)
        outcome = set_aside(outcome, record, branch)
    for warning in contamination_notes(record, run):
        streams.append_run(warning)
    lost += (*write_postmortem(record, finish, hands.diagnostics), *keep_looks(record, finish, hands))
    outcome = noting(outcome, lost)
    before = any(p.outcome.status == "completed" for p in run.standing(brief.phase.id))
    end = PassEnd(
        outcome=outcome,
        cycle=brief.cycle,
        cycles_limit=0 if run.start.settings.lenient else run.start.settings.limits.remediation_cycles,
        threshold=brief.pass_threshold,
        completed_before=before,
    )
    finished = PhaseFinished(cycle=brief.cycle, outcome=outcome, verdict=PHASE_GATE.decide(end))
    hands.workspace.write_planning(planning_files(record) | receipt_files(run, passes, hands, finished))
    note, lost = write_confidence(passes, run, finished, hands.diagnostics)
    if note is not None and note not in run.of(Noted):
        streams.append_run(note)
    return msgspec.structs.replace(finished, outcome=noting(outcome, lost))


def keep_looks(record: PhaseRecord, finish: Finish, hands: Hands) -> tuple[str, ...]:
    """VIST-06: what a pass that is complete looks like is what later ones are compared with."""
    seen = record.find(Verified)
    results = seen.visual if seen else None
    return hands.looks.keep(results) if results and finish.status == "completed" else ()


def noting(outcome: PhaseOutcome, problems: tuple[str, ...]) -> PhaseOutcome:
    return msgspec.structs.replace(outcome, issues=(*outcome.issues, *problems))


def traces(passes: tuple[PhaseRecord, ...]) -> dict[str, str]:
    return {f"{passes[-1].brief.dir}/{name}": text for name, text in trace_files(passes).items()}


def planning_files(record: PhaseRecord) -> dict[str, str]:
    """Papers without secrets; the plan and its test files are work, and stay as they were accepted."""
    return {
        f"{record.brief.dir}/{name}": text if name == "PLAN.md" or name.startswith("tests/") else redact(text)
        for name, text in artifacts(record).items()
    }


def land(move: Land, run: RunRecord, hands: Hands, streams: Streams) -> PhaseLanded:
    """Every effect here can be repeated: cut off anywhere, the same landing is finished by the next process."""
    last = run.entries[-1].event
    if not isinstance(last, LandingStarted):
        streams.append_run(LandingStarted(phase=move.phase, commit=move.commit))
    commit = move.commit if move.phase == COMPLETION else with_papers(move, run, hands, streams)
    landing = hands.workspace.land(commit)
    return PhaseLanded(phase=move.phase, commit=commit, landed=landing.landed, note=landing.note)


def with_papers(move: Land, run: RunRecord, hands: Hands, streams: Streams) -> str:
    """The phase's commit, and where planning files are tracked another one with them."""
    step = f"{run.start.run}/{move.phase}/land"
    message = (
        f"docs({padded(move.phase)}): planning files of phase {move.phase}\n\n"
        f"Autopilot-Run: {run.start.run}\nAutopilot-Step: {step}\n"
    )
    passes = streams.passes(move.phase)
    files = {path: text for record in passes for path, text in planning_files(record).items()} | traces(passes)
    receipt = receipt_files(run, passes, hands)
    hands.workspace.write_planning(receipt)
    sealed = hands.workspace.sealed(move.commit, step)
    return sealed.commit if sealed else hands.workspace.commit_planning(move.commit, files | receipt, message)
