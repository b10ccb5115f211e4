"""The shell around the two decisions: what is done for each move of a run, and what came of it."""

from collections.abc import Callable, Iterator
from typing import assert_never

import msgspec

from autopilot.domain.attempt import PLAN, Brief, DoneBefore, PhaseOutcome, plan_name
from autopilot.domain.events import (
    CompletionStarted,
    LandingStarted,
    PhaseFinished,
    PhaseLanded,
    PhaseSkipped,
    PhaseStarted,
    RunEvent,
    RunFinished,
)
from autopilot.domain.phase import padded
from autopilot.domain.results import COMPLETION, Verified
from autopilot.domain.verdict import AskHuman, Retry
from autopilot.engine.close.diagnostics import (
    contamination_notes,
    write_calibrations,
    write_confidence,
    write_postmortem,
    write_trace,
)
from autopilot.engine.close.outcome import evidenced, outcome_of, rolled_back, set_aside, unraised
from autopilot.engine.close.receipt_files import receipt_files
from autopilot.engine.close.trace import trace_files
from autopilot.engine.decide.brakes import Brake, Tripped, due_notes, over_cap, tripped
from autopilot.engine.decide.line import accepted, built_upon, in_line
from autopilot.engine.decide.next_move import (
    Complete,
    Continue,
    End,
    Land,
    RunMove,
    Skip,
    Spawn,
    failed,
    next_phase,
    pause,
)
from autopilot.engine.decide.next_step import Finish, Run, next_move
from autopilot.engine.decide.parts import left_to_mend
from autopilot.engine.decide.rework_loops import pass_end, stood
from autopilot.engine.perform.context import Hands, LandingHands
from autopilot.engine.perform.run_log import Streams
from autopilot.engine.perform.step import perform
from autopilot.engine.run.briefs import brief_for
from autopilot.engine.run.combine import part_brief
from autopilot.engine.run.completion import complete, completion_brief
from autopilot.engine.run.verdicts import take_in
from autopilot.history.best_attempt import best
from autopilot.history.digest import WORKING, PassDigest
from autopilot.history.record import PhaseRecord, RunRecord
from autopilot.pipeline import PHASE_GATE, artifacts
from autopilot.policy.task_progress import command_runs, newest_plan
from autopilot.text.redact import redact

Brakes = Callable[[RunRecord, tuple[PassDigest, ...], str, str], Brake | None]


def next_event(hands: Hands, streams: Streams) -> RunEvent:
    """Do what comes next in the run, and say what came of it. Raises `Tripped` when a brake forbids it."""
    return act(next_phase(streams.run()), hands, streams)


def act(move: RunMove, hands: Hands, streams: Streams) -> RunEvent:
    run = streams.run()
    match move:
        case Spawn() as spawn:
            if begins(spawn, run) and (paused := pause(run)):
                return paused
            heed(tripped, hands, streams)
            write_calibrations(run, hands.diagnostics)
            return PhaseStarted(brief=opened(spawn, run, hands, streams))
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


def begins(spawn: Spawn, run: RunRecord) -> bool:
    """Whether it is the first pass of a phase; one that mends what an earlier run left is, though it is a cycle."""
    return not spawn.parent and not run.standing(spawn.phase.id)


def opened(spawn: Spawn, run: RunRecord, hands: Hands, streams: Streams) -> Brief:
    passes = streams.passes(spawn.phase.id)
    if spawn.parent:
        return part_brief(spawn, run, streams.passes(spawn.parent)[-1], passes)
    return brief_for(spawn, run, passes, hands, left_to_mend(run, streams, spawn.phase.id) if spawn.cycle else None)


def noted(told: Skip | End) -> PhaseSkipped | RunFinished:
    """What is only written down."""
    if isinstance(told, Skip):
        done = told.done or DoneBefore(phase=told.phase)
        return PhaseSkipped(
            phase=told.phase,
            reason=told.reason,
            blocking_phase=told.blocking,
            original_run_timestamp=done.at or None,
            original_run=done.run or None,
        )
    return RunFinished(status=told.status, exit_code=told.exit_code, reason=told.reason)


def heed(brakes: Brakes, hands: Hands, streams: Streams, phase: str = "") -> None:
    """`phase` is the one that asks, empty between phases."""
    brake = brakes(streams.run(), streams.digests(), hands.clock.now(), phase)
    if brake is not None:
        raise Tripped(brake)


def run_phase(
    brief: Brief, hands: Hands, streams: Streams, told: Callable[[], None] = lambda: None
) -> tuple[PhaseRecord, Finish]:
    """Run one pass to its end, from wherever its journal left off. `told` is called behind every step."""
    record = streams.phase(brief)
    hands.facts.recall(command_runs(record))
    while True:
        move = next_move(record)
        if isinstance(move, Finish):
            return record, move
        take_in(hands.inbox, streams)
        heed(tripped if tries_again(move, record) else over_cap, hands, streams, brief.phase.id)
        before, record = record.commit, perform(move, record, hands, streams)
        if record.commit != before:
            # RMAP-07: the map follows every commit.
            hands.atlas.chart(record.commit)
        with streams.turn:
            for note in due_notes(streams.run(), streams.digests()):
                streams.append_run(note)
        told()


def tries_again(move: Run, record: PhaseRecord) -> bool:
    """Whether the step is a try at the work or something done once more, and not the check of a try."""
    sent_back = bool(record.finished) and isinstance(record.finished[-1].verdict, Retry)
    return move.stage.name in WORKING or sent_back


def finish_pass(brief: Brief, run: RunRecord, hands: Hands, streams: Streams) -> PhaseFinished:
    record, finish = run_phase(brief, hands, streams)
    return close_pass(record, finish, run, hands, streams)


