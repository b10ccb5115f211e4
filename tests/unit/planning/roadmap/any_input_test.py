"""Whatever the bytes: a value or one of our own errors, and soon."""

import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.errors import ConfigInvalid, RoadmapInvalid
from autopilot.planning.config import detect_commands as detect
from autopilot.planning.config import read_config as config
from autopilot.planning.plan import read_plan as plan
from autopilot.planning.roadmap import ids, markdown, requirements, state_md
from autopilot.planning.roadmap import project_md as project
from autopilot.planning.roadmap import read_roadmap as roadmap

PIECES = st.sampled_from(
    [
        "### Phase 1: A\n", "## Phase 2.1 — B\n", "- [x] **Phase 3: C** - d\n", "- Phase 4: e\n", "**Goal**: ", "**Depends on**: Phase 1, ",
        "**Success Criteria**:\n", "1. x -- verified by: `a` (returns 2)\n", "| Phase | Status |\n|--|--|\n", "| 1. A | Done |\n", "```\n", "~~~~\n",
        "<!--", "-->", "<details>\n", "</details>\n", "---\n", "phase: 1\n", '<task id="1" ', ">\n", "</task>\n", "<verify><automated>", "</verify>",
        "`", "``", "**", "__", "(", ")", "[", "]", "|", "\n", "\r", "\t", "    ", "\0", "\ufeff", "٣", "Phase ", "Phases 1-", "- [ ] ", "**REQ-01**: ", "{", '"',
    ]
)  # fmt: skip
MARKDOWN = st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=40).map("".join)
READERS: dict[str, Callable[[str], object]] = {
    "roadmap": lambda text: roadmap.read(text, "R"),
    "plan": lambda text: plan.read(text, {}),
    "requirements": requirements.read,
    "project": project.read,
    "state": state_md.read,
    "config": lambda text: config.read(text, "c"),
    "manifests": lambda text: [detect.detect({name: text}) for name, _ in detect.MANIFESTS],
}


@pytest.mark.parametrize("reader", READERS)
@given(text=MARKDOWN)
def test_any_text_gives_a_value_or_our_own_error(reader: str, text: str) -> None:
    refused: RoadmapInvalid | ConfigInvalid | None = None
    try:
        READERS[reader](text)
    except (RoadmapInvalid, ConfigInvalid) as error:
        refused = error

    assert refused is None or all((refused.what, refused.why, refused.do))


@given(st.binary(max_size=300))
def test_any_bytes_give_a_value_or_our_own_error(data: bytes) -> None:
    try:
        found = roadmap.read(data, "R")
    except RoadmapInvalid:
        return
    assert all(ids.valid(phase.id) for phase in found.phases)


@given(MARKDOWN)
def test_blanking_keeps_every_line_in_its_place(text: str) -> None:
    document = markdown.read(text)
    raw = markdown.decode(text).split("\n")

    assert len(document.lines) == len(raw)
    assert all(set(line) <= set(was) for was, line in zip(raw, document.lines, strict=True))


names = st.text("abcdefg XYZ'é你", min_size=1, max_size=20).map(lambda name: "N" + " ".join(name.split()))
numbers = st.lists(st.integers(1, 40), min_size=1, max_size=2).map(lambda parts: ".".join(str(part) for part in parts))


@given(
    st.lists(
        st.tuples(numbers, names, st.booleans(), st.booleans()),
        min_size=1,
        max_size=8,
        unique_by=lambda phase: phase[0],
    ),
    st.data(),
)
def test_what_is_written_is_read_back(phases: list[tuple[str, str, bool, bool]], data: st.DataObject) -> None:
    needs = {
        number: data.draw(st.sets(st.sampled_from([p[0] for p in phases if p[0] != number] or ["77"]), max_size=3))
        for number, *_ in phases
    }
    listed = "".join(
        f"- [{'x' if done else ' '}] **Phase {'0' if pad else ''}{number}: {name}** - about\n"
        for number, name, done, pad in phases
    )
    detailed = "".join(
        f"### Phase {number}: {name}\n**Goal**: do {name}\n**Depends on**: {', '.join(f'Phase {need}' for need in sorted(needs[number])) or 'Nothing'}\n\n"
        for number, name, *_ in phases
    )
    read = roadmap.read(f"# Roadmap\n## Phases\n{listed}\n## Phase Details\n{detailed}", "R").phases

    in_order = sorted(phases, key=lambda phase: ids.sort_key(phase[0]))
    assert [(p.id, p.name, p.goal) for p in read] == [(number, name, f"do {name}") for number, name, *_ in in_order]
    assert [p.status == "completed" for p in read] == [done for _, _, done, _ in in_order]
    assert [set(p.depends_on) for p in read] == [needs[number] for number, *_ in in_order]


SECTION = "### Phase {n}: Name\n**Goal**: text\n**Depends on**: Phase {m}\n**Success Criteria**:\n  1. one -- verified by: `grep x y` (returns 2)\n\n```sh\nx\n```\n\n"
LONG = {
    "2000 phases": "".join(SECTION.format(n=n, m=n - 1) for n in range(1, 2001)),
    "5 MB of prose": "### Phase 1: A\n" + "some words and more words\n" * 200_000,
    "spaces": "### Phase 1: a" + " " * 300_000 + "b",
    "stars": "### Phase 1: a\n" + "*" * 300_000,
    "ticks": "### Phase 1: a\n" + "` `` ``` " * 50_000,
    "parentheses": "### Phase 1: a\n**Depends on**: " + "(" * 300_000,
    "requirement dashes": "### Phase 1: a\n**Requirements**: " + "A-" * 200_000,
    "table headers": "### Phase 1: a\n## x\n" + "| Phase | Status |\n|--|--|\n" * 20_000,
    "comment openings": "### Phase 1: a\n" + "<!-- " * 100_000,
    "digits": "### Phase 1: a\n### Phase " + "1" * 300_000 + ": b",
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG.keys())
def test_long_and_hostile_files_are_read_in_seconds(text: str) -> None:
    started = time.process_time()
    assert roadmap.read(text, "R").phases

    assert time.process_time() - started < 20


@pytest.mark.parametrize(
    "text", ["<task " + "a" * 300_000 + "\n", "<task>\n<verify>" + "<automated>x</automated>\n" * 20_000, "<task>\n" * 20_000], ids=["name", "automated", "open"]
)  # fmt: skip
def test_long_and_hostile_plans_are_read_in_seconds(text: str) -> None:
    started = time.process_time()
    assert plan.read(text, {}).tasks

    assert time.process_time() - started < 20
