"""Which planning files each role gets to see. What is not listed here is physically not there."""

from collections.abc import Mapping

from autopilot.domain.agent_call import Role
from autopilot.domain.attempt import PLAN, numbered
from autopilot.history.record import PhaseRecord
from autopilot.pipeline import artifacts
from autopilot.policy.facts.held_out import veiled

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
# Reports the user brought, as `03-01-SUMMARY.md`: those who continue from there read them, no one who judges does.
EARLIER: dict[Role, tuple[str, ...]] = {
    "research": ("-SUMMARY.md", "-VERIFICATION.md"),
    "plan": ("-SUMMARY.md", "-VERIFICATION.md"),
    "execute": ("-SUMMARY.md",),
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
    held = {folder + plan.file for plan in numbered(record.brief) if not plan.done} if folder + PLAN in ours else set()
    if learnings and role in LEARN:
        ours[LEARNINGS] = learnings
    return {
        path: veiled(record, text) if role in WORKS else text
        for path, text in (_current(snapshot, record) | record.shown | ours).items()
        if path not in held and (not _report(path) or _shown(path.removeprefix(folder), role, path in snapshot))
    }


def _shown(name: str, role: Role, brought: bool) -> bool:  # noqa: FBT001 - a fact, no mode
    """Of the phase's own reports: what a role may read of ours, and of the user's earlier work."""
    earlier = brought and "/" not in name and name.endswith(EARLIER.get(role, ()))
    return name in SHOWN_REPORTS.get(role, ()) or earlier


def _current(snapshot: Mapping[str, str], record: PhaseRecord) -> dict[str, str]:
    """FORC-04: a phase that is done anew begins without the research and the plan it was done by before."""
    if record.brief.mode != "force":
        return dict(snapshot)
    before = {f"{record.brief.dir}/{plan.file}" for plan in record.brief.plan_files}
    return {
        path: text
        for path, text in snapshot.items()
        if path not in before and not any(writable(role, record, path) for role in MAY_WRITE)
    }


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
