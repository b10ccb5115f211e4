"""Run every criterion and gate on a fresh checkout; when they hold, ask a verifier who has seen no report."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec
from msgspec import UnsetType

from autopilot.domain.agent_call import Objection, Question
from autopilot.domain.answers import VerifyOpinion
from autopilot.domain.errors import NoAnswer
from autopilot.domain.evidence import Finding
from autopilot.domain.results import Triaged, Verified
from autopilot.history.record import PhaseRecord
from autopilot.policy.answer_check import SHOW, places, to_show
from autopilot.policy.facts import criterion_rows
from autopilot.policy.facts.behavior_traces import needs_traces
from autopilot.policy.score_caps import place_in
from autopilot.policy.task_progress import only_checked
from autopilot.ports.agents import Tools
from autopilot.steps.artifacts import visual_bugs as visual_paper
from autopilot.steps.artifacts.verification import verification_paper
from autopilot.steps.checks import contamination
from autopilot.steps.checks import extra_scrutiny as enhanced
from autopilot.steps.checks import visual_check as visual
from autopilot.steps.checks.claim_differences import unseen
from autopilot.steps.checks.exemptions import between, changed_tests, exceptions, judged, left_out
from autopilot.steps.checks.gate_facts import gate_facts
from autopilot.steps.checks.old_checks import hollow_criteria, old_checks
from autopilot.steps.checks.probes import canary, hollow_tasks, steadied
from autopilot.steps.checks.replaced_plans import replaced_checks
from autopilot.steps.checks.tampering import noticed_lines, tampering
from autopilot.steps.checks.test_specs import frozen_tests, spec_criteria
from autopilot.steps.checks.type_checks import content_findings, handlers
from autopilot.steps.checks.unused_files import orphans
from autopilot.steps.mini_verify import unclear_rows
from autopilot.steps.prompt import all_criteria, bullets, criteria_lines, heading, render


def run(record: PhaseRecord, tools: Tools) -> Verified:
    runnable = tuple(c for c in all_criteria(record) if c.command)
    runnable += spec_criteria(record, runnable)
    whole = tools.workspace.change(record.brief.base, record.commit)
    tree = judged(record, tools, record.commit)
    change = between(tools, whole, record.brief.base, tree.commit)
    checks = tools.facts.check(tree.commit, runnable, frozen_tests(record, record.plan))
    checks += replaced_checks(record, tools, tree.commit)
    checks += old_checks(record, tools, change, runnable)
    gates = gate_facts(tools, record.start.settings.commands, change, changed_tests(record))
    found = Verified(
        commit=record.commit,
        tree=tools.workspace.tree(record.commit),
        checks=checks,
        gates=gates.after,
        old_failures=tuple(run.check for run in gates.after if not run.passed and run not in gates.new),
        orphans=orphans(whole, tools, record.plan),
        content=content_findings(record, tools, change, gates.after),
        handlers=handlers(record, tools, change),
        findings=(*left_out(tree), *gates.findings),
        tampering=tampering(record, tools, whole, record.plan.tasks if record.plan else ()),
        extra=gates.extra,
        judged=tools.facts.tree(tree.commit),
        built=bool(tools.workspace.change(record.brief.began_on, record.commit).files),
    )
    if holds(found):
        sung = canary(tools, change, gates)
        hollow = (*hollow_tasks(record, tools, change, found), *hollow_criteria(record, tools, change))
        found = msgspec.structs.replace(
            found, findings=(*found.findings, *sung.findings, *hollow), extra=(*found.extra, *sung.runs)
        )
    if holds(found):
        found = steadied(record, tools, found, tree.commit)
    return looked(found, record, tools) if holds(found) else found


def holds(found: Verified) -> bool:
    """Whether the facts are worth a verifier's time."""
    gates = all(run.passed or run.check in found.old_failures for run in found.gates)
    checks = bool(found.checks) and all(run.passed for run in found.checks)
    return checks and gates and not found.broken


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
    watched = partial(objections, record, found.handlers)
    question = Question(role="verify", prompt=prompt(record, found), answer=VerifyOpinion, objections=watched)
    answered = tools.agents.ask(question)
    if missing := overlooked(record, answered.value):
        raise NoAnswer("bad_output", criterion_rows.unseen(missing))
    only_said = unseen(answered.value.commands_run, answered.observed)
    doubts = (Finding(rule="not-seen-to-run", where="verifier", what=w, severity="warning") for w in only_said)
    return msgspec.structs.replace(
        found,
        findings=(*found.findings, *doubts),
        opinion=answered.value,
        seconds=answered.seconds,
        observed=None if answered.observed is None else len(answered.observed),
        issues=(*found.issues, *answered.issues),
        absent=absent(answered.value, record, tools) if to_show(record) else (),
    )


