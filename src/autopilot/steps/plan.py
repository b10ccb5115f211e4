"""Turn the phase's goal into tasks, each with commands that show it is done."""

from autopilot.domain.agent_call import Question
from autopilot.domain.answers import PlanClaim
from autopilot.domain.errors import ConfigInvalid
from autopilot.domain.phase import padded
from autopilot.domain.results import Planned
from autopilot.history.record import PhaseRecord
from autopilot.policy.facts.behavior_traces import TRACED
from autopilot.policy.task_progress import newest_plan
from autopilot.ports.agents import Tools
from autopilot.steps.artifacts.user_context import planned
from autopilot.steps.prompt import UNMAPPED, bullets, criteria_lines, heading, map_line, render, surroundings

BEHAVIOUR = (
    " A task that touches something people click, drag or type into has a criterion\n"
    "of behaviour as well, from the trigger to the action: `- what happens -- verified by: trace handler -> action`."
)


def run(record: PhaseRecord, tools: Tools) -> Planned:
    answered = tools.agents.ask(Question(role="plan", prompt=prompt(record), answer=PlanClaim))
    folder = f"{record.brief.dir}/"
    written = {path.removeprefix(folder): text for path, text in answered.wrote.items()}
    # A revision need not touch every file: what it left as it was is part of it.
    files = artifacts(record) | written
    text = files.pop("PLAN.md", None)
    if text is None or not written:
        return Planned(plan=None, problem=f"no new {folder}PLAN.md was written", claim=answered.value)
    try:
        return Planned(plan=tools.planning.plan(text, files), claim=answered.value)
    except ConfigInvalid as error:
        return Planned(plan=None, problem=error.what, claim=answered.value)


def prompt(record: PhaseRecord) -> str:
    return render(
        "plan",
        heading=heading(record) + planned(record),
        id=record.phase.id,
        name=record.phase.name,
        number=padded(record.phase.id),
        requirements=bullets(record.brief.requirements, UNMAPPED),
        surroundings=surroundings(record),
        criteria=criteria_lines(record.phase.criteria),
        dir=record.brief.dir,
        map=map_line(record),
        behaviour=BEHAVIOUR if record.phase.type in TRACED else "",
        research=record.brief.research or "RESEARCH.md",
        complaint=f"\n{told}\n" if (told := revising(record) or sent_back(record)) else "",
    ) + still_to_hold(record)


def revising(record: PhaseRecord) -> str:
    """Why the plan was sent back; one the user wrote is corrected, and stays theirs in everything else."""
    complaint, given = record.complaint() or "", record.brief.plan
    if not complaint or given is None or not given.existed_before:
        return complaint
    lines = " and its lines `<!-- file: ... -->`" if given.parts else ""
    return (
        f"The user wrote the plan in `{record.brief.dir}/PLAN.md`. Keep its tasks, their ids, files, order{lines}. "
        f"Change only what is wrong with it:\n{complaint}"
    )


def sent_back(record: PhaseRecord) -> str:
    """What a phase has to know that was built before and is to be built again: others' work, or a person's word."""
    if record.brief.cycle or not record.brief.feedback:
        return ""
    reasons = bullets(record.brief.feedback, "")
    if record.brief.found:
        return f"A person looked at an earlier try, which was set aside, and found:\n{reasons}"
    return f"This was built before, but did not go with what was merged meanwhile and is in the code now:\n{reasons}"


def still_to_hold(record: PhaseRecord) -> str:
    """For a plan that replaces one that was carried out: verification goes on covering the first."""
    if record.brief.cycle or record.plan is None:
        return ""
    criteria = criteria_lines(tuple(c for task in record.plan.tasks for c in task.criteria))
    return f"\nAn earlier plan of this phase was carried out. What it asks for must still hold:\n{criteria}\n"


def artifacts(record: PhaseRecord) -> dict[str, str]:
    """The plan in force; while another is proposed in its stead, the newest proposal."""
    plan = newest_plan(record)
    return {"PLAN.md": plan.text} | {test.path: test.text for test in plan.tests} if plan else {}
