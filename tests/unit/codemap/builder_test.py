"""Maps of commits on a real repository: what is read, when, and that nothing that goes wrong is raised."""

import json
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autopilot.app.wiring import atlas_of
from autopilot.codemap.builder import GitAtlas
from autopilot.codemap.grammars import missing
from autopilot.codemap.reader import MOST_BYTES
from autopilot.codemap.render import MOST_LINES
from autopilot.codemap.worker import CODE
from autopilot.domain.codemap import RepoMap
from autopilot.domain.process import Job, Ran
from support.processes import PlainProcesses
from support.workspaces import Bench, make_bench

pytestmark = pytest.mark.skipif(missing() is not None, reason=f"the extra `map` is not installed: {missing()}")

FILES = {
    "src/a.py": "from src import b\n\ndef f(x):\n    return g(x)\n\ndef g(y):\n    return b.h(y)\n",
    "src/b.py": "def h(z):\n    return z\n",
    "README.md": "# A\n",
    "node_modules/x/index.js": "export const x = 1;\n",
    "web/dist/y.js": "export const y = 1;\n",
}
EDITS = st.dictionaries(
    st.sampled_from(["a.py", "b.ts", "c.go", "d.md", "sub/e.py"]),
    st.sampled_from(
        [None, "", "def f(): g()\ndef g(): ...\n", "import os\n", "export const x = 1;\n", "func A() {}\n"]
    ),
    min_size=1,
    max_size=4,
)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return make_bench(tmp_path, FILES)


def atlas(bench: Bench, name: str = "book.db") -> GitAtlas:
    made = atlas_of(bench.workspace, bench.processes, lambda: "2026-01-01T00:00:00.000Z")
    made.book = bench.root.parent / name
    return made


def written(bench: Bench) -> dict[str, list[dict[str, object]]]:
    found: dict[str, list[dict[str, object]]] = json.loads((bench.root / ".autopilot/repo-map.json").read_text())
    return found


def mark(bench: Bench, name: str) -> None:
    """Everything read so far exports the name alone: whatever is read again does not."""
    with closing(sqlite3.connect(bench.root.parent / "book.db")) as book:
        body = json.dumps({"exports": [{"name": name, "type": "const", "line": 1}]})
        book.execute("update outlines set body = ?", (body,))
        book.commit()


def exported(found: RepoMap | None) -> dict[str, list[str]]:
    return {file.path: [export.name for export in file.exports] for file in whole(found).files}


def whole(found: RepoMap | None) -> RepoMap:
    assert found is not None
    return found


def test_rmap_01_a_missing_map_is_made_without_what_is_not_the_projects_own(bench: Bench) -> None:
    charted = atlas(bench).chart(bench.base)

    assert (charted.line, charted.there) == ("Repo-map generated: 3 files across 2 languages.", True)
    assert [file["path"] for file in written(bench)["files"]] == ["README.md", "src/a.py", "src/b.py"]


def test_rmap_03_a_map_of_the_same_commit_is_left_as_it_is(bench: Bench) -> None:
    atlas(bench).chart(bench.base)
    before = len(bench.processes.jobs)

    assert atlas(bench).chart(bench.base).line == "Repo-map up to date, skipping refresh."
    assert len(bench.processes.jobs) == before


def test_rmap_04_only_what_changed_is_read_again(bench: Bench) -> None:
    made = atlas(bench)
    made.chart(bench.base)
    mark(bench, "known")
    commit = bench.seal({"src/b.py": None, "src/c.py": "def k(): ...\n", "node_modules/x/index.js": None})

    assert made.chart(commit).line == "Repo-map refreshed: 2 files updated."
    assert [file["path"] for file in written(bench)["files"]] == ["README.md", "src/a.py", "src/c.py"]
    assert exported(made.at(commit)) == {"README.md": [], "src/a.py": ["known"], "src/c.py": ["k"]}


def test_rmap_04_a_text_read_once_is_known_wherever_it_lies(bench: Bench) -> None:
    made = atlas(bench)
    made.chart(bench.base)
    mark(bench, "known")
    moved = bench.seal({"src/b.py": None, "lib/b.py": FILES["src/b.py"]})

    assert exported(made.at(moved))["lib/b.py"] == ["known"]


def test_rmap_04_files_changed_since_the_map_was_written_are_counted_wherever_the_book_is(bench: Bench) -> None:
    made = atlas(bench)
    made.chart(bench.base)
    first = bench.seal({"src/c.py": "def k(): ...\n"}, "s1")
    second = bench.seal({"src/d.py": "def l(): ...\n"}, "s2", first)
    made.at(first)

    assert made.chart(second).line == "Repo-map refreshed: 2 files updated."
    assert made.chart(second).line == "Repo-map up to date, skipping refresh."


def test_rmap_07_the_map_follows_each_commit_and_goes_back_with_it(bench: Bench) -> None:
    made = atlas(bench)
    first = made.at(bench.base)
    commit = bench.seal({"src/b.py": "def other(): ...\n"})

    assert [e.name for f in whole(made.at(commit)).files for e in f.exports] == ["f", "g", "other"]
    assert made.at(bench.base) == first


