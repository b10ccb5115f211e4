"""All of a project's planning files understood together: roadmap, config, frozen specification, commands."""

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

import msgspec

from autopilot.domain.attempt import Spec
from autopilot.domain.errors import RoadmapInvalid
from autopilot.domain.phase import NEVER_RUN, Claim, Phase, PhaseFiles, Plan, Roadmap, number_of
from autopilot.domain.settings import Commands
from autopilot.domain.value import Value
from autopilot.planning.config import detect_commands as detect
from autopilot.planning.config import read_config as config
from autopilot.planning.plan import criteria, folders
from autopilot.planning.plan.phase_files import phase_files
from autopilot.planning.roadmap import between_milestones as between
from autopilot.planning.roadmap import completion_evidence as evidence
from autopilot.planning.roadmap import phase_type as types
from autopilot.planning.roadmap import read_roadmap as roadmap
from autopilot.planning.roadmap import requirements, state_md
from autopilot.policy.version_bump import has_rules

PHASES = ".planning/phases"
MOST_NAMED = 10
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
    roadmap_sha256: str = ""


def understand(
    read: Reader,
    root_files: Mapping[str, str],
    phase_folders: Folders,
    recorded: evidence.Recorded = evidence.no_record,
) -> Project:
    """
    `read` gives a file's bytes by its path in the project, or None; nothing is written.

    `root_files` are the files in the project's root: a manifest with its text, the others by name alone.
    `phase_folders` are the folders below `.planning/phases`, with the names of the files in each.
    """
    settings = config.read(read(CONFIG), CONFIG)
    found = read_roadmap(read, phase_folders, recorded)
    path = found.path
    detected = detect.detect(root_files)
    commands = detect.merge(settings, detected)
    places = places_of(found, phase_folders)
    on_disk = {phase.id: files_of(phase, places[phase.id], phase_folders, read) for phase in found.phases}
    phases = tuple(_filled(phase, commands, on_disk[phase.id].whole, settings.ui_source_dir) for phase in found.phases)
    about = read(ABOUT)
    return Project(
        roadmap=msgspec.structs.replace(found, phases=phases),
        config=settings,
        commands=commands,
        detected=detected,
        spec=_spec(settings, path, read),
        folders=places,
        requirements=_requirements(found, read(REQUIREMENTS)),
        plans={phase: found.to_do for phase, found in on_disk.items() if found.to_do},
        phase_files=on_disk,
        other_plans=tuple(_other_plans(phase_folders, places.values())),
        roadmap_sha256=hashlib.sha256((read(path) or b"") + b"\0" + (read(REQUIREMENTS) or b"")).hexdigest(),
        versioned=has_rules((read(AGENT_RULES) or b"").decode("utf-8", "replace")),
        about=None if about is None else about.decode("utf-8", "replace"),
        notes=(
            *(f"{n.file}:{n.line}: {n.what}" for n in found.notes),
            *_unread(phases, places, on_disk),
            *settings.notes,
            *(() if settings.given else detected.notes),
        ),
    )


def read_roadmap(read: Reader, phase_folders: Folders, recorded: evidence.Recorded = evidence.no_record) -> Roadmap:
    """The roadmap with all that the planning files say of its phases. Raises `RoadmapInvalid` when there is none."""
    path = next((p for p in ROADMAPS if read(p) is not None), None)
    text = read(path) if path else None
    if path is None or text is None:
        raise between.milestones_error(read, ROADMAPS[0]) or RoadmapInvalid(
            f"No roadmap found at {ROADMAPS[0]}.",
            why="Autopilot drives the phases of a roadmap; without one it has nothing to do.",
            do=f"Make one with `autopilot init`, or write {ROADMAPS[0]} with a heading `### Phase 1: Name` and a line "
            "`**Goal**: ...` for each phase.",
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
        return roadmap.read(text, path, stated, around, recorded)
    except RoadmapInvalid as error:
        raise _with_plans(between.milestones_error(read, path) or error, phase_folders) from None


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


def _unread(phases: Iterable[Phase], places: Mapping[str, str], on_disk: Mapping[str, PhaseFiles]) -> Iterator[str]:
    """What of the plans on disk cannot be carried out; of phases that are still to be done."""
    for phase in phases:
        if phase.status not in {"completed", *NEVER_RUN} and (problem := on_disk[phase.id].problem):
            yield f"{places[phase.id]}: {problem} Phase {phase.id} is planned again."


def _with_plans(error: RoadmapInvalid, phase_folders: Folders) -> RoadmapInvalid:
    """The error, with the names of the plans on disk, which are left alone."""
    plans = tuple(_other_plans(phase_folders, ()))
    if not plans:
        return error
    more = f", and {len(plans) - MOST_NAMED} more" if len(plans) > MOST_NAMED else ""
    named = f"Plans in folders of no phase in the roadmap, left alone: {', '.join(plans[:MOST_NAMED])}{more}."
    return RoadmapInvalid(error.what, why=f"{error.why} {named}", do=error.do)


def files_of(phase: Phase, place: str, phase_folders: Folders, read: Reader) -> PhaseFiles:
    """What the user brought in the phase's folder."""
    names, number = _held(place, phase_folders), number_of(phase)
    wanted = {file.name for file in folders.plan_files(names, number)}
    texts = {name: read(f"{place}/{name}") or b"" if name in wanted else b"" for name in names}
    return phase_files({name: text.decode("utf-8", "replace") for name, text in texts.items()}, number)


def _other_plans(phase_folders: Folders, taken: Collection[str]) -> Iterator[str]:
    """Plan files that belong to no phase of the roadmap: of an earlier milestone, or of a phase that was removed."""
    for folder, names in phase_folders.items():
        if f"{PHASES}/{folder}" not in taken:
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
