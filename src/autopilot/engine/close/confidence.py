"""How sure a completed phase is, and what would bring it to 9.0: the confidence diagnostic (CENF-02, CENF-05)."""

import re

from autopilot.domain.answers import CriterionScore
from autopilot.domain.attempt import Brief
from autopilot.domain.events import PhaseFinished
from autopilot.domain.evidence import CommandRun
from autopilot.domain.results import Compared, Debugged, Executed, Fixed, Judged, Rated, Verified
from autopilot.domain.rework import Before, Deficiency
from autopilot.domain.verdict import Advance, Retry
from autopilot.history.record import PhaseRecord
from autopilot.policy.task_progress import auto_tasks
from autopilot.text.tables import table

WANTED = 9.0
CHECKS = ("compile", "lint", "build")
VAGUE = (
    "improve code quality", "add more tests", "add better tests", "enhance documentation", "improve quality",
    "needs improvement", "could be better",
)  # fmt: skip
_FILE = re.compile(r"(?:[\w.-]+/)*[\w-]+\.[A-Za-z]\w*(?::\d+)?")


def confidence_paper(record: PhaseRecord, finished: PhaseFinished, before: tuple[PhaseFinished, ...]) -> str:
    """`record` is the completed pass the phase stands on, `finished` the one that just ended, `before` the others."""
    rated = record.latest(Rated)
    concerns = "\n".join(f"- {concern}" for concern in concerns_of(record)) or "none"
    sections = [
        _head(record.brief, finished, rated.score),
        f"## Judge Concerns\n{concerns}\n",
        f"## Acceptance Criteria Status\n{criteria_table(record)}\n",
        f"## Automated Check Results\n{checks_table(record, finished)}\n",
        _path(path_items(record), rated.score, record.brief),
        f"## Remediation History\n{history(before, finished)}\n" if finished.cycle else "",
    ]
    return "\n".join(section for section in sections if section)


def kept_paper(before: Before, brief: Brief, finished: PhaseFinished, earlier: tuple[PhaseFinished, ...]) -> str:
    """For a phase that still stands on what an earlier run left: what is known of it, and what was tried on it."""
    sections = [
        _head(brief, finished, before.score),
        _path(before.feedback, before.score, brief),
        f"## Remediation History\n{history(earlier, finished)}\n",
    ]
    return "\n".join(section for section in sections if section)


def _head(brief: Brief, finished: PhaseFinished, score: float | None) -> str:
    return (
        f"# Phase {brief.phase.id} Confidence Diagnostic\n\n"
        f"**Score:** {score}/10\n**Threshold:** {brief.pass_threshold}/10\n"
        f"**Status:** {status_of(finished, score)}\n"
    )


def _path(items: tuple[str, ...], score: float | None, brief: Brief) -> str:
    """AMB-09. A phase that is beyond 9.0 has a path to what was asked of it, or none at all."""
    bar = WANTED if score is None or score < WANTED else brief.pass_threshold
    if not items or (score is not None and score >= bar):
        return ""
    told = "\n".join(f"{n}. {item}" for n, item in enumerate(items, start=1))
    return f"## Path to {bar}/10\n{told}\n"


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


def criteria_table(record: PhaseRecord) -> str:
    """What the verifier found of each criterion; where it lists none, what the rater gave it."""
    seen = record.find(Verified)
    results = seen.opinion.criteria_results if seen and seen.opinion else ()
    found = [
        (
            r.criterion,
            "failed" if r.failed else "verified",
            r.evidence or "-",
            r.command_output or "-" if r.failed else "-",
        )
        for r in results
    ]
    rows = record.latest(Rated).opinion.scorecard
    rated = (
        (r.criterion, _status(r.score), r.evidence or "-", r.justification if r.score < WANTED else "-") for r in rows
    )
    return table(("Criterion", "Status", "Evidence", "Gap"), found or rated)


def _status(score: float) -> str:
    if score >= WANTED:
        return "verified"
    return "partial" if score >= 7 else "failed"  # noqa: PLR2004 - RATE-06: from here a score is acceptable


def checks_table(record: PhaseRecord, finished: PhaseFinished) -> str:
    seen = record.find(Verified)
    runs = {run.check: run for run in seen.gates} if seen else {}
    words: dict[bool | str, str] = {True: "pass", False: "fail"}
    checks = {name: words.get(found, str(found)) for name, found in finished.outcome.automated_checks.items()}
    absent = {name: f"does not run here: {why}" for name, why in record.start.unused.items()}
    details = {name: _detail(runs[name]) if name in runs else absent.get(name, "not configured") for name in CHECKS}
    rows = ((name, checks.get(name, "n/a"), details[name]) for name in CHECKS)
    return table(("Check", "Result", "Details"), rows)


def _detail(run: CommandRun) -> str:
    ended = "was cut off" if run.exit_code is None else f"exited {run.exit_code}"
    return f"`{run.command}` {ended}"


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
         "; ".join(turn.outcome.issues) or ("none" if turn.outcome.status == "completed" else turn.outcome.reason))
        for turn in (*before, finished)
    )  # fmt: skip
    return table(("Cycle", "Score", "Changes Made", "Remaining Issues"), rows)
