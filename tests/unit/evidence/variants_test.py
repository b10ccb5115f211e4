"""The work with some of its files as they were before."""

from pathlib import Path

import pytest

from autopilot.domain.evidence import Change
from autopilot.evidence.variants import Variants, named
from autopilot.ports.agents import Part
from support.workspaces import Bench, make_bench

OLD = {
    "calc.py": "1\n",
    "tests/test_calc.py": "1\n",
    "tests/test_gone.py": "1\n",
    "check.sh": "1\n",
    "notes.txt": "1\n",
}
NEW: dict[str, str | None] = {
    "calc.py": "2\n", "tests/test_calc.py": "2\n", "tests/test_gone.py": None, "tests/test_new.py": "2\n",
    "check.sh": "2\n", "conftest.py": "2\n", "new.py": "2\n", "notes.txt": "2\n",
}  # fmt: skip


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return make_bench(tmp_path, OLD)


def changed(bench: Bench) -> Change:
    return bench.workspace.change(bench.base, bench.seal(NEW))


@pytest.mark.parametrize(
    ("part", "kept", "paths"),
    [
        ("control", (), {"check.sh", "conftest.py"}),
        ("control", ("conftest.py",), {"check.sh"}),
        ("tests", (), {"tests/test_calc.py", "tests/test_gone.py"}),
        ("tests", ("tests/*_gone.py",), {"tests/test_calc.py"}),
        ("tests", ("tests",), set()),
        ("sources", (), {"calc.py", "new.py"}),
        ("sources", ("new.py",), {"calc.py"}),
    ],
)
def test_a_part_of_the_change_is_put_back(bench: Bench, part: Part, kept: tuple[str, ...], paths: set[str]) -> None:
    change = changed(bench)
    made = Variants(workspace=bench.workspace, commands=("bash check.sh",)).make(part, change, kept)
    left = {f.path for f in bench.workspace.change(bench.base, made.commit).files}

    assert set(made.paths) == paths
    assert left == set(NEW) - paths


def test_where_nothing_is_put_back_the_work_itself_is_judged(bench: Bench) -> None:
    change = bench.workspace.change(bench.base, bench.seal({"notes.txt": "2\n"}))

    assert Variants(workspace=bench.workspace).make("control", change, ()).commit == change.commit


def test_a_folder_does_not_speak_for_the_control_files_in_it() -> None:
    assert named("tests/conftest.py", ("tests/",), folders=True)
    assert not named("tests/conftest.py", ("tests/",), folders=False)


def test_what_a_build_would_make_is_left_out_of_what_is_judged(tmp_path: Path) -> None:
    bench = make_bench(tmp_path, {"Makefile": "out/a: a.c\n\tcc a.c\n", ".gitignore": "made/\n", "a.c": "1\n"})
    new = {
        "out/a": "fake\n",
        "made/b": "fake\n",
        "lib/c.jar": "fake\n",
        "prog": "\0fake",
        "notes": "2\n",
        ".gitignore": "",
    }
    change = bench.workspace.change(bench.base, bench.seal(new))

    made = Variants(workspace=bench.workspace).make("control", change, ("lib/c.jar",))

    assert set(made.paths) == {"out/a", "made/b", "prog"}


def test_tests_and_the_checks_that_commands_reach_are_put_back(tmp_path: Path) -> None:
    old = {
        "run.sh": "bash checks/a.sh\n",
        "checks/a.sh": "1\n",
        "checks/b.sh": "1\n",
        "golden/x.txt": "1\n",
        "a.py": "1\n",
    }
    bench = make_bench(tmp_path, old)
    change = bench.workspace.change(bench.base, bench.seal({path: f"2 {text}" for path, text in old.items()}))
    variants = Variants(workspace=bench.workspace, commands=("bash run.sh",))

    assert set(variants.as_before(change, ()).paths) == {"checks/a.sh", "golden/x.txt"}
    assert set(variants.as_before(change, ("golden",)).paths) == {"checks/a.sh"}


def test_a_change_of_many_files_starts_no_program_for_each(bench: Bench) -> None:
    commit = bench.seal({f"many/{n}": "text\n" for n in range(300)})
    change = bench.workspace.change(bench.base, commit)
    before = len(bench.processes.jobs)

    Variants(workspace=bench.workspace).make("control", change, ())
    assert len(bench.processes.jobs) - before < 30
