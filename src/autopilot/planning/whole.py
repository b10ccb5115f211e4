"""All of a project's planning files understood together: roadmap, config, frozen specification, commands."""

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping

import msgspec

from autopilot.domain.errors import ConfigInvalid, RoadmapInvalid
from autopilot.domain.passes import Spec
from autopilot.domain.phase import Claim, Phase, Plan, Roadmap, number_of
from autopilot.domain.settings import Commands
from autopilot.domain.value import Value
from autopilot.domain.versions import has_rules
from autopilot.planning import (
    between,
    config,
    criteria,
    detect,
    evidence,
    folders,
    requirements,
    roadmap,
    state_md,
    types,
)
from autopilot.planning import plan as plans

ROADMAPS = (".planning/ROADMAP.md", "ROADMAP.md")
CONFIG = ".planning/config.json"
REQUIREMENTS = ".planning/REQUIREMENTS.md"
ABOUT = ".planning/PROJECT.md"
AGENT_RULES = "CLAUDE.md"

STATE = ".planning/STATE.md"
PHASES = ".planning/phases"

Reader = Callable[[str], bytes | None]
Folders = Mapping[str, tuple[str, ...]]
"""The folders of phases by name, with the names of the files in each."""


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


def understand(read: Reader, root_files: Mapping[str, str], phase_folders: Folders) -> Project:
    """
    `read` gives a file's bytes by its path in the project, or None; nothing is written.

    `root_files` are the files in the project's root: a manifest with its text, the others by name alone.
    `phase_folders` are the folders below `.planning/phases`, with the names of the files in each.
    """
    settings = config.read(read(CONFIG), CONFIG)
    found = read_roadmap(read, phase_folders)
    path = found.path
    detected = detect.detect(root_files)
    commands = detect.merge(settings, detected)
    places = places_of(found, phase_folders)
    existing = {p.id: plan for p in found.phases if (plan := _plan(read(f"{places[p.id]}/PLAN.md")))}
    phases = tuple(_filled(phase, commands, existing.get(phase.id), settings.ui_source_dir) for phase in found.phases)
    about = read(ABOUT)
    return Project(
        roadmap=msgspec.structs.replace(found, phases=phases),
        config=settings,
        commands=commands,
        detected=detected,
        spec=_spec(settings, path, read),
        folders=places,
        requirements=_requirements(found, read(REQUIREMENTS)),
        plans=existing,
        roadmap_sha256=hashlib.sha256((read(path) or b"") + b"\0" + (read(REQUIREMENTS) or b"")).hexdigest(),
        versioned=has_rules((read(AGENT_RULES) or b"").decode("utf-8", "replace")),
        about=None if about is None else about.decode("utf-8", "replace"),
        notes=(
            *(f"{n.file}:{n.line}: {n.what}" for n in found.notes),
            *settings.notes,
            *(() if settings.given else detected.notes),
        ),
    )


def read_roadmap(read: Reader, phase_folders: Folders) -> Roadmap:
    """The roadmap with all that the planning files say of its phases. Raises `RoadmapInvalid` when there is none."""
    path = next((p for p in ROADMAPS if read(p) is not None), None)
    text = read(path) if path else None
    if path is None or text is None:
        raise between.milestones_error(read, ROADMAPS[0]) or RoadmapInvalid(
            f"No roadmap found at {ROADMAPS[0]}.",
            why="Autopilot drives the phases of a roadmap; without one it has nothing to do.",
            do=f"Write {ROADMAPS[0]} with a heading `### Phase 1: Name` and a line `**Goal**: ...` for each phase.",
        )
    stated = state_md.read(read(STATE) or b"")

    def around(found: Roadmap) -> dict[str, list[Claim]]:
        places = places_of(found, phase_folders)
        claims = {
            phase.id: list(evidence.of_folder(places[phase.id], _held(places[phase.id], phase_folders), phase, read))
            for phase in found.phases
        }
        for phase_id, claim in evidence.of_state(found, stated, STATE).items():
            claims[phase_id].append(claim)
        return claims

    try:
        return roadmap.read(text, path, stated, around)
    except RoadmapInvalid as error:
        raise between.milestones_error(read, path) or error from None


def places_of(found: Roadmap, phase_folders: Folders) -> dict[str, str]:
    """The folder of each phase. Where milestones share numbers, one of another name is another phase's."""
    numbers = Counter(number_of(phase) for phase in found.phases)
    return {
        phase.id: f"{PHASES}/{folders.folder_of(phase, phase_folders, strict=numbers[number_of(phase)] > 1)}"
        for phase in found.phases
    }


def _held(place: str, phase_folders: Folders) -> tuple[str, ...]:
    return phase_folders.get(place.removeprefix(f"{PHASES}/"), ())


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
