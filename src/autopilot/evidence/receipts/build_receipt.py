"""The receipt of a finished phase, computed from the journal's records alone: the same records give the same bytes."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import msgspec

from autopilot.domain.attempt import PhaseOutcome, Spec
from autopilot.domain.events import RunResumed, RunStarted, stream_of
from autopilot.domain.evidence import CommandRun, Work
from autopilot.domain.phase import Expectation, Plan
from autopilot.domain.receipt import (
    PLACES,
    SCHEMA,
    Blobs,
    Counts,
    DecidingRun,
    FrozenFile,
    HashedFile,
    JournalHead,
    Predicate,
    Proof,
    Resource,
    Result,
    Source,
    Statement,
    TimeLimits,
    blob_id,
    no_blobs,
)
from autopilot.domain.results import REPLACED, Debugged, Executed, Fixed, Triaged, Verified
from autopilot.domain.rework import GAPS_EXHAUSTED, QUALITY_EXHAUSTED
from autopilot.domain.verdict import ALREADY_SATISFIED, Advance, AskHuman, Retry, Verdict
from autopilot.history.record import PhaseRecord, RunRecord
from autopilot.policy.outcomes import NOTHING_BUILT, described, outcome_of
from autopilot.policy.task_progress import since_plan

UNANCHORED = "unanchored: the roadmap has no criterion with a command for this phase"
FORCED = "force_incomplete: accepted below the threshold"
EXHAUSTED = "{why}: accepted below the target that was asked for"
UNCONFINED = "commands ran unconfined (sandbox none)"
Kind = Literal["criterion", "gate", "test", "old"]


@dataclass(frozen=True, slots=True)
class Sorted:
    """The checks of the accepted commit by how they came out, each once, as it was run last."""

    passed: tuple[str, ...]
    warned: tuple[str, ...]
    failed: tuple[str, ...]


def statement(
    record: PhaseRecord,
    run: RunRecord,
    outcome: PhaseOutcome,
    verdict: Verdict,
    earlier_passes: tuple[PhaseRecord, ...] = (),
    blobs: Blobs = no_blobs,
) -> Statement:
    """
    `record` is the pass the phase stands on, `outcome` how it ended, `verdict` what the run made of the phase.

    `earlier_passes` are those whose work it continues, oldest first: what held before the work is theirs to tell.
    """
    runs = (*(made for done in earlier_passes for made in worked(done, outcome)), *deciding(record, outcome))
    bar = run.start.settings.pass_threshold
    word = outcome_of(verdict, outcome.alignment_score, bar)
    found = sort(runs, outcome.commit, _old_failures(record))
    warnings = _warnings(runs, found, outcome, verdict)
    tree = _tree(record, runs, outcome.commit)
    plan = record.plan or record.brief.plan
    *earlier, (spec, tools) = _in_force(record, run)
    proof = Proof(
        schema=SCHEMA,
        run=run.start.run,
        phase=record.phase.id,
        name=record.phase.name,
        dir=record.brief.dir,
        number=record.brief.number,
        cycle=record.brief.cycle,
        verdict=_word(verdict),
        reason=described(word, outcome.alignment_score, bar) if word else outcome.reason,
        outcome=word,
        anchor="unanchored" if outcome.unanchored else "anchored",
        score=outcome.alignment_score,
        threshold=record.brief.pass_threshold,
        base=(*earlier_passes, record)[0].brief.base,
        commit=outcome.commit,
        tree=tree,
        plan_sha256=plan.sha256 if plan else None,
        frozen_tests=frozen_files(record, plan),
        checks=_counts(found),
        runs=runs,
        limits=_limits(record),
        warnings=warnings,
        journal=_head(record, run),
        spec=HashedFile(path=spec.path, sha256=spec.sha256),
        tools=tools,
        earlier_tools=tuple(told for _, told in earlier if told != tools),
        begun=run.start.base,
        sources=tuple(_sources((*earlier_passes, record), run, blobs)),
        unused=run.start.unused,
    )
    return _stated(proof, found, result_of(found, warnings, outcome, verdict))


def text_of(made: Statement) -> str:
    return msgspec.json.format(msgspec.json.encode(made), indent=2).decode() + "\n"


def result_of(found: Sorted, warnings: Iterable[str], outcome: PhaseOutcome, verdict: Verdict) -> Result:
    """Only an accepted phase with checks that all hold passes; nothing checked is never a pass."""
    accepted = isinstance(verdict, Advance) and outcome.status == "completed"
    if not accepted or found.failed or not found.passed:
        return "FAILED"
    return "WARNED" if any(warnings) else "PASSED"


def deciding(record: PhaseRecord, outcome: PhaseOutcome) -> tuple[DecidingRun, ...]:
    """Every command run that decided: before the work, after each task that is in the line, and at verification."""
    seen = record.find(Verified)
    return (*worked(record, outcome), *(_verified_runs(record, seen) if seen else ()))


def worked(record: PhaseRecord, outcome: PhaseOutcome) -> tuple[DecidingRun, ...]:
    """
    What was run in a pass up to its verification.

    A pass that continues others begins on their work: what it ran first is not what held before the phase's work. A
    remediation has no task of its own in the plan, so what it ran before that one says nothing new either.
    """
    works = (run for step, work in _works(record, outcome) for run in _work_runs(record, step, work))
    if not record.brief.first_base:
        return (*_triage_runs(record), *works)
    return tuple(run for run in works if run.when != "before" or not record.brief.cycle)


def sort(runs: Iterable[DecidingRun], commit: str, old: Iterable[str]) -> Sorted:
    """`old` are gates that failed before the work too: they warn and do not fail."""
    last = {run.name: run for run in runs if run.commit == commit}
    known = {f"gate:{name}" for name in old}
    failing = [name for name, run in last.items() if not run.passed]
    return Sorted(
        passed=tuple(name for name, run in last.items() if run.passed),
        warned=tuple(name for name in failing if name in known),
        failed=tuple(name for name in failing if name not in known),
    )


def frozen_files(record: PhaseRecord, plan: Plan | None) -> tuple[FrozenFile, ...]:
    tests = plan.tests if plan else ()
    return tuple(
        FrozenFile(
            path=f"{record.brief.dir}/{t.path}", sha256=hashlib.sha256(t.text.encode("utf-8", "replace")).hexdigest()
        )
        for t in tests
    )


def _triage_runs(record: PhaseRecord) -> Iterator[DecidingRun]:
    triaged, given = record.find(Triaged), record.brief.plan
    if triaged is None:
        return
    laid = triaged.source == "plan"
    # Test files of a plan that was replaced since are gone: what ran over them cannot be run again.
    if laid and (given is None or record.plan is None or given.tests != record.plan.tests):
        return
    for run in triaged.checks:
        base = _deciding(record, run, step="triage", commit=record.brief.base)
        yield msgspec.structs.replace(base, when="before", laid=laid)


def _works(record: PhaseRecord, outcome: PhaseOutcome) -> Iterator[tuple[str, Work]]:
    """The last try at each task and the last debugging round; of a completed phase only what is in its line."""
    last: dict[str, tuple[str, Work]] = {}
    for done in since_plan(record):
        if isinstance(done.result, Executed | Fixed | Debugged):
            last[done.result.work.task] = (done.step, done.result.work)
    line = _line(record)
    for step, work in last.values():
        if outcome.status != "completed" or work.change.commit in line:
            yield step, work


def _line(record: PhaseRecord) -> frozenset[str]:
    """The commits of the pass from its tip back to its base."""
    works = (s.result.work.change for s in record.finished if isinstance(s.result, Executed | Fixed | Debugged))
    parents = {change.commit: change.base for change in works if change.commit != change.base}
    line = [record.commit]
    while line[-1] in parents:
        line.append(parents.pop(line[-1]))
    return frozenset((*line, record.brief.base))


def _work_runs(record: PhaseRecord, step: str, work: Work) -> Iterator[DecidingRun]:
    groups = (
        (work.before, work.change.base, "before", False),
        (work.gates_before, work.change.base, "before", True),
        (work.after, work.change.commit, "after", False),
        (work.gates_after, work.change.commit, "after", True),
    )
    for runs, commit, when, gate in groups:
        for run in runs:
            made = _deciding(record, run, step=step, commit=commit, gate=gate)
            yield msgspec.structs.replace(made, when=when, task=work.task, laid=not gate)


def _verified_runs(record: PhaseRecord, seen: Verified) -> Iterator[DecidingRun]:
    for run in seen.checks:
        if _over_gone_tests(record, run):
            continue
        made = _deciding(record, run, step="verify", commit=seen.commit)
        yield msgspec.structs.replace(made, laid=True, restored_from=record.brief.base if run.restored else None)
    for run in seen.gates:
        yield _deciding(record, run, step="verify", commit=seen.commit, gate=True)


def _over_gone_tests(record: PhaseRecord, run: CommandRun) -> bool:
    """Whether it ran over test files of a plan that was replaced since: these are gone, so it cannot be run again."""
    gone = (test.path for plan in record.replaced_plans for test in plan.tests)
    return REPLACED in run.check and any(path in run.command for path in gone)


def _deciding(record: PhaseRecord, run: CommandRun, *, step: str, commit: str, gate: bool = False) -> DecidingRun:
    return DecidingRun(
        step=step,
        kind="gate" if gate else _kind(run),
        when="after",
        check=run.check,
        what=run.what,
        command=run.command,
        expect=Expectation() if gate else _expected(record, run),
        exit_code=run.exit_code,
        passed=run.passed,
        seconds=run.seconds,
        output_sha256=run.output_sha256,
        commit=commit,
        tree=run.tree,
        sandbox=run.sandbox,
        restored=run.restored,
    )


def _kind(run: CommandRun) -> Kind:
    if run.restored or run.check.endswith(".old"):
        return "old"
    return "test" if run.check.endswith(".test") else "criterion"


def _expected(record: PhaseRecord, run: CommandRun) -> Expectation:
    """What the criterion of that name and command asks for."""
    plans = (record.plan, record.brief.plan, *record.replaced_plans)
    planned = (c for plan in plans if plan for task in plan.tasks for c in task.criteria)
    names = {run.check, run.check.removesuffix(".old"), run.check.partition(REPLACED)[0]}
    known = (*record.phase.criteria, *planned)
    return next((c.expect for c in known if c.id in names and c.command == run.command), Expectation())


def _old_failures(record: PhaseRecord) -> tuple[str, ...]:
    seen = record.find(Verified)
    if seen:
        return seen.old_failures
    works = (s.result.work for s in record.finished if isinstance(s.result, Executed | Fixed | Debugged))
    return tuple(run.check for work in works for run in work.gates_before if not run.passed)


def _warnings(runs: tuple[DecidingRun, ...], found: Sorted, outcome: PhaseOutcome, verdict: Verdict) -> tuple[str, ...]:
    told = (
        (outcome.unanchored, UNANCHORED),
        (verdict == Advance(because=ALREADY_SATISFIED), NOTHING_BUILT),
        (verdict == Advance(because="force_incomplete"), FORCED),
        *((verdict == Advance(because=why), EXHAUSTED.format(why=why)) for why in (QUALITY_EXHAUSTED, GAPS_EXHAUSTED)),
        (bool(found.warned), f"failed before the work too: {', '.join(found.warned)}"),
        *((True, caveat) for caveat in outcome.caveats),
        (any(run.sandbox.partition(" ")[0] == "none" for run in runs), UNCONFINED),
    )
    return tuple(text for holds, text in told if holds)


def _word(verdict: Verdict) -> str:
    match verdict:
        case Advance(because="force_incomplete" | "already_satisfied" as word):
            return word
        case Advance():
            return "accepted"
        case Retry():
            return "remediation_pending"
        case AskHuman():
            return "needs_human_verification"
        case _:
            return "failed"


def _tree(record: PhaseRecord, runs: Iterable[DecidingRun], commit: str) -> str:
    """The tree of the commit without planning files, as some fact about it tells; empty when none does."""
    works = (s.result.work.change for s in record.finished if isinstance(s.result, Executed | Fixed | Debugged))
    seen = ((v.commit, v.tree) for v in record.results(Verified))
    told = (*seen, *((c.commit, c.tree) for c in works), *((r.commit, r.tree) for r in runs if not r.restored))
    return next((tree for of, tree in told if of == commit), "")


def _sources(passes: tuple[PhaseRecord, ...], run: RunRecord, blobs: Blobs) -> Iterator[Source]:
    first, last = passes[0], passes[-1]
    commits = {"roadmap": first.brief.base, "config": run.start.base}
    for what, paths in PLACES.items():
        found = blobs(commits[what], paths)
        path = next((path for path in paths if path in found), None)
        if path:
            yield Source(what=what, path=path, blob=found[path])
    plans = (plan for done in (last, *reversed(passes[:-1])) for plan in (done.plan, done.brief.plan) if plan)
    for blob in dict.fromkeys(blob_id(plan.text.encode("utf-8", "replace"), first.brief.base) for plan in plans):
        yield Source(what="plan", path=f"{last.brief.dir}/PLAN.md", blob=blob)


def _counts(found: Sorted) -> Counts:
    passed, warned, failed = len(found.passed), len(found.warned), len(found.failed)
    return Counts(total=passed + warned + failed, passed=passed, warned=warned, failed=failed)


def _limits(record: PhaseRecord) -> TimeLimits:
    limits = record.start.settings.limits
    return TimeLimits(command_seconds=limits.command_seconds, gate_seconds=limits.gate_seconds)


def _head(record: PhaseRecord, run: RunRecord) -> JournalHead:
    last = record.entries[-1]
    stream = stream_of(run.start.run, record.phase.id, record.brief.number)
    return JournalHead(stream=stream, entry=last.number, sha256=last.hash)


def _in_force(record: PhaseRecord, run: RunRecord) -> tuple[tuple[Spec, dict[str, str]], ...]:
    """
    Specification and tools as the pass found them, and as every process found them that went on with it.

    By the times in the journal: a process that resumed the run after the pass was over has no part in it.
    """
    began, ended = record.history[0].at, record.entries[-1].at
    told = [(e.at, e.event) for e in run.entries if isinstance(e.event, RunStarted | RunResumed) and e.at <= ended]
    before = sum(at <= began for at, _ in told)
    return tuple((event.spec, dict(sorted(event.tools.items()))) for _, event in told[max(0, before - 1) :])


def _stated(proof: Proof, found: Sorted, result: Result) -> Statement:
    subject = [Resource(name=f"phase {proof.phase} of {proof.run}", digest={"gitCommit": proof.commit})]
    if proof.tree:
        subject.append(Resource(name="its tree without planning files", digest={"gitTree": proof.tree}))
    configuration = [Resource(name=proof.spec.path, digest={"sha256": proof.spec.sha256})]
    if proof.plan_sha256:
        configuration.append(Resource(name=f"{proof.dir}/PLAN.md", digest={"autopilotPlanSha256": proof.plan_sha256}))
    configuration += [Resource(name=file.path, digest={"sha256": file.sha256}) for file in proof.frozen_tests]
    return Statement(
        subject=tuple(subject),
        predicate=Predicate(
            result=result,
            configuration=tuple(configuration),
            passed_tests=found.passed,
            warned_tests=found.warned,
            failed_tests=found.failed,
            autopilot=proof,
        ),
    )
