"""What a pass starts from: SPWN-01, put together from the run's record and the planning files."""

import hashlib
from collections import Counter

import msgspec

from autopilot.domain.errors import ConfigInvalid
from autopilot.domain.events import AgentAnswered, Brief, StepFinished
from autopilot.domain.handoff import handed_over, tasks_done
from autopilot.domain.held_out import held_out
from autopilot.domain.phase import Phase, Plan
from autopilot.domain.record import PhaseRecord, RunRecord
from autopilot.domain.repo_map import MAP_PATH
from autopilot.domain.results import Triaged
from autopilot.domain.verdict import Stop
from autopilot.engine.asking import attempt_key
from autopilot.engine.confidence import feedback
from autopilot.engine.hands import Hands
from autopilot.engine.orchestrate import Spawn


def brief_for(spawn: Spawn, run: RunRecord, passes: tuple[PhaseRecord, ...], hands: Hands) -> Brief:
    """`passes` are the phase's earlier passes in this run."""
    start, phase = run.start, spawn.phase
    folder = start.folders.get(phase.id, f".planning/phases/{phase.id}")
    handed = carried_on(spawn, passes)
    if handed is not None:
        found = handed.plan
    else:
        found = _plan_in_force(passes) if spawn.cycle else existing_plan(folder, start.proposals, hands)
    base = handed.commit if handed else spawn.base
    charted = hands.atlas.chart(base)
    return Brief(
        phase=phase,
        dir=folder,
        base=base,
        position=start.targets.index(phase.id) + 1,
        total=len(start.targets),
        number=len(passes),
        cycle=spawn.cycle,
        feedback=feedback(_completed(passes)) if spawn.cycle else (),
        plan=found,
        skip_research=bool(handed) or not start.settings.research,
        pass_threshold=start.settings.pass_threshold,
        requirements=start.requirements.get(phase.id, ()),
        unmet=unmet(phase, run),
        earlier=dict(counted(passes)),
        done=tasks_done(handed) if handed else (),
        held=held_before(passes),
        repo_map=charted.line,
        repo_map_path=MAP_PATH if charted.there else "",
    )


def held_before(passes: tuple[PhaseRecord, ...]) -> tuple[str, ...]:
    """What was kept back once is kept back until the phase is over, though it may hold by now."""
    first = next((p for p in passes if p.find(Triaged)), None)
    return tuple(criterion.id for criterion in held_out(first)) if first else ()


def carried_on(spawn: Spawn, passes: tuple[PhaseRecord, ...]) -> PhaseRecord | None:
    """CTXE-01r: the pass whose work this one goes on with, if its executor ran dry and the line has not moved since."""
    last = passes[-1] if passes else None
    if last is None or spawn.cycle or not handed_over(last) or last.brief.cycle:
        return None
    began = next(p.brief.base for p in reversed(passes) if not p.brief.done)
    return last if began == spawn.base else None


def _completed(passes: tuple[PhaseRecord, ...]) -> PhaseRecord:
    """The pass whose shortcomings are to be mended: the newest that was not given up."""
    kept = (p for p in reversed(passes) if not (p.finished and isinstance(p.finished[-1].verdict, Stop)))
    return next(kept, passes[-1])


def _plan_in_force(passes: tuple[PhaseRecord, ...]) -> Plan | None:
    return next((p.plan for p in reversed(passes) if p.plan), None)


def existing_plan(folder: str, proposals: tuple[str, ...], hands: Hands) -> Plan | None:
    """
    PRE-05: the plan found in `.planning`, if it can be read; an unreadable one is planned anew.

    It counts as the user's unless it is, to the letter, one that agents proposed before and that came to nothing: such
    a plan may be carried out, but what it asks for has to be proven.
    """
    files = hands.workspace.planning_files()
    text = files.get(f"{folder}/PLAN.md")
    if text is None:
        return None
    prefix = f"{folder}/"
    tests = {p.removeprefix(prefix): t for p, t in files.items() if p.startswith(f"{folder}/tests/")}
    try:
        plan = hands.planning.plan(text, tests)
    except ConfigInvalid:
        return None
    own = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest() not in proposals
    return msgspec.structs.replace(plan, existed_before=own)


def unmet(phase: Phase, run: RunRecord) -> tuple[str, ...]:
    """PREF-03, AMB-27: dependencies neither done before this run nor done in it."""
    known = {p.id for p in run.start.phases}
    done = set(run.start.completed) | {t for t in run.start.targets if run.standing(t)}
    return tuple(d for d in phase.depends_on if d in known and d not in done)


def counted(passes: tuple[PhaseRecord, ...]) -> Counter[str]:
    """How often each step ran and each role was asked in earlier passes, so that numbering goes on."""
    counts: Counter[str] = Counter()
    asked: dict[str, str] = {}
    for entry in (e for p in passes for e in p.entries):
        match entry.event:
            case StepFinished(step=step):
                counts[step] += 1
            case AgentAnswered(call=call, role=role, task=task) if not call.endswith(".2"):
                # A call put again after a crash is still one call.
                asked[call] = attempt_key(role, task)
            case _:
                pass
    return counts + Counter(asked.values())
