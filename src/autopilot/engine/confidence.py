"""How sure a completed phase is, and what would bring it to 9.0: the confidence diagnostic (CENF-02, CENF-05)."""

import re

from autopilot.domain.answers import CriterionScore
from autopilot.domain.events import PhaseFinished
from autopilot.domain.passes import Brief
from autopilot.domain.progress import auto_tasks
from autopilot.domain.record import PhaseRecord
from autopilot.domain.redo import Before, Deficiency
from autopilot.domain.results import Compared, Debugged, Executed, Fixed, Judged, Rated, Verified
from autopilot.domain.tables import table
from autopilot.domain.verdict import Advance, Retry

WANTED = 9.0
VAGUE = (
    "improve code quality", "add more tests", "add better tests", "enhance documentation", "improve quality",
    "needs improvement", "could be better",
)  # fmt: skip
_FILE = re.compile(r"(?:[\w.-]+/)*[\w-]+\.[A-Za-z]\w*(?::\d+)?")


def confidence_paper(record: PhaseRecord, finished: PhaseFinished, before: tuple[PhaseFinished, ...]) -> str:
    """`record` is the completed pass the phase stands on, `finished` the one that just ended, `before` the others."""
    rated, outcome = record.latest(Rated), finished.outcome
    concerns = "\n".join(f"- {concern}" for concern in concerns_of(record)) or "none"
    checks = "\n".join(
        f"- {name}: {outcome.automated_checks.get(name, 'n/a')}" for name in ("compile", "lint", "build")
    )
    path = "\n".join(f"{n}. {item}" for n, item in enumerate(path_items(record), start=1)) or "nothing left to name"
    text = (
        f"# Phase {record.phase.id} Confidence Diagnostic\n\n"
        f"**Score:** {rated.score}/10\n**Threshold:** {record.brief.pass_threshold}\n"
        f"**Status:** {status_of(finished, rated.score)}\n\n"
        f"## Judge Concerns\n{concerns}\n\n"
        f"## Acceptance Criteria Status\n{criteria_table(rated)}\n\n"
        f"## Automated Check Results\n{checks}\n\n"
        f"## Path to 9.0/10\n{path}\n"
    )
    return text + (f"\n## Remediation History\n{history(before, finished)}\n" if finished.cycle else "")


def kept_paper(before: Before, brief: Brief, finished: PhaseFinished, earlier: tuple[PhaseFinished, ...]) -> str:
    """For a phase that still stands on what an earlier run left: what is known of it, and what was tried on it."""
    path = "\n".join(f"{n}. {item}" for n, item in enumerate(before.feedback, start=1)) or "nothing left to name"
    return (
        f"# Phase {brief.phase.id} Confidence Diagnostic\n\n"
        f"**Score:** {before.score}/10\n**Threshold:** {brief.pass_threshold}\n"
        f"**Status:** {status_of(finished, before.score)}\n\n"
        f"## Path to 9.0/10\n{path}\n\n"
        f"## Remediation History\n{history(earlier, finished)}\n"
    )


def status_of(finished: PhaseFinished, score: float | None) -> str:
    match finished.verdict:
        case Advance(because="force_incomplete" | "quality_exhausted" | "gaps_exhausted" as flag):
            return flag
        case Advance() if finished.cycle:
            return f"remediated_to_{score}"
        case Retry():
            return "remediation_pending"
        case _:
            return "passed"


def concerns_of(record: PhaseRecord) -> tuple[str, ...]:
    judged, compared = record.find(Judged), record.find(Compared)
    second = (*compared.concerns, *compared.opinion.verifier_missed) if compared else ()
    return tuple(dict.fromkeys((*(judged.opinion.concerns if judged else ()), *second)))


def criteria_table(rated: Rated) -> str:
    rows = (
        (row.criterion, _status(row.score), row.evidence or "-", row.justification if row.score < WANTED else "-")
        for row in rated.opinion.scorecard
    )
    return table(("Criterion", "Status", "Evidence", "Gap"), rows)


