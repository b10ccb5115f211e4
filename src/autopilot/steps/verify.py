"""Run every criterion and gate on a fresh checkout; when they hold, ask a verifier who has seen no report."""

from functools import partial

import msgspec

from autopilot.domain.answers import VerifyOpinion
from autopilot.domain.behaviour import needs_traces
from autopilot.domain.protocols import Question, Tools
from autopilot.domain.record import PhaseRecord
from autopilot.domain.results import Triaged, Verified
from autopilot.steps import contamination
from autopilot.steps.frozen import frozen_tests
from autopilot.steps.own_checks import old_checks
from autopilot.steps.prompt import all_criteria, bullets, criteria_lines, heading, render
from autopilot.steps.test_specs import spec_criteria
from autopilot.steps.typed import content_findings, handlers
from autopilot.steps.verification_paper import verification_paper
from autopilot.steps.wiring import orphans


def run(record: PhaseRecord, tools: Tools) -> Verified:
    commands = record.start.settings.commands
    runnable = tuple(c for c in all_criteria(record) if c.command)
    runnable += spec_criteria(record, runnable)
    change = tools.workspace.change(record.brief.base, record.commit)
    checks = tools.facts.check(record.commit, runnable, frozen_tests(record, record.plan))
    checks += old_checks(record, tools, change, runnable)
    old = tuple(r.check for r in tools.facts.gates(record.brief.base, commands) if not r.passed)
    gates = tools.facts.gates(record.commit, commands)
    found = Verified(
        commit=record.commit,
        tree=tools.workspace.tree(record.commit),
        checks=checks,
        gates=gates,
        old_failures=old,
        orphans=orphans(change, tools, record.plan),
        content=content_findings(record, tools, change, gates),
        handlers=handlers(record, tools, change),
    )
    hold = checks and all(r.passed for r in checks) and all(r.passed or r.check in old for r in gates)
    return reviewed(found, record, tools) if hold and not found.broken else found


def reviewed(found: Verified, record: PhaseRecord, tools: Tools) -> Verified:
    """VRFY-11: the verifier's time is measured, its commands are counted where we can see them; its word is neither."""
    watched = partial(contamination.objections, "verify")
    question = Question(role="verify", prompt=prompt(record, found), answer=VerifyOpinion, objections=watched)
    answered = tools.agents.ask(question)
    return msgspec.structs.replace(
        found,
        opinion=answered.value,
        seconds=answered.seconds,
        observed=None if answered.observed is None else len(answered.observed),
        issues=answered.issues,
    )


def prompt(record: PhaseRecord, seen: Verified | None = None) -> str:
    """VRFY-01: criteria, specification, plan and diff; nothing the executor said."""
    return render(
        "verify",
        heading=heading(record),
        criteria=criteria_lines(all_criteria(record)),
        spec=record.start.spec.path,
        dir=record.brief.dir,
        base=record.brief.base,
        triage=triage_evidence(record),
        traces=tracing(record, seen) if seen else "",
        complaint=f"{record.complaint()}\n" if record.complaint() else "",
    )


def triage_evidence(record: PhaseRecord) -> str:
    """TRGE-04, TRGE-06: what we ran before anything was done, where that is why nothing was done."""
    triaged = record.find(Triaged)
    if triaged is None or triaged.routing != "verify_only":
        return ""
    held = sum(check.passed for check in triaged.checks)
    lines = bullets((f"{'PASS' if c.passed else 'FAIL'}: {c.what} -- `{c.command}`" for c in triaged.checks), "- none")
    return (
        f"TRIAGE CONTEXT: {held} of {len(triaged.checks)} criteria ({triaged.pass_ratio:.0%}) held before this run, so "
        "nothing was built in it. Look closely whether they prove the goal.\n"
        f"Triage evidence:\n{lines}\n"
    )


def tracing(record: PhaseRecord, seen: Verified) -> str:
    """BTRC-01: asked for where somebody can touch something; the handlers are those we found in the change."""
    if not needs_traces(record, seen):
        return ""
    named = f" Handlers in the change: {', '.join(seen.handlers)}." if seen.handlers else ""
    return (
        "Follow every handler of the change to the action it ends in and give a row of behavioral_traces for each: "
        "criterion_match is the criterion in its own words, status is VERIFIED, CONTRADICTED or "
        f"BEHAVIORAL_UNVERIFIABLE.{named}\n"
    )


def artifacts(record: PhaseRecord) -> dict[str, str]:
    seen = record.find(Verified)
    return verification_paper(record, seen) if seen else {}
