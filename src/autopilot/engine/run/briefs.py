"""What a pass starts from: SPWN-01, put together from the run's record and the planning files."""

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from autopilot.domain.attempt import PLAN, Brief
from autopilot.domain.codemap import MAP_PATH
from autopilot.domain.events import AgentAnswered, MergeRefused, StepFinished
from autopilot.domain.phase import Phase, PhaseFiles, Plan, number_of
from autopilot.domain.results import Triaged
from autopilot.domain.verdict import Advance
from autopilot.engine.decide.continue_attempt import continuation, promised_plan
from autopilot.engine.decide.line import refusal
from autopilot.engine.decide.next_move import Spawn
from autopilot.engine.decide.rework_loops import told_what_to_mend
from autopilot.engine.perform.agent_calls import attempt_key
from autopilot.engine.perform.context import Hands
from autopilot.history.record import PhaseRecord, RunRecord
from autopilot.policy.answer_check import rejected
from autopilot.policy.budget import estimated_tokens
from autopilot.policy.facts.held_out import held_out
from autopilot.policy.uniform_scores import enhanced

FRONT_MATTER = 5
RESEARCH = "RESEARCH.md"
# Folders of finished phases that are named: what a phase is told must not grow with the roadmap.
MOST_DIRS = 20


@dataclass(frozen=True, slots=True)
class Brought:
    """What the user brought for a phase, and the texts of the files in its folder by name."""

    files: PhaseFiles
    texts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Told:
    """What a remediation is to mend, and the plan in force."""

    feedback: tuple[str, ...]
    plan: Plan | None


def brief_for(
    spawn: Spawn, run: RunRecord, passes: tuple[PhaseRecord, ...], hands: Hands, told: Told | None = None
) -> Brief:
    """`passes` are the phase's earlier passes in this run, `told` what the parts of a split one leave to be mended."""
    start, phase = run.start, spawn.phase
    continues = continuation(spawn, run, passes)
    if continues:
        numbers = {"number": len(passes), "earlier": dict(counted(passes)), "slot": spawn.slot}
        return mapped(msgspec.structs.replace(passes[-1].brief, **numbers, continues=continues), hands)
    promised, word = promised_plan(spawn, run, passes), refusal(run, phase.id)
    issues, done = word.complaints if word else (), completed_dirs(run)
    brought = phase_files(_folder(phase.id, run), number_of(phase), hands)
    found = promised or (told.plan if told else plan_for(spawn, run, passes, brought))
    there = brought.files
    research = "" if there.research == RESEARCH or spawn.mode == "force" else there.research
    brief = Brief(
        phase=phase,
        dir=_folder(phase.id, run),
        base=spawn.base,
        position=start.targets.index(phase.id) + 1,
        total=len(start.targets),
        number=len(passes),
        cycle=spawn.cycle,
        feedback=issues or (told.feedback if told else () if spawn.cycle else refusals(phase.id, run)),
        plan=found,
        skip_research=not start.settings.research,
        pass_threshold=start.settings.pass_threshold,
        requirements=start.requirements.get(phase.id, ()),
        unmet=unmet(phase, run),
        earlier=dict(counted(passes)),
        held=held_before(passes),
        found=issues,
        mode=spawn.mode,
        turn=spawn.turn,
        slot=spawn.slot,
        rejected=rejected_before(spawn, passes),
        enhanced=enhanced(run),
        completed_dirs=done[-MOST_DIRS:],
        completed_more=max(0, len(done) - MOST_DIRS),
        estimated_tokens=estimated_tokens(phase, found),
        context=start.contexts.get(phase.id),
        first_base=first_base(spawn.base, passes) if spawn.cycle else "",
        accepted=promised is not None,
        accepted_before=passes[-1].replaced_plans if passes and (promised or spawn.cycle) else (),
        plan_files=there.plans,
        research=research,
    )
    files = hands.workspace.planning_files()
    brief = mapped(brief if passes else before_the_run(brief, files, there.verification), hands)
    return told_what_to_mend(brief, run, passes) if spawn.cycle and not (issues or told) else brief


def first_base(base: str, passes: tuple[PhaseRecord, ...]) -> str:
    """Where the work began that a pass continues from `base`; empty where none of these passes left that commit."""
    return next((done.brief.began_on for done in reversed(passes) if done.commit == base), "")


def mapped(brief: Brief, hands: Hands) -> Brief:
    """RMAP-01..05: with the map of the code it starts from."""
    charted = hands.atlas.chart(brief.base)
    return msgspec.structs.replace(brief, repo_map=charted.line, repo_map_path=MAP_PATH if charted.there else "")


