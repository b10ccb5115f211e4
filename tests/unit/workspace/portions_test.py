"""A batch's change taken apart: each part its own commit, the whole still there for the next (PVRF-01h)."""

from pathlib import Path

from support.repos import git
from support.workspaces import PLANNING, Bench, change, make_bench, message


def batch(bench: Bench) -> Path:
    """Work of every kind in the agent's folder."""
    folder = Path(bench.workspace.clone(bench.base, PLANNING))
    change(folder, {"a.txt": "changed\n", "c.md": None, "new.txt": "new\n", "src/b.py": None})
    (folder / "src").rmdir()
    change(folder, {"src": "a file where a folder was\n"})
    (folder / "new.txt").chmod(0o755)
    return folder


def listed(bench: Bench, commit: str) -> list[str]:
    return git(bench.root / ".autopilot" / "repo.git", "ls-tree", "-r", "--format=%(objectmode) %(path)", commit).split(
        "\n"
    )


def test_the_parts_together_are_the_whole_and_each_is_only_its_own(tmp_path: Path) -> None:
    bench = make_bench(tmp_path)
    whole = bench.workspace.seal(str(batch(bench)), bench.base, message("run/1/execute/1"))

    first = bench.workspace.portion(whole, {"a.txt", "c.md"}, bench.base, message("run/1/execute/1.part"))
    second = bench.workspace.portion(whole, {"new.txt", "src", "src/b.py"}, first.commit, message("2.part"))

    assert [(f.path, f.status) for f in first.files] == [("a.txt", "M"), ("c.md", "D")]
    assert second.tree == whole.tree
    assert listed(bench, second.commit) == ["100644 a.txt", "100755 new.txt", "100644 src"]


def test_after_a_crash_both_the_whole_and_the_part_are_found_again(tmp_path: Path) -> None:
    bench = make_bench(tmp_path)
    whole = bench.workspace.seal(str(batch(bench)), bench.base, message("run/1/execute/1"))
    part = bench.workspace.portion(whole, {"a.txt"}, bench.base, message("run/1/execute/1.part"))

    assert bench.workspace.sealed(bench.base, "run/1/execute/1") == whole
    assert bench.workspace.sealed(bench.base, "run/1/execute/1.part") == part


def test_a_part_without_a_change_is_no_commit(tmp_path: Path) -> None:
    bench = make_bench(tmp_path)
    whole = bench.workspace.seal(str(batch(bench)), bench.base, message("s"))

    assert bench.workspace.portion(whole, {"elsewhere.txt"}, bench.base, message("p")).commit == bench.base


def test_a_part_found_on_another_base_keeps_what_was_done_there(tmp_path: Path) -> None:
    bench = make_bench(tmp_path)
    whole = bench.workspace.seal(str(batch(bench)), bench.base, message("s"))
    mended = bench.seal({"mended.txt": "m\n"}, "fix")

    part = bench.workspace.portion(whole, {"new.txt"}, mended, message("p"))
    assert [f.path for f in part.files] == ["new.txt"]
    assert "100644 mended.txt" in listed(bench, part.commit)
