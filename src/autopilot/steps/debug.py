"""Have a debugger mend the phase as a whole, from what verification found."""

from autopilot.domain.answers import FixClaim
from autopilot.domain.phase import Task, padded
from autopilot.domain.progress import debugs
from autopilot.domain.protocols import Question, Tools
from autopilot.domain.record import PhaseRecord
from autopilot.domain.results import Debugged, Verified
from autopilot.steps.facts import work_facts
from autopilot.steps.fix import OUTPUT_SHOWN
from autopilot.steps.prompt import all_criteria, criteria_lines, heading, render
from autopilot.steps.visual import complaints


def run(record: PhaseRecord, tools: Tools) -> Debugged:
    attempt = debugs(record) + 1
    question = Question(role="debug", prompt=prompt(record), answer=FixClaim)
    message = f"fix({padded(record.phase.id)}): debug attempt {attempt}"
    worked = tools.agents.work(question, message, onto=record.commit)
    whole = Task(id=f"{record.phase.id}-debug", title="the phase as a whole", criteria=all_criteria(record))
    return Debugged(work=work_facts(record, tools, whole, worked.change, worked.findings), claim=worked.value)


def prompt(record: PhaseRecord) -> str:
    return render(
        "debug",
        heading=heading(record),
        criteria=criteria_lines(all_criteria(record)),
        failures=failures(record),
        dir=record.brief.dir,
    )


def failures(record: PhaseRecord) -> str:
    seen = record.latest(Verified)
    failing = (r for r in (*seen.checks, *seen.gates) if not r.passed)
    shown = [f"$ {r.command}\n{r.output[-OUTPUT_SHOWN:]}" for r in failing]
    seen_in_browser = "\n".join(complaints(record))
    return "\n\n".join(part for part in (record.complaint() or "", *shown, seen_in_browser) if part)
