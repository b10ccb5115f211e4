"""`autopilot progress`: how far the whole roadmap is, whatever runs brought it there."""

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet

import msgspec

from autopilot.domain.phase import Phase, PhaseFiles, Roadmap, all_done
from autopilot.domain.value import Value
from autopilot.journal.earlier_runs import Ledger
from autopilot.text.clean import clean

SATISFIED = "Already satisfied"
_RECORDED = {
    "completed": "Completed", "failed": "Failed", "needs_human_verification": "Needs a person",
    "already_satisfied": SATISFIED,
}  # fmt: skip
_MARKED = {
    "completed": "Completed",
    "in_progress": "In Progress",
    "deferred": "Deferred",
    "superseded": "Superseded",
    "cancelled": "Cancelled",
    "disputed": "Disputed",
}
_ASIDE = {"Deferred", "Superseded", "Cancelled"}


class Row(Value, frozen=True, kw_only=True):
    """
    `plans` counts the plan files on disk, `plans_done` those of them with a summary.

    `merge` is the command that brings a completed phase to the user's branch; empty where it is there.
    """

    id: str
    name: str
    status: str
    score: float | None = None
    plans: int = 0
    plans_done: int = 0
    merge: str = ""


class Overview(Value, frozen=True, kw_only=True):
    """`next` is the command to type next; empty when all is done. Phases that never run do not count for `percent`."""

    phases: tuple[Row, ...]
    completed: int
    total: int
    percent: int
    next: str = ""
    why: str = ""


def overview(
    roadmap: Roadmap,
    ledger: Ledger,
    begun: AbstractSet[str],
    files: Mapping[str, PhaseFiles] | None = None,
    merges: Mapping[str, str] | None = None,
) -> Overview:
    """
    `begun` are the phases with an execution log. A record counts before the roadmap's own mark (AMB-06).

    `files` is what the phases have on disk, `merges` the commands that merge what is not on the user's branch.
    """
    rows = tuple(_row(phase, ledger, begun, (files or {}).get(phase.id, PhaseFiles())) for phase in roadmap.phases)
    late = {row.id: merge for row in rows if row.status == "Completed" and (merge := (merges or {}).get(row.id))}
    rows = tuple(msgspec.structs.replace(row, merge=late.get(row.id, "")) for row in rows)
    counted = [row for row in rows if row.status not in _ASIDE]
    completed = sum(row.status == "Completed" for row in counted)
    command, why = _next(roadmap, ledger, {row.id: row.status for row in rows}, late)
    return Overview(
        phases=rows,
        completed=completed,
        total=len(counted),
        percent=(200 * completed + len(counted)) // (2 * len(counted)) if counted else 100,
        next=command,
        why=why,
    )


def _row(phase: Phase, ledger: Ledger, begun: AbstractSet[str], files: PhaseFiles) -> Row:
    recorded = ledger.standing_of(phase)
    open_passes = ledger.newest.open_passes if ledger.newest and ledger.resumable else ()
    if any(phase.id in {brief.phase.id, brief.parent} for brief in open_passes):
        status = "In Progress"
    elif recorded:
        status = _RECORDED.get(recorded.status, "In Progress")
    else:
        status = _MARKED.get(phase.status, "In Progress" if phase.id in begun else "Not Started")
    return Row(
        id=phase.id,
        name=phase.name,
        status=status,
        score=recorded.score if recorded else None,
        plans=len(files.plans),
        plans_done=files.done,
    )


def _next(roadmap: Roadmap, ledger: Ledger, statuses: dict[str, str], late: dict[str, str]) -> tuple[str, str]:
    """First what was interrupted, then what is to be merged, the first phase that can start, and what failed."""
    left = [phase for phase in roadmap.phases if statuses[phase.id] not in {"Completed", *_ASIDE}]
    if left and ledger.resumable:
        return "autopilot resume", "a run is unfinished"
    for phase, merge in late.items():
        return merge, f"phase {phase} is completed and not on your branch yet"
    if not left:
        return "", all_done(roadmap)
    fresh = [phase for phase in left if statuses[phase.id] in {"Not Started", "In Progress"}]
    ready = next((phase for phase in fresh if _met(phase, statuses)), None)
    if ready:
        return f"autopilot {ready.id}", f"phase {ready.id} is next"
    for status, command, why in _STUCK:
        if found := next((phase for phase in left if statuses[phase.id] == status), None):
            return command.format(found.id), why.format(found.id)
    return "autopilot all --dry-run", "every phase left waits for another one"


_STUCK = (
    ("Disputed", "autopilot phases check", "the planning files disagree on whether phase {} is done"),
    ("Failed", "autopilot {}", "phase {} failed, and nothing else can start"),
    ("Needs a person", "autopilot status", "phase {} waits for a person's verdict"),
    (SATISFIED, "autopilot verdict {} pass", "nothing was built in phase {}: accept that, or refuse it with fail"),
)


def _met(phase: Phase, statuses: dict[str, str]) -> bool:
    return all(statuses.get(need, "Completed") in {"Completed", SATISFIED} for need in phase.depends_on)


def lines(seen: Overview) -> Iterator[str]:
    planned = any(row.plans for row in seen.phases)
    head, rows = ("#", "Phase", "Status", "Score", "Plans"), [_cells(row) for row in seen.phases]
    cells = [head, *rows] if planned else [head[:-1], *(row[:-1] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    yield _line(cells[0], widths)
    yield f"|{'|'.join('-' * (width + 2) for width in widths)}|"
    yield from (_line(row, widths) for row in cells[1:])
    yield ""
    yield f"{seen.completed}/{seen.total} phases completed ({seen.percent}%)"
    for row in seen.phases:
        if row.merge:
            yield f"Phase {row.id} is not on your branch yet: {row.merge}"
    yield f"Next: {seen.next} ({seen.why})" if seen.next else seen.why


def _cells(row: Row) -> tuple[str, ...]:
    score = "-" if row.score is None else f"{row.score:.1f}"
    plans = f"{row.plans_done}/{row.plans}" if row.plans else "-"
    return row.id, clean(row.name, 50).replace("|", "/"), row.status, score, plans


def _line(cells: Iterable[str], widths: Iterable[int]) -> str:
    return f"| {' | '.join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))} |"
