"""Have a judge look at the work before it may read anybody's report."""

from functools import partial

from autopilot.domain.answers import JudgeOpinion
from autopilot.domain.protocols import Question, Tools
from autopilot.domain.record import PhaseRecord
from autopilot.domain.results import Compared, Judged
from autopilot.steps import contamination
from autopilot.steps.prompt import all_criteria, bullets, criteria_lines, heading, render


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
        complaint=f"\n{record.complaint()}\n" if record.complaint() else "",
    )


def artifacts(record: PhaseRecord) -> dict[str, str]:
    """JUDG-04, JUDG-05: the judge's own evidence first, the comparison below it once there is one."""
    judged, compared = record.find(Judged), record.find(Compared)
    if judged is None:
        return {}
    opinion = judged.opinion
    text = (
        f"# Judge Report: Phase {record.phase.id} -- {record.phase.name}\n\n"
        f"## Independent Evidence (gathered before reading VERIFICATION.md)\n"
        f"{bullets(opinion.independent_evidence, 'none')}\n\n"
        f"## Concerns\n{bullets(opinion.concerns, 'none')}\n\n"
        f"## Recommendation\n{opinion.recommendation}\n"
    )
    if compared is not None:
        seen = compared.opinion
        text += (
            f"\n## Divergence Analysis (after reading VERIFICATION.md)\n"
            f"### Agreements\n{bullets(seen.agreements, 'none')}\n"
            f"### Disagreements\n{bullets(seen.disagreements, 'none')}\n"
            f"### Missed by the verifier\n{bullets(seen.verifier_missed, 'none')}\n"
            f"### Missed by the judge\n{bullets(seen.judge_missed, 'none')}\n"
            f"### Recommendation now\n{seen.recommendation}\n"
        )
    return {"JUDGE-REPORT.md": text}
