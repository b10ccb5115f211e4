"""The copy of the history that agents look at: all of it there, in few files."""

import subprocess
from pathlib import Path

from autopilot.workspace.agent_git.history import MAX_FILES, History
from support.repos import git
from support.workspaces import FILES, PLANNING, Bench, change, make_bench


def copy_of(bench: Bench, place: Path) -> History:
    return History(place / "copy.git", bench.workspace._store.git)


def line(bench: Bench, length: int) -> list[str]:
    """Commits on top of each other, in our own repository."""
    store, made = bench.workspace._store, [bench.base]
    for number in range(length):
        made.append(store.add_files(made[-1], {"a.txt": f"{number}\n"}, f"work {number}"))
    return made


def is_readable(history: History, commit: str, place: Path) -> bool:
    reader = place / "reader"
    if not reader.exists():
        git(place, "init", "-q", str(reader))
        (reader / ".git/objects/info/alternates").write_text(f"{history.objects}\n", encoding="utf-8")
    listed = subprocess.run(["git", "rev-list", "--objects", commit], cwd=reader, capture_output=True, check=False)
    return listed.returncode == 0


def test_many_commits_stay_few_files_and_can_all_be_read(tmp_path: Path) -> None:
    """Work that was set aside as well."""
    bench = make_bench(tmp_path)
    history, commits = copy_of(bench, tmp_path), line(bench, MAX_FILES // 2)
    aside = bench.workspace._store.add_files(bench.base, {"b.txt": "aside\n"}, "aside")
    for commit in (*commits[:-6], aside, *commits[-6:]):
        history.hold(commit)

    assert len(list((history.objects / "pack").iterdir())) < MAX_FILES
    assert all(is_readable(history, commit, tmp_path) for commit in (commits[0], aside, commits[-1]))


def test_a_copy_that_somebody_changed_is_made_anew(tmp_path: Path) -> None:
    bench = make_bench(tmp_path)
    history = copy_of(bench, tmp_path)
    history.hold(bench.base)
    for pack in (history.objects / "pack").glob("*.pack"):
        pack.unlink()
    history.hold(bench.base)

    assert is_readable(history, bench.base, tmp_path)


def test_checkouts_of_one_commit_after_the_other_are_clean(tmp_path: Path) -> None:
    """Planning files that are in the history show neither as changed nor as gone, whichever commit came before."""
    bench = make_bench(tmp_path, {**FILES, **PLANNING})
    store, commit = bench.workspace._store, bench.base
    works: list[dict[str, str | None]] = [{"a.txt": "1\n"}, {"new/d.txt": "2\n"}, {"c.md": None}, {"a.txt": "4\n"}]
    for number, work in enumerate(works):
        commit = bench.seal(work, f"s{number}", commit)
        commit = store.add_files(commit, {f".planning/phases/{number}/PLAN.md": "# plan\n"}, "papers")
        with bench.workspace.checkout(commit, PLANNING) as folder:
            assert git(Path(folder), "status", "--porcelain") == ""
            assert git(Path(folder), "diff", "--cached", "--name-only", "HEAD") == ""
            change(Path(folder), {"a.txt": "changed\n"})
            assert git(Path(folder), "status", "--porcelain") == "M a.txt"
