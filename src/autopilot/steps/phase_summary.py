"""SUMMARY.md: a phase that passed, on one page, from its facts and the last words of its reviewers (DIR-01)."""

from autopilot.domain.progress import since_plan, task_states
from autopilot.domain.record import PhaseRecord
from autopilot.domain.results import Compared, Executed, Fixed, Judged, Rated, Verified
from autopilot.domain.tables import table
from autopilot.domain.task_order import task_order
from autopilot.domain.verdict import Advance
from autopilot.steps.prompt import bullets

STATUS = {"verified": "COMPLETED", "failed": "FAILED"}


def artifacts(record: PhaseRecord) -> dict[str, str]:
    """Only once the last gate let the pass through; a remediation has a summary of its own."""
    last = record.finished[-1] if record.finished else None
    if last is None or not isinstance(last.result, Rated) or not isinstance(last.verdict, Advance):
        return {}
    name = f"SUMMARY-R{record.brief.cycle}.md" if record.brief.cycle else "SUMMARY.md"
    return {name: summary(record, last.result)}


def summary(record: PhaseRecord, rated: Rated) -> str:
    verified, judged, compared = record.find(Verified), record.find(Judged), record.find(Compared)
    runs = (*verified.checks, *verified.gates) if verified else ()
    concerns = (*(judged.opinion.concerns if judged else ()), *(compared.opinion.concerns if compared else ()))
    return (
        f"# Summary: Phase {record.phase.id} -- {record.phase.name}\n\n"
        f"- **Goal:** {record.phase.goal or 'not stated in the roadmap'}\n"
        f"- **Alignment Score:** {rated.score}/10\n"
        f"- **Checks:** {sum(run.passed for run in runs)}/{len(runs)} commands passed\n"
        f"- **Commit SHA:** {record.commit}\n\n"
        f"## Tasks\n{tasks(record)}\n\n"
        f"## Concerns\n{bullets(dict.fromkeys(concerns), 'none')}\n"
    )


def tasks(record: PhaseRecord) -> str:
    """Every task of the pass, and those an earlier pass handed over."""
    states = task_states(record)
    changes = {
        s.result.work.task: s.result.work.change for s in since_plan(record) if isinstance(s.result, Executed | Fixed)
    }
    rows = [(task, "", "COMPLETED", "in an earlier pass", "") for task in record.brief.done]
    for task in task_order(record.tasks):
        change = changes.get(task.id)
        kept = change if change and change.files and states.get(task.id) == "verified" else None
        files = ", ".join(file.path for file in kept.files) if kept else "none"
        status = STATUS.get(states.get(task.id, ""), "not carried out")
        rows.append((task.id, task.title, status, kept.commit if kept else "none", files))
    return table(("Task ID", "Title", "Status", "Commit SHA", "Files"), rows) if rows else "none: the work was there"