@given(edits=st.lists(EDITS, min_size=1, max_size=3))
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_rmap_04_a_refreshed_map_is_the_one_made_from_nothing(
    tmp_path_factory: pytest.TempPathFactory, edits: list[dict[str, str | None]]
) -> None:
    bench = make_bench(tmp_path_factory.mktemp("repo"), FILES)
    grown, commit, there = atlas(bench), bench.base, set(FILES)
    grown.chart(commit)
    for number, edit in enumerate(edits):
        change = {path: text for path, text in edit.items() if text is not None or path in there}
        commit = bench.seal(change, f"s{number}", commit) if change else commit
        there = (there | {p for p, t in change.items() if t is not None}) - {p for p, t in change.items() if t is None}
        grown.chart(commit)

    fresh = atlas(bench, "fresh.db")
    assert grown.at(commit) == fresh.at(commit)
    assert (bench.root / ".autopilot/repo-map.json").read_text() == fresh.paper(commit)


@pytest.mark.parametrize(
    "change",
    [{"m3.py": "def k(): ...\n"}, {"m3.py": None}, {"n.go": "func N() {}\n"}, {"m3.py": None, "n.py": ""}],
    ids=["a text", "one less", "one more", "one for another"],
)
def test_rmap_04_a_refreshed_list_of_paths_is_the_one_made_from_nothing(
    tmp_path: Path, change: dict[str, str | None]
) -> None:
    bench = make_bench(tmp_path, {f"m{n}.py": f"def f{n}(): ...\n" for n in range(MOST_LINES // 2)})
    made = atlas(bench)
    made.chart(bench.base)
    commit = bench.seal(change)
    made.chart(commit)

    assert (bench.root / ".autopilot/repo-map.json").read_text() == atlas(bench, "fresh.db").paper(commit)
    assert written(bench)["size_cap_applied"]
    assert {len(file) for file in written(bench)["files"]} == {1}


def test_a_refresh_that_reads_nothing_loads_no_reader(bench: Bench) -> None:
    """What a refresh imports is most of what it costs."""
    made = atlas(bench)
    made.chart(bench.base)
    commit = bench.seal({"src/b.py": None, "lib/b.py": FILES["src/b.py"]})
    job = made.job("chart", commit)
    argv = [job.argv[0], "-X", "importtime", *job.argv[1:]]
    told = subprocess.run(argv, cwd=job.cwd, env=job.env, capture_output=True, check=True, text=True)

    assert told.stdout == "Repo-map refreshed: 2 files updated."
    loaded = {line.rpartition("|")[2].strip() for line in told.stderr.splitlines()}
    assert "autopilot.codemap.worker" in loaded
    assert loaded.isdisjoint({"typing", "pathlib", "subprocess", "dataclasses", "msgspec", "tree_sitter"})
    assert "autopilot.codemap.reader" not in loaded


class Killed(PlainProcesses):
    """Nothing it starts comes to its end."""

    def run(self, job: Job, started: Callable[[int], None] | None = None) -> Ran:
        return Ran(exit_code=-9, stdout=b"", stderr=b"", seconds=0.0)


def test_a_mapper_that_is_killed_leaves_the_map_out_and_says_so(bench: Bench) -> None:
    made = atlas(bench)
    made.processes = Killed()

    assert made.chart(bench.base).line == "Repo-map left out: its process ended with -9"
    assert (made.at(bench.base), made.paper(bench.base)) == (None, "")


class Fragile(PlainProcesses):
    """Its mapper dies of what it reads, unless that is done by a fork."""

    def run(self, job: Job, started: Callable[[int], None] | None = None) -> Ran:
        code = "import os\nfrom autopilot.codemap import reader\nreader.outline = lambda *_: os.abort()\n"
        argv = tuple(code + word if word == CODE else word for word in job.argv)
        return super().run(msgspec.structs.replace(job, argv=argv), started)


def test_rmap_01_a_mapper_that_dies_of_a_text_is_asked_again_and_forks(bench: Bench) -> None:
    made = atlas(bench)
    made.processes = Fragile()

    assert made.chart(bench.base).line == "Repo-map generated: 3 files across 2 languages."
    assert [file.exports for file in whole(made.at(bench.base)).files] == [(), (), ()]


def test_a_file_too_big_to_be_written_by_hand_is_listed_only(bench: Bench) -> None:
    commit = bench.seal({"big.py": "x = 1\n" * MOST_BYTES})

    (big,) = (file for file in whole(atlas(bench).at(commit)).files if file.path == "big.py")
    assert (big.language, big.exports) == ("python", ())


@pytest.mark.parametrize("spoilt", [b"no database", b"SQLite format 3\0" + b"x" * 4000], ids=["text", "torn"])
def test_a_spoilt_store_is_begun_anew(bench: Bench, spoilt: bytes) -> None:
    made = atlas(bench)
    made.book.write_bytes(spoilt)

    assert made.chart(bench.base).line == "Repo-map generated: 3 files across 2 languages."


def test_a_map_that_cannot_be_written_is_left_out_and_says_why(bench: Bench) -> None:
    (bench.root / ".autopilot/repo-map.json").mkdir()

    charted = atlas(bench).chart(bench.base)
    assert charted.line.startswith("Repo-map left out: ")
    assert not charted.there
    assert not [*(bench.root / ".autopilot").glob(".repo-map*")]


def test_a_commit_that_is_not_there_has_no_map(bench: Bench) -> None:
    made = atlas(bench)

    assert (made.at("0" * 40), made.paper("0" * 40)) == (None, "")
    assert made.trouble
