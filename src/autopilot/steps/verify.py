"""Run every criterion and gate on a fresh checkout; when they hold, ask a verifier who has seen no report."""

from functools import partial

import msgspec
from msgspec import UnsetType

from autopilot.domain.answers import VerifyOpinion
from autopilot.domain.protocols import Question, Tools
from autopilot.domain.record import PhaseRecord
from autopilot.domain.results import Triaged, Verified
from autopilot.steps import contamination, visual, visual_paper
from autopilot.steps.frozen import frozen_tests
from autopilot.steps.own_checks import old_checks
from autopilot.steps.prompt import all_criteria, criteria_lines, heading, render
from autopilot.steps.test_specs import spec_criteria
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
    )
    hold = checks and all(r.passed for r in checks) and all(r.passed or r.check in old for r in gates)
    return looked(found, record, tools) if hold else found


def looked(found: Verified, record: PhaseRecord, tools: Tools) -> Verified:
    """What can be seen to be wrong needs no verifier to say so."""
    results = visual.look(record, tools)
    if isinstance(results, UnsetType):
        return reviewed(found, record, tools)
    issues = (results.skipped,) if results.skipped else ()
    found = msgspec.structs.replace(found, visual_test_results=results, issues=issues)
    return found if results.blocking else reviewed(found, record, tools)


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
        issues=(*found.issues, *answered.issues),
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
    return {**verification_paper(record, seen), **visual_paper.artifacts(record)} if seen else {}
