"""Repositories nobody means well with: whatever lies in them, there is a map, soon, and it tells nothing from outside."""

import json
import time
from pathlib import Path

import msgspec
import pytest

from autopilot.app.wiring import atlas_of
from autopilot.codemap.builder import GitAtlas
from autopilot.codemap.extract import WALKS, outline
from autopilot.codemap.grammars import missing
from autopilot.domain.codemap import MappedFile, Outline
from support.workspaces import PLANNING, Bench, make_bench, message

pytestmark = pytest.mark.skipif(missing() is not None, reason=f"the extra `map` is not installed: {missing()}")

DEEP = 30_000
SOON_S = 8.0
SECRET = "def secret(): ...\n"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return make_bench(tmp_path, {"good.py": "def fine(): ...\n"})


def sealed(bench: Bench, files: dict[bytes, bytes]) -> str:
    folder = Path(bench.workspace.clone(bench.base, PLANNING))
    for name, content in files.items():
        (folder / name.decode("utf-8", "surrogateescape")).write_bytes(content)
    return bench.workspace.seal(str(folder), bench.base, message("s1")).commit


def mapped(bench: Bench, commit: str) -> dict[str, MappedFile]:
    found = atlas(bench).at(commit)
    assert found is not None
    return {file.path: file for file in found.files}


def atlas(bench: Bench) -> GitAtlas:
    return atlas_of(bench.workspace, bench.processes, lambda: "2026-01-01T00:00:00.000Z")


def names(file: MappedFile) -> list[str]:
    return [export.name for export in file.exports]


@pytest.mark.parametrize(
    ("content", "exported"),
    [
        (b"def a(): ...\n\0\ndef b(): ...\n", {"a", "b"}),
        (b"def a(): ...\nx = '\xff\xfe'\ndef b(): ...\n", {"a", "b", "x"}),
        (b"\xef\xbb\xbfdef a(): ...\r\ndef b(): ...\r\n", {"a", "b"}),
        (b"\0" * 5_000, set()),
        (b"", set()),
    ],
    ids=["zero byte", "no UTF-8", "mark and carriage returns", "only zeros", "empty"],
)
def test_rmap_01_odd_bytes_hide_nothing_else(bench: Bench, content: bytes, exported: set[str]) -> None:
    found = mapped(bench, sealed(bench, {b"odd.py": content}))

    assert set(names(found["odd.py"])) == exported
    assert names(found["good.py"]) == ["fine"]


def test_rmap_01_a_file_of_50_mb_is_listed_and_not_read(bench: Bench) -> None:
    commit = sealed(bench, {b"big.py": bytes(50_000_000)})
    found = mapped(bench, commit)

    assert (names(found["big.py"]), found["big.py"].language) == ([], "python")
    assert names(found["good.py"]) == ["fine"]


def test_rmap_01_a_link_out_of_the_repository_is_not_followed(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "outside.py").write_text(SECRET)
    folder = Path(bench.workspace.clone(bench.base, PLANNING))
    (folder / "link.py").symlink_to(tmp_path / "outside.py")
    commit = bench.workspace.seal(str(folder), bench.base, message("s1")).commit

    assert mapped(bench, commit).keys() == {"good.py"}
    assert "secret" not in atlas(bench).paper(commit)


@pytest.mark.parametrize("name", [b"a\nb.py", b"a\tb.py", b'a"b\\.py', b"\xff\xfe.py", b" .py ", b"-rf.py"], ids=ascii)
def test_rmap_01_a_file_is_listed_whatever_its_name(bench: Bench, name: bytes) -> None:
    commit = sealed(bench, {name: b"def odd(): ...\n"})

    assert atlas(bench).chart(commit).there
    told = json.loads((bench.root / ".autopilot/repo-map.json").read_text())
    assert {file["path"] for file in told["files"]} == {"good.py", name.decode("utf-8", "replace")}


@pytest.mark.parametrize("grammar", sorted(WALKS))
@pytest.mark.parametrize("text", [b"f(", b"{", b"if x {", b"def f(\n", b"class A {", b"import("], ids=ascii)
def test_rmap_01_nesting_without_end_takes_no_stack_and_little_time(grammar: str, text: bytes) -> None:
    began = time.process_time()
    found = msgspec.convert(outline(grammar, text * (DEEP // len(text))), Outline)

    assert isinstance(found, Outline)
    assert time.process_time() - began < SOON_S


@pytest.mark.parametrize(
    "text",
    [
        b"from x import (\n" * 10_000,
        b"x = [\n" + b"a=1,\n" * 20_000,
        b"class A(\n" * 10_000,
        b"def f(): return " + b"f()," * 50_000,
        b"def f():\n  x='" + b"f(" * 50_000,
        b"'''" * 30_001,
        b"\\\n" * 20_000,
        b"x = 1;" + b"import " * 50_000,
        b"".join(b" " * min(n, 300) + b"def f():\n" for n in range(3_000)),
    ],
    ids=["imports", "a list", "classes", "calls", "a string", "quotes", "continued lines", "one line", "steps"],
)
def test_rmap_01_no_text_of_python_keeps_its_reader_busy(text: bytes) -> None:
    began = time.process_time()

    assert isinstance(msgspec.convert(outline("python", text), Outline), Outline)
    assert time.process_time() - began < SOON_S
