"""The parts of a split phase brought together: what they start from, and what they come to (SPLT-03..07)."""

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from autopilot.domain.attempt import Brief, PassEvidence, PhaseOutcome, StepDigest, SubEnd, SubPhase
from autopilot.domain.events import PhaseFinished
from autopilot.domain.evidence import CommandRun
from autopilot.domain.phase import Plan, TaskTest
from autopilot.domain.verdict import Advance, AskHuman, Retry, Stop
from autopilot.engine.decide.next_move import Spawn, phase_of
from autopilot.engine.decide.split_moves import Split, open_split, part_named, tip
from autopilot.engine.perform.context import Hands
from autopilot.engine.run.briefs import counted, refusals
from autopilot.engine.run.merge_phase import newly_red, own_checks
from autopilot.history.record import PhaseRecord, RunRecord
from autopilot.policy.score_caps import mean_score

STATUS = {Advance: "completed", AskHuman: "needs_human_verification", Stop: "failed", Retry: "in_progress"}


def part_brief(spawn: Spawn, run: RunRecord, whole: PhaseRecord, passes: tuple[PhaseRecord, ...]) -> Brief:
    """SPLT-03. `whole` is the pass that asked to be split, `passes` are the part's own before this one."""
    name, given = spawn.phase.id, whole.brief
    return msgspec.structs.replace(
        given,
        phase=spawn.phase,
        dir=f"{given.dir}/{name}",
        base=spawn.base,
        number=len(passes),
        feedback=part_named(run, spawn.parent, name).issues or refusals(name, run),
        plan=given.plan if spawn.cycle else None,
        requirements=(),
        earlier=dict(counted(passes)),
        done=(),
        first_base=given.first_base if spawn.cycle else "",
        slot=spawn.slot,
        parent=spawn.parent,
    )


def combined_plan(records: Sequence[PhaseRecord]) -> Plan | None:
    """The plans of the parts as one, for a remediation of the whole; the test files stay where they are."""
    plans = [(record, record.plan) for record in records if record.plan]
    if not plans:
        return None
    tests = (
        TaskTest(path=f"{record.phase.id}/{test.path}", text=test.text) for record, plan in plans for test in plan.tests
    )
    return Plan(
        text="\n\n".join(plan.text for _, plan in plans),
        tasks=tuple(task for _, plan in plans for task in plan.tasks),
        tests=tuple(tests),
        sha256=":".join(plan.sha256 for _, plan in plans),
    )


def gather(
    run: RunRecord, split: Split, whole: PhaseRecord, parts: Sequence[PhaseRecord], hands: Hands
) -> PhaseOutcome:
    """Run on all parts together what the roadmap and the plans want, and say what they come to."""
    commit = tip(run, split)
    if any(isinstance(passes[-1].verdict, Stop) for _, passes in _ends(run, split)):
        return together(run, split, (), ())
    checks = own_checks((whole, *parts), commit, hands)
    gates = hands.facts.gates(commit, run.start.settings.commands)
    red = (*(check for check in checks if not check.passed), *newly_red(gates, hands, run, (split.base, commit)))
    return together(run, split, (*checks, *gates), red)


