"""Have somebody read the code and the specification before anybody plans."""

from autopilot.domain.agent_call import Question
from autopilot.domain.answers import ResearchClaim
from autopilot.domain.results import Researched
from autopilot.history.record import PhaseRecord
from autopilot.ports.agents import Tools
from autopilot.steps.artifacts.user_context import told, with_sections
from autopilot.steps.prompt import UNMAPPED, bullets, criteria_lines, heading, map_line, render, surroundings


def run(record: PhaseRecord, tools: Tools) -> Researched:
    answered = tools.agents.ask(Question(role="research", prompt=prompt(record), answer=ResearchClaim))
    written = answered.wrote.get(f"{record.brief.dir}/RESEARCH.md", "")
    return Researched(claim=answered.value, text=written or outline(record, answered.value))


def prompt(record: PhaseRecord) -> str:
    return render(
        "research",
        heading=heading(record) + told(record),
        requirements=bullets(record.brief.requirements, UNMAPPED),
        surroundings=surroundings(record),
        criteria=criteria_lines(record.phase.criteria),
        spec=record.start.spec.path,
        dir=record.brief.dir,
        map=map_line(record),
        complaint=f"\n{record.complaint()}\n" if record.complaint() else "",
    )


def artifacts(record: PhaseRecord) -> dict[str, str]:
    """What the researcher wrote, or its answer as a document when it wrote none."""
    found = record.find(Researched)
    if found is None:
        return {}
    return {"RESEARCH.md": with_sections(found.text or outline(record, found.claim), record.brief.context)}


def outline(record: PhaseRecord, claim: ResearchClaim) -> str:
    return (
        f"# Research: Phase {record.phase.id} -- {record.phase.name}\n\n"
        f"## Key Findings\n{bullets(claim.key_findings, 'none')}\n\n"
        f"## Recommended Approach\n{claim.recommended_approach or 'none'}\n\n"
        f"## Risks\n{bullets(claim.risks, 'none')}\n\n"
        f"## Open Questions\n{bullets(claim.open_questions, 'none')}\n"
    )
