"""Have a debugger mend the phase as a whole, from what verification found."""

from autopilot.domain.agent_call import Question
from autopilot.domain.answers import FixClaim
from autopilot.domain.phase import Task, padded
from autopilot.domain.results import Debugged, Verified
from autopilot.history.record import PhaseRecord
from autopilot.policy.facts.held_out import veiled
from autopilot.policy.task_progress import debugs
from autopilot.ports.agents import Tools
from autopilot.steps.checks.facts import work_facts
from autopilot.steps.checks.visual_check import complaints
from autopilot.steps.fix import failure_texts, left_out_words
from autopilot.steps.prompt import all_criteria, criteria_lines, heading, map_line, render


def run(record: PhaseRecord, tools: Tools) -> Debugged:
    attempt = debugs(record) + 1
    question = Question(role="debug", prompt=prompt(record), answer=FixClaim)
    message = f"fix({padded(record.phase.id)}): debug attempt {attempt}"
    worked = tools.agents.work(question, message, onto=record.commit)
    whole = Task(id=f"{record.phase.id}-debug", title="the phase as a whole", criteria=all_criteria(record))
    return Debugged(work=work_facts(record, tools, whole, worked.change, worked.findings), claim=worked.value)


def prompt(record: PhaseRecord) -> str:
    text = render(
        "debug",
        heading=heading(record),
        criteria=criteria_lines(all_criteria(record)),
        failures=failures(record),
        plan=f"The plan is `{record.brief.dir}/PLAN.md`. " if record.plan else "",
        map=map_line(record),
    )
    return veiled(record, text)


def failures(record: PhaseRecord) -> str:
    seen = record.latest(Verified)
    failing = (r for r in (*seen.checks, *seen.gates) if not r.passed)
    parts = (record.complaint() or "", *left_out_words(seen.findings), *failure_texts(record, failing))
    return "\n\n".join(part for part in (*parts, "\n".join(complaints(record))) if part)
