"""All of a project's planning files understood together: roadmap, config, frozen specification, commands."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet

import msgspec

from autopilot.domain.errors import RoadmapInvalid
from autopilot.domain.passes import Spec
from autopilot.domain.phase import Phase, PhaseFiles, Plan, Roadmap
from autopilot.domain.settings import Commands
from autopilot.domain.value import Value
from autopilot.domain.versions import has_rules
from autopilot.planning import config, criteria, detect, folders, requirements, roadmap, types
from autopilot.planning.phase_files import phase_files

PHASES = ".planning/phases"
MOST_NAMED = 10
ROADMAPS = (".planning/ROADMAP.md", "ROADMAP.md")
CONFIG = ".planning/config.json"
REQUIREMENTS = ".planning/REQUIREMENTS.md"
ABOUT = ".planning/PROJECT.md"
AGENT_RULES = "CLAUDE.md"

Reader = Callable[[str], bytes | None]


class Project(Value, frozen=True, kw_only=True):
    """
    `plans` are those to carry out, by the phase's id and without their test files; `about` is PROJECT.md.

    `versioned`: the project's CLAUDE.md says how its version is bumped. `phase_files` has what is on disk for each
    phase, `other_plans` the plan files in folders of no phase.
    """

    roadmap: Roadmap
    config: config.Config
    commands: Commands
    detected: detect.Detected
    spec: Spec
    folders: dict[str, str]
    requirements: dict[str, tuple[str, ...]]
    notes: tuple[str, ...]
    plans: dict[str, Plan] = {}
    phase_files: dict[str, PhaseFiles] = {}
    other_plans: tuple[str, ...] = ()
    about: str | None = None
    versioned: bool = False


def understand(read: Reader, root_files: Mapping[str, str], phase_folders: Mapping[str, tuple[str, ...]]) -> Project:
    """
    `read` gives a file's bytes by its path in the project, or None; nothing is written.

    `root_files` are the files in the project's root: a manifest with its text, the others by name alone.
    `phase_folders` are the folders of phases, each with the names of its files.
    """
    settings = config.read(read(CONFIG), CONFIG)
    path = next((p for p in ROADMAPS if read(p) is not None), None)
    text = read(path) if path else None
    if path is None or text is None:
        raise RoadmapInvalid(
            f"No roadmap found at {ROADMAPS[0]}.",
            why="Autopilot drives the phases of a roadmap; without one it has nothing to do.",
            do=f"Write {ROADMAPS[0]} with a heading `### Phase 1: Name` and a line `**Goal**: ...` for each phase.",
        )
    detected = detect.detect(root_files)
    commands = detect.merge(settings, detected)
    found = _roadmap(text, path, phase_folders)
    own = {p.id: folders.folder_of(p, tuple(phase_folders)) for p in found.phases}
    places = {phase: f"{PHASES}/{name}" for phase, name in own.items()}
    on_disk = {
        phase: _phase_files(phase, places[phase], phase_folders.get(name, ()), read) for phase, name in own.items()
    }
    phases = tuple(_filled(phase, commands, on_disk[phase.id].whole, settings.ui_source_dir) for phase in found.phases)
    about = read(ABOUT)
    return Project(
        roadmap=Roadmap(path=found.path, phases=phases, notes=found.notes),
        config=settings,
        commands=commands,
        detected=detected,
        spec=_spec(settings, path, read),
        folders=places,
        requirements=_requirements(found, read(REQUIREMENTS)),
        plans={phase: found.to_do for phase, found in on_disk.items() if found.to_do},
        phase_files=on_disk,
        other_plans=tuple(_other_plans(phase_folders, set(own.values()))),
        versioned=has_rules((read(AGENT_RULES) or b"").decode("utf-8", "replace")),
        about=None if about is None else about.decode("utf-8", "replace"),
        notes=(
            *(f"{n.file}:{n.line}: {n.what}" for n in found.notes),
            *_unread(phases, places, on_disk),
            *settings.notes,
            *(() if settings.given else detected.notes),
        ),
    )


def _requirements(phases: Roadmap, text: bytes | None) -> dict[str, tuple[str, ...]]:
    """What each phase must deliver, as `ID: text`."""
    stated = requirements.read(text) if text is not None else ()
    return {
        phase.id: tuple(f"{r.id}: {r.text}".removesuffix(": ") for r in requirements.of_phase(stated, phases, phase.id))
        for phase in phases.phases
    }


def _unread(phases: Iterable[Phase], places: Mapping[str, str], on_disk: Mapping[str, PhaseFiles]) -> Iterator[str]:
    """What of the plans on disk cannot be carried out; of phases that are still to be done."""
    for phase in phases:
        if phase.status not in {"completed", "deferred"} and (problem := on_disk[phase.id].problem):
            yield f"{places[phase.id]}: {problem} Phase {phase.id} is planned again."


def _roadmap(text: bytes, path: str, phase_folders: Mapping[str, tuple[str, ...]]) -> Roadmap:
    """Raises `RoadmapInvalid`; if there are no phases, the error names the plans on disk, which are left alone."""
    try:
        return roadmap.read(text, path)
    except RoadmapInvalid as error:
        plans = tuple(_other_plans(phase_folders, set()))
        if not plans:
            raise
        more = f", and {len(plans) - MOST_NAMED} more" if len(plans) > MOST_NAMED else ""
        named = f"Plans in folders of no phase in the roadmap, left alone: {', '.join(plans[:MOST_NAMED])}{more}."
        raise RoadmapInvalid(error.what, why=f"{error.why} {named}", do=error.do) from error


def _phase_files(phase: str, place: str, names: Iterable[str], read: Reader) -> PhaseFiles:
    wanted = {file.name for file in folders.plan_files(names, phase)}
    texts = {name: read(f"{place}/{name}") or b"" if name in wanted else b"" for name in names}
    return phase_files({name: text.decode("utf-8", "replace") for name, text in texts.items()}, phase)


def _other_plans(phase_folders: Mapping[str, tuple[str, ...]], taken: AbstractSet[str]) -> Iterator[str]:
    """Plan files that belong to no phase of the roadmap: of an earlier milestone, or of a phase that was removed."""
    for folder, names in phase_folders.items():
        if folder not in taken:
            yield from (f"{PHASES}/{folder}/{file.name}" for file in folders.plan_files(names))


def _filled(phase: Phase, commands: Commands, plan: Plan | None, ui_dir: str | None) -> Phase:
    """The phase with its commands' places filled in, and its type by the files its plan names (PTYP-01..04)."""
    named = tuple(path for task in plan.tasks for path in task.files) if plan else ()
    return msgspec.structs.replace(
        phase,
        criteria=tuple(criteria.fill(c, commands) for c in phase.criteria),
        type=types.phase_type(phase, named, ui_dir),
    )


def _spec(settings: config.Config, roadmap_path: str, read: Reader) -> Spec:
    """INV-11 to INV-13: the first that exists, hashed as it is."""
    for path in (*settings.spec_candidates, roadmap_path):
        content = read(path)
        if content is not None:
            return Spec(path=path, sha256=hashlib.sha256(content).hexdigest())
    raise AssertionError("the roadmap was read a moment ago")
