"""Show the judge the verifier's report, now that its own is written, and have it compare the two."""

from collections.abc import Mapping
from typing import Any

from autopilot.domain.agent_call import Objection, Question
from autopilot.domain.answers import DivergenceOpinion, Trace
from autopilot.domain.results import Compared, Verified
from autopilot.history.record import PhaseRecord
from autopilot.policy.facts.behavior_traces import NOT_TRACED, needs_traces, same_trace, traces_of, untraced
from autopilot.ports.agents import Tools
from autopilot.steps.prompt import heading, render

NOT_RETRACED = "Judge did not re-trace any entry of the verifier's behavioral traces."
UNSAID = "Your answer has no recommendation. Say what you recommend now: proceed, debug, rollback or halt."
RETRACE = (
    "Follow at least one row of the report's Behavioral Traces again yourself and give it in retraced, with status "
    "VERIFIED, CONTRADICTED or BEHAVIORAL_UNVERIFIABLE as you find it.\n"
)


def run(record: PhaseRecord, tools: Tools) -> Compared:
    traces = traces_to_check(record)

    def watched(answer: Mapping[str, Any]) -> tuple[Objection, ...]:
        return (*objections(traces, answer), *unsaid(answer))

    question = Question(role="judge_divergence", prompt=prompt(record), answer=DivergenceOpinion, objections=watched)
    answered = tools.agents.ask(question)
    return Compared(opinion=answered.value, added=(NOT_TRACED,) if untraced(record) else (), issues=answered.issues)


def traces_to_check(record: PhaseRecord) -> tuple[Trace, ...]:
    seen = record.find(Verified)
    return traces_of(seen) if seen and needs_traces(record, seen) else ()


def objections(traces: tuple[Trace, ...], answer: Mapping[str, Any]) -> tuple[Objection, ...]:
    """JUDG-06: of the verifier's rows the judge has followed at least one itself."""
    rows = answer.get("retraced")
    again = tuple(_trace(row) for row in rows if isinstance(row, Mapping)) if isinstance(rows, list) else ()
    if not traces or any(same_trace(one, other) for one in again for other in traces):
        return ()
    return (Objection(reminder=f"{NOT_RETRACED} {RETRACE}".strip(), issue=NOT_RETRACED),)


def unsaid(answer: Mapping[str, Any]) -> tuple[Objection, ...]:
    """JUDG-05: without a recommendation an answer is clear only if judge and verifier agree on everything."""
    differs = any(answer.get(name) for name in ("disagreements", "verifier_missed", "judge_missed"))
    if answer.get("recommendation") or (answer.get("agreements") and not differs):
        return ()
    return (Objection(reminder=UNSAID, issue="Judge gave no recommendation after its comparison."),)


def _trace(row: Mapping[str, Any]) -> Trace:
    return Trace(handler=str(row.get("handler", "")), file_line=str(row.get("file_line", "")))


def prompt(record: PhaseRecord) -> str:
    complaint = record.complaint()
    return (f"{complaint}\n\n" if complaint else "") + render(
        "judge_divergence",
        heading=heading(record),
        dir=record.brief.dir,
        base=record.brief.base,
        traces=RETRACE if traces_to_check(record) else "",
    )