def together(run: RunRecord, split: Split, checks: tuple[CommandRun, ...], red: tuple[CommandRun, ...]) -> PhaseOutcome:
    """SPLT-05: completed only if all parts are, failed if any is; `red` are checks that do not hold for the whole."""
    outcomes = [passes[-1].outcome for _, passes in _ends(run, split)]
    ends = tuple(_sub_end(run, part) for part in split.parts)
    status = _status(ends, red)
    reason = _reason(ends, checks, red)
    return PhaseOutcome(
        phase=split.phase,
        status=status,
        reason=reason,
        commit=tip(run, split),
        alignment_score=None if status == "failed" else mean_score(end.alignment_score for end in ends),
        tasks_completed=_summed(outcome.tasks_completed for outcome in outcomes),
        tasks_failed=_summed(outcome.tasks_failed for outcome in outcomes),
        commit_shas=tuple(sha for outcome in outcomes for sha in outcome.commit_shas),
        automated_checks={name: held for outcome in outcomes for name, held in outcome.automated_checks.items()},
        issues=tuple(f"{outcome.phase}: {issue}" for outcome in outcomes for issue in outcome.issues),
        debug_attempts=sum(outcome.debug_attempts for outcome in outcomes),
        replan_attempts=sum(outcome.replan_attempts for outcome in outcomes),
        recommendation="halt" if status == "failed" else "proceed",
        summary=f"{status}: {reason}",
        verification_duration_seconds=sum(outcome.verification_duration_seconds for outcome in outcomes),
        unanchored=not any(c.command for c in phase_of(run, split.phase).criteria),
        caveats=tuple(f"{outcome.phase}: {caveat}" for outcome in outcomes for caveat in outcome.caveats),
        pipeline_steps=_steps(outcomes),
        split_details=split.details,
        evidence=_evidence(outcomes, checks),
        sub_phases=ends,
        checks=checks,
    )


def split_phase(run: RunRecord, target: str) -> Split:
    split = open_split(run, target)
    assert split is not None
    return split


def _ends(run: RunRecord, split: Split) -> list[tuple[SubPhase, tuple[PhaseFinished, ...]]]:
    return [(part, passes) for part in split.parts if (passes := run.standing(part.sub_phase_id))]


def _sub_end(run: RunRecord, part: SubPhase) -> SubEnd:
    passes = run.standing(part.sub_phase_id)
    if not passes:
        return SubEnd(sub_phase_id=part.sub_phase_id, status="not_started")
    status, score = STATUS[type(passes[-1].verdict)], passes[-1].outcome.alignment_score
    return SubEnd(sub_phase_id=part.sub_phase_id, status=status, alignment_score=score)


def _status(
    ends: Sequence[SubEnd], red: tuple[CommandRun, ...]
) -> Literal["completed", "failed", "needs_human_verification"]:
    if red or any(end.status not in {"completed", "needs_human_verification"} for end in ends):
        return "failed"
    return "completed" if all(end.status == "completed" for end in ends) else "needs_human_verification"


def _reason(ends: Sequence[SubEnd], checks: tuple[CommandRun, ...], red: tuple[CommandRun, ...]) -> str:
    if red:
        told = "; ".join(f"{check.check}: `{check.command}`" for check in red)
        return f"the parts passed, but together they do not hold: {told}"
    lost = [end.sub_phase_id for end in ends if end.status == "failed"]
    if lost:
        return f"sub-phase {', '.join(lost)} failed"
    waiting = [end.sub_phase_id for end in ends if end.status != "completed"]
    if waiting:
        return f"sub-phase {', '.join(waiting)} waits for a person"
    return f"all {len(ends)} sub-phases passed, and {len(checks)} checks on all of them together"


def _summed(pairs: Iterable[str]) -> str:
    """`2/3` and `1/1` are `3/4`."""
    split = [pair.partition("/") for pair in pairs]
    return f"{sum(int(done) for done, _, _ in split)}/{sum(int(total) for _, _, total in split)}"


def _steps(outcomes: Sequence[PhaseOutcome]) -> dict[str, StepDigest]:
    """Of each step the part that did worst stands for all."""
    fine = ("pass", "completed", "full_pipeline", "verify_only", "skipped")
    steps: dict[str, StepDigest] = {}
    for outcome in outcomes:
        for name, step in outcome.pipeline_steps.items():
            if name not in steps or step.status not in fine:
                steps[name] = step
    return steps


def _evidence(outcomes: Sequence[PhaseOutcome], checks: tuple[CommandRun, ...]) -> PassEvidence:
    said = (command for outcome in outcomes for command in outcome.evidence.commands_run)
    return PassEvidence(
        files_checked=tuple(dict.fromkeys(p for outcome in outcomes for p in outcome.evidence.files_checked)),
        commands_run=tuple(dict.fromkeys((*(check.command for check in checks), *said))),
        git_diff_summary="; ".join(o.evidence.git_diff_summary for o in outcomes if o.evidence.git_diff_summary),
    )
