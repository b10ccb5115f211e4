"""All of a project's planning files understood together: roadmap, config, frozen specification, commands."""

import hashlib
from collections.abc import Callable, Mapping

from autopilot.domain.errors import RoadmapInvalid
from autopilot.domain.events import Spec
from autopilot.domain.phase import Phase, Roadmap
from autopilot.domain.settings import Commands
from autopilot.domain.value import Value
from autopilot.planning import config, criteria, detect, folders, requirements, roadmap

ROADMAPS = (".planning/ROADMAP.md", "ROADMAP.md")
CONFIG = ".planning/config.json"
REQUIREMENTS = ".planning/REQUIREMENTS.md"

Reader = Callable[[str], bytes | None]


class Project(Value, frozen=True, kw_only=True):
    roadmap: Roadmap
    config: config.Config
    commands: Commands
    spec: Spec
    folders: dict[str, str]
    requirements: dict[str, tuple[str, ...]]
    notes: tuple[str, ...]


def understand(read: Reader, root_files: Mapping[str, str], phase_folders: tuple[str, ...]) -> Project:
    """
    `read` gives a file's bytes by its path in the project, or None; nothing is written.

    `root_files` are the files in the project's root: a manifest with its text, the others by name alone.
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
    found = roadmap.read(text, path)
    phases = tuple(_filled(phase, commands) for phase in found.phases)
    return Project(
        roadmap=Roadmap(path=found.path, phases=phases, notes=found.notes),
        config=settings,
        commands=commands,
        spec=_spec(settings, path, read),
        folders={p.id: f".planning/phases/{folders.folder_of(p, phase_folders)}" for p in phases},
        requirements=_requirements(found, read(REQUIREMENTS)),
        notes=(*(f"{n.file}:{n.line}: {n.what}" for n in found.notes), *settings.notes, *detected.notes),
    )


def _requirements(phases: Roadmap, text: bytes | None) -> dict[str, tuple[str, ...]]:
    """What each phase must deliver, as `ID: text`."""
    stated = requirements.read(text) if text is not None else ()
    return {
        phase.id: tuple(f"{r.id}: {r.text}".removesuffix(": ") for r in requirements.of_phase(stated, phases, phase.id))
        for phase in phases.phases
    }


def _filled(phase: Phase, commands: Commands) -> Phase:
    values = {name: getattr(phase, name) for name in phase.__struct_fields__}
    return Phase(**(values | {"criteria": tuple(criteria.fill(c, commands) for c in phase.criteria)}))


def _spec(settings: config.Config, roadmap_path: str, read: Reader) -> Spec:
    """INV-11 to INV-13: the first that exists, hashed as it is."""
    for path in (*settings.spec_candidates, roadmap_path):
        content = read(path)
        if content is not None:
            return Spec(path=path, sha256=hashlib.sha256(content).hexdigest())
    raise AssertionError("the roadmap was read a moment ago")
