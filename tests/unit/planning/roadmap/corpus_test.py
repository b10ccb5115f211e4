"""Public planning files in the wild; what is expected of them was written down by reading them, not by the parser."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from autopilot.domain.errors import ConfigInvalid, RoadmapInvalid
from autopilot.domain.phase import Phase, Roadmap
from autopilot.planning.config import read_config as config
from autopilot.planning.plan import read_plan as plan
from autopilot.planning.roadmap import project_md as project
from autopilot.planning.roadmap import read_roadmap as roadmap
from autopilot.planning.roadmap import requirements, state_md
from autopilot.planning.roadmap.order import order
from autopilot.planning.roadmap.selection import outstanding
from autopilot.planning.start.read_project import read_roadmap

ROOT = Path(__file__).parents[4]
CORPUS = ROOT.parent / "shared" / "corpus"
TABLE = ROOT / "tests" / "data" / "planning" / "corpus.tsv"


class Row(NamedTuple):
    roadmap: str
    milestone: str
    phase: str
    state: str
    title: str


def expected() -> dict[str, list[Row]]:
    """By roadmap; one without phases has none."""
    lines = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    rows = [Row(*line.split("\t")) for line in lines[1:]]
    return {
        name: [row for row in rows if row.roadmap == name and row.phase != "-"] for name in {r.roadmap for r in rows}
    }


EXPECTED = expected()
WITH_PHASES = sorted(name for name, rows in EXPECTED.items() if rows)

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of public planning files is not here")


def read(name: str) -> Roadmap:
    """A project's roadmap with everything around it, an archived one alone."""
    folder = (CORPUS / name).parent
    if folder.parent != CORPUS:
        return roadmap.read((CORPUS / name).read_bytes(), name)
    places = (folder / "phases").iterdir() if (folder / "phases").is_dir() else ()
    held = {path.name: tuple(sorted(file.name for file in path.iterdir())) for path in places}
    return read_roadmap(lambda path: _bytes(folder / path.removeprefix(".planning/")), held)


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def phases_of(name: str) -> tuple[Phase, ...]:
    return read(name).phases


def said_of(name: str, line: int) -> str:
    return (CORPUS / name).read_text(encoding="utf-8-sig").split("\n")[line - 1]


@pytest.mark.parametrize("name", WITH_PHASES)
def test_exactly_the_phases_a_reader_sees_are_found_in_the_order_in_which_they_run(name: str) -> None:
    assert [phase.id for phase in phases_of(name)] == [row.phase for row in EXPECTED[name]]


@pytest.mark.parametrize("name", WITH_PHASES)
def test_every_phase_is_in_the_state_and_the_milestone_that_a_reader_sees(name: str) -> None:
    phases = {phase.id: phase for phase in phases_of(name)}
    wanted = {row.phase: row.state for row in EXPECTED[name]}
    labels = {row.phase: row.milestone for row in EXPECTED[name] if row.milestone != "-"}

    assert {phase_id: phase.status for phase_id, phase in phases.items()} == wanted
    assert {phase_id: phases[phase_id].milestone for phase_id in labels} == labels


@pytest.mark.parametrize("name", WITH_PHASES)
def test_every_title_is_the_one_a_reader_sees(name: str) -> None:
    hashed = {phase.id: hashlib.sha256(phase.name.encode()).hexdigest()[:12] for phase in phases_of(name)}

    assert hashed == {row.phase: row.title for row in EXPECTED[name]}


@pytest.mark.parametrize("name", [name for name in WITH_PHASES if name.count("/") == 1])
def test_all_open_phases_and_no_others_would_run_in_the_right_order(name: str) -> None:
    found = read(name)
    left = [row.phase for row in EXPECTED[name] if row.state in {"not_started", "in_progress", "disputed"}]

    assert [phase.id for phase in order(outstanding(found, frozenset()), found)] == left


def test_no_criterion_of_the_corpus_has_a_false_anchor() -> None:
    """Nobody there wrote a command to run; what stands in ticks is part of a sentence."""
    anchored = [(name, phase.id) for name in WITH_PHASES for phase in phases_of(name) if _anchored(phase)]

    assert anchored == []


def _anchored(phase: Phase) -> bool:
    return any(criterion.command for criterion in phase.criteria)


@pytest.mark.parametrize("name", WITH_PHASES)
def test_every_phase_has_a_name_and_the_line_that_names_it(name: str) -> None:
    for phase in phases_of(name):
        number = r"\.".join(f"0*{part}" for part in phase.id.rpartition("-")[2].split("."))
        assert re.match(r"\w", phase.name.lstrip("+"))
        assert re.search(rf"(?<![\d.]){number}(?!\d|\.\d)", said_of(name, phase.line))


@pytest.mark.parametrize("name", [name for name in EXPECTED if name not in WITH_PHASES])
def test_a_roadmap_of_shipped_milestones_only_is_refused(name: str) -> None:
    with pytest.raises(RoadmapInvalid, match="has no phases"):
        phases_of(name)


def test_every_roadmap_of_the_corpus_is_expected() -> None:
    assert {str(path.relative_to(CORPUS)) for path in CORPUS.rglob("*ROADMAP.md")} == EXPECTED.keys()


@pytest.mark.parametrize("name", WITH_PHASES)
def test_every_dispute_is_an_error_that_names_both_lines(name: str) -> None:
    found = read(name)
    wanted = {phase.id for phase in found.phases if phase.status == "disputed"}
    told = [
        match[1]
        for note in found.notes
        if note.severity == "error" and (match := re.match(r"phase (\S+): ", note.what))
    ]

    assert set(told) == wanted
    assert all(note.what.count(":") + note.what.count("line ") >= 2 for note in found.notes if note.severity == "error")


