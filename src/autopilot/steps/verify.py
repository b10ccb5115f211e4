"""Run every criterion and gate on a fresh checkout; when they hold, ask a verifier who has seen no report."""

from functools import partial

import msgspec

from autopilot.domain.answers import VerifyOpinion
from autopilot.domain.evidence import CommandRun
from autopilot.domain.protocols import Question, Tools
from autopilot.domain.record import PhaseRecord
from autopilot.domain.results import Triaged, Verified
from autopilot.steps import contamination
from autopilot.steps.execute import run_lines
from autopilot.steps.frozen import frozen_tests
from autopilot.steps.prompt import all_criteria, bullets, criteria_lines, heading, render


def run(record: PhaseRecord, tools: Tools) -> Verified:
    commands = record.start.settings.commands
    runnable = tuple(c for c in all_criteria(record) if c.command)
    checks = tools.facts.check(record.commit, runnable, frozen_tests(record, record.plan))
    old = tuple(r.check for r in tools.facts.gates(record.brief.base, commands) if not r.passed)
    gates = tools.facts.gates(record.commit, commands)
    found = Verified(
        commit=record.commit,
        tree=tools.workspace.tree(record.commit),
        checks=checks,
        gates=gates,
        old_failures=old,
    )
    hold = checks and all(r.passed for r in checks) and all(r.passed or r.check in old for r in gates)
    return reviewed(found, record, tools) if hold else found


def reviewed(found: Verified, record: PhaseRecord, tools: Tools) -> Verified:
    """VRFY-11: the verifier's time is measured, its commands are counted where we can see them; its word is neither."""
    watched = partial(contamination.objections, "verify")
    question = Question(role="verify", prompt=prompt(record), answer=VerifyOpinion, objections=watched)
    answered = tools.agents.ask(question)
    return msgspec.structs.replace(
        found,
        opinion=answered.value,
        seconds=answered.seconds,
        observed=None if answered.observed is None else len(answered.observed),
        issues=answered.issues,
    )


def prompt(record: PhaseRecord) -> str:
    """VRFY-01: criteria, specification, plan and diff; nothing the executor said."""
    triaged = record.find(Triaged)
    found = triaged is not None and triaged.routing == "verify_only"
    return render(
        "verify",
        heading=heading(record),
        criteria=criteria_lines(all_criteria(record)),
        spec=record.start.spec.path,
        dir=record.brief.dir,
        base=record.brief.base,
        triage="The criteria already held before this run; look closely whether they prove the goal.\n"
        if found
        else "",
        complaint=f"{record.complaint()}\n" if record.complaint() else "",
    )


def artifacts(record: PhaseRecord) -> dict[str, str]:
    seen = record.find(Verified)
    if seen is None:
        return {}
    at = next(e.at for e in reversed(record.entries) if getattr(e.event, "result", None) == seen)
    opinion = seen.opinion
    passed = opinion is not None and opinion.passed and all(r.passed for r in seen.checks)
    criteria = (f"{r.criterion}: {r.status} -- {r.evidence}" for r in (opinion.criteria_results if opinion else ()))
    return {
        "VERIFICATION.md": (
            f"---\nphase: {record.phase.id}\nverified: {at}\nstatus: {'passed' if passed else 'gaps_found'}\n"
            f"score: {sum(r.passed for r in seen.checks)}/{len(seen.checks)} commands passed\n---\n"
            f"# Verification Report: Phase {record.phase.id} -- {record.phase.name}\n\n"
            f"## Automated Checks\n{run_lines(seen.gates)}\n\n"
            f"## Sandbox Execution Results\n{execution_table(seen.checks)}\n\n"
            f"## Acceptance Criteria Verification\n{bullets(criteria, 'not asked: a command failed')}\n\n"
            f"## Failures\n{bullets(opinion.failures if opinion else (), 'none named')}\n"
        )
    }


def execution_table(runs: tuple[CommandRun, ...]) -> str:
    """SBOX-01."""
    rows = ["| Criterion | Command | Exit Code | Output | Assessment |", "|---|---|---|---|---|"]
    for run in runs:
        assessment = "VERIFIED" if run.passed else "FAILED"
        cells = (run.what, f"`{run.command}`", run.exit_code, run.output.strip()[:80], assessment)
        rows.append("| " + " | ".join(str(c).replace("|", "\\|").replace("\n", " ") for c in cells) + " |")
    return "\n".join(rows)
