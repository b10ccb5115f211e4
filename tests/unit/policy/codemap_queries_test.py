"""Questions to a repository map, and which file an import means."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.codemap import Calls, ClassOutline, Export, Function, Import, Language, MappedFile, RepoMap
from autopilot.policy import codemap_queries as ask

TILL = MappedFile(
    path="src/till.py",
    language="python",
    exports=(Export(name="Till", type="class", line=3), Export(name="LIMIT", type="const", line=1)),
    imports=(Import(source="src.money", names=("Amount",), line=1),),
    functions=(Function(name="add", line=9),),
    classes=(ClassOutline(name="Till", methods=("total",), line=3),),
    call_graph=(
        Calls(caller="Till.total", callees=("add",), line=4),
        Calls(caller="add", callees=("Till.total",), line=9),
    ),
)
MAP = RepoMap(files=(TILL, MappedFile(path="src/money.py", language="python")))


def imports(path: str, language: Language, source: str, *names: str) -> MappedFile:
    return MappedFile(path=path, language=language, imports=(Import(source=source, names=names, line=1),))


def test_a_map_answers_who_imports_calls_and_exports_what() -> None:
    assert ask.importers_of(MAP, "src/money.py") == ("src/till.py",)
    assert [str(place) for place in ask.callers_of(MAP, "add")] == ["Till.total (caller, src/till.py:4)"]
    assert ask.callers_of(MAP, "total") == ask.callers_of(MAP, "Till.total")
    assert ask.callees_of(MAP, "add") == ("Till.total",)
    assert [e.name for e in ask.exports_of(MAP, "src/till.py")] == ["Till", "LIMIT"]
    assert ask.exports_of(MAP, "gone.py") == ()


def test_a_map_answers_where_something_is_and_whether_a_file_is_there() -> None:
    assert [str(place) for place in ask.where_is(MAP, "Till")] == ["Till (class, src/till.py:3)"]
    assert [place.line for place in ask.where_is(MAP, "LIMIT")] == [1]
    assert ask.where_is(MAP, "Nothing") == ()
    assert [ask.exists(MAP, p) for p in ("src/till.py", "./src/", "src", "sr", "x.py")] == [
        True,
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("name", "there"),
    [("Till", True), ("Till.total", True), ("total", True), ("LIMIT", True), ("Amount", True), ("money", True),
     ("Till.add", False), ("Nothing", False)],
)  # fmt: skip
def test_a_map_answers_whether_a_name_in_code_exists(name: str, there: bool) -> None:
    assert ask.defined(MAP, name) is there


@pytest.mark.parametrize(
    ("file", "target"),
    [
        (imports("a/b.py", "python", ".c"), "a/c.py"),
        (imports("a/b.py", "python", "..", "d"), "d.py"),
        (imports("x.py", "python", "pkg.mod"), "src/pkg/mod.py"),
        (imports("x.py", "python", "pkg", "mod"), "src/pkg/mod.py"),
        (imports("x.py", "python", "pkg"), "lib/pkg/__init__.py"),
        (imports("ui/App.tsx", "typescript", "./box", "Box"), "ui/box/index.tsx"),
        (imports("ui/App.tsx", "typescript", "../util.js"), "util.ts"),
        (imports("ui/App.tsx", "typescript", "@/lib/x"), "src/lib/x.ts"),
        (imports("main.go", "go", "example.org/app/post"), "post/send.go"),
        (imports("src/lib.rs", "rust", "self::letter"), "src/letter.rs"),
        (imports("src/a.rs", "rust", "crate::b", "C"), "src/b.rs"),
        (imports("src/a/x.rs", "rust", "super::b", "C"), "src/a/b.rs"),
        (imports("A.java", "java", "org.till", "Box"), "src/main/java/org/till/Box.java"),
        (imports("A.java", "java", "org.till", "*"), "src/org/till/Box.java"),
        (imports("src/a.c", "c", "money/rate.h"), "include/money/rate.h"),
        (imports("src/a.c", "c", "b.h"), "src/b.h"),
        (imports("lib/a.rb", "ruby", "./b"), "lib/b.rb"),
        (imports("a.rb", "ruby", "till/box"), "lib/till/box.rb"),
        (imports("a.php", "php", "App\\Till", "Box"), "app/Till/Box.php"),
        (imports("web/a.php", "php", "./parts.php"), "web/parts.php"),
    ],
    ids=lambda value: value.path if isinstance(value, MappedFile) else value,
)
def test_an_import_means_the_file_it_names(file: MappedFile, target: str) -> None:
    told = RepoMap(files=(file, MappedFile(path=target, language=file.language)))

    assert ask.importers_of(told, target) == (file.path,)


@pytest.mark.parametrize(
    ("file", "other"),
    [
        (imports("a.py", "python", "os.path"), "path.py"),
        (imports("a.py", "python", ".b"), "sub/b.py"),
        (imports("a.ts", "typescript", "react"), "src/react.ts"),
        (imports("main.go", "go", "fmt"), "post/send.go"),
        (imports("a.py", "python", "a"), "a.py"),
        (imports("a.cs", "csharp", "Till.Money"), "Till/Money.cs"),
    ],
    ids=["a library", "another folder", "a package", "the standard library", "itself", "a namespace is no file"],
)
def test_an_import_means_no_other(file: MappedFile, other: str) -> None:
    told = RepoMap(files=(file, MappedFile(path=other, language=file.language)))

    assert ask.importers_of(told, other) == ()


@given(
    st.sampled_from(["python", "typescript", "go", "rust", "java", "c", "ruby", "php", "other"]), st.text(max_size=12)
)
def test_whatever_an_import_says_it_means_files_of_the_map(language: Language, source: str) -> None:
    told = RepoMap(files=(imports("a/b", language, source, "x"), MappedFile(path="a/c.py", language="python")))

    assert {path for path in ("a/b", "a/c.py") if ask.importers_of(told, path)} <= {"a/c.py"}
