"""Targets for planning files: what users write, and plans, which agents write."""

from collections.abc import Callable

import msgspec

from autopilot.domain.errors import AutopilotError, ConfigInvalid, RoadmapInvalid, UsageInvalid
from autopilot.domain.phase import Criterion, Roadmap
from autopilot.planning.config import detect_commands as detect
from autopilot.planning.config import read_config as config
from autopilot.planning.config import user_config as user_choices
from autopilot.planning.edit import edit
from autopilot.planning.edit import new_project as starting
from autopilot.planning.edit import state_md_table as edit_state
from autopilot.planning.edit.style import NewPhase
from autopilot.planning.plan import criteria
from autopilot.planning.plan import problems as plan_problems
from autopilot.planning.plan import read_plan as plan
from autopilot.planning.roadmap import ids, order, requirements, selection, state_md
from autopilot.planning.roadmap import project_md as project
from autopilot.planning.roadmap import read_roadmap as roadmap
from autopilot.planning.start import answers_file, context_md

Target = Callable[[bytes], None]


def fuzz_roadmap(data: bytes) -> None:
    """Whatever is read has unique valid ids, names, lines inside the file, and can be ordered, chosen from and stored."""
    words, _, text = data.partition(b"\0")
    try:
        found = roadmap.read(text, "R")
    except RoadmapInvalid:
        return
    lines = text.count(b"\n") + text.count(b"\r") + 1
    assert len({phase.id for phase in found.phases}) == len(found.phases)
    assert all(ids.valid(phase.id) and phase.name.strip() and 1 <= phase.line <= lines for phase in found.phases)
    msgspec.json.encode(found)
    _chosen(words.decode(errors="replace"), found)


def _chosen(words: str, found: Roadmap) -> None:
    for expression in (words, "all", "next"):
        try:
            assert set(selection.select(expression, found, frozenset())) <= set(found.phases)
            assert len(order.order(found.phases, found)) == len(found.phases)
        except (RoadmapInvalid, UsageInvalid):
            continue


def fuzz_plan(data: bytes) -> None:
    """A plan has tasks with ids, can be judged against a phase and stored."""
    text = data.decode(errors="replace")
    try:
        found = plan.read(text, {"tests/task-01-01.sh": text[:100]})
        phase = roadmap.read("### Phase 1: A\n**Goal**: g\n", "R").phases[0]
    except ConfigInvalid:
        return
    assert found.tasks
    assert all(task.id.strip() for task in found.tasks)
    plan_problems.problems(found, phase, ("REQ-01",))
    msgspec.json.encode(found)


def fuzz_config(data: bytes) -> None:
    """Settings that were accepted can be stored."""
    try:
        found = config.read(data, "c")
    except ConfigInvalid:
        return
    msgspec.json.encode(found)


def fuzz_requirements(data: bytes) -> None:
    """Requirements have ids and can be mapped to the phases of a roadmap made of the same bytes."""
    found = requirements.read(data)
    assert all(requirement.id.strip() for requirement in found)
    msgspec.json.encode(found)
    try:
        phases = roadmap.read(data, "R")
    except RoadmapInvalid:
        return
    for phase in phases.phases[:20]:
        requirements.of_phase(found, phases, phase.id)
    requirements.mapping(found, phases)


def fuzz_criteria(data: bytes) -> None:
    """A criterion is never runnable without a command, and reading its text again gives the same one."""
    found = criteria.criterion(data.decode(errors="replace"), "c", "roadmap")
    assert found.command is None or found.command.strip()
    assert _same(criteria.criterion(found.text, "c", "roadmap"), found)
    msgspec.json.encode(found)


def _same(one: Criterion, other: Criterion) -> bool:
    return (one.text, one.command, one.expect) == (other.text, other.command, other.expect)


def fuzz_project(data: bytes) -> None:
    msgspec.json.encode(project.read(data))


def fuzz_state(data: bytes) -> None:
    """A stated position names valid phases only; putting a row in and taking it out leaves what can be read."""
    found = state_md.read(data)
    assert all(ids.valid(phase.id) for phase in found.phases)
    msgspec.json.encode(found)
    state_md.read(edit_state.remove(edit_state.add(data, NEW), NEW.id))


def fuzz_answers_file(data: bytes) -> None:
    """Whatever the file is called, each answer has a phase and words that can be stored."""
    for name in ("a.toml", "a.json", "a.txt"):
        try:
            found = answers_file.read(data, name)
        except ConfigInvalid:
            continue
        msgspec.json.encode({phase: held.questions for phase, held in found.items()})


def fuzz_beginnings(data: bytes) -> None:
    """The planning files of a new project are made whole, and its roadmap can be read."""
    for name in ("a.toml", "a.md"):
        try:
            made = starting.files(starting.read(data, name), {})
        except AutopilotError:
            continue
        assert roadmap.read(made[starting.ROADMAP], "R").phases


def fuzz_user_choices(data: bytes) -> None:
    try:
        msgspec.json.encode(user_choices.read(data.decode(errors="replace"), "c"))
    except ConfigInvalid:
        return


def fuzz_edits(data: bytes) -> None:
    """A phase that was put in can be taken out again, and all others stay."""
    try:
        before = roadmap.read(data, "R")
        added = edit.add(data, "R", NEW)
        after = roadmap.read(added, "R")
        left = roadmap.read(edit.remove(added, "R", NEW.id), "R")
    except AutopilotError:
        return
    assert {phase.id for phase in after.phases} == {phase.id for phase in before.phases} | {NEW.id}
    assert [phase.id for phase in left.phases] == [phase.id for phase in before.phases]


def fuzz_context_md(data: bytes) -> None:
    """What people wrote into the paper stays, and writing the same once more changes nothing."""
    before = data.decode(errors="replace")
    talk = context_md.Talk(phase="1", name="A", date="2026-01-01", boundary="b")
    once = context_md.context_md(talk, before)
    assert context_md.context_md(talk, once) == once


def fuzz_manifests(data: bytes) -> None:
    for name, _ in detect.MANIFESTS:
        detect.detect({name: data.decode(errors="replace")})


NEW = NewPhase(id="88", name="Added Later", goal="More of it")
TARGETS: dict[str, Target] = {
    "roadmap": fuzz_roadmap,
    "plan": fuzz_plan,
    "config": fuzz_config,
    "requirements": fuzz_requirements,
    "criteria": fuzz_criteria,
    "project": fuzz_project,
    "state": fuzz_state,
    "answers_file": fuzz_answers_file,
    "beginnings": fuzz_beginnings,
    "user_choices": fuzz_user_choices,
    "edits": fuzz_edits,
    "context_md": fuzz_context_md,
    "manifests": fuzz_manifests,
}
