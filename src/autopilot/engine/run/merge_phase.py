"""Join a phase's work to the line: what is joined has never been looked at, so it is checked before it counts."""

from collections.abc import Iterable, Sequence

from autopilot.domain.events import MergeRefused, PhaseMerged, PhaseStarted
from autopilot.domain.evidence import CommandRun
from autopilot.domain.phase import Criterion, padded
from autopilot.engine.decide.next_move import Merge, phase_of
from autopilot.engine.perform.context import Hands
from autopilot.history.record import PhaseRecord, RunRecord

MOST_NAMED = 10


def merged_as_it_is(move: Merge) -> PhaseMerged | None:
    """Where the line has not moved there is nothing to join, and every fact is still about this very tree."""
    if move.base != move.onto:
        return None
    return PhaseMerged(phase=move.phase, base=move.base, onto=move.onto, commit=move.commit)


def merge(move: Merge, run: RunRecord, records: Sequence[PhaseRecord], hands: Hands) -> PhaseMerged | MergeRefused:
    """`records` are those of the passes the work stands on. Cut off anywhere, the same is done again."""
    made = hands.workspace.merge(move.onto, move.commit, message_of(move, run))
    if made.commit is None:
        return refused(move, conflict(made.conflicts), conflicts=made.conflicts)
    own = own_checks(records, made.commit, hands)
    gates = hands.facts.gates(made.commit, run.start.settings.commands)
    others = hands.facts.check(made.commit, joined_criteria(move, run), {})
    checks = (*own, *gates, *others)
    red = (
        *(check for check in own if not check.passed),
        *newly_red(gates, hands, run, (move.onto, made.commit)),
        *newly_broken(others, hands, run, move),
    )
    if not checks:
        return refused(move, "nothing could be run on the merged work")
    if red:
        told = "; ".join(f"{check.check}: `{check.command}`" for check in red[:MOST_NAMED])
        return refused(move, f"red once merged with the line: {told}", checks=checks)
    return PhaseMerged(phase=move.phase, base=move.base, onto=move.onto, commit=made.commit, checks=checks)


def refused(
    move: Merge, because: str, *, conflicts: tuple[str, ...] = (), checks: tuple[CommandRun, ...] = ()
) -> MergeRefused:
    return MergeRefused(
        phase=move.phase, base=move.base, onto=move.onto, because=because, conflicts=conflicts, checks=checks
    )


def conflict(paths: tuple[str, ...]) -> str:
    more = f" and {len(paths) - MOST_NAMED} more" if len(paths) > MOST_NAMED else ""
    named = f"{', '.join(paths[:MOST_NAMED])}{more}" if paths else "git 2.38 or newer is needed to merge"
    return f"conflict with what was merged before: {named}"


def message_of(move: Merge, run: RunRecord) -> str:
    step = f"{run.start.run}/{move.phase}/merge"
    title = f"merge({padded(move.phase)}): work of phase {move.phase}"
    return f"{title}\n\nAutopilot-Run: {run.start.run}\nAutopilot-Step: {step}\n"


def own_checks(records: Sequence[PhaseRecord], commit: str, hands: Hands) -> tuple[CommandRun, ...]:
    """Every criterion of the roadmap and of the plans, with the frozen test files laid over the tree."""
    files = {path: text for r in records for path, text in r.shown.items() if "/tests/" in path}
    files |= {f"{r.brief.dir}/{test.path}": test.text for r in records if r.plan for test in r.plan.tests}
    return hands.facts.check(commit, unique(c for record in records for c in promised_by(record)), files)


def promised_by(record: PhaseRecord) -> tuple[Criterion, ...]:
    planned = (c for task in (record.plan.tasks if record.plan else ()) for c in task.criteria)
    return tuple(c for c in (*record.phase.criteria, *planned) if c.command)


def unique(criteria: Iterable[Criterion]) -> tuple[Criterion, ...]:
    """The same command with the same expectation once."""
    return tuple({(c.command, c.expect): c for c in reversed(tuple(criteria))}.values())[::-1]


def joined_criteria(move: Merge, run: RunRecord) -> tuple[Criterion, ...]:
    """The user's own criteria for the phases that came into the line since this one began."""
    begun = next(
        at
        for at in range(len(run.entries) - 1, -1, -1)
        if isinstance(event := run.entries[at].event, PhaseStarted)
        and (event.brief.phase.id, event.brief.base) == (move.phase, move.base)
    )
    joined = (e.event.phase for e in run.entries[begun:] if isinstance(e.event, PhaseMerged))
    phases = (phase_of(run, phase) for phase in joined if phase in run.start.targets)
    return unique(c for phase in phases for c in phase.criteria if c.command)


def newly_red(
    gates: tuple[CommandRun, ...], hands: Hands, run: RunRecord, between: tuple[str, str]
) -> tuple[CommandRun, ...]:
    """Gates that hold on the line and not on the merged work; a test gate gets a second try."""
    line, merged = between
    red = [gate for gate in gates if not gate.passed]
    red = [g for g in red if g.check != "test" or not hands.facts.again(merged, g.command).passed]
    if not red:
        return ()
    held = {gate.check for gate in hands.facts.gates(line, run.start.settings.commands) if gate.passed}
    return tuple(gate for gate in red if gate.check in held)


def newly_broken(others: tuple[CommandRun, ...], hands: Hands, run: RunRecord, move: Merge) -> tuple[CommandRun, ...]:
    """What earlier phases promised, held on the line, and holds no more. What was broken before is not this one's."""
    red = {check.command for check in others if not check.passed}
    if not red:
        return ()
    concerned = tuple(c for c in joined_criteria(move, run) if c.command in red)
    held = {check.command for check in hands.facts.check(move.onto, concerned, {}) if check.passed}
    return tuple(check for check in others if check.command in held & red)
