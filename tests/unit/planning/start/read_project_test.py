"""The planning files understood together: a phase's type comes from the files its plan names."""

import pytest

from autopilot.planning.start.read_project import Project, understand
from support.project import ROADMAP, plan_text

FOLDER = "01-letter-1"


def project(**files: str) -> Project:
    held = {".planning/ROADMAP.md": ROADMAP, **{name.replace("__", "/"): text for name, text in files.items()}}
    return understand(lambda path: held[path].encode() if path in held else None, {}, {FOLDER: ("PLAN.md",)})


def planned(path: str, config: str = "{}") -> Project:
    files = {f".planning/phases/{FOLDER}/PLAN.md": plan_text("1", [(path, "done")]), ".planning/config.json": config}
    return project(**files)


@pytest.mark.parametrize(
    ("path", "type_"),
    [("web/a.tsx", "ui"), ("protocols/a.md", "protocol"), ("a.json", "data"), ("a.py", "mixed"), ("gui/a.py", "ui")],
)
def test_ptyp_01_to_04_the_files_of_the_plan_decide_the_type(path: str, type_: str) -> None:
    """PTYP-01..04."""
    seen = planned(path, '{"project": {"ui": {"source_dir": "gui"}}}')

    assert [phase.type for phase in seen.roadmap.phases] == [type_, "mixed", "mixed"]
    assert list(seen.plans) == ["1"]


def test_a_plan_that_cannot_be_read_says_nothing() -> None:
    seen = project(**{f".planning/phases/{FOLDER}/PLAN.md": "no task at all\n"})

    assert (seen.plans, seen.roadmap.phases[0].type, seen.about) == ({}, "mixed", None)
