"""Who mentions a file: the search behind the wire check (WIRE-01, WIRE-02) and behind what to read first (EXEC-06)."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autopilot.domain.codemap import Export, Import, Language, MappedFile, RepoMap
from autopilot.evidence.content import references
from autopilot.policy.codemap_queries import import_graph
from support.engine import Told, make_engine
from support.repos import write


def orphaned(folder: Path, path: str, *, mentioned_in: dict[str, str]) -> bool:
    write(folder, {path: "itself letter\n", **mentioned_in})
    return references.unreferenced(str(folder), [path]) == (path,)


@pytest.mark.parametrize(
    ("path", "other"),
    [
        ("src/letter.py", {"src/post.py": "from src.letter import Letter\n"}),
        ("ui/letter-box.tsx", {"ui/App.tsx": 'import { LetterBox } from "./letter-box"\n'}),
        ("app/letter_box.rb", {"app/post.rb": "LetterBox.new\n"}),
        ("post/send.go", {"main.go": 'import "example.org/app/post"\n'}),
        ("src/letter.rs", {"src/lib.rs": "mod letter;\n"}),
    ],
    ids=["python", "react", "by its type", "by its package", "rust"],
)
def test_a_file_another_one_names_is_wired(tmp_path: Path, path: str, other: dict[str, str]) -> None:
    assert not orphaned(tmp_path, path, mentioned_in=other)


@pytest.mark.parametrize(
    "other",
    [{}, {"a.py": "loveletters = 1\n"}, {"README.md": "see letter\n"}, {".planning/PLAN.md": "letter\n"},
     {"a.bin": "\0letter"}],
    ids=["alone", "part of a word", "prose", "planning", "binary"],
)  # fmt: skip
def test_a_file_nobody_names_is_an_orphan(tmp_path: Path, other: dict[str, str]) -> None:
    assert orphaned(tmp_path, "src/letter.py", mentioned_in=other)


def test_a_link_out_of_the_checkout_is_not_followed(tmp_path: Path) -> None:
    write(tmp_path, {"outside.py": "import letter\n", "in/letter.py": "x\n"})
    (tmp_path / "in" / "link.py").symlink_to(tmp_path / "outside.py")

    assert references.unreferenced(str(tmp_path / "in"), ["letter.py"]) == ("letter.py",)


def test_the_search_is_made_on_the_commit_and_not_on_the_user_s_files(tmp_path: Path) -> None:
    engine = make_engine(tmp_path)
    commit = engine.bench.seal({"src/letter.py": "x = 1\n", "src/wired.py": "y = 1\n", "src/b.py": "import wired\n"})
    write(engine.bench.root, {"uncommitted.py": "import letter\n"})

    facts = engine.hands(Told()).facts
    assert facts.unreferenced(commit, ["src/letter.py", "src/wired.py"]) == ("src/letter.py",)


CODE = {
    "src/letter.py": "class Letter: ...\n",
    "src/stamp.py": "VALUE = 1\n",
    "src/post.py": "from src.letter import Letter\nfrom src.stamp import VALUE\n",
    "src/box.py": "import src.letter\n",
    "src/aside.py": "pass\n",
    "far/away.py": "pass\n",
    "README.md": "letter\n",
}


@pytest.mark.parametrize(
    ("paths", "found"),
    [
        (["src/stamp.py", "./src/letter.py"], ("src/stamp.py", "src/letter.py", "src/post.py", "src/box.py")),
        (["src/new.py"], ("src/aside.py", "src/box.py", "src/letter.py")),
        (["README.md"], ("README.md",)),
        (["nowhere/new.py"], ()),
        (["."], ()),
        ([], ()),
    ],
    ids=["who uses most comes first", "beside a new file", "prose that is named", "no such folder", "no file", "none"],
)
def test_exec_06_what_to_read_first(tmp_path: Path, paths: list[str], found: tuple[str, ...]) -> None:
    write(tmp_path, CODE)

    assert references.related(str(tmp_path), paths) == found


def test_exec_06_at_most_five_files_are_to_be_read_and_names_no_prompt_can_hold_are_left_out(tmp_path: Path) -> None:
    users = {f"src/user{n}.py": "import letter\n" for n in range(9)}
    write(tmp_path, {"src/letter.py": "x\n", "src/a\nb.py": "import letter\n", **users})

    found = references.related(str(tmp_path), ["src/letter.py"])

    assert len(found) == references.MOST_RELATED
    assert all(path.isprintable() for path in found)


def test_exec_06_a_fact_maker_looks_into_the_commit_and_not_into_the_checkout(tmp_path: Path) -> None:
    engine = make_engine(tmp_path)
    write(engine.bench.root, {"later.py": "README\n"})

    found = engine.hands(Told()).facts.related(engine.bench.base, ["README.md"])

    assert "later.py" not in found


def mapped(path: str, *sources: str, language: Language = "python") -> MappedFile:
    needed = tuple(Import(source=source, line=1) for source in sources)
    return MappedFile(
        path=path, language=language, imports=needed, exports=(Export(name="Letter", type="class", line=2),)
    )


NAMES = ("src/letter.py", "src/post.py", "src/box.py", "lib/stamp.py")


@given(
    st.lists(
        st.lists(st.sampled_from(["src.letter", "src.post", ".box", "stamp", "os"]), max_size=3), min_size=4, max_size=4
    )
)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_wire_01_a_file_the_map_says_is_imported_is_used(tmp_path: Path, needs: list[list[str]]) -> None:
    """Whatever the text says: the files here are empty."""
    write(tmp_path, dict.fromkeys(NAMES, "\n"))
    told = RepoMap(files=tuple(mapped(path, *own) for path, own in zip(NAMES, needs, strict=True)))

    assert not set(references.unreferenced(str(tmp_path), NAMES, told)) & set(import_graph(told.files))


@pytest.mark.parametrize(
    ("text", "orphan"),
    [
        ("letter = 1  # a letter\n", True),
        ("load('src.letter')\n", False),
        ('MODULES = ["letter"]\n', False),
    ],
    ids=["the same word", "by a string", "in a list"],
)
def test_wire_01_with_a_map_the_same_word_elsewhere_is_no_reference(tmp_path: Path, text: str, orphan: bool) -> None:
    write(tmp_path, {"src/letter.py": "x\n", "src/post.py": text})
    told = RepoMap(files=(mapped("src/letter.py"), mapped("src/post.py")))

    assert references.unreferenced(str(tmp_path), ["src/letter.py"]) == ()
    assert references.unreferenced(str(tmp_path), ["src/letter.py"], told) == (("src/letter.py",) if orphan else ())


def test_wire_01_a_setting_that_names_a_file_uses_it_with_a_map_too(tmp_path: Path) -> None:
    write(tmp_path, {"src/letter.py": "x\n", "app.toml": "plugin = letter\n"})

    assert references.unreferenced(str(tmp_path), ["src/letter.py"], RepoMap(files=(mapped("src/letter.py"),))) == ()


def test_exec_06_with_a_map_an_importer_is_read_before_one_that_only_mentions(tmp_path: Path) -> None:
    write(tmp_path, {"src/letter.py": "x\n", "src/aaa.py": "letter\n", "src/post.py": "from src import letter\n"})
    told = RepoMap(files=(mapped("src/letter.py"), mapped("src/aaa.py"), mapped("src/post.py", "src.letter")))

    assert references.related(str(tmp_path), ["src/letter.py"], told) == ("src/letter.py", "src/post.py", "src/aaa.py")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Add `Letter` to the post", ("Letter (class, src/letter.py:2)",)),
        ("Add a Letter to the post", ()),
        ("Give `Letter()` and `Letter` a stamp", ("Letter (class, src/letter.py:2)",)),
        ("Write `Envelope`", ()),
    ],
    ids=["in backticks", "a plain word", "once", "not there"],
)
def test_rmap_07_names_in_a_task_are_looked_up(text: str, found: tuple[str, ...]) -> None:
    assert references.known(RepoMap(files=(mapped("src/letter.py"),)), text) == found
