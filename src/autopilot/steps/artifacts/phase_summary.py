"""SUMMARY.md: a phase that passed, on one page, from its facts and the last words of its reviewers (DIR-01)."""

from autopilot.domain.attempt import SUMMARY, summary_names
from autopilot.domain.results import Compared, Executed, Fixed, Judged, Rated, Verified
from autopilot.domain.verdict import Advance
from autopilot.history.record import PhaseRecord
from autopilot.policy.task_progress import since_plan, task_order, task_states
from autopilot.steps.prompt import bullets
from autopilot.text.tables import table

STATUS = {"verified": "COMPLETED", "failed": "FAILED"}


def artifacts(record: PhaseRecord) -> dict[str, str]:
    """Only once the last gate let the pass through; a remediation has a summary of its own."""
    last = record.finished[-1] if record.finished else None
    if last is None or not isinstance(last.result, Rated) or not isinstance(last.verdict, Advance):
        return {}
    cycle, whole = record.brief.cycle, summary(record, last.result)
    repaired = {f"SUMMARY-R{cycle}.md": whole} if cycle else {}
    # A remediation has no summary of the phase's one plan: the pass before it wrote that.
    named = {
        name: tasks for name, tasks in summary_names(record.brief, record.plan).items() if name != SUMMARY or not cycle
    }
    return repaired | {
        name: whole if name == SUMMARY else front_matter(record, name) + summary(record, last.result, tasks)
        for name, tasks in named.items()
    }


def front_matter(record: PhaseRecord, name: str) -> str:
    """What tools that read the summaries of numbered plans look for."""
    folder, plan = record.brief.dir.rpartition("/")[2], name.removesuffix(f"-{SUMMARY}")
    return f"---\nphase: {folder}\nplan: {plan.partition('-')[2] or plan}\nstatus: complete\n---\n\n"


def summary(record: PhaseRecord, rated: Rated, only: tuple[str, ...] | None = None) -> str:
    """`only` are the tasks of the plan it is about; None: those of the phase."""
    verified, judged, compared = record.find(Verified), record.find(Judged), record.find(Compared)
    runs = (*verified.checks, *verified.gates) if verified else ()
    concerns = (*(judged.opinion.concerns if judged else ()), *(compared.opinion.concerns if compared else ()))
    return (
        f"# Summary: Phase {record.phase.id} -- {record.phase.name}\n\n"
        f"- **Goal:** {record.phase.goal or 'not stated in the roadmap'}\n"
        f"- **Alignment Score:** {rated.score}/10\n"
        f"- **Checks:** {sum(run.passed for run in runs)}/{len(runs)} commands passed\n"
        f"- **Commit SHA:** {record.commit}\n\n"
        f"## Tasks\n{tasks(record, only)}\n\n"
        f"## Concerns\n{bullets(dict.fromkeys(concerns), 'none')}\n"
    )


def tasks(record: PhaseRecord, only: tuple[str, ...] | None = None) -> str:
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
    if only is not None:
        rows = [row for row in rows if row[0] in only]
    return table(("Task ID", "Title", "Status", "Commit SHA", "Files"), rows) if rows else "none: the work was there"
