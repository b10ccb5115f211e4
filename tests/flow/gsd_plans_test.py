"""Every plan file of real projects is seen by a dry run. The projects are not part of this repository."""

import re
import shutil
from pathlib import Path

import pytest

from autopilot.app import prepare as app
from autopilot.domain.errors import RoadmapInvalid
from autopilot.domain.forecast import Forecast
from autopilot.domain.phase import PlanOnDisk
from autopilot.domain.request import RunRequest
from support.repos import make_repo

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
# How many plan files below `phases/`, and how many of them hold tasks that can be read, counted by hand.
PLANS = {
    "001TMF__HYDRA": (5, 5),
    "01MASTERS__AutoFiller": (5, 5),
    "0blink0__eval-corpus": (0, 0),
    "0labdotnet__azureAI-sentinel": (5, 5),
    "0x1nfra__tongtong-bill-splitting": (5, 5),
    "0xD1g5__QU.I.R.K": (0, 0),
    "0xmaxbu__video-script": (5, 5),
    "1110sillabo__todo_gsd": (5, 4),
    "1Pio__skip-overthinking": (5, 5),
    "2093686099__ReactAgent": (5, 5),
    "24rukesh__Kanban-app--v2": (0, 0),
    "agomusio__no-more-configs": (5, 5),
    "ahbensalem__AI-newsletter": (5, 5),
    "ahmadalzaro1__mizanv2": (5, 4),
    "ahmetb__kubectl-fields": (5, 5),
    "ahnchul0-hue__lottery_2603": (5, 5),
    "ai-beavers__beaver-buddy": (0, 0),
    "parthkukr__autopilot-cc": (5, 5),
}

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of real roadmaps is not on this machine")


@pytest.mark.parametrize("name", list(PLANS))
def test_every_plan_on_disk_is_seen(name: str, tmp_path: Path) -> None:
    root = make_repo(tmp_path / "project", {"README.md": "x\n"})
    shutil.copytree(CORPUS / name, root / ".planning")
    there = {str(path.relative_to(root)) for path in (root / ".planning" / "phases").rglob("*PLAN.md")}

    listed, tasks = seen_in(root)

    assert (len(there), listed) == (PLANS[name][0], there)
    assert sum(count > 0 for count in tasks) == PLANS[name][1] or not tasks


def seen_in(root: Path) -> tuple[set[str], list[int]]:
    """The plans a dry run names, and how many tasks each of the roadmap's phases has in its own."""
    try:
        seen = app.foresee(RunRequest(folder=str(root), phases="all", agent="scripted:none.toml"))
    except RoadmapInvalid as error:
        return set(re.findall(r"\.planning/phases/[^\s,]+PLAN\.md", error.why)), []
    phases = plans_of(seen)
    return {*seen.other_plans, *named(seen, root)}, [plan.tasks for plans in phases.values() for plan in plans]


def named(seen: Forecast, root: Path) -> set[str]:
    folders = app.read_project(root).folders
    return {f"{folders[phase]}/{plan.file}" for phase, plans in plans_of(seen).items() for plan in plans}


def plans_of(seen: Forecast) -> dict[str, tuple[PlanOnDisk, ...]]:
    run = {phase.id: phase.plan_files for phase in seen.phases}
    return run | {phase.id: phase.plan_files for phase in seen.left_out}
