"""What `autopilot doctor` says of the planning files: whether they can be read, and what is odd about them."""

from collections.abc import Callable, Iterator

from autopilot.domain.errors import AutopilotError, ConfigInvalid
from autopilot.domain.request import Check
from autopilot.planning.start.build_forecast import project_facts
from autopilot.planning.start.read_project import CONFIG, Project

_MOST = 3


def planning_checks(read: Callable[[], Project], missing: Callable[[str], str] = lambda _: "") -> Iterator[Check]:
    """
    `read` reads the project, and raises what a run would.

    `missing` names the program a command needs and that is not on this machine; empty when it is.
    """
    try:
        project = read()
    except AutopilotError as error:
        what = "config" if isinstance(error, ConfigInvalid) else "roadmap"
        yield Check(level="fail", what=what, found=error.what, fix=error.do)
        return
    yield _roadmap(project)
    yield _config(project)
    yield _commands(project)
    for name, found in project_facts(project).commands.items():
        if found.command and (program := missing(found.command)):
            used = "its gate would fail" if found.source == "user-override" else "a run does not use it"
            what = f"{name} command `{found.command}` does not run here: {program} is not installed; {used}"
            yield Check(level="warn", what="commands", found=what, fix=f"Install {program}, or change {CONFIG}.")


def _roadmap(project: Project) -> Check:
    notes = project.roadmap.notes
    odd = "; ".join(f"line {note.line}: {note.what}" for note in notes[:_MOST])
    found = f"{project.roadmap.path}: {len(project.roadmap.phases)} phases, {len(notes)} findings"
    return Check(
        level="warn" if notes else "ok",
        what="roadmap",
        found=f"{found} ({odd}{'; ...' if len(notes) > _MOST else ''})" if odd else found,
        fix=f"Look at these lines of {project.roadmap.path}.",
    )


def _config(project: Project) -> Check:
    notes = "; ".join(project.config.notes)
    there = f"{CONFIG} is read" if project.config.raw else f"{CONFIG} is absent or empty: defaults apply"
    found = f"{there}: {notes}" if notes else there
    return Check(level="warn" if notes else "ok", what="config", found=found, fix="See docs/configuration.md.")


def _commands(project: Project) -> Check:
    facts = project_facts(project)
    told = ", ".join(f"{name}={c.command or 'none'} ({c.source})" for name, c in facts.commands.items())
    some = any(command.command for command in facts.commands.values())
    return Check(
        level="ok" if some else "warn",
        what="commands",
        found=f"{facts.type} ({facts.manifest or 'no manifest'}): {told}",
        fix=f"Name the project's commands in {CONFIG}: without them no gate is run.",
    )
