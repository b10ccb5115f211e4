"""Which planning files each role gets to see. What is not listed here is physically not there."""

from collections.abc import Mapping

from autopilot.domain.agent import Role
from autopilot.domain.held_out import veiled
from autopilot.domain.record import PhaseRecord
from autopilot.pipeline import artifacts

# Written about the work, by or for reviewers: nobody sees them but the judge in its second call.
REPORTS = frozenset(
    {"EXECUTION-LOG.md", "VERIFICATION.md", "JUDGE-REPORT.md", "SCORECARD.md", "HANDOFF.md", "VISUAL-BUGS.md",
     "SUMMARY.md", "TRIAGE.json", "TRACE.jsonl", "VERIFICATION.json", "JUDGE-REPORT.json", "SCORECARD.json",
     "VISUAL-BUGS.json", "RECEIPT.json", "RECEIPT.json.sig"}
)  # fmt: skip
SHOWN_REPORTS: dict[Role, frozenset[str]] = {
    "judge_divergence": frozenset({"VERIFICATION.md", "JUDGE-REPORT.md"}),
    "debug": frozenset({"VISUAL-BUGS.md"}),
}
SEES_NOTHING: frozenset[Role] = frozenset({"rate"})
LEARN: frozenset[Role] = frozenset({"plan", "execute"})
# Who gets the repository map (RMAP-05): those who look for their way in the code, none of those who judge.
MAPPED: frozenset[Role] = frozenset({"research", "plan", "execute", "debug"})
# Who does the work is not shown the checks that are held out, in no file.
WORKS: frozenset[Role] = frozenset({"execute", "debug", "fix"})
LEARNINGS = ".planning/LEARNINGS.md"
MAY_WRITE: dict[Role, tuple[str, ...]] = {"research": ("RESEARCH.md",), "plan": ("PLAN.md", "tests/")}


def visible(role: Role, record: PhaseRecord, snapshot: Mapping[str, str], learnings: str = "") -> dict[str, str]:
    """
    The files to lay over the role's checkout: path relative to the workspace, to text.

    `learnings` are for those who plan and build (LRNG-02), never for those who judge.
    """
    if role in SEES_NOTHING:
        return {}
    folder = f"{record.brief.dir}/"
    ours = {folder + name: text for name, text in artifacts(record).items()}
    if learnings and role in LEARN:
        ours[LEARNINGS] = learnings
    shown = SHOWN_REPORTS.get(role, frozenset())
    return {
        path: veiled(record, text) if role in WORKS else text
        for path, text in (_current(snapshot, record) | record.shown | ours).items()
        if not _report(path) or (path.startswith(folder) and path.removeprefix(folder) in shown)
    }


def _current(snapshot: Mapping[str, str], record: PhaseRecord) -> dict[str, str]:
    """FORC-04: a phase that is done anew begins without the research and the plan it was done by before."""
    if record.brief.mode != "force":
        return dict(snapshot)
    return {path: text for path, text in snapshot.items() if not any(writable(r, record, path) for r in MAY_WRITE)}


def _report(path: str) -> bool:
    """Also under a name with the phase's number before it, as `03-VERIFICATION.md`, and step traces."""
    name = path.rpartition("/")[2]
    known = any(name == report or name.endswith(f"-{report}") for report in REPORTS)
    return known or name.endswith("-trace.jsonl") or name.startswith(("EXECUTION-LOG", "SUMMARY"))


def writable(role: Role, record: PhaseRecord, path: str) -> bool:
    """Whether what the role wrote at the path is taken back."""
    below = path.removeprefix(f"{record.brief.dir}/")
    allowed = MAY_WRITE.get(role, ())
    return below != path and any(below == name or (name.endswith("/") and below.startswith(name)) for name in allowed)