def _status(score: float) -> str:
    if score >= WANTED:
        return "VERIFIED"
    return "PARTIAL" if score >= 7 else "FAILED"  # noqa: PLR2004 - RATE-06: from here a score is acceptable


def path_items(record: PhaseRecord) -> tuple[str, ...]:
    """CENF-02c, CENF-05: a file, what is wrong there and what mending it is worth; the scorecard's first."""
    return items_below(record, max(WANTED, record.brief.pass_threshold))


def feedback(record: PhaseRecord, bar: float) -> tuple[str, ...]:
    """
    CENF-01f: what a remediation is told, each item beginning with the file to look at.

    First the path to the bar (the scorecard's deductions, then the judge's concerns), then what the verifier named.
    """
    items = items_below(record, bar)
    verified = record.find(Verified)
    failures = verified.opinion.failures if verified and verified.opinion else ()
    told = " ".join(items).casefold()
    named = (f"{_file(f, record)}: {f} (named by the verifier)" for f in failures if f.casefold() not in told)
    return tuple(dict.fromkeys((*items, *named)))


def items_below(record: PhaseRecord, bar: float) -> tuple[str, ...]:
    return tuple(found.feedback for found in deficiencies(record, bar))


def deficiencies(record: PhaseRecord, bar: float) -> tuple[Deficiency, ...]:
    """GAPS-04, GAPS-05: each row of the scorecard below the bar, then each concern of the judge not among them."""
    rated = record.find(Rated)
    rows = rated.opinion.scorecard if rated else ()
    found = [
        Deficiency(
            criterion=row.criterion,
            current_score=row.score,
            target_score=bar,
            deficiency=_gap(row, rated),
            target_file=_file(_words(row), record),
            expected_impact=f"+{(bar - row.score) / len(rows):.2f}",
        )
        for row in rows
        if rated and row.score < bar
    ]
    told = " ".join(one.feedback for one in found).casefold()
    worth = max(bar - rated.score, 0.1) if rated else 0.1
    found += [
        Deficiency(
            criterion="a concern of the judge",
            target_score=bar,
            deficiency=_concrete(concern, "the weakest point the judge found"),
            target_file=_file(concern, record),
            expected_impact=f"up to +{worth:.2f}",
            source="diagnostic",
        )
        for concern in concerns_of(record)
        if concern.casefold() not in told
    ]
    return tuple(found)


def _words(row: CriterionScore) -> str:
    return f"{row.evidence} {row.justification} {row.verification_command}"


def _gap(row: CriterionScore, rated: Rated) -> str:
    shown = (
        f"`{row.verification_command}` shows {row.command_output[:80]!r}" if row.verification_command else "no proof"
    )
    return _concrete(rated.why(row), f"{row.criterion!r} is met only in part ({row.score}/10; {shown})")


def _concrete(said: str, otherwise: str) -> str:
    """What was said, unless it says nothing that could be done."""
    plain = " ".join(said.split())
    return otherwise if not plain or any(phrase in plain.casefold() for phrase in VAGUE) else plain


def _file(words: str, record: PhaseRecord) -> str:
    """The file the words name; else the first one changed in the pass, else one the plan names, else the plan."""
    named = _FILE.search(words)
    changes = (s.result.work.change for s in record.finished if isinstance(s.result, Executed | Fixed | Debugged))
    changed = (f.path for change in changes for f in change.files)
    planned = (path for task in auto_tasks(record) for path in task.files)
    return named[0] if named else (*changed, *planned, f"{record.brief.dir}/PLAN.md")[0]


def history(before: tuple[PhaseFinished, ...], finished: PhaseFinished) -> str:
    rows = (
        (turn.cycle, turn.outcome.alignment_score, ", ".join(sha[:12] for sha in turn.outcome.commit_shas) or "none",
         "; ".join(turn.outcome.issues) or turn.outcome.reason)
        for turn in (*before, finished)
    )  # fmt: skip
    return table(("Cycle", "Score", "Changes Made", "Remaining Issues"), rows)
