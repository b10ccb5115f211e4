"""Have a judge look at the work before it may read anybody's report."""

from functools import partial

from autopilot.domain.answers import DivergenceOpinion, JudgeOpinion
from autopilot.domain.protocols import Question, Tools
from autopilot.domain.record import PhaseRecord
from autopilot.domain.results import Compared, Judged, Verified
from autopilot.steps import contamination
from autopilot.steps.prompt import all_criteria, bullets, criteria_lines, heading, render
from autopilot.steps.tampering import noticed_lines
from autopilot.steps.twins import twin, written_at


def run(record: PhaseRecord, tools: Tools) -> Judged:
    watched = partial(contamination.objections, "judge")
    question = Question(role="judge", prompt=prompt(record), answer=JudgeOpinion, objections=watched)
    answered = tools.agents.ask(question)
    return Judged(opinion=answered.value, issues=answered.issues)


def prompt(record: PhaseRecord) -> str:
    """JUDG-01: never the verifier's conclusion, nor the executor's evidence."""
    return render(
        "judge",
        heading=heading(record),
        requirements=bullets(record.brief.requirements, "none mapped; derive them from the goal"),
        criteria=criteria_lines(all_criteria(record)),
        spec=record.start.spec.path,
        dir=record.brief.dir,
        base=record.brief.base,
        noticed=noticed_lines(record, record.find(Verified)),
        complaint=f"\n{record.complaint()}\n" if record.complaint() else "",
    )


def artifacts(record: PhaseRecord) -> dict[str, str]:
    """JUDG-04, JUDG-05: the judge's own evidence first, the comparison below it once there is one."""
    judged, compared = record.find(Judged), record.find(Compared)
    if judged is None:
        return {}
    text = f"# Judge Report: Phase {record.phase.id} -- {record.phase.name}\n\n{own_part(judged.opinion)}"
    if compared is not None:
        text += f"\n{comparison(compared.opinion)}"
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


def comparison(seen: DivergenceOpinion) -> str:
    return (
        f"## Divergence Analysis (after reading VERIFICATION.md)\n"
        f"### Agreements\n{bullets(seen.agreements, 'none')}\n"
        f"### Disagreements\n{bullets(seen.disagreements, 'none')}\n"
        f"### Missed by the verifier\n{bullets(seen.verifier_missed, 'none')}\n"
        f"### Missed by the judge\n{bullets(seen.judge_missed, 'none')}\n"
        f"### Recommendation now\n{seen.recommendation}\n"
    )
