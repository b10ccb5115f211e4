"""Public roadmaps and plans in the wild; the expected phase ids come from reading the files, not from the parser."""

import json
from pathlib import Path

import pytest

from autopilot.domain.errors import ConfigInvalid, RoadmapInvalid
from autopilot.planning import config, plan, project, requirements, roadmap, state_md

ROOT = Path(__file__).parents[3]
CORPUS = ROOT.parent / "shared" / "corpus"
EXPECTED = json.loads((ROOT / "tests" / "data" / "planning" / "corpus_phases.json").read_text(encoding="utf-8"))

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of public planning files is not here")


@pytest.mark.parametrize("name", EXPECTED)
def test_exactly_the_phases_a_reader_sees_are_found(name: str) -> None:
    wanted = EXPECTED[name]
    text = (CORPUS / name).read_bytes()
    if wanted:
        assert sorted(phase.id for phase in roadmap.read(text, name).phases) == sorted(wanted)
    else:
        with pytest.raises(RoadmapInvalid, match="has no phases"):
            roadmap.read(text, name)


def test_every_roadmap_of_the_corpus_is_expected() -> None:
    assert {str(path.relative_to(CORPUS)) for path in CORPUS.rglob("*ROADMAP.md")} == EXPECTED.keys()


def test_every_tagged_task_of_the_corpus_is_found() -> None:
    found = expected = 0
    for path in CORPUS.rglob("*PLAN.md"):
        text = path.read_text(encoding="utf-8-sig")
        tags = sum(line.lstrip().startswith(("<task ", "<task>")) for line in text.splitlines())
        if tags:
            expected += tags
            found += len(plan.read(text, {}).tasks)

    assert found == expected > 100


def test_a_plan_without_any_task_is_refused_and_not_taken_as_done() -> None:
    with pytest.raises(ConfigInvalid, match="no task"):
        plan.read((CORPUS / "ai-beavers__beaver-buddy" / "PLAN.md").read_text(encoding="utf-8"), {})


@pytest.mark.parametrize("name", ["REQUIREMENTS.md", "PROJECT.md", "STATE.md", "config.json"])
def test_every_other_planning_file_can_be_read(name: str) -> None:
    readers = {"REQUIREMENTS.md": requirements.read, "PROJECT.md": project.read, "STATE.md": state_md.read}
    for path in CORPUS.rglob(name):
        if name == "config.json":
            assert config.read(path.read_bytes(), name).model in {"opus", "sonnet", "haiku"}
        else:
            assert readers[name](path.read_bytes()) is not None


def test_upstream_phases_depend_on_what_their_lines_say() -> None:
    phases = roadmap.read((CORPUS / "parthkukr__autopilot-cc" / "ROADMAP.md").read_bytes(), "R").phases
    needs = {phase.id: phase.depends_on for phase in phases}

    assert (needs["1"], needs["6"], needs["21"]) == ((), ("4", "4.1", "5"), ("17", "18", "20"))
    assert all(phase.criteria for phase in phases if phase.id in {"1", "2.1", "17", "34"})


def test_eval_corpus_keeps_its_goal_though_the_line_break_was_lost() -> None:
    first = roadmap.read((CORPUS / "0blink0__eval-corpus" / "ROADMAP.md").read_bytes(), "R").phases[0]

    assert first.goal
    assert "Goal" not in first.name
    assert first.requirements == ("CORP-01", "CORP-02", "CORP-03")
