"""The map as a file: schema 14, a line a fact, and shorter the more there is (RMAP-02)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.repo_map import (
    Calls,
    ClassOutline,
    Export,
    Exporter,
    Function,
    Import,
    Importer,
    MappedFile,
    MapSummary,
)
from autopilot.workspace.repo_map.paper import MOST_LINES, STAGES, Amount, Head, render, stage_for

HEAD = Head(generated_at="2026-01-01T00:00:00.000Z", project_root="/home/ada/till")
SUMMARY = MapSummary(
    total_files=2,
    languages={"python": 1, "markdown": 1},
    top_importers=(Importer(path="a.py", import_count=1),),
    top_exporters=(Exporter(path="a.py", export_count=1),),
)


def file(path: str = "a.py", facts: int = 1) -> MappedFile:
    lines = range(1, facts + 1)
    return MappedFile(
        path=path,
        language="python",
        exports=tuple(Export(name="f", type="function", line=n) for n in lines),
        imports=tuple(Import(source="os", names=("path",), line=n) for n in lines),
        functions=tuple(Function(name="f", params=("x",), line=n) for n in lines),
        classes=tuple(ClassOutline(name="C", methods=("m",), line=n) for n in lines),
        call_graph=tuple(Calls(caller="f", callees=("C",), line=n) for n in lines),
    )


def amount(files: list[MappedFile]) -> Amount:
    parsed = [f for f in files if f.language == "python"]
    return Amount(
        files=len(files), parsed=len(parsed), facts={k: sum(len(getattr(f, k)) for f in parsed) for k in STAGES[0]}
    )


def test_a_small_map_has_every_field_of_the_schema() -> None:
    told = json.loads(render(HEAD, [file(), MappedFile(path="b.md", language="markdown")], SUMMARY, 0))

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
    assert told["files"][1] == {"path": "b.md", "language": "markdown"}
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
    stage = stage_for(amount(files))
    told = json.loads(render(HEAD, files, SUMMARY, stage))

    assert [key for key in told["files"][0] if key not in {"path", "language"}] == left
    assert told["size_cap_applied"] is (stage > 0)
    assert told["summary"]["total_files"] == 2


@given(st.lists(st.integers(0, 40), max_size=30), st.booleans())
def test_rmap_02_a_capped_map_has_at_most_500_lines_unless_only_paths_are_left(sizes: list[int], prose: bool) -> None:
    files = [file(f"{n}.py", facts) for n, facts in enumerate(sizes)]
    files += [MappedFile(path="z.md", language="markdown")] if prose else []
    stage = stage_for(amount(files))
    text = render(HEAD, files, SUMMARY, stage)

    assert text.count("\n") <= max(MOST_LINES, len(files) + 20)
    assert len(json.loads(text)["files"]) == len(files)


@pytest.mark.parametrize("stage", range(len(STAGES) - 1))
def test_lines_are_counted_without_writing_them(stage: int) -> None:
    files = [file("a.py", 3), file("b.py", 2), MappedFile(path="z.md", language="markdown")]

    assert amount(files).lines(stage) == render(HEAD, files, SUMMARY, stage).count("\n")
