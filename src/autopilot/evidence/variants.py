"""The work with some of its files as they were before: what tells a check that holds from one that was helped along."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from autopilot.domain.evidence import Change, FileChange
from autopilot.domain.protocols import Part, Variant, Workspace
from autopilot.evidence import control_files
from autopilot.evidence.test_files import is_source, is_test


@dataclass(frozen=True, slots=True, kw_only=True)
class Variants:
    """`commands` are the project's gates: a script they run by name controls them."""

    workspace: Workspace
    commands: tuple[str, ...] = ()

    def make(self, part: Part, change: Change, kept: Sequence[str]) -> Variant:
        """New tests stay, whichever they are: a test more catches nothing less."""
        folders = part != "control"
        wanted = (file for file in change.files if self._is(part, file, change))
        paths = tuple(file.path for file in wanted if not named(file.path, kept, folders=folders))
        if not paths:
            return Variant(commit=change.commit)
        back = self.workspace.change(change.commit, change.base)
        made = self.workspace.portion(back, paths, change.commit, f"{', '.join(paths)[:200]}: as before\n")
        return Variant(commit=made.commit, paths=paths)

    def _is(self, part: Part, file: FileChange, change: Change) -> bool:
        match part:
            case "control":
                return self._controls(file, change)
            case "tests":
                return file.status != "A" and is_test(file.path)
            case "sources":
                return is_source(file.path) and not self._controls(file, change)

    def _controls(self, file: FileChange, change: Change) -> bool:
        if file.status != "A" and control_files.named_in(file.path, self.commands):
            return True
        before = after = None
        if control_files.needs_text(file.path):
            before = self.workspace.read(change.base, file.path)
            after = self.workspace.read(change.commit, file.path)
        return control_files.is_control(file.path, file.status, before, after)


def named(path: str, names: Sequence[str], *, folders: bool) -> bool:
    """As a file, by a pattern, or below a named folder; a folder does not speak for the control files in it."""
    bare = [name.removeprefix("./").rstrip("/") for name in names]
    return any(path == n or fnmatchcase(path, n) or (folders and path.startswith(f"{n}/")) for n in bare)
