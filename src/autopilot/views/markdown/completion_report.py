"""The report of a run's end (RPT-01): phases, integration, audit, version, numbers, and what happened in the run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autopilot.domain.events import CompletionFinished, PhaseFinished, RunFinished
from autopilot.domain.process import NOT_SHARED, host_line, is_here
from autopilot.domain.request import Ending
from autopilot.domain.results import SelfAudit
from autopilot.history.record import RunRecord
from autopilot.policy.deferral import summary_lines
from autopilot.policy.uniform_scores import CRITICAL_TIER, alerts, completed
from autopilot.text.clean import clean
from autopilot.views.lines.trend_lines import trend_section

SHORT = 8
_NOT_RUN = "not run"
_IDLE = frozenset({"not_started", "skipped", "blocked"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """
    All a report is made of. `account` is the run retold, `left` the phases that could run next.

    `kept` says where the work of failed phases is, `closing` is what followed the last phase.
    `refused` are hosts that agents tried to reach and were not let through to, with how often.
    """

    run: RunRecord
    finished: RunFinished
    metrics: Mapping[str, Any]
    account: str
    left: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    closing: Ending = Ending()  # noqa: RUF009 - frozen, so it is safe to share
    refused: Mapping[str, int] = field(default_factory=dict)


def report(ended: Ended, runs: Sequence[Mapping[str, Any]] | None = None) -> str:
    """With `runs`, the numbers of all runs so far, the trend is part of it."""
    sections = [_head(ended), _phases(ended), _integration(ended), _audit(ended)]
    sections += [_version(ended.run.completion), _alert(ended.run), _numbers(ended.metrics), _deferrals(ended.run)]
    sections += [_hosts(ended), _next(ended)]
    sections += [_account(ended.account)]
    if runs:
        sections.append(trend_section(runs))
    texts = ("\n".join(section) for section in sections)
    return "\n\n".join(text for text in texts if text) + "\n"


def _head(ended: Ended) -> Iterator[str]:
    start, finished = ended.run.start, ended.finished
    yield "# Completion Report"
    yield ""
    yield f"- Run: {start.run}"
    yield f"- Date: {ended.metrics['timestamp'][:10]}"
    yield f"- Status: {finished.status}, exit code {finished.exit_code}: {clean(finished.reason)}"
    yield f"- Specification: {clean(ended.run.spec.path)} ({ended.run.spec.sha256[:SHORT]})"
    for name, why in start.unused.items():
        yield f"- Gate absent: the detected {name} command does not run here ({clean(why)})"


def _hosts(ended: Ended) -> Iterator[str]:
    if ended.run.start.settings.network.open:
        yield "## Network"
        yield ""
        yield "The network was open to agents: what they reached is not known."
        return
    if not ended.refused:
        return
    yield "## Hosts refused"
    yield ""
    yield "Agents were not let through to these. To allow one, add it to the list in [network] of your config.toml."
    yield ""
    yield from (f"- {clean(host)} ({count}): `{clean(host_line(host))}`" for host, count in ended.refused.items())
    here = ", ".join(clean(host) for host in ended.refused if is_here(host))
    if here:
        yield ""
        yield f"{here}: {NOT_SHARED}"


def _phases(ended: Ended) -> Iterator[str]:
    names = {phase.id: phase.name for phase in ended.run.start.phases}
    yield "## Phases"
    yield ""
    yield "| Phase | Name | Status | Alignment | Duration | Tokens used | Tokens estimated |"
    yield "|---|---|---|---|---|---|---|"
    for row in ended.metrics["per_phase_summary"]:
        score, minutes = row["alignment_score"], row["duration_minutes"]
        cells = (
            row["phase_id"],
            _cell(names.get(row["phase_id"], "")),
            _word(row),
            "-" if score is None else f"{score:.1f}/10",
            "-" if minutes is None else f"{minutes:g}m",
            str(row["tokens_used"]) if row["status"] in _IDLE else _used(row["tokens_used"], ended.metrics),
            "-" if row["estimated_tokens"] is None else str(row["estimated_tokens"]),
        )
        yield f"| {' | '.join(cells)} |"


def _word(row: Mapping[str, Any]) -> str:
    """The status, or what it is called where the phase counts as done without having passed at its bar."""
    words = {"below_bar": "passed below the bar", "already_satisfied": "already satisfied"}
    return words.get(str(row.get("outcome")), str(row["status"]))


def _cell(text: str) -> str:
    return clean(text, 60).replace("|", "/")


def _integration(ended: Ended) -> Iterator[str]:
    yield "## Integration"
    yield ""
    checked = [done for done in ended.run.of(CompletionFinished) if done.integration != "not_run"]
    if not checked:
        yield f"integration: {_NOT_RUN}"
    else:
        yield f"integration: {checked[-1].integration}"
    yield from _coverage(ended.closing)
    if checked and checked[-1].because:
        yield ""
        yield clean(checked[-1].because, 600)


def _coverage(closing: Ending) -> Iterator[str]:
    """Which completed phases integration check and self-audit looked at, and why not at the others."""
    if closing.covered:
        yield ""
        yield f"Covered: phase {', '.join(closing.covered)}."
    if closing.uncovered:
        yield ""
        yield f"Not covered: phase {', '.join(closing.uncovered)}: {clean(closing.uncovered_because, 300)}."


def _audit(ended: Ended) -> Iterator[str]:
    yield "## Self-Audit Results"
    yield ""
    audits = [done.self_audit for done in ended.run.of(CompletionFinished) if done.self_audit]
    if not audits:
        yield f"Self-audit: {_NOT_RUN}."
    for number, audit in enumerate(audits):
        if number:
            yield ""
        if not audit.answered:
            yield "The auditor gave no usable answer: every requirement is open."
            yield ""
        yield from _audit_numbers(audit)


def _audit_numbers(audit: SelfAudit) -> Iterator[str]:
    yield f"- Total requirements checked: {audit.total_requirements_checked}"
    yield f"- Passed on first check: {audit.passed_on_first_check}"
    yield f"- Gaps found: {audit.gaps_found}"
    yield from (f"  - {g.requirement_id}: {clean(g.gap_description)} ({g.fix_complexity})" for g in audit.found)
    yield f"- Gaps fixed: {audit.gaps_fixed}"
    for fixed in audit.fixed:
        commits = ", ".join(commit[:SHORT] for commit in fixed.fix_commits)
        yield f"  - {fixed.requirement_id}: {commits or 'no change was needed'}"
    yield f"- Gaps remaining: {audit.gaps_remaining}"
    yield from (f"  - {g.requirement_id}: {clean(g.description)}" for g in audit.remaining_gap_details)
    yield f"- Audit cycles: {audit.audit_cycles}"


def _version(done: CompletionFinished | None) -> Iterator[str]:
    if done is None or not (done.version or done.note):
        return
    yield "## Version"
    yield ""
    yield f"Bumped to {done.version}." if done.version else f"Not bumped: {clean(done.note)}."


def _alert(run: RunRecord) -> Iterator[str]:
    """COMP-06."""
    critical = [one for one in alerts(completed(run.of(PhaseFinished))) if one.tier == CRITICAL_TIER]
    if not critical:
        return
    yield "## Rubber-Stamp Alert"
    yield ""
    yield from (f"- {clean(one.message, 600)}" for one in critical)


def _numbers(metrics: Mapping[str, Any]) -> Iterator[str]:
    average = metrics["avg_alignment_score"]
    yield "## Statistics"
    yield ""
    done = f"{metrics['phases_succeeded']} of {metrics['phases_attempted']} succeeded"
    yield f"- Phases: {done}, {metrics['phases_failed']} failed, {metrics['phases_human_deferred']} wait for a person"
    yield f"- Success rate: {metrics['success_rate'] * 100:g}%"
    yield f"- Average alignment: {'-' if average is None else f'{average:.1f}/10'}"
    yield f"- Duration: {metrics['total_duration_minutes']:g}m"
    used = _used(metrics["total_tokens_used"], metrics)
    yield f"- Tokens: {used} used, {metrics['total_estimated_tokens']} estimated"
    yield f"- Debug loops: {metrics['total_debug_loops']}, re-plans: {metrics['total_replan_attempts']}"
    for category, count in metrics["failure_taxonomy_histogram"].items():
        yield f"- Failures of category {clean(category, 40)}: {count}"


def _used(tokens: int, metrics: Mapping[str, Any]) -> str:
    """Where an agent did not say what it used, the sum is only what is known, and unknown is never zero."""
    if metrics.get("paid_tokens", tokens) is not None:
        return str(tokens)
    return f"at least {tokens}" if tokens else "unknown"


def _deferrals(run: RunRecord) -> Iterator[str]:
    """STAT-06c."""
    yield "## Human Deferral"
    yield ""
    yield from (f"- {line}" for line in summary_lines(run))


def _next(ended: Ended) -> Iterator[str]:
    yield "## Next Steps"
    yield ""
    if ended.left:
        yield f"Remaining phases: {' '.join(ended.left)}"
        yield ""
        yield f"To continue: `autopilot {' '.join(ended.left)}`"
    elif ended.finished.exit_code == 0:
        yield "All phases complete. Project is done."
    else:
        yield clean(ended.finished.reason)
    if ended.kept:
        yield ""
        yield from (f"- {line}" for line in ended.kept)


def _account(text: str) -> Iterator[str]:
    yield "## Account"
    yield ""
    yield "````text"
    yield text.rstrip("\n")
    yield "````"