def close_pass(record: PhaseRecord, finish: Finish, run: RunRecord, hands: Hands, streams: Streams) -> PhaseFinished:
    """What the run makes of a pass that is over, and the papers about it."""
    brief = record.brief
    passes = streams.passes(brief.phase.id)
    lost = write_trace(traces(passes), hands.workspace)
    whole = hands.workspace.change(brief.base, record.commit)
    outcome = unraised(
        evidenced(outcome_of(record, finish), record, whole), whole, stood(run, brief.phase.id, brief.mode)
    )
    if rolled_back(record, finish):
        branch = hands.workspace.branch(f"autopilot-diagnostic-phase-{record.phase.id}", record.commit)
        outcome = set_aside(outcome, record, branch)
    for warning in contamination_notes(record, run):
        streams.append_run(warning)
    lost += (*write_postmortem(record, finish, hands.diagnostics), *keep_looks(record, finish, hands))
    outcome = noting(outcome, lost)
    finished = judged(outcome, brief, run, passes)
    hands.workspace.write_planning(planning_files(record) | receipt_files(run, passes, hands, finished))
    note, lost = write_confidence(passes, run, finished, hands.diagnostics)
    if note is not None:
        streams.append_run(note)
    return msgspec.structs.replace(finished, outcome=noting(outcome, lost))


def judged(outcome: PhaseOutcome, brief: Brief, run: RunRecord, passes: tuple[PhaseRecord, ...]) -> PhaseFinished:
    """What the run makes of it."""
    verdict = PHASE_GATE.decide(pass_end(brief, outcome, run, passes))
    return PhaseFinished(cycle=brief.cycle, outcome=outcome, verdict=verdict, mode=brief.mode, turn=brief.turn)


def close_split(outcome: PhaseOutcome, run: RunRecord, hands: Hands, streams: Streams) -> PhaseFinished:
    """What the run makes of a phase whose parts have come together; the work of those that passed is kept aside."""
    passes = streams.passes(outcome.phase)
    brief = passes[-1].brief
    if outcome.status == "failed" and outcome.commit != brief.base:
        name = f"autopilot-diagnostic-phase-{outcome.phase}"
        outcome = msgspec.structs.replace(outcome, diagnostic_branch=hands.workspace.branch(name, outcome.commit))
    return judged(outcome, brief, run, passes)


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
        f"{record.brief.dir}/{_at_home(name, record)}": text if _is_work(name) else redact(text)
        for name, text in artifacts(record).items()
        if _at_home(name, record)
    }


def _is_work(name: str) -> bool:
    return name == PLAN or name.startswith("tests/")


def _at_home(name: str, record: PhaseRecord) -> str:
    """The file's name in the user's folder; empty for a plan that is the user's own files there."""
    plan = newest_plan(record) if name == PLAN else None
    return plan_name(record.brief, plan) if plan else name


def land(move: Land, run: RunRecord, hands: LandingHands, streams: Streams) -> PhaseLanded:
    """Every effect here can be repeated: cut off anywhere, the same landing is finished by the next process."""
    last = run.entries[-1].event
    if not isinstance(last, LandingStarted):
        streams.append_run(LandingStarted(phase=move.phase, commit=move.commit))
    commit = move.commit if move.phase == COMPLETION else with_papers(move, run, hands, streams)
    landing = hands.workspace.land(commit)
    return PhaseLanded(phase=move.phase, commit=commit, landed=landing.landed, note=landing.note)


def with_papers(move: Land, run: RunRecord, hands: LandingHands, streams: Streams) -> str:
    """
    The phase's commit, and where planning files are tracked another one with them.

    A phase that others were built upon, while it waited for a person, lands as it is: its papers come with theirs.
    """
    if built_upon(run, move.commit):
        return move.commit
    step = f"{run.start.run}/{move.phase}/land"
    message = (
        f"docs({padded(move.phase)}): planning files of phase {move.phase}\n\n"
        f"Autopilot-Run: {run.start.run}\nAutopilot-Step: {step}\n"
    )
    whole = [streams.passes(phase) for phase in (move.phase, *streams.parts(move.phase))]
    due = (*papers_of_failed(run, streams, move.phase, hands), *papers_due(run, streams))
    files = {path: text for held in due for path, text in held.items()}
    files |= {path: text for passes in whole for path, text in papers(passes).items()}
    receipt = {path: text for passes in whole for path, text in receipt_files(run, passes, hands).items()}
    hands.workspace.write_planning(receipt)
    sealed = hands.workspace.sealed(move.commit, step)
    return sealed.commit if sealed else hands.workspace.commit_planning(move.commit, files | receipt, message)


def papers_due(run: RunRecord, streams: Streams) -> Iterator[dict[str, str]]:
    """The papers of the accepted phases that land without a commit of their own: one of them has waited."""
    if not any(isinstance(end.verdict, AskHuman) for end in run.of(PhaseFinished)):
        return
    for target in run.start.targets:
        if accepted(run, target) and built_upon(run, in_line(run, target, best(run, target).commit)):
            yield papers(streams.passes(target))


def papers_of_failed(run: RunRecord, streams: Streams, landing: str, hands: LandingHands) -> Iterator[dict[str, str]]:
    """STATE-15: the papers of phases that failed so far have no landing of their own; they come with the next one."""
    at_work = {brief.phase.id for brief in run.open_passes}
    for target in run.start.targets:
        if target not in {landing, *at_work} and run.passes(target) and failed(run, target):
            passes = streams.passes(target)
            yield papers(passes) | receipt_files(run, passes, hands)


def papers(passes: tuple[PhaseRecord, ...]) -> dict[str, str]:
    files = {path: text for record in passes for path, text in planning_files(record).items()}
    return files | traces(passes)
