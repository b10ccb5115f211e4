"""Public planning files in the wild; what is expected of them was written down by reading them, not by the parser."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from autopilot.domain.errors import ConfigInvalid, RoadmapInvalid
from autopilot.domain.phase import Phase
from autopilot.planning import config, plan, project, requirements, roadmap, state_md

ROOT = Path(__file__).parents[3]
CORPUS = ROOT.parent / "shared" / "corpus"
EXPECTED = json.loads((ROOT / "tests" / "data" / "planning" / "corpus_phases.json").read_text(encoding="utf-8"))
WITH_PHASES = [name for name, wanted in EXPECTED.items() if wanted["phases"]]

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of public planning files is not here")


def phases_of(name: str) -> tuple[Phase, ...]:
    return roadmap.read((CORPUS / name).read_bytes(), name).phases


def said_of(name: str, line: int) -> str:
    return (CORPUS / name).read_text(encoding="utf-8-sig").split("\n")[line - 1]


@pytest.mark.parametrize("name", WITH_PHASES)
def test_exactly_the_phases_a_reader_sees_are_found_in_the_order_they_appear(name: str) -> None:
    assert [phase.id for phase in phases_of(name)] == EXPECTED[name]["phases"]


@pytest.mark.parametrize("name", WITH_PHASES)
def test_exactly_what_a_reader_takes_as_completed_is(name: str) -> None:
    phases = phases_of(name)

    assert {p.id for p in phases if p.status == "completed"} == set(EXPECTED[name]["completed"])
    assert {p.id for p in phases if p.status == "deferred"} == set(EXPECTED[name]["deferred"])


@pytest.mark.parametrize("name", WITH_PHASES)
def test_every_phase_has_a_name_and_the_line_that_names_it(name: str) -> None:
    for phase in phases_of(name):
        number = r"\.".join(f"0*{part}" for part in phase.id.split("."))
        assert re.match(r"\w", phase.name.lstrip("+"))
        assert re.search(rf"(?<![\d.]){number}(?!\d|\.\d)", said_of(name, phase.line))


@pytest.mark.parametrize(
    ("name", "phase_id", "title"),
    [
        ("agomusio__no-more-configs/ROADMAP.md", "3", "Runtime Generation & Cut-Over"),
        ("ahmetb__kubectl-fields/milestones/v1.0-ROADMAP.md", "1", "Foundation + Input Pipeline"),
        ("0xD1g5__QU.I.R.K/ROADMAP.md", "147", "Backlog Drain — Lifecycle & Ledger Tail"),
        ("2093686099__ReactAgent/ROADMAP.md", "7", "Deep Agent 迁移 + 后端重构"),
        ("0xmaxbu__video-script/ROADMAP.md", "9", "Fix @video-script/types + Schema Adapter"),
        ("0xmaxbu__video-script/ROADMAP.md", "13", "Fix Issues + Tests"),
        (
            "0x1nfra__tongtong-bill-splitting/ROADMAP.md",
            "1.1",
            "Tech debt: DASH-04 label fix + calculateTotals extraction",
        ),
        ("01MASTERS__AutoFiller/ROADMAP.md", "4", "Wire Backend — LLM + Profile → AutoFill Endpoint"),
        ("ahmadalzaro1__mizanv2/ROADMAP.md", "9.1", "Bias Auditor Rework"),
        ("1110sillabo__todo_gsd/ROADMAP.md", "2", "TaskBox (Visual GraphEdit implementation)."),
    ],
)
def test_titles_are_what_a_reader_would_say(name: str, phase_id: str, title: str) -> None:
    assert {phase.id: phase.name for phase in phases_of(name)}[phase_id] == title


@pytest.mark.parametrize("name", [name for name in EXPECTED if name not in WITH_PHASES])
def test_a_roadmap_of_shipped_milestones_only_is_refused(name: str) -> None:
    with pytest.raises(RoadmapInvalid, match="has no phases"):
        phases_of(name)


def test_every_roadmap_of_the_corpus_is_expected() -> None:
    assert {str(path.relative_to(CORPUS)) for path in CORPUS.rglob("*ROADMAP.md")} == EXPECTED.keys()


@pytest.mark.parametrize(
    ("name", "disputed"),
    [
        ("ahmadalzaro1__mizanv2/ROADMAP.md", {"3", "4", "5", "6"}),
        ("0xD1g5__QU.I.R.K/milestones/v5.11-ROADMAP.md", {"144", "145", "146", "147"}),
        ("agomusio__no-more-configs/milestones/v1.2-ROADMAP.md", {"4", "5"}),
        ("0xmaxbu__video-script/ROADMAP.md", {"3", "4", "5"}),
    ],
)
def test_where_box_and_table_disagree_the_user_is_told(name: str, disputed: set[str]) -> None:
    notes = roadmap.read((CORPUS / name).read_bytes(), name).notes
    told = [re.match(r"phase (\S+): check-box says", note.what) for note in notes]

    assert {found[1] for found in told if found} == disputed


def test_phases_numbered_anew_in_each_milestone_are_reported() -> None:
    found = roadmap.read((CORPUS / "ai-beavers__beaver-buddy" / "ROADMAP.md").read_bytes(), "R")

    assert sum("is written again" in note.what for note in found.notes) == 12


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