def before_the_run(brief: Brief, files: Mapping[str, str], verification: str) -> Brief:
    """PRE-02, PRE-03: what the papers of the phase say of earlier runs. A paper's word never lets a phase pass."""
    paper = files.get(f"{brief.dir}/{verification}", "")
    return msgspec.structs.replace(
        brief,
        prior_execution=f"{brief.dir}/EXECUTION-LOG.md" in files,
        stale_verification=any(line.startswith("verified:") for line in paper.splitlines()[:FRONT_MATTER]),
    )


def rejected_before(spawn: Spawn, passes: tuple[PhaseRecord, ...]) -> int:
    """AMB-34: a remediation goes on counting; a phase that starts over has its one try again."""
    return rejected(passes[-1]) if spawn.cycle and passes else 0


def completed_dirs(run: RunRecord) -> tuple[str, ...]:
    """SPWN-04: where finished phases left their papers; never what is in them."""
    done = {t for t in run.start.targets if any(isinstance(f.verdict, Advance) for f in run.standing(t)[-1:])}
    known = (p.id for p in run.start.phases if p.id in done or p.id in run.start.completed)
    return tuple(run.start.folders[name] for name in known if name in run.start.folders)


def plan_for(spawn: Spawn, run: RunRecord, passes: tuple[PhaseRecord, ...], brought: Brought) -> Plan | None:
    """
    The plan the pass begins with.

    A phase that is done anew gets a new one (FORC-04). What mends earlier work keeps the plan it was made by
    (CENF-01g): this run's, else the one in `.planning`, else the one an earlier run went by.
    """
    start, phase = run.start, spawn.phase.id
    if spawn.mode == "force" and not spawn.cycle:
        return None
    in_force = _plan_in_force(passes) if spawn.cycle else None
    found = in_force or existing_plan(brought, start.proposals, whole=spawn.cycle > 0)
    earlier = start.before.get(phase) if spawn.cycle else None
    return found or (earlier.plan if earlier else None)


def _folder(phase: str, run: RunRecord) -> str:
    return run.start.folders.get(phase, f".planning/phases/{phase}")


def refusals(phase: str, run: RunRecord) -> tuple[str, ...]:
    """Why work that had passed is done again on top of the line."""
    return tuple(refused.because for refused in run.of(MergeRefused) if refused.phase == phase)


def held_before(passes: tuple[PhaseRecord, ...]) -> tuple[str, ...]:
    """What was kept back once is kept back until the phase is over, though it may hold by now."""
    first = next((p for p in passes if p.find(Triaged)), None)
    return tuple(criterion.id for criterion in held_out(first)) if first else ()


def _plan_in_force(passes: tuple[PhaseRecord, ...]) -> Plan | None:
    return next((p.plan for p in reversed(passes) if p.plan), None)


def phase_files(folder: str, phase: str, hands: Hands) -> Brought:
    """What was in the phase's folder when the run started."""
    prefix = f"{folder}/"
    own = {p.removeprefix(prefix): t for p, t in hands.workspace.planning_files().items() if p.startswith(prefix)}
    tests = {name: text for name, text in own.items() if name.startswith("tests/")}
    texts = {name: text for name, text in own.items() if "/" not in name}
    return Brought(hands.planning.phase_files(texts, phase, tests), texts)


def existing_plan(brought: Brought, proposals: tuple[str, ...], *, whole: bool = False) -> Plan | None:
    """
    PRE-05: the plan found in `.planning`, if it can be read; an unreadable one is planned anew.

    Of numbered plans those without a summary are to be done; `whole` is for work that mends what all of them made. It
    counts as the user's unless a file of it is, to the letter, one that agents proposed before and that came to
    nothing: such a plan may be carried out, but what it asks for has to be proven.
    """
    plan = brought.files.whole if whole else brought.files.to_do
    if plan is None:
        return None
    names = [part.file for part in plan.parts] or [PLAN]
    hashes = {hashlib.sha256(brought.texts[name].encode("utf-8", "replace")).hexdigest() for name in names}
    return msgspec.structs.replace(plan, existed_before=hashes.isdisjoint(proposals))


def unmet(phase: Phase, run: RunRecord) -> tuple[str, ...]:
    """PREF-03, AMB-27: dependencies neither done before this run nor done in it."""
    known = {p.id for p in run.start.phases}
    before = {*run.start.completed, *run.start.satisfied}
    done = before | {t for t in run.start.targets if run.standing(t)}
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
