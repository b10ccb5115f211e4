"""What a command line means for a project: phases, roadmap, specification, model."""

import hashlib
import json
from typing import Any

import pytest

from autopilot.domain.events import RunStarted
from autopilot.domain.phase import Phase, Roadmap
from autopilot.domain.request import RunRequest
from autopilot.domain.settings import Modes
from autopilot.planning.roadmap import selection
from autopilot.planning.start.opening import opening
from autopilot.planning.start.read_project import Project, understand

ROADMAP = """# Roadmap

### Phase 1: First
**Goal**: One.
**Depends on**: Nothing

### Phase 2: Second
**Goal**: Two.
**Depends on**: Phase 1 (the first one)

### Phase 2.1: Between
**Goal**: Two and a bit.
**Depends on**: Phase 1, Phase 2

### Phase 3: Third
**Goal**: Three.
**Depends on**: Phase 2
"""


def project(**files: str) -> Project:
    held = {
        name.replace("__", "/").replace("_md", ".md").replace("_json", ".json"): text for name, text in files.items()
    }
    held = {f".{name}" if name.startswith("planning/") else name: text for name, text in held.items()}
    return understand(lambda path: held[path].encode() if path in held else None, {}, {})


def wanted(phases: str = "", *, completed: frozenset[str] = frozenset(), complete: bool = False) -> list[str]:
    request = RunRequest(folder=".", phases=phases, modes=Modes(complete=complete))
    return [phase.id for phase in selection.wanted(request, project(planning__ROADMAP_md=ROADMAP).roadmap, completed)]


@pytest.mark.parametrize(
    ("said", "phases"),
    [
        pytest.param("1-2.1", ["1", "2", "2.1"], id="INV-02 a range, AMB-02"),
        pytest.param("2", ["2"], id="INV-03 one phase"),
        pytest.param("2.1", ["2.1"], id="INV-03 a decimal"),
        pytest.param("1,3", ["1", "3"], id="INV-04 a list"),
        pytest.param("all", ["2", "2.1", "3"], id="INV-05 what is outstanding"),
        pytest.param("next", ["2"], id="INV-06 the next one"),
        pytest.param("1 2.1 3", ["1", "2.1", "3"], id="INV-07 a list with spaces"),
    ],
)
def test_phases_are_named_in_these_ways(said: str, phases: list[str]) -> None:
    assert wanted(said, completed=frozenset({"1"})) == phases


def test_complete_needs_no_phases_and_leaves_out_what_is_completed() -> None:
    """CMPL-01b, CMPL-02c: named or not."""
    assert wanted(complete=True, completed=frozenset({"1"})) == ["2", "2.1", "3"]
    assert wanted("1-2", complete=True, completed=frozenset({"1"})) == ["2"]
    assert wanted(complete=True, completed=frozenset({"1", "2", "2.1", "3"})) == []


@pytest.mark.parametrize(
    ("said", "left_out"), [("", ("1", "3")), ("1-2", ("1",)), ("all", ("1", "3")), ("2", ())], ids=str
)
def test_complete_tells_which_completed_phases_it_was_asked_for(said: str, left_out: tuple[str, ...]) -> None:
    """CMPL-02a: those that were named, or all of them."""
    roadmap, done = project(planning__ROADMAP_md=ROADMAP).roadmap, frozenset({"1", "3"})
    request = RunRequest(folder=".", phases=said, modes=Modes(complete=True))

    assert selection.passed_over(request, roadmap, done) == left_out
    assert selection.passed_over(RunRequest(folder=".", phases="all"), roadmap, done) == ()


def test_a_roadmap_gives_ids_names_and_dependencies_in_every_spelling() -> None:
    """CMPL-01a, CMPL-01c."""
    phases = project(planning__ROADMAP_md=ROADMAP).roadmap.phases

    found = [(p.id, p.name, p.depends_on) for p in phases]
    assert found == [
        ("1", "First", ()),
        ("2", "Second", ("1",)),
        ("2.1", "Between", ("1", "2")),
        ("3", "Third", ("2",)),
    ]


def test_inv_10_a_roadmap_in_the_root_is_found_and_the_one_in_planning_comes_first() -> None:
    other = ROADMAP.replace("First", "Other")

    assert project(ROADMAP_md=ROADMAP).roadmap.path == "ROADMAP.md"
    assert project(ROADMAP_md=other, planning__ROADMAP_md=ROADMAP).roadmap.phases[0].name == "First"


@pytest.mark.parametrize(
    ("files", "path"),
    [
        pytest.param(
            {"planning__config_json": json.dumps({"project": {"spec_paths": ["A.md", "B.md"]}}), "B_md": "b"},
            "B.md",
            id="INV-11 the first of the configured that exists",
        ),
        pytest.param(
            {"planning__REQUIREMENTS_md": "r", "planning__PROJECT_md": "p"},
            ".planning/REQUIREMENTS.md",
            id="INV-12 requirements",
        ),
        pytest.param({"planning__PROJECT_md": "p"}, ".planning/PROJECT.md", id="INV-12 project"),
        pytest.param({}, ".planning/ROADMAP.md", id="INV-12 roadmap"),
    ],
)
def test_the_specification_is_the_first_that_is_there(files: dict[str, str], path: str) -> None:
    assert project(planning__ROADMAP_md=ROADMAP, **files).spec.path == path


def test_inv_13_the_hash_of_the_specification_is_that_of_its_bytes() -> None:
    found = project(planning__ROADMAP_md=ROADMAP).spec

    assert found.sha256 == hashlib.sha256(ROADMAP.encode()).hexdigest()


@pytest.mark.parametrize(
    ("profile", "model"),
    [("quality", "opus"), ("balanced", "sonnet"), ("speed", "haiku"), ("odd", "sonnet"), (None, "sonnet")],
)
def test_inv_19_the_model_goes_by_the_profile(profile: str | None, model: str) -> None:
    assert first(config=json.dumps({"model_profile": profile})).settings.model == model


@pytest.mark.parametrize(("config", "awake"), [("{}", True), ('{"workflow": {"keep_awake": false}}', False)])
def test_the_config_may_let_the_machine_sleep(config: str, awake: bool) -> None:
    assert first(config=config).settings.keep_awake is awake
    assert not first(config=config, keep_awake=False).settings.keep_awake


def test_amb_47_a_project_that_is_only_a_name_counts_as_absent() -> None:
    assert first(config='{"project": "Letters"}').settings.model == "sonnet"


def first(config: str, **more: Any) -> RunStarted:
    known = project(planning__ROADMAP_md=ROADMAP, planning__config_json=config)
    return opening(RunRequest(folder=".", phases="1", **more), known, (Phase(id="1", name="First"),), frozenset())


def test_a_batch_of_no_phases_has_nothing_to_pass_over() -> None:
    request = RunRequest(folder=".", modes=Modes(complete=True))

    assert selection.passed_over(request, Roadmap(path="ROADMAP.md", phases=()), frozenset()) == ()