def test_what_cannot_be_read_as_a_phase_of_a_milestone_is_told() -> None:
    notes = [note.what for note in read("ai-beavers__beaver-buddy/ROADMAP.md").notes]

    assert [what for what in notes if "M5" in what] == [
        "milestone M5 has check-boxes but no phase: write each as `- [ ] **Phase 1: Name**`"
    ]


def outside_fences(text: str) -> Iterator[str]:
    """A second, simpler reading of fences than the parser's."""
    fence = ""
    for line in text.splitlines():
        mark = re.match(r"\s*(`{3,}|~{3,})", line)
        if mark and not fence:
            fence = mark[1]
        elif mark and line.strip() == mark[1] and mark[1].startswith(fence):
            fence = ""
        elif not fence:
            yield line


def test_every_tagged_task_of_the_corpus_is_found() -> None:
    counted = 0
    for path in CORPUS.rglob("*PLAN.md"):
        text = path.read_text(encoding="utf-8-sig")
        tags = sum(len(re.findall(r"<task[\s>]", line)) for line in outside_fences(text))
        counted += tags
        assert not tags or len(plan.read(text, {}).tasks) == tags, path

    assert counted > 100


def test_every_automated_command_of_the_corpus_can_be_run() -> None:
    for path in CORPUS.rglob("*PLAN.md"):
        text = path.read_text(encoding="utf-8-sig")
        if commands := text.count("<automated>"):
            criteria = [criterion for task in plan.read(text, {}).tasks for criterion in task.criteria]
            assert sum(criterion.command is not None for criterion in criteria) == commands, path


def test_headed_tasks_name_the_files_they_modify_and_create() -> None:
    folder = CORPUS / "parthkukr__autopilot-cc" / "phases" / "26.2-update-notification-system"
    tasks = plan.read((folder / "PLAN.md").read_text(encoding="utf-8"), {}).tasks

    assert len(tasks) == 3
    assert all(task.files and task.criteria and task.complexity for task in tasks)


def test_a_plan_without_any_task_is_refused_and_not_taken_as_done() -> None:
    with pytest.raises(ConfigInvalid, match="no task"):
        plan.read((CORPUS / "ai-beavers__beaver-buddy" / "PLAN.md").read_text(encoding="utf-8"), {})


def test_every_requirement_id_of_the_corpus_is_found() -> None:
    written = re.compile(
        r"^\s*- (?:\[.\] )?\*\*([A-Z0-9]+-[\w.-]*\d)\b|^#{3,5} ([A-Z]+-[\d.]*\d)\b", re.MULTILINE | re.ASCII
    )
    counted = 0
    for path in CORPUS.rglob("REQUIREMENTS.md"):
        text = path.read_text(encoding="utf-8-sig")
        wanted = {one or other for one, other in written.findall(text)}
        counted += len(wanted)
        assert {requirement.id for requirement in requirements.read(text)} == wanted, path

    assert counted > 300


def test_requirements_of_the_milestone_being_built_are_in_scope_whatever_its_number() -> None:
    read = requirements.read((CORPUS / "2093686099__ReactAgent" / "REQUIREMENTS.md").read_bytes())

    assert {requirement.id for requirement in read if requirement.scope != "in"} == {"FUT-01", "FUT-03", "FUT-04"}
    assert all(requirement.text for requirement in read)


@pytest.mark.parametrize(
    ("name", "phase", "status"),
    [
        ("001TMF__HYDRA", "6", "Phase 6 COMPLETE"),
        ("0labdotnet__azureAI-sentinel", "5", "Phase 4 complete"),
        ("2093686099__ReactAgent", "13", "Ready to plan"),
        ("parthkukr__autopilot-cc", "17", "Ready to plan"),
        ("agomusio__no-more-configs", "", "Milestone v1.2 complete"),
    ],
)
def test_states_say_the_phase_they_stand_at(name: str, phase: str, status: str) -> None:
    read = state_md.read((CORPUS / name / "STATE.md").read_bytes())

    assert (read.phase, read.status.startswith(status)) == (phase, True)


@pytest.mark.parametrize("name", ["PROJECT.md", "STATE.md", "config.json"])
def test_every_other_planning_file_can_be_read(name: str) -> None:
    readers = {"PROJECT.md": project.read, "STATE.md": state_md.read}
    for path in CORPUS.rglob(name):
        if name == "config.json":
            assert config.read(path.read_bytes(), name).model in {"opus", "sonnet", "haiku"}
        else:
            assert readers[name](path.read_bytes()) is not None


def test_upstream_phases_depend_on_what_their_lines_say() -> None:
    phases = phases_of("parthkukr__autopilot-cc/ROADMAP.md")
    needs = {phase.id: phase.depends_on for phase in phases}

    assert (needs["1"], needs["6"], needs["21"]) == ((), ("4", "4.1", "5"), ("17", "18", "20"))
    assert all(phase.criteria for phase in phases if phase.id in {"1", "2.1", "17", "34"})


def test_criteria_still_to_be_defined_are_none() -> None:
    phases = {phase.id: phase for phase in phases_of("parthkukr__autopilot-cc/ROADMAP.md")}

    assert [phases[number].criteria for number in ("27", "28", "29")] == [(), (), ()]


def test_eval_corpus_keeps_its_goal_though_the_line_break_was_lost() -> None:
    first = phases_of("0blink0__eval-corpus/ROADMAP.md")[0]

    assert first.goal
    assert "Goal" not in first.name
    assert first.requirements == ("CORP-01", "CORP-02", "CORP-03")


def test_when_a_phase_was_completed_is_not_its_goal() -> None:
    goals = {phase.goal for phase in phases_of("agomusio__no-more-configs/ROADMAP.md")}

    assert goals == {""}
