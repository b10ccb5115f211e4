"""Bump the project's version where it has rules for that, in a commit of its own; never over the user's own changes."""

from autopilot.domain.evidence import Change
from autopilot.domain.results import Bumped
from autopilot.history.record import PhaseRecord
from autopilot.policy import version_bump as versions
from autopilot.ports.agents import Tools


def run(record: PhaseRecord, tools: Tools) -> Bumped:
    files = held(record, tools)
    version, problem = versions.current(files)
    dirty = sorted(set(tools.workspace.dirty()) & files.keys())
    if problem or dirty:
        return Bumped(note=problem or f"{', '.join(dirty)} has changes of yours that are not committed")
    phase = versions.decisive(record.start.targets)
    new = versions.bumped(version, phase)
    texts = renewed(record, files, new, tools.clock.now()[:10])
    lost = [path for path, text in texts.items() if text is None]
    if lost:
        return Bumped(note=f"the version in {', '.join(lost)} cannot be replaced")
    change = commit(record, tools, new, {path: text for path, text in texts.items() if text is not None})
    commands = record.start.settings.commands
    return Bumped(
        version=new,
        change=change,
        gates_before=tools.facts.gates(record.commit, commands),
        gates_after=tools.facts.gates(change.commit, commands),
    )


def held(record: PhaseRecord, tools: Tools) -> dict[str, str]:
    found = {path: tools.workspace.read(record.commit, path) for path in versions.FILES}
    return {path: text for path, text in found.items() if text is not None}


def renewed(record: PhaseRecord, files: dict[str, str], new: str, date: str) -> dict[str, str | None]:
    """A package.json that names no version is left alone."""
    features = [(p.name, p.goal) for p in record.start.phases if p.id in record.start.targets]
    entry = versions.changelog_entry(files.get("CHANGELOG.md", ""), new, date, features)
    bare = {path for path, text in files.items() if path != "CHANGELOG.md" and not versions.version_in(path, text)}
    return {path: versions.with_version(path, text, new, entry) for path, text in files.items() if path not in bare}


def commit(record: PhaseRecord, tools: Tools, new: str, texts: dict[str, str]) -> Change:
    """After a crash the commit that is already there."""
    step = record.open_step
    assert step is not None
    name = f"{record.start.run}/{record.phase.id}/{step.step}/{step.n}"
    phase = versions.decisive(record.start.targets)
    trailers = f"Autopilot-Run: {record.start.run}\nAutopilot-Step: {name}\n"
    message = f"chore: bump to v{new} after phase {phase}\n\n{trailers}"
    made = tools.workspace.sealed(record.commit, name)
    return made or tools.workspace.commit_files(record.commit, texts, message)
