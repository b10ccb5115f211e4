"""Have a judge look at the work before it may read anybody's report."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from autopilot.domain.agent_call import Objection, Question
from autopilot.domain.answers import JudgeOpinion
from autopilot.domain.results import Compared, Judged, Verified
from autopilot.history.record import PhaseRecord
from autopilot.policy.facts.behavior_traces import TRACED
from autopilot.ports.agents import Tools
from autopilot.steps.artifacts.json_twin import twin, written_at
from autopilot.steps.checks import contamination
from autopilot.steps.checks import extra_scrutiny as enhanced
from autopilot.steps.checks.exemptions import exceptions
from autopilot.steps.checks.tampering import noticed_lines
from autopilot.steps.prompt import UNMAPPED, all_criteria, bullets, criteria_lines, heading, render

TOUCH = (
    "Where the change lets somebody touch something, follow one handler yourself to the action it ends in and put the "
    "way from one to the other into independent_evidence.\n"
)


def run(record: PhaseRecord, tools: Tools) -> Judged:
    watched = partial(objections, record)
    question = Question(role="judge", prompt=prompt(record), answer=JudgeOpinion, objections=watched)
    answered = tools.agents.ask(question)
    return Judged(opinion=answered.value, issues=answered.issues)


def objections(record: PhaseRecord, answer: Mapping[str, Any]) -> tuple[Objection, ...]:
    return (*contamination.objections("judge", answer), *enhanced.few_concerns(record, answer))


def prompt(record: PhaseRecord) -> str:
    """JUDG-01: never the verifier's conclusion, nor the executor's evidence."""
    return render(
        "judge",
        heading=heading(record),
        requirements=bullets(record.brief.requirements, UNMAPPED),
        criteria=criteria_lines(all_criteria(record)),
        spec=record.start.spec.path,
        dir=record.brief.dir,
        base=record.brief.base,
        touch=TOUCH if record.phase.type in TRACED else "",
        exceptions=exceptions(record),
        noticed=noticed_lines(record.find(Verified)),
        enhanced=enhanced.paragraph(record, "judge"),
        complaint=f"\n{record.complaint()}\n" if record.complaint() else "",
    )


def artifacts(record: PhaseRecord) -> dict[str, str]:
    """JUDG-04, JUDG-05: the judge's own evidence first, the comparison below it once there is one."""
    judged, compared = record.find(Judged), record.find(Compared)
    if judged is None:
        return {}
    text = f"# Judge Report: Phase {record.phase.id} -- {record.phase.name}\n\n{own_part(judged.opinion)}"
    if compared is not None:
        text += f"\n{comparison(compared)}"
    facts = twin(record, judged=written_at(record, judged), result=judged, divergence=compared)
    return {"JUDGE-REPORT.md": text, "JUDGE-REPORT.json": facts}


def own_part(opinion: JudgeOpinion) -> str:
    parts = {
        "Independent Evidence (gathered before reading VERIFICATION.md)": bullets(opinion.independent_evidence, "none"),
        "Concerns": bullets(opinion.concerns, "none"),
        "Missing Requirements": bullets(opinion.missing_requirements, "none"),
        "Scope Creep": bullets(opinion.scope_creep, "none"),
        "Notes": opinion.notes,
        "Recommendation": opinion.recommendation,
    }
    return "\n".join(f"## {name}\n{text}\n" for name, text in parts.items() if text)


def comparison(compared: Compared) -> str:
    seen = compared.opinion
    again = (f"{t.handler} ({t.file_line}): {t.chain} -- {t.status or 'no status'}" for t in seen.retraced)
    return (
        f"## Divergence Analysis (after reading VERIFICATION.md)\n"
        f"### Agreements\n{bullets(seen.agreements, 'none')}\n"
        f"### Disagreements\n{bullets(seen.disagreements, 'none')}\n"
        f"### Missed by the verifier\n{bullets(seen.verifier_missed, 'none')}\n"
        f"### Missed by the judge\n{bullets(seen.judge_missed, 'none')}\n"
        f"### Traced Again\n{bullets(again, 'none')}\n"
        f"### Concerns\n{bullets(compared.concerns, 'none')}\n"
        f"### Recommendation now\n{seen.word or 'not given'}\n"
    )
