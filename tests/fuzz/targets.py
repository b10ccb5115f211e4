"""What a fuzzer feeds with bytes: each target lets through a value or one of our own errors, and nothing else."""

from collections.abc import Callable

import msgspec

from autopilot.domain.errors import ConfigInvalid, RoadmapInvalid, UsageInvalid
from autopilot.domain.phase import Criterion, Roadmap
from autopilot.planning import config, criteria, ids, order, plan, plan_problems, requirements, roadmap, selection

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


TARGETS: dict[str, Target] = {
    "roadmap": fuzz_roadmap,
    "plan": fuzz_plan,
    "config": fuzz_config,
    "requirements": fuzz_requirements,
    "criteria": fuzz_criteria,
}
