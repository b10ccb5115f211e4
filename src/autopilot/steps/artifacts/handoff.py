"""HANDOFF.md: how far a pass came whose executor ran out of context (CTXE-01w)."""

from collections.abc import Sequence

from autopilot.domain.results import Executed, Fixed
from autopilot.history.record import PhaseRecord
from autopilot.policy.task_progress import auto_tasks, handed_over, since_plan, tasks_done
from autopilot.steps.prompt import bullets


def artifacts(record: PhaseRecord) -> dict[str, str]:
    if not handed_over(record):
        return {}
    changes = {
        s.result.work.task: s.result.work.change for s in since_plan(record) if isinstance(s.result, Executed | Fixed)
    }
    done = tasks_done(record)
    rows = [
        (task, "COMPLETED", change.commit, ", ".join(f.path for f in change.files) or "none")
        for task, change in changes.items()
        if task in done
    ]
    rows = [*((task, "COMPLETED", "in an earlier pass", "") for task in record.brief.done), *rows]
    left = [(t.id, t.title, t.complexity or "medium") for t in auto_tasks(record) if t.id not in done]
    files = sorted({f.path for task, change in changes.items() if task in done for f in change.files})
    last = record.finished[-1]
    text = (
        f"# Handoff: Phase {record.phase.id} -- {record.phase.name}\n\n"
        f"- **phase_id:** {record.phase.id}\n"
        f"- **reason:** context_exhaustion\n"
        f"- **timestamp:** {record.history[-1].at}\n"
        f"- **last_checkpoint_sha:** {record.commit}\n\n"
        f"## Tasks Completed\n{_table(('Task ID', 'Status', 'Commit SHA', 'Files Modified'), rows)}\n\n"
        f"## Tasks Remaining\n{_table(('Task ID', 'Description', 'Estimated Complexity'), left)}\n\n"
        f"## Files Modified\n{bullets(files, 'none')}\n\n"
        f"## Partial State\nThe executor ran out of context in `{last.step}` number {last.n}. What it left unfinished "
        f"is kept under `refs/autopilot/interrupted/{record.start.run}/` and is no part of the work.\n"
    )
    return {"HANDOFF.md": text}


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in line) + " |" for line in lines
    )
