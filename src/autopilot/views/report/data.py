"""The report for programs: the same sections as plain values, free of secrets and of letters that act."""

from collections.abc import Callable
from typing import Any

import msgspec

from autopilot.state.build_state import run_status
from autopilot.text.clean import harmless
from autopilot.views.lines.trend_lines import trend
from autopilot.views.report.fact_list import Fact, facts_of, noticed
from autopilot.views.report.gantt import timeline
from autopilot.views.report.phase_rows import phases_seen
from autopilot.views.report.scorecards import scorecard
from autopilot.views.report.source import Told
from autopilot.views.report.spending import spending_of
from autopilot.views.report.verdict_rows import brakes, rulings, used


def data(told: Told, redact: Callable[[str], str]) -> dict[str, Any]:
    """Everything on the page but diffs and what commands printed."""
    times, spending = timeline(told), spending_of(told)
    found = {
        "run": told.run.start.run,
        "status": run_status(told.run),
        "phases": phases_seen(told),
        "scores": [card for phase in told.phases if (card := scorecard(told, phase.id))],
        "facts": [{"phase": r.phase.id, **_fact(fact)} for r in told.records for fact in facts_of(r)],
        "findings": [{**msgspec.to_builtins(one), "tampering": one.tampering} for one in noticed(told)],
        "timeline": times,
        "spending": spending,
        "used": used(told.run, spending.whole, times),
        "brakes": brakes(told),
        "verdicts": rulings(told),
        "trend": trend(told.runs),
        "learnings": told.learnings,
        "receipts": told.receipts,
    }
    shown: dict[str, Any] = _plain(msgspec.to_builtins(found), lambda text: redact(harmless(text)))
    return shown


def _fact(fact: Fact) -> dict[str, Any]:
    run = fact.run
    return {
        "pass": fact.number + 1,
        "step": fact.step,
        "task": fact.task,
        "when": fact.when,
        "check": run.check,
        "command": run.command,
        "exit_code": run.exit_code,
        "passed": run.passed,
        "seconds": run.seconds,
        "output_sha256": run.output_sha256,
        "tree": run.tree,
        "sandbox": run.sandbox,
    }


def _plain(value: Any, shown: Callable[[str], str]) -> Any:
    match value:
        case str():
            return shown(value)
        case list() | tuple():
            return [_plain(item, shown) for item in value]
        case dict():
            return {shown(str(key)): _plain(item, shown) for key, item in value.items()}
    return value
