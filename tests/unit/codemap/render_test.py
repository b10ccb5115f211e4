"""The map as a file: schema 14, a line a fact, and shorter the more there is (RMAP-02)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.codemap.outline import Raw
from autopilot.codemap.render import (
    MOST_LINES,
    ONLY_PATHS,
    STAGES,
    Summary,
    Tally,
    listing,
    render,
    sketched,
    stage_for,
)

Sketch = tuple[str, str, Raw | None]
HEAD = ("2026-01-01T00:00:00.000Z", "/home/ada/till")
PROSE: Sketch = ("z.md", "markdown", None)


def file(path: str = "a.py", facts: int = 1) -> Sketch:
    lines = range(1, facts + 1)
    return (path, "python", {
        "exports": [{"name": "f", "type": "function", "line": n} for n in lines],
        "imports": [{"source": "os", "names": ["path"], "line": n} for n in lines],
        "functions": [{"name": "f", "params": ["x"], "line": n, "returns": None} for n in lines],
        "classes": [{"name": "C", "extends": None, "methods": ["m"], "line": n} for n in lines],
        "call_graph": [{"caller": "f", "callees": ["C"], "line": n} for n in lines],
    })  # fmt: skip


def tally(files: list[Sketch]) -> Tally:
    read = [outline for _, _, outline in files if outline is not None]
    languages = {"python": len(read), "markdown": len(files) - len(read)}
    return Tally(languages, len(read), {kind: sum(len(outline[kind]) for outline in read) for kind in STAGES[0]})


def summary(files: list[Sketch]) -> Summary:
    return Summary(tally(files), [("a.py", 1)], [("a.py", 1)])


def rendered(files: list[Sketch], stage: int) -> str:
    told = listing(path for path, _, _ in files) if stage == ONLY_PATHS else sketched(files, stage)
    return render(HEAD, told, summary(files), stage)


def test_a_small_map_has_every_field_of_the_schema() -> None:
    told = json.loads(rendered([file(), PROSE], 0))

    assert list(told) == ["generated_at", "project_root", "version", "size_cap_applied", "files", "summary"]
    assert (told["version"], told["size_cap_applied"]) == (1, False)
    assert told["files"][0] == {
        "path": "a.py",
        "language": "python",
        "exports": [{"name": "f", "type": "function", "line": 1}],
        "imports": [{"source": "os", "names": ["path"], "line": 1}],
        "functions": [{"name": "f", "params": ["x"], "line": 1, "returns": None}],
        "classes": [{"name": "C", "extends": None, "methods": ["m"], "line": 1}],
        "call_graph": [{"caller": "f", "callees": ["C"], "line": 1}],
    }
    assert told["files"][1] == {"path": "z.md", "language": "markdown"}
    assert told["summary"]["top_importers"] == [{"path": "a.py", "import_count": 1}]


@pytest.mark.parametrize(
    ("facts", "left"),
    [
        (90, ["exports", "imports", "functions", "classes", "call_graph"]),
        (150, ["exports", "imports", "call_graph"]),
        (220, ["exports", "call_graph"]),
        (300, []),
    ],
    ids=["whole", "without functions and classes", "without imports", "only paths"],
)
def test_rmap_02_past_the_cap_the_least_needed_goes_first(facts: int, left: list[str]) -> None:
    files = [file(facts=facts)]
    stage = stage_for(tally(files))
    told = json.loads(rendered(files, stage))

    assert [key for key in told["files"][0] if key not in {"path", "language"}] == left
    assert told["size_cap_applied"] is (stage > 0)
    assert told["summary"]["total_files"] == 1


@given(st.lists(st.integers(0, 40), max_size=30), st.booleans())
def test_rmap_02_a_capped_map_has_at_most_500_lines_unless_only_paths_are_left(sizes: list[int], prose: bool) -> None:
    files = [file(f"{n}.py", facts) for n, facts in enumerate(sizes)]
    files += [PROSE] if prose else []
    stage = stage_for(tally(files))
    text = rendered(files, stage)

    assert text.count("\n") <= max(MOST_LINES, len(files) + 20)
    assert len(json.loads(text)["files"]) == len(files)


@pytest.mark.parametrize("stage", range(len(STAGES) - 1))
def test_lines_are_counted_without_writing_them(stage: int) -> None:
    files = [file("a.py", 3), file("b.py", 2), PROSE]

    assert tally(files).lines(stage) == rendered(files, stage).count("\n")
