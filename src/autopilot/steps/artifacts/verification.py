"""VERIFICATION.md and its JSON twin: our own runs first, then what the verifier said of them."""

import msgspec

from autopilot.domain.answers import CriterionResult, Trace, VerifyOpinion
from autopilot.domain.evidence import CommandRun, Finding
from autopilot.domain.results import Verified
from autopilot.history.record import PhaseRecord
from autopilot.policy.facts.behavior_traces import TRACED
from autopilot.policy.facts.tamper_rules import finding_line
from autopilot.policy.failure_categories import executes, failure_categories, known, strongest, violation
from autopilot.steps.artifacts.json_twin import twin, written_at
from autopilot.steps.artifacts.visual_bugs import section
from autopilot.steps.checks.test_specs import NONE, SpecRun, spec_runs
from autopilot.steps.prompt import bullets
from autopilot.text.tables import table

GATES = ("compile", "lint", "test", "build")
OUTPUT_SHOWN, STDERR_SHOWN = 80, 500


def verification_paper(record: PhaseRecord, seen: Verified) -> dict[str, str]:
    at, specs = written_at(record, seen), spec_runs(record, seen.checks)
    status = "passed" if holds(seen) else "gaps_found"
    score = f"{sum(r.passed for r in seen.checks)}/{len(seen.checks)} commands passed"
    text = (
        f"---\nphase: {record.phase.id}\nverified: {at}\nstatus: {status}\nscore: {score}\n---\n"
        f"# Verification Report: Phase {record.phase.id} -- {record.phase.name}\n\n{sections(record, seen, specs)}"
    )
    facts = twin(record, verified=at, status=status, score=score, failures=failures(seen), specs=specs, result=seen)
    return {"VERIFICATION.md": text, "VERIFICATION.json": facts}


def holds(seen: Verified) -> bool:
    gates = all(r.passed or r.check in seen.old_failures for r in seen.gates)
    clean = not seen.broken and not (seen.visual and seen.visual.blocking)
    return gates and clean and all(r.passed for r in seen.checks) and seen.opinion is not None and seen.opinion.passed


def sections(record: PhaseRecord, seen: Verified, specs: tuple[SpecRun, ...]) -> str:
    opinion = seen.opinion
    traces = opinion.behavioral_traces if opinion and record.phase.type in TRACED else ()
    criteria = (criterion_line(r, seen.checks) for r in (opinion.criteria_results if opinion else ()))
    found = (f"{what} ({category})" for what, category in failures(seen))
    parts = {
        "Automated Checks": automated(seen),
        "Sandbox Execution Results": execution_table(seen.checks),
        "Sandbox Violations": bullets(violations(seen), ""),
        "Test Specification Results": spec_table(specs),
        "Behavioral Traces": trace_table(traces) if traces else "",
        "Acceptance Criteria Verification": bullets(
            criteria, "none named" if opinion else "not asked: a command failed or the change tampers with checks"
        ),
        "Phase Type Checks": bullets(
            map(content_line, seen.content), f"nothing found in the changed files of this {record.phase.type} phase"
        ),
        "Visual Testing Results": section(seen.visual) if seen.visual else "",
        "Wire Check": bullets((f.what for f in seen.orphans), "every new file is used or stands for itself"),
        "Findings": bullets((f"{f.severity} {f.rule}: {f.where}: {f.what}" for f in seen.findings), ""),
        "Tampering": bullets(map(finding_line, seen.tampering), "none noticed"),
        "Scope Creep": bullets(opinion.scope_creep if opinion else (), "none named"),
        "Failures": bullets(found, "none named"),
    }
    return "\n".join(f"## {name}\n{text}\n" for name, text in parts.items() if text)


def automated(seen: Verified) -> str:
    """VRFY-07: a check that is not configured is n/a, never a failure."""
    runs = {run.check: run for run in seen.gates}
    return "\n".join(f"- {name}: {_gate(runs.get(name), seen.old_failures)}" for name in GATES)


def _gate(run: CommandRun | None, old: tuple[str, ...]) -> str:
    if run is None:
        return "n/a"
    if run.passed:
        return f"PASS (`{run.command}`, {run.seconds:.1f} s)"
    first = " / ".join(line.strip() for line in run.output.splitlines() if line.strip())[:STDERR_SHOWN]
    return f"FAIL{', as before this phase' if run.check in old else ''} (`{run.command}`): {first or 'no output'}"


def failures(seen: Verified) -> tuple[tuple[str, str], ...]:
    """Every failure with its category: those we found ourselves, then those the verifier named."""
    ours = msgspec.structs.replace(seen, opinion=None)
    found = tuple((entry.failure, entry.category) for entry in failure_categories(ours))
    drawn = tuple((issue.told, "acceptance_criteria_unmet") for issue in (seen.visual.blocking if seen.visual else ()))
    return (*found, *drawn, *(named(seen.opinion) if seen.opinion else ()))


def named(opinion: VerifyOpinion) -> tuple[tuple[str, str], ...]:
    entries = known(opinion.failure_categories)
    placed = {entry.failure: entry.category for entry in entries}
    return tuple((failure, placed.get(failure, "unclassified")) for failure in opinion.failures)


def assessed(run: CommandRun) -> str:
    """What was made without a sandbox is never called verified."""
    return ("VERIFIED" if run.confined else "PASSED (unsandboxed)") if run.passed else "FAILED"


def execution_table(runs: tuple[CommandRun, ...]) -> str:
    """SBOX-01."""
    rows = (
        (r.what, f"`{r.command}`", "timeout" if r.exit_code is None else r.exit_code,
         r.output.strip()[: OUTPUT_SHOWN if r.passed else STDERR_SHOWN], assessed(r))
        for r in runs
    )  # fmt: skip
    return table(("Criterion", "Command", "Exit Code", "Output", "Assessment"), rows)


def violations(seen: Verified) -> tuple[str, ...]:
    """SBOX-03: each command that left its bounds, or tried to."""
    found = ((run, violation(run)) for run in (*seen.checks, *seen.gates))
    return tuple(f"`{run.command}`: {what}" for run, what in found if what)


def criterion_line(result: CriterionResult, checks: tuple[CommandRun, ...]) -> str:
    """SBOX-02: where a run of ours is about the criterion, its end is told beside what the verifier says."""
    said = f"{result.criterion}: {result.status} -- {result.evidence}"
    about = (r for r in checks if r.what.strip().casefold() == result.criterion.strip().casefold())
    run = strongest(about)
    if run is None or not executes(run.command):
        return said
    return f"{said} (executed by Autopilot: {'VERIFIED' if run.passed else 'FAILED'})"


def content_line(finding: Finding) -> str:
    return f"{finding.severity.upper()} {finding.where}: {finding.what} ({finding.rule})"


def spec_table(specs: tuple[SpecRun, ...]) -> str:
    if not specs:
        return NONE
    rows = ((s.task, s.file, f"{s.passed}/{s.failed}", s.exit_code, s.status) for s in specs)
    return table(("Task", "Test File", "Assertions Passed/Failed", "Exit Code", "Status"), rows)


def trace_table(traces: tuple[Trace, ...]) -> str:
    """BTRC-01."""
    rows = (
        (t.handler, t.file_line, t.chain, t.terminal_action, t.criterion_match, t.status or "BEHAVIORAL_UNVERIFIABLE")
        for t in traces
    )
    return table(("Handler", "File:Line", "Chain", "Terminal Action", "Criterion Match", "Status"), rows)
