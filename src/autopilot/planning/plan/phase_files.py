"""Reads what the user brought in a phase's folder: plan files, which are done, and the plan they make together."""

from collections.abc import Mapping, Sequence

from autopilot.domain.errors import ConfigInvalid
from autopilot.domain.phase import PhaseFiles, Plan, PlanOnDisk
from autopilot.planning.plan import folders
from autopilot.planning.plan import read_plan as plans
from autopilot.planning.plan.folders import PlanFile

OTHERS = ("context", "research", "verification", "uat")


def phase_files(texts: Mapping[str, str], phase_id: str, tests: Mapping[str, str] | None = None) -> PhaseFiles:
    """
    `texts` are the files of the folder by name; those that are not plans or summaries may come without their text.

    Where numbered plans are there, they are the phase's plan and a bare PLAN.md next to them is not carried out. A
    plan with a summary is done. A bare PLAN.md by itself is the plan, done or not (PRE-05).
    """
    found = folders.plan_files(texts, phase_id)
    numbered = [file for file in found if file.phase]
    tests = tests or {}
    to_do, problem = _read([file for file in numbered if not file.done] if numbered else found, texts, tests)
    whole = to_do if not any(file.done for file in numbered) else _read(numbered, texts, tests)[0]
    others = {kind: folders.own_file(texts, phase_id, f"{kind.upper()}.md") for kind in OTHERS}
    on_disk = tuple(_on_disk(file, texts) for file in found)
    return PhaseFiles(plans=on_disk, to_do=to_do, whole=whole, problem=problem, **others)


def _read(files: Sequence[PlanFile], texts: Mapping[str, str], tests: Mapping[str, str]) -> tuple[Plan | None, str]:
    """PRE-05: where one cannot be read the phase is planned again, so that nothing the user planned is dropped."""
    if not files:
        return None, ""
    if all(not file.phase for file in files):
        text = texts[files[0].name]
    else:
        ordered = sorted(files, key=lambda file: plans.wave_of(texts[file.name]))
        text = plans.together({file.name: texts[file.name] for file in ordered})
    try:
        return plans.read(text, tests), ""
    except ConfigInvalid as error:
        return None, error.what


def _on_disk(file: PlanFile, texts: Mapping[str, str]) -> PlanOnDisk:
    try:
        tasks = len(plans.read(texts[file.name], {}).tasks)
    except ConfigInvalid:
        tasks = 0
    return PlanOnDisk(file=file.name, done=file.done, tasks=tasks)
