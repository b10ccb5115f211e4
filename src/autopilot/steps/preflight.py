"""Look before starting: is the specification the one that was locked, and are the dependencies there?"""

from autopilot.domain.results import Preflighted
from autopilot.history.record import PhaseRecord
from autopilot.ports.agents import Tools


def run(record: PhaseRecord, tools: Tools) -> Preflighted:
    spec = record.start.spec
    found = tools.workspace.file_sha256(spec.path) if spec.path else ""  # debugging needs no planning files
    dirty = tools.workspace.dirty()
    debug = tuple(sorted(p for p in tools.workspace.planning_files() if p.startswith(".planning/debug/")))
    issues = []
    if found != spec.sha256:
        issues.append(f"spec_hash_mismatch: {spec.path} was {spec.sha256[:12]}, is {(found or 'missing')[:12]}")
    issues.extend(f"dependency not complete: phase {unmet}" for unmet in record.brief.unmet)
    return Preflighted(
        spec_hash_match=found == spec.sha256,
        working_tree_clean=not dirty,
        dependencies_met=not record.brief.unmet,
        unresolved_debug=tuple(p for p in debug if not p.startswith(".planning/debug/resolved/")),
        issues=tuple(issues),
        warnings=(f"{len(dirty)} uncommitted files in your checkout are not part of this run",) if dirty else (),
    )
