"""Those who do the work find no planning file in the history of their clone, by no way git knows."""

import subprocess
from pathlib import Path

import pytest

from support.repos import git
from support.workspaces import FILES, Bench, make_bench, open_workspace

SECRET = "verified by: `run --with quince`"
ROADMAP = ".planning/ROADMAP.md"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A project with an older and a newer roadmap in its history."""
    made = make_bench(tmp_path, {**FILES, ROADMAP: f"# old {SECRET}\n"})
    (made.root / ROADMAP).write_text(f"# new {SECRET}\n", encoding="utf-8")
    (made.root / "a.txt").write_text("A\n", encoding="utf-8")
    git(made.root, "commit", "-qam", "second thoughts")
    return open_workspace(made.root, "run-2")


def every_object(folder: str) -> bytes:
    listed = ["git", "cat-file", "--batch-all-objects", "--batch", "--unordered"]
    return subprocess.run(listed, cwd=folder, capture_output=True, check=True).stdout


def test_no_object_of_a_clone_holds_a_planning_file(bench: Bench) -> None:
    folder = bench.workspace.clone(bench.base, {ROADMAP: "# veiled\n"})

    assert b"quince" not in every_object(folder)
    assert git(Path(folder), "log", "-p", "--format=%s", "--", ".planning") == ""
    assert git(Path(folder), "ls-files", ".planning") == ""


def test_the_rest_of_the_history_is_there_with_its_words_and_dates(bench: Bench) -> None:
    folder = Path(bench.workspace.clone(bench.base, {}))

    assert git(folder, "log", "--format=%s|%an|%ad") == git(bench.root, "log", "--format=%s|%an|%ad")
    assert git(folder, "show", "HEAD~1:a.txt") == "a"
    assert git(folder, "status", "--porcelain") == ""


def test_work_in_such_a_clone_is_sealed_on_the_real_commit(bench: Bench) -> None:
    commit = bench.seal({"a.txt": "work\n"})

    assert git(bench.root / ".autopilot" / "repo.git", "rev-parse", f"{commit}^") == bench.base
    assert bench.workspace.read(commit, ROADMAP) == f"# new {SECRET}\n"
    assert [file.path for file in bench.workspace.change(bench.base, commit).files] == ["a.txt"]


def test_a_clone_reads_another_history_than_a_checkout(bench: Bench) -> None:
    folder = bench.workspace.clone(bench.base, {})

    assert bench.workspace.history_for(folder) != bench.workspace.history
    with bench.workspace.checkout(bench.base, {}) as place:
        assert bench.workspace.history_for(place) == bench.workspace.history
        assert git(Path(place), "rev-parse", "HEAD") == bench.base


def test_planning_files_that_were_committed_once_and_no_more_stay_veiled(bench: Bench) -> None:
    git(bench.root, "rm", "-rq", "--cached", ".planning")
    git(bench.root, "commit", "-qm", "not tracked any more")
    later = open_workspace(bench.root, "run-3")

    assert b"quince" not in every_object(later.workspace.clone(later.base, {}))


def test_a_project_without_planning_files_in_git_keeps_its_whole_history(tmp_path: Path) -> None:
    bench = make_bench(tmp_path, FILES)
    folder = bench.workspace.clone(bench.base, {})

    assert bench.workspace.history_for(folder) == bench.workspace.history
    assert git(Path(folder), "rev-parse", "HEAD") == bench.base


def test_odd_names_people_and_links_survive(tmp_path: Path) -> None:
    bench = make_bench(tmp_path, {**FILES, ROADMAP: SECRET, 'odd "name"\n': "x\n"})
    (bench.root / "link").symlink_to("a.txt")
    git(bench.root, "add", "-A")
    git(bench.root, "-c", "user.name=Ünï", "-c", "user.email=", "commit", "-qm", "odd\n\nbody")
    odd = open_workspace(bench.root, "run-2")
    folder = Path(odd.workspace.clone(odd.base, {}))

    assert git(folder, "status", "--porcelain") == ""
    assert git(folder, "log", "-1", "--format=%an%n%B") == git(bench.root, "log", "-1", "--format=%an%n%B")


def test_settings_of_the_user_s_repository_are_told_from_those_an_agent_made(tmp_path: Path) -> None:
    bench = make_bench(tmp_path, {**FILES, ".env": "KEY=1\n"})
    folder = bench.workspace.clone(bench.base, {})
    Path(folder, ".mcp.json").write_text("{}", encoding="utf-8")
    names = (".claude", ".env", ".mcp.json")

    assert bench.workspace.brought_along(folder, names) == (".env",)
    with bench.workspace.checkout(bench.base, {}) as place:
        assert bench.workspace.brought_along(place, names) == names


def shown(bench: Bench, commit: str) -> str:
    return git(Path(bench.workspace.clone(commit, {})), "rev-parse", "HEAD")


def test_a_commit_is_shown_on_top_of_the_one_shown_before_it(bench: Bench) -> None:
    first = bench.seal({"a.txt": "one\n"})
    second = bench.seal({"a.txt": "two\n"}, "s2", first)
    before, after = shown(bench, first), shown(bench, second)

    assert git(Path(bench.workspace.folder), "rev-parse", "HEAD^") == before != after
    assert git(Path(bench.workspace.folder), "show", "HEAD^:a.txt") == "one"


def test_what_is_shown_of_a_commit_does_not_hang_on_what_was_shown_before(bench: Bench) -> None:
    first = bench.seal({"a.txt": "one\n"})
    taken_back = bench.seal({"a.txt": "other\n"}, "s2")
    second = bench.seal({"a.txt": "two\n"}, "s3", first)
    again = open_workspace(bench.root, "run-2")

    assert shown(bench, taken_back) == shown(again, taken_back)
    assert shown(again, second) == shown(bench, second)
    assert shown(open_workspace(bench.root, "run-2"), second) == shown(bench, second)


def test_a_commit_that_stands_on_nothing_shown_has_a_history_of_its_own(bench: Bench) -> None:
    apart = bench.workspace._store.commit(f"{bench.base}^{{tree}}", "", "apart\n")
    folder = Path(bench.workspace.clone(apart, {}))

    assert git(folder, "log", "--format=%s") == "apart"
    assert git(folder, "status", "--porcelain") == ""
