"""What was seen in the browser, on paper: a section of VERIFICATION.md, and VISUAL-BUGS.md with its JSON twin."""

from typing import Literal

from autopilot.domain.results import Verified
from autopilot.domain.value import Value
from autopilot.domain.visual import Screenshot, VisualIssue, VisualResults, routes_of
from autopilot.history.record import PhaseRecord
from autopilot.steps.artifacts.json_twin import twin, written_at
from autopilot.steps.checks.visual_check import BUGS
from autopilot.steps.prompt import bullets
from autopilot.text.tables import table

Resolution = Literal["open", "resolved", "there before this phase"]
RegressionStatus = Literal["new_issues", "resolved", "no_change"]
HEAD = ("Route", "Screenshot", "Issues", "Differs from baseline", "Assessment")


class Bug(Value, frozen=True, kw_only=True):
    """One issue over all verifications of this pass: in which it was seen first, and in which it was gone."""

    issue: VisualIssue
    first: int
    resolution: Resolution
    gone: int | None = None


def section(results: VisualResults) -> str:
    """VIST-03."""
    if results.skipped:
        return results.skipped
    rows = (
        (f"{s.name} ({s.route})", s.screenshot_path or "none", s.analysis.issues_found, _difference(s), _assessed(s))
        for s in results.screenshots
    )
    told = (f"[{issue.severity}] {issue.told}{_age(issue)}" for issue in results.issues_found)
    outside = tuple(dict.fromkeys(url for shot in results.screenshots for url in shot.blocked))
    blocked = f"\n\nAsked for outside of the app, and not reached:\n{bullets(outside, '')}" if outside else ""
    return (
        f"{results.routes_passed}/{results.routes_tested} routes passed (sandbox: {results.sandbox})\n\n"
        f"{table(HEAD, rows)}\n\n{bullets(told, 'No issue was found.')}{blocked}"
    )


def _difference(shot: Screenshot) -> str:
    if shot.difference is None:
        return "no baseline"
    return f"{shot.difference:.2%}{f' ({shot.diff_path})' if shot.diff_path else ''}"


def _assessed(shot: Screenshot) -> str:
    return f"{shot.analysis.overall_assessment}{'' if shot.passed else ', FAILED'}"


def _age(issue: VisualIssue) -> str:
    return " (there before this phase)" if issue.old else ""


def artifacts(record: PhaseRecord) -> dict[str, str]:
    """VISUAL-BUGS.md, once there was anything to report; its bugs stay in it when they are mended."""
    looks = tuple((seen, seen.visual) for seen in record.results(Verified))
    taken = tuple((seen, results) for seen, results in looks if results is not None and not results.skipped)
    bugs = tracked(tuple(results for _, results in taken))
    if not bugs:
        return {}
    newest, results = taken[-1]
    at, status = written_at(record, newest), regression_status(tuple(found for _, found in taken))
    left = sum(bug.resolution == "open" for bug in bugs)
    summary = f"{len(bugs)} found, {left} open after {len(taken)} look(s)"
    data = twin(
        record,
        timestamp=at,
        total_routes_tested=results.routes_tested,
        routes_passed=results.routes_passed,
        routes_with_issues=len(routes_of(results.issues_found)),
        screenshots=results.screenshots,
        summary=summary,
        regression_status=status,
        bugs=bugs,
    )
    title = f"# Visual Bugs: Phase {record.phase.id} -- {record.phase.name}"
    text = f"{title}\n\n{at}: {summary} ({status})\n\n{_listed(bugs)}"
    return {BUGS: text, BUGS.replace(".md", ".json"): data}


def tracked(looks: tuple[VisualResults, ...]) -> tuple[Bug, ...]:
    """Each issue ever seen, in the order of its first appearance; one that came back is open again."""
    first: dict[tuple[str, str, str], int] = {}
    latest: dict[tuple[str, str, str], tuple[int, VisualIssue]] = {}
    for number, results in enumerate(looks, start=1):
        for issue in results.issues_found:
            first.setdefault(issue.key, number)
            latest[issue.key] = (number, issue)
    return tuple(_bug(latest[key][1], began, latest[key][0], len(looks)) for key, began in first.items())


def _bug(issue: VisualIssue, first: int, last: int, looks: int) -> Bug:
    if last < looks:
        return Bug(issue=issue, first=first, resolution="resolved", gone=last + 1)
    return Bug(issue=issue, first=first, resolution="there before this phase" if issue.old else "open")


def regression_status(looks: tuple[VisualResults, ...]) -> RegressionStatus:
    """The newest look against the one before it."""
    now = {issue.key for issue in looks[-1].counted}
    before = {issue.key for issue in looks[-2].counted} if len(looks) > 1 else set()
    if now - before:
        return "new_issues"
    return "resolved" if before - now else "no_change"


def _listed(bugs: tuple[Bug, ...]) -> str:
    return "\n".join(_entry(number, bug) for number, bug in enumerate(bugs, start=1))


def _entry(number: int, bug: Bug) -> str:
    issue = bug.issue
    end = f"resolved, gone in look {bug.gone}" if bug.gone else bug.resolution
    lines = (
        f"Location: {issue.location}" if issue.location else "",
        f"Suggested fix: {issue.suggested_fix}" if issue.suggested_fix else "",
        f"Resolution: {end} (first seen in look {bug.first})",
    )
    said = " ".join(issue.description.split())
    title = f"## {number}. [{issue.severity}] {issue.type} on {issue.route}: {said}"
    return f"{title}\n{bullets((' '.join(line.split()) for line in lines if line), '')}\n"
