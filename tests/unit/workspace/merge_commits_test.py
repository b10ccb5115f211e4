"""Two lines of work joined in our own repository."""

from pathlib import Path

import pytest

from support.repos import git
from support.workspaces import Bench, make_bench, message


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return make_bench(tmp_path)


def show(bench: Bench, *words: str) -> str:
    return git(bench.root / ".autopilot" / "repo.git", *words)


def test_work_on_different_files_is_joined_and_both_stay_in_the_history(bench: Bench) -> None:
    ours, theirs = bench.seal({"a.txt": "ours\n"}, "s1"), bench.seal({"c.md": "theirs\n"}, "s2")

    made = bench.workspace.merge(ours, theirs, message("merge"))

    assert made.commit is not None
    assert show(bench, "log", "-1", "--format=%P", made.commit).split() == [ours, theirs]
    assert [show(bench, "show", f"{made.commit}:{name}") for name in ("a.txt", "c.md")] == ["ours", "theirs"]


def test_work_on_the_same_lines_is_not_joined_and_the_files_are_named(bench: Bench) -> None:
    ours, theirs = bench.seal({"a.txt": "ours\n"}, "s1"), bench.seal({"a.txt": "theirs\n", "new.txt": "\n"}, "s2")

    made = bench.workspace.merge(ours, theirs, message("merge"))

    assert (made.commit, made.conflicts) == (None, ("a.txt",))


def test_a_merge_can_be_made_again(bench: Bench) -> None:
    ours, theirs = bench.seal({"a.txt": "ours\n"}, "s1"), bench.seal({"c.md": "theirs\n"}, "s2")
    first, second = (bench.workspace.merge(ours, theirs, message("merge")) for _ in range(2))

    assert first.commit is not None
    assert second.commit is not None
    assert bench.workspace.tree(first.commit) == bench.workspace.tree(second.commit)


def test_each_slot_keeps_its_newest_work_and_portions_apart(bench: Bench) -> None:
    other = bench.workspace.in_slot(2)
    folder = Path(other.clone(bench.base, {}))
    (folder / "a.txt").write_text("two\n", encoding="utf-8")
    there = other.seal(str(folder), bench.base, message("there"))
    here = bench.seal({"c.md": "one\n"}, "here")
    part = other.portion(there, ["a.txt"], here, message("part"))

    refs = show(bench, "for-each-ref", "--format=%(refname) %(objectname)", "refs/autopilot/work/").splitlines()

    assert set(refs) == {
        f"refs/autopilot/work/run-1 {here}",
        f"refs/autopilot/work/run-1.slot2 {there.commit}",
        f"refs/autopilot/work/run-1.slotpart2 {part.commit}",
    }
