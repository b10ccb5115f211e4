"""All of a project's planning files understood together: roadmap, config, frozen specification, commands."""

import hashlib
from collections.abc import Callable, Mapping

import msgspec

from autopilot.domain.errors import ConfigInvalid, RoadmapInvalid
from autopilot.domain.passes import Spec
from autopilot.domain.phase import Phase, Plan, Roadmap
from autopilot.domain.settings import Commands
from autopilot.domain.value import Value
from autopilot.domain.versions import has_rules
from autopilot.planning import config, criteria, detect, folders, requirements, roadmap, types
from autopilot.planning import plan as plans

ROADMAPS = (".planning/ROADMAP.md", "ROADMAP.md")
CONFIG = ".planning/config.json"
REQUIREMENTS = ".planning/REQUIREMENTS.md"
ABOUT = ".planning/PROJECT.md"
AGENT_RULES = "CLAUDE.md"

Reader = Callable[[str], bytes | None]


class Project(Value, frozen=True, kw_only=True):
    """
    `plans` are those found for a phase, by its id and without their test files; `about` is PROJECT.md.

    `versioned`: the project's CLAUDE.md says how its version is bumped.
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
    about: str | None = None
    versioned: bool = False
    roadmap_sha256: str = ""


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
    places = {p.id: f".planning/phases/{folders.folder_of(p, phase_folders)}" for p in found.phases}
    existing = {p.id: plan for p in found.phases if (plan := _plan(read(f"{places[p.id]}/PLAN.md")))}
    phases = tuple(_filled(phase, commands, existing.get(phase.id), settings.ui_source_dir) for phase in found.phases)
    about = read(ABOUT)
    return Project(
        roadmap=Roadmap(path=found.path, phases=phases, notes=found.notes),
        config=settings,
        commands=commands,
        detected=detected,
        spec=_spec(settings, path, read),
        folders=places,
        requirements=_requirements(found, read(REQUIREMENTS)),
        plans=existing,
        roadmap_sha256=hashlib.sha256(text + b"\0" + (read(REQUIREMENTS) or b"")).hexdigest(),
        versioned=has_rules((read(AGENT_RULES) or b"").decode("utf-8", "replace")),
        about=None if about is None else about.decode("utf-8", "replace"),
        notes=(
            *(f"{n.file}:{n.line}: {n.what}" for n in found.notes),
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


def _plan(text: bytes | None) -> Plan | None:
    """PRE-05: one that cannot be read is planned anew, so it says nothing about the phase."""
    try:
        return None if text is None else plans.read(text.decode("utf-8", "replace"), {})
    except ConfigInvalid:
        return None


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
