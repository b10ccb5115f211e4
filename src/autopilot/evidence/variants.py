"""The work with some of its files as they were before: what tells a check that holds from one that was helped along."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from autopilot.domain.evidence import Change, FileChange
from autopilot.domain.protocols import Part, Variant, Workspace
from autopilot.evidence import control_files, reach
from autopilot.evidence.test_files import is_source, is_test


@dataclass(frozen=True, slots=True, kw_only=True)
class Variants:
    """`commands` are those whose checks are meant, the project's gates as a rule: what they run controls them."""

    workspace: Workspace
    commands: tuple[str, ...] = ()

    def make(self, part: Part, change: Change, kept: Sequence[str]) -> Variant:
        """New tests stay, whichever they are: a test more catches nothing less."""
        folders = part != "control"
        wanted = (file.path for file in change.files if self._is(part, file, change))
        return self._without(change, tuple(path for path in wanted if not named(path, kept, folders=folders)))

    def as_before(self, change: Change, kept: Sequence[str]) -> Variant:
        """With the tests, and what looks like a check and is run by a command, as they were; new files stay."""
        old = (file.path for file in change.files if file.status != "A")
        altered = [path for path in old if not named(path, kept, folders=True)]
        perhaps = {path for path in altered if not is_test(path) and reach.like_a_check(path)}
        texts = self.workspace.wanted_texts(change.base, reach.leads_on) if perhaps else {}
        # A check that is no text is named by what is.
        run = reach.reached(self.commands, {**dict.fromkeys(perhaps, ""), **texts})
        return self._without(change, tuple(path for path in altered if is_test(path) or path in perhaps & run))

    def _without(self, change: Change, paths: tuple[str, ...]) -> Variant:
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
