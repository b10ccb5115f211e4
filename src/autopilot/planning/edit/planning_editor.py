"""The planning files of a repository on the desk: looked at, edited, and written only if nobody else did."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from autopilot.domain.errors import RepositoryInvalid, UsageInvalid
from autopilot.domain.phase import NEVER_RUN, Note, Phase, PlanCounts, Roadmap
from autopilot.planning.edit import draft as drafting
from autopilot.planning.edit import edit
from autopilot.planning.edit import new_project as starting
from autopilot.planning.edit import state_md_table as edit_state
from autopilot.planning.edit.new_project import Answers
from autopilot.planning.edit.style import NewPhase
from autopilot.planning.plan import folders
from autopilot.planning.roadmap import completion_evidence as evidence
from autopilot.planning.roadmap import read_roadmap as roadmap
from autopilot.planning.start.read_project import ROADMAPS, STATE, Folders, files_of, places_of, read_roadmap

Asked = tuple[str, tuple[str, ...]]
"""A phase as the user gave it, `name: goal`, and its criteria."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEdit:
    """`before` is what was read, None for a file that is not there yet."""

    path: str
    before: bytes | None
    after: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """Files worked out and not yet written."""

    files: tuple[FileEdit, ...]
    keep: Callable[[tuple[FileEdit, ...]], None]

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(file.path for file in self.files)

    def save(self) -> None:
        """Write each file whole, unless one changed since it was read: then none is written."""
        self.keep(self.files)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit(Prepared):
    """An edit of one phase, and what to know before it is written."""

    phase: Phase
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pens:
    """How files are read, None for one that is not there, and written whole or not at all."""

    read: Callable[[Path], bytes | None]
    write: Callable[[Path, bytes], None]
    make_folder: Callable[[Path], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """
    `tried` runs the detected commands once and tells of those that do not run here; it takes the hash of what the user
    agrees to for this once.
    """

    root: Path
    pens: Pens
    root_files: Callable[[], Mapping[str, str]]
    phase_folders: Callable[[], Folders]
    tried: Callable[[str], tuple[Note, ...]] = lambda _: ()
    recorded: evidence.Recorded = evidence.no_record

    def roadmap(self) -> Roadmap:
        return self._roadmap()[1]

    def plans(self) -> dict[str, PlanCounts]:
        found, names = self.roadmap(), self.phase_folders()
        places = places_of(found, names)
        own = {phase.id: files_of(phase, places[phase.id], names, self._read).plans for phase in found.phases}
        return {
            phase: PlanCounts(
                len(files), sum(file.done for file in files), sum(not file.done and not file.tasks for file in files)
            )
            for phase, files in own.items()
        }

    def _read(self, path: str) -> bytes | None:
        return self.pens.read(self.root / path)

    def findings(self) -> tuple[Note, ...]:
        """Everything there is to say about the roadmap, errors and mere remarks alike, in the order of its lines."""
        phases = self.roadmap()
        notes = [*phases.notes]
        for phase in phases.phases:
            if phase.status == "completed" or phase.status in NEVER_RUN:
                continue
            if not phase.criteria:
                what = f"phase {phase.id} has no success criteria: only agents would judge it"
                notes.append(Note(file=phases.path, line=phase.line, what=what, severity="info"))
            for one in phase.criteria:
                if one.command is None:
                    what = f"phase {phase.id}, {one.id} has no command that proves it: {one.text[:80]!r}"
                    notes.append(Note(file=phases.path, line=one.line, what=what, severity="info"))
        return tuple(sorted(notes, key=lambda note: note.line))

    def add(self, text: str, depends: tuple[str, ...], goal: str | None, criteria: tuple[str, ...]) -> Edit:
        content, phases = self._roadmap()
        new = drafting.added(phases, text, depends, goal, criteria)
        return self._with(new, content, phases, edit.add(content, phases.path, new))

    def insert(self, after: str, text: str, goal: str | None, criteria: tuple[str, ...]) -> Edit:
        content, phases = self._roadmap()
        new = drafting.inserted(phases, after, text, goal, criteria)
        return self._with(new, content, phases, edit.insert(content, phases.path, new))

    def refuse_overlap(self, text: str) -> None:
        """Raises `UsageInvalid` when an existing phase says nearly the same."""
        phases = self.roadmap()
        found = drafting.overlapping(phases, drafting.clean(text))
        if found:
            phase, share = found
            raise UsageInvalid(
                f"Phase {phase.id} ({phase.name}) already says {share:.0%} of this. Nothing was added.",
                why="Two phases for the same work would do it twice, or undo each other.",
                do=f"Extend phase {phase.id} ({phases.path}:{phase.line}), or add it all the same with --anyway.",
            )

    def remove(self, phase_id: str) -> Edit:
        content, phases = self._roadmap()
        phase = drafting.known(phases, phase_id)
        after = edit.remove(content, phases.path, phase.id)
        files = [FileEdit(path=phases.path, before=content, after=after)]
        state = self.pens.read(self.root / STATE)
        if state is not None:
            files.append(FileEdit(path=STATE, before=state, after=edit_state.remove(state, phase.id)))
        return Edit(phase=phase, files=_real(files), keep=self._save, warnings=_losses(phase, phases))

    def start(self, name: str, goal: str, phases: tuple[Asked, ...], file: str | None) -> Prepared:
        """The files of a new project, from what was asked for and what the file says; the former wins."""
        held = self._answers(file) if file is not None else Answers()
        asked = [replace(starting.phase(text), criteria=criteria) for text, criteria in phases]
        answers = Answers(
            name=name or held.name or self.root.name, goal=goal or held.goal, phases=(*held.phases, *asked)
        )
        files = starting.files(answers, self.root_files())
        edits = [
            FileEdit(path=path, before=self.pens.read(self.root / path), after=data) for path, data in files.items()
        ]
        missing = _real(edits)
        # What an init that was cut off has written already is as good as ours.
        taken = [e.path for e in edits if e.before is not None and (e in missing or not missing)]
        self._refuse_taken(taken + [path for path in ROADMAPS[1:] if self.pens.read(self.root / path) is not None])
        return Prepared(files=missing, keep=self._save)

    def refuse_begun(self) -> None:
        """Raises `RepositoryInvalid` where planning files are already there."""
        self._refuse_taken(
            [path for path in (*starting.PATHS, *ROADMAPS[1:]) if self.pens.read(self.root / path) is not None]
        )

    def _refuse_taken(self, paths: list[str]) -> None:
        if paths:
            raise RepositoryInvalid(
                f"This project has planning files already: {', '.join(paths)}.",
                why="They are yours, and nothing of them is overwritten. Nothing was written.",
                do='Add to them with: autopilot phases add "...", or move them away first.',
            )

    def _answers(self, file: str) -> Answers:
        content = self.pens.read(Path(file))
        if content is None:
            raise UsageInvalid(
                f"There is no file {file}.",
                why="The project would start from nothing. Nothing was written.",
                do="Name a TOML or Markdown file with name, goal and phases.",
            )
        return starting.read(content, file)

    def _save(self, files: tuple[FileEdit, ...]) -> None:
        for file in files:
            if self.pens.read(self.root / file.path) != file.before:
                raise RepositoryInvalid(
                    f"{file.path} changed while it was being edited.",
                    why="Writing it would undo that change. Nothing was written.",
                    do="Run the command again.",
                )
        for file in files:
            path = (self.root / file.path).resolve()
            self.pens.make_folder(path.parent)
            self.pens.write(path, file.after)

    def _roadmap(self) -> tuple[bytes, Roadmap]:
        found = read_roadmap(lambda path: self.pens.read(self.root / path), self.phase_folders(), self.recorded)
        return self.pens.read(self.root / found.path) or b"", found

    def _with(self, new: NewPhase, content: bytes, phases: Roadmap, after: bytes) -> Edit:
        read = roadmap.read(after, phases.path)
        phase = next(phase for phase in read.phases if phase.id == new.id)
        self._refuse_folder(phase)
        files = [FileEdit(path=phases.path, before=content, after=after)]
        state = self.pens.read(self.root / STATE)
        if state is not None:
            files.append(FileEdit(path=STATE, before=state, after=edit_state.add(state, new)))
        return Edit(phase=phase, files=_real(files), keep=self._save, warnings=tuple(_outstanding(phases, new)))

    def _refuse_folder(self, phase: Phase) -> None:
        existing = tuple(self.phase_folders())
        name = folders.folder_of(phase, existing)
        if name in existing:
            raise RepositoryInvalid(
                f"The folder .planning/phases/{name} of an earlier phase {phase.id} still exists.",
                why="The new phase would take over the plan and the results of the old one. Nothing was changed.",
                do="Move that folder away, or delete it, and run the command again.",
            )


def _real(files: list[FileEdit]) -> tuple[FileEdit, ...]:
    return tuple(file for file in files if file.before != file.after)


def _losses(phase: Phase, phases: Roadmap) -> tuple[str, ...]:
    waiting = [other.id for other in phases.phases if phase.id in other.depends_on]
    warnings = [f"phase {phase.id} is completed"] if phase.status == "completed" else []
    if waiting:
        warnings.append(f"phase {', '.join(waiting)} depends on it, and will be told to wait for a phase not there")
    if len(phases.phases) == 1:
        warnings.append("it is the only phase: a roadmap without one cannot be run")
    return tuple(warnings)


def _outstanding(phases: Roadmap, new: NewPhase) -> list[str]:
    status = {phase.id: phase.status for phase in phases.phases}
    open_ones = [need for need in new.depends_on if status.get(need) != "completed"]
    return [f"it waits for phase {', '.join(open_ones)}, not completed yet"] if open_ones else []