def overlooked(record: PhaseRecord, opinion: VerifyOpinion) -> tuple[str, ...]:
    """The criteria that a content verifier says nothing about, and that no command decides."""
    traced = (trace.criterion_match for trace in opinion.behavioral_traces)
    rows = (*(row.criterion for row in opinion.criteria_results), *traced)
    return left_over(record, rows) if opinion.passed else ()


def left_over(record: PhaseRecord, rows: tuple[str, ...]) -> tuple[str, ...]:
    asked = (*all_criteria(record), *criterion_rows.truths(record))
    return criterion_rows.left_out(asked, criterion_rows.own(record), rows)


def absent(opinion: VerifyOpinion, record: PhaseRecord, tools: Tools) -> tuple[str, ...]:
    """INTG-08: a place counts only if the file has that line."""
    named = ((entry, place_in(entry)) for entry in places(opinion))
    return tuple(entry for entry, place in named if place and not _there(*place, record, tools))


def _there(path: str, line: int, record: PhaseRecord, tools: Tools) -> bool:
    """Also where the agent wrote down the path from its own folder: the end of it is tried then."""
    parts = path.removeprefix("./").strip("/").split("/")
    texts = (tools.workspace.read(record.commit, "/".join(parts[at:])) for at in range(len(parts)))
    text = next((text for text in texts if text is not None), None)
    return text is not None and 0 < line <= len(text.splitlines())


def objections(record: PhaseRecord, touched: tuple[str, ...], answer: Mapping[str, Any]) -> tuple[Objection, ...]:
    rows = criterion_rows.texts(answer.get("criteria_results"))
    rows += criterion_rows.texts(answer.get("behavioral_traces"), "criterion_match")
    missing = left_over(record, rows) if answer.get("pass") else ()
    return (
        *contamination.objections("verify", answer),
        *unclear_rows(answer),
        *criterion_rows.objections("criteria_results", missing),
        *enhanced.untraced(record, touched, answer),
    )


def prompt(record: PhaseRecord, seen: Verified | None = None) -> str:
    """VRFY-01: criteria, specification, plan and diff, and what we noticed in it; nothing the executor said."""
    return render(
        "verify",
        heading=heading(record),
        criteria="\n".join((criteria_lines(all_criteria(record)), *must_hold(record))),
        spec=record.start.spec.path,
        dir=record.brief.dir,
        base=record.brief.base,
        exceptions=exceptions(record),
        noticed=noticed_lines(seen),
        triage=triage_evidence(record),
        traces=tracing(record, seen) if seen else "",
        enhanced=enhanced.paragraph(record, "verify"),
        show=f"{SHOW}\n" if to_show(record) else "",
        complaint=f"{record.complaint()}\n" if record.complaint() else "",
    )


def must_hold(record: PhaseRecord) -> tuple[str, ...]:
    """What the user's plan files say must be true when they are done."""
    parts = record.plan.parts if record.plan else ()
    return tuple(f"- {truth} ({part.file})" for part in parts for truth in part.must_haves.truths)


def triage_evidence(record: PhaseRecord) -> str:
    """TRGE-04, TRGE-06: what we ran before anything was done, where that is why nothing was done."""
    triaged = record.find(Triaged)
    if triaged is None or not only_checked(record):
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
        "AUTONOMOUS VERIFICATION REQUIRED: settle it yourself, by commands and by reading; nobody is asked to look.\n"
        "Follow every handler of the change to the action it ends in and give a row of behavioral_traces for each: "
        "criterion_match is the criterion in its own words, status is VERIFIED, CONTRADICTED or "
        f"BEHAVIORAL_UNVERIFIABLE.{named}\n"
    )


def artifacts(record: PhaseRecord) -> dict[str, str]:
    seen = record.find(Verified)
    return {**verification_paper(record, seen), **visual_paper.artifacts(record)} if seen else {}
