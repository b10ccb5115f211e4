"""`.autopilot/completion-report.md`: what a `--complete` run came to, over the whole roadmap (CMPL-04)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from autopilot.history.record import RunRecord
from autopilot.policy.batch_totals import BatchFigures, batch_figures
from autopilot.policy.outcomes import NOTHING_BUILT
from autopilot.text.clean import clean
from autopilot.text.tables import table

NAME = "completion-report.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """`state` is the run's state.json object, `metrics` its numbers, `causes` what post-mortems say of failures."""

    run: RunRecord
    state: Mapping[str, Any]
    metrics: Mapping[str, Any]
    causes: Mapping[str, str]


def batch_report(batch: Batch) -> str:
    figures = batch_figures(batch.run)
    names = {phase.id: clean(phase.name, 60) for phase in batch.run.start.phases}
    sections = (
        "\n".join(_head(batch, figures)),
        f"## Phases Attempted\n\n{_attempted(batch, figures)}",
        f"## Phases Skipped\n\n{_skipped(figures)}",
        "\n".join(("## Dependency Gaps", "", *_gaps(figures, names))),
        "\n".join(("## Summary", "", *_summary(figures))),
        "\n".join(("## Next Steps", "", *_next(figures))),
    )
    return "\n\n".join(section.rstrip("\n") for section in sections) + "\n"


def _head(batch: Batch, figures: BatchFigures) -> Iterator[str]:
    modes = batch.run.start.settings
    flags = [*modes.modes.flags, *(["--lenient"] if modes.lenient else [])]
    yield "# Batch Completion Report"
    yield ""
    yield f"**Run ID:** {batch.run.start.run}"
    yield f"**Date:** {batch.state['_meta']['last_checkpoint']}"
    yield f"**Mode:** {' '.join(flags)}"
    yield (f"**Project completion:** {figures.percentage:g}% ({figures.completed}/{figures.total} phases)")


def _attempted(batch: Batch, figures: BatchFigures) -> str:
    took = {row["phase_id"]: row["duration_minutes"] for row in batch.metrics["per_phase_summary"]}
    rows = (_row(p, batch.state["phases"][p], took.get(p), batch.causes.get(p, "")) for p in figures.attempted)
    return table(("Phase", "Status", "Alignment", "Duration", "Notes"), rows) if figures.attempted else "None."


def _row(name: str, phase: Mapping[str, Any], minutes: float | None, cause: str) -> tuple[str, ...]:
    score = phase["alignment_score"]
    noted = cause or (phase["reason"] if phase["status"] != "completed" or phase["outcome"] else "")
    flags = ("force_incomplete" * bool(phase["force_incomplete"]), "unanchored" * bool(phase["unanchored"]))
    marks = (noted, *flags, *phase.get("caveats", ()))
    return (
        name,
        phase["status"],
        "-" if score is None else f"{score:.1f}/10",
        "-" if minutes is None else f"{minutes:g}m",
        clean("; ".join(mark for mark in marks if mark), 200) or "-",
    )


def _skipped(figures: BatchFigures) -> str:
    return table(("Phase", "Reason"), figures.skipped.items()) if figures.skipped else "None."


def _gaps(figures: BatchFigures, names: Mapping[str, str]) -> Iterator[str]:
    """CMPL-04c."""
    for failed, blocked in figures.gaps.items():
        yield f"- Phase {failed} failed -> blocked: {', '.join(f'Phase {phase}' for phase in blocked)}"
        yield from (f"  - Phase {phase}: {names.get(phase, '')}" for phase in blocked)
    if not figures.gaps:
        yield "None."


def _summary(figures: BatchFigures) -> Iterator[str]:
    yield f"- Attempted: {len(figures.attempted)}"
    yield f"- Succeeded: {len(figures.succeeded)}"
    yield f"- Passed below the bar: {len(figures.below_bar)}"
    yield f"- Already satisfied (nothing was built): {len(figures.satisfied)}"
    yield f"- Failed: {len(figures.failed)}"
    yield f"- Skipped (already done): {len(figures.skipped_for(done=True))}"
    yield f"- Skipped (blocked): {len(figures.skipped_for(done=False))}"
    yield f"- Deferred to human: {len(figures.deferred)}"


def _next(figures: BatchFigures) -> Iterator[str]:
    """CMPL-04f, as a command for the shell."""
    if figures.left:
        yield f"To continue: `autopilot {' '.join(figures.left)}`"
    for phase in figures.satisfied:
        yield f"Phase {phase} is {NOTHING_BUILT}. To accept it: `autopilot verdict {phase} pass`"
    for phase in figures.deferred:
        yield f'Phase {phase} waits for a person: `autopilot verdict {phase} pass`, `fail` or `issues "..."`'
    if not (figures.left or figures.deferred or figures.satisfied):
        below = " ".join(figures.below_bar)
        yield f"All phases complete; below the bar: {below}." if below else "All phases complete. Project is done."
