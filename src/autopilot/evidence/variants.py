"""The work with some of its files as they were before: what tells a check that holds from one that was helped along."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from autopilot.domain.evidence import Change, FileChange, FileTexts, FileVersion
from autopilot.evidence import built_files, control_files
from autopilot.evidence import checks_reached as reach
from autopilot.evidence.test_files import is_source, is_test
from autopilot.ports.agents import Part, Variant, Workspace

REGULAR = "100"
Texts = Mapping[str, FileTexts]
"""The changed files by path, read all at once: a change may have thousands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variants:
    """`commands` are those whose checks are meant, the project's gates as a rule: what they run controls them."""

    workspace: Workspace
    commands: tuple[str, ...] = ()

    def make(self, part: Part, change: Change, kept: Sequence[str]) -> Variant:
        """New tests stay unless the whole suite is wanted: a test more catches nothing less."""
        folders = part != "control"
        controls = self._control_files(change) if part in {"control", "sources"} else frozenset()
        wanted = (file.path for file in change.files if _is(part, file, controls))
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

    def _control_files(self, change: Change) -> frozenset[str]:
        texts = {file.path: file for file in self.workspace.texts(change.base, change.commit)}
        built = self._built(change, texts)
        return frozenset(
            file.path for file in change.files if file.path in built or self._controls(file, change, texts)
        )

    def _built(self, change: Change, texts: Texts) -> frozenset[str]:
        """New files that a build would make: a make target, compiled code, or what the project used to ignore."""
        new = [file.path for file in change.files if file.status == "A"]
        if not new:
            return frozenset()
        targets = frozenset[str]().union(*map(self._targets(change.base), built_files.MAKEFILES))
        opened = any(file.path == ".gitignore" for file in change.files)
        ignore_list = self.workspace.read(change.base, ".gitignore") if opened else None
        return frozenset(
            path
            for path in new
            if path in targets or built_files.ignored(path, ignore_list) or self._program(change, path, texts)
        )

    def _targets(self, commit: str) -> Callable[[str], frozenset[str]]:
        return lambda name: built_files.make_targets(self.workspace.read(commit, name))

    def _program(self, change: Change, path: str, texts: Texts) -> bool:
        if built_files.is_program(path):
            return True
        return built_files.may_be_program(path) and built_files.is_binary(self._both(change, path, texts)[1])

    def _both(self, change: Change, path: str, texts: Texts) -> tuple[str | None, str | None]:
        """The file before and after; what is past the bounds of texts read together is read alone."""
        held = texts.get(path, FileTexts(path=path))
        return self._text(change.base, path, held.before), self._text(change.commit, path, held.after)

    def _text(self, commit: str, path: str, version: FileVersion | None) -> str | None:
        if version is None or not version.mode.startswith(REGULAR):
            return None
        return self.workspace.read(commit, path) if version.text is None else version.text

    def _controls(self, file: FileChange, change: Change, texts: Texts) -> bool:
        if file.status != "A" and control_files.named_in(file.path, self.commands):
            return True
        before = after = None
        if control_files.needs_text(file.path):
            before, after = self._both(change, file.path, texts)
        return control_files.is_control(file.path, file.status, before, after)


def _is(part: Part, file: FileChange, controls: frozenset[str]) -> bool:
    match part:
        case "control":
            return file.path in controls
        case "tests":
            return file.status != "A" and is_test(file.path)
        case "suite":
            return is_test(file.path)
        case "sources":
            return is_source(file.path) and file.path not in controls


def named(path: str, names: Sequence[str], *, folders: bool) -> bool:
    """As a file, by a pattern, or below a named folder; a folder does not speak for the control files in it."""
    bare = [name.removeprefix("./").rstrip("/") for name in names]
    return any(path == n or fnmatchcase(path, n) or (folders and path.startswith(f"{n}/")) for n in bare)
