"""Landing: the user's branch moves forward, and nothing of theirs is touched, wherever it is cut off."""

import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from autopilot.ports.agents import Landing
from support.repos import git, write
from support.workspaces import Bench, change, make_bench, message, open_workspace

FILES = {
    "a.txt": "a\n", "keep.txt": "keep\n", "staged.txt": "staged\n", "run.sh": "echo\n", "gone/only.txt": "x\n",
    "file-to-folder": "f\n", "folder-to-file/in.txt": "in\n", "folder-to-link/in.txt": "in\n", "link": "no link yet\n",
}  # fmt: skip
EFFECTS = {"os.rename", "os.remove", "os.link", "os.mkdir", "os.rmdir", "shutil.copyfile"}
WRITERS = {"fetch", "update-ref", "read-tree", "checkout-index", "update-index", "add"}


def work(bench: Bench) -> str:
    """A commit with every kind of change."""
    folder = Path(bench.workspace.clone(bench.base, {}))
    change(folder, {"a.txt": "A\n", "new/deep/x.txt": "x\n", "gone/only.txt": None, "file-to-folder": None})
    change(folder, {"file-to-folder/y.txt": "y\n", "link": None})
    for name in ("folder-to-file", "folder-to-link"):
        shutil.rmtree(folder / name)
    (folder / "folder-to-file").write_text("file\n")
    (folder / "folder-to-link").symlink_to("mine")
    (folder / "link").symlink_to("a.txt")
    (folder / "run.sh").chmod(0o755)
    return bench.workspace.seal(str(folder), bench.base, message("s1")).commit


def users_own(root: Path) -> None:
    """What the user has lying about: unstaged, staged, untracked, ignored, stashed."""
    write(root, {"keep.txt": "stash me\n"})
    git(root, "stash", "-q")
    write(root, {"staged.txt": "staged change\n", "added.txt": "added\n"})
    git(root, "add", "staged.txt", "added.txt")
    write(root, {"staged.txt": "and more\n", "keep.txt": "edited\n", "untracked/u.txt": "u\n", "mine/in.txt": "mine\n"})


def on_disk(root: Path) -> dict[str, str]:
    paths = [p for p in sorted(root.rglob("*")) if p.relative_to(root).parts[0] not in {".git", ".autopilot"}]
    links = {str(p.relative_to(root)): f"-> {p.readlink()}" for p in paths if p.is_symlink()}
    files = {p: f"{p.stat().st_mode & 0o100:o} {p.read_text()}" for p in paths if p.is_file() and not p.is_symlink()}
    return links | {str(p.relative_to(root)): text for p, text in files.items()}


def state(root: Path) -> tuple[object, ...]:
    """All there is to see of a checkout."""
    locks = [p.name for p in (root / ".git").rglob("*") if p.name.endswith(".lock") or p.name.startswith("index.")]
    index = git(root, "ls-files", "-s")
    locks += [p.name for p in (root / ".autopilot").iterdir() if p.name.startswith("landing")]
    return on_disk(root), index, git(root, "for-each-ref"), git(root, "symbolic-ref", "HEAD"), sorted(locks)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return make_bench(tmp_path, FILES)


def test_a_clean_checkout_is_moved_forward(bench: Bench) -> None:
    commit = work(bench)

    assert bench.workspace.land(commit).landed
    assert git(bench.root, "status", "--porcelain") == ""
    assert git(bench.root, "rev-parse", "main") == git(bench.root, "rev-parse", "autopilot/run-1") == commit
    assert not (bench.root / "gone").exists()
    assert git(bench.root, "reflog", "-1", "--format=%gs", "main") == "autopilot: run-1"


def test_everything_of_the_users_own_stays_as_it_is(bench: Bench) -> None:
    users_own(bench.root)
    before, stash = git(bench.root, "status", "--porcelain"), git(bench.root, "rev-parse", "stash")

    assert bench.workspace.land(work(bench)).landed
    assert git(bench.root, "status", "--porcelain") == before
    assert git(bench.root, "rev-parse", "stash") == stash
    assert on_disk(bench.root)["keep.txt"] == "0 edited\n"
    assert git(bench.root, "show", ":staged.txt") == "staged change"


def test_landing_again_changes_nothing(bench: Bench) -> None:
    users_own(bench.root)
    commit = work(bench)
    bench.workspace.land(commit)
    before = state(bench.root)

    assert bench.workspace.land(commit).landed
    git(bench.root, "commit", "-q", "-m", "on top")
    assert bench.workspace.land(commit).landed
    assert on_disk(bench.root) == before[0]


def test_each_phase_lands_on_the_one_before(bench: Bench) -> None:
    first = bench.seal({"a.txt": "1\n"})
    second = bench.seal({"a.txt": "2\n"}, base=first)

    assert bench.workspace.land(first).landed
    assert bench.workspace.land(second).landed
    assert git(bench.root, "log", "--format=%H", "-2").split() == [second, first]


def test_a_phase_taken_back_lands_as_well(bench: Bench) -> None:
    commit = bench.seal({"a.txt": "1\n"})
    back = bench.workspace.revert(commit, bench.base, "revert: phase 1\n")

    assert bench.workspace.land(back).landed
    assert git(bench.root, "log", "--format=%H", "-2").split() == [back, commit]
    assert git(bench.root, "status", "--porcelain") == ""


def edit(root: Path) -> None:
    write(root, {"a.txt": "mine\n"})


def stage(root: Path) -> None:
    write(root, {"a.txt": "mine\n"})
    git(root, "add", "a.txt")
    write(root, {"a.txt": "a\n"})


def delete(root: Path) -> None:
    (root / "a.txt").unlink()


def unstage(root: Path) -> None:
    git(root, "rm", "-q", "--cached", "a.txt")


def untracked(root: Path) -> None:
    write(root, {"new/deep/x.txt": "mine\n"})


def ignored(root: Path) -> None:
    (root / ".git/info/exclude").write_text("new/\n/.autopilot/\n")
    untracked(root)


def in_the_folder(root: Path) -> None:
    write(root, {"folder-to-file/mine.txt": "mine\n"})


def linked_folder(root: Path) -> None:
    write(root, {"elsewhere/deep/x.txt": "mine\n"})
    (root / "new").symlink_to("elsewhere")


def made_executable(root: Path) -> None:
    (root / "a.txt").chmod(0o755)


def merging(root: Path) -> None:
    (root / ".git" / "MERGE_HEAD").write_text(f"{git(root, 'rev-parse', 'HEAD')}\n")


def diverged(root: Path) -> None:
    git(root, "commit", "-q", "--allow-empty", "-m", "mine")


def detached(root: Path) -> None:
    git(root, "checkout", "-q", "--detach")


def switched(root: Path) -> None:
    git(root, "checkout", "-q", "-b", "other")


IN_THE_WAY = (
    edit, stage, delete, unstage, untracked, ignored, in_the_folder, linked_folder, made_executable, merging, diverged,
    detached, switched,
)  # fmt: skip


@pytest.mark.parametrize("obstacle", IN_THE_WAY, ids=lambda o: o.__name__)
def test_what_is_in_the_way_is_left_alone_and_the_note_says_how_to_merge(
    bench: Bench, obstacle: Callable[[Path], None]
) -> None:
    commit = work(bench)
    obstacle(bench.root)
    before, head = on_disk(bench.root), git(bench.root, "rev-parse", "HEAD")
    index = git(bench.root, "ls-files", "-s")

    landing = bench.workspace.land(commit)
    assert not landing.landed
    how = "git merge autopilot/run-1" if obstacle is diverged else "git merge --ff-only autopilot/run-1"
    assert how in landing.note or obstacle in {detached, switched, merging}
    assert "git merge" in landing.note
    assert (on_disk(bench.root), git(bench.root, "rev-parse", "HEAD")) == (before, head)
    assert git(bench.root, "ls-files", "-s") == index
    assert git(bench.root, "rev-parse", "autopilot/run-1") == commit


def land_hastily(bench: Bench, commit: str) -> Landing:
    """Waits for nobody's lock for long."""
    return bench.workspace._lander(0.1).land(bench.workspace.start(), commit)


def test_an_index_somebody_else_holds_is_waited_for_and_then_left(bench: Bench) -> None:
    commit, lock = bench.seal({"a.txt": "A\n"}), bench.root / ".git" / "index.lock"
    lock.write_text("")

    assert "another git holds the index" in land_hastily(bench, commit).note
    assert on_disk(bench.root)["a.txt"] == "0 a\n"
    assert lock.read_text() == ""
    lock.unlink()
    assert bench.workspace.land(commit).landed


def test_a_branch_somebody_else_holds_leaves_everything_as_it_was(bench: Bench) -> None:
    commit = work(bench)
    users_own(bench.root)
    (bench.root / ".git/refs/heads/main.lock").write_text("not ours\n")
    files, index, *_ = state(bench.root)

    assert "main.lock is held by another git" in land_hastily(bench, commit).note
    assert state(bench.root)[:2] == (files, index)


@pytest.mark.parametrize("left", ["nothing", "all of it", "half of it", "zeros"])
@pytest.mark.parametrize("lock", ["refs/heads/main.lock", "HEAD.lock"])
def test_a_lock_our_own_killed_git_or_a_power_cut_left_is_cleared(bench: Bench, lock: str, left: str) -> None:
    commit = bench.seal({"a.txt": "A\n"})
    content = {"nothing": "", "all of it": f"{commit}\n", "half of it": commit[:20], "zeros": "\0" * 40}
    (bench.root / ".git" / lock).write_text(content[left])

    assert land_hastily(bench, commit).landed


def test_a_folder_that_cannot_be_written_leaves_everything_as_it_was(bench: Bench) -> None:
    commit = work(bench)
    (bench.root / "folder-to-file").chmod(0o500)
    if os.access(bench.root / "folder-to-file", os.W_OK):
        pytest.skip("this user may write anywhere")
    before = on_disk(bench.root)

    assert not bench.workspace.land(commit).landed
    (bench.root / "folder-to-file").chmod(0o700)
    assert on_disk(bench.root) == before


def test_a_run_that_started_on_no_branch_lands_on_none(tmp_path: Path) -> None:
    root = make_bench(tmp_path, FILES).root
    git(root, "checkout", "-q", "--detach")
    bench = open_workspace(root, "run-2")

    landing = bench.workspace.land(bench.seal({"a.txt": "A\n"}))
    assert not landing.landed
    assert "git merge autopilot/run-2" in landing.note


def test_a_file_the_user_wrote_just_like_ours_is_no_obstacle(bench: Bench) -> None:
    commit = bench.seal({"a.txt": "A\n", "new.txt": "n\n"})
    write(bench.root, {"a.txt": "A\n", "new.txt": "n\n"})

    assert bench.workspace.land(commit).landed
    assert git(bench.root, "status", "--porcelain") == ""


def test_line_endings_of_the_users_settings_are_kept(bench: Bench) -> None:
    git(bench.root, "config", "core.autocrlf", "true")
    (bench.root / "a.txt").write_bytes(b"a\r\n")

    assert bench.workspace.land(bench.seal({"a.txt": "A\nB\n"})).landed
    assert (bench.root / "a.txt").read_bytes() == b"A\r\nB\r\n"
    assert git(bench.root, "status", "--porcelain") == ""


@pytest.mark.parametrize("folders", [3, 250])
def test_files_are_written_as_the_attributes_of_each_folder_want_them(bench: Bench, folders: int) -> None:
    """Of many folders as of few; attributes that come with the work count too."""
    write(bench.root, {".gitattributes": "*.bat text eol=crlf\n", "deep/.gitattributes": "*.bat -text\n"})
    git(bench.root, "add", ".")
    git(bench.root, "commit", "-qm", "attributes")
    again = open_workspace(bench.root, "run-2")
    names = [f"d{n}/x.bat" for n in range(folders)]
    written = {"deep/er/x.bat": "x\n", "new/x.bat": "x\n", "new/.gitattributes": "*.bat eol=lf\n"}
    commit = again.seal({**dict.fromkeys(names, "x\n"), **written})

    assert again.workspace.land(commit) == Landing(landed=True)
    assert {(bench.root / name).read_bytes() for name in names} == {b"x\r\n"}
    assert (bench.root / "deep/er/x.bat").read_bytes() == (bench.root / "new/x.bat").read_bytes() == b"x\n"
    assert git(bench.root, "status", "--porcelain") == ""


def test_our_branch_is_not_moved_under_a_user_who_looks_at_it(bench: Bench) -> None:
    first = bench.seal({"a.txt": "1\n"})
    bench.workspace.land(first)
    git(bench.root, "checkout", "-q", "autopilot/run-1")
    second = bench.seal({"a.txt": "2\n"}, base=first)

    assert "autopilot/run-1-2" in bench.workspace.land(second).note
    assert git(bench.root, "status", "--porcelain") == ""
    assert git(bench.root, "rev-parse", "autopilot/run-1", "autopilot/run-1-2").split() == [first, second]


def test_hooks_of_the_users_repository_do_not_run(bench: Bench, tmp_path: Path) -> None:
    for name in ("post-checkout", "post-merge", "reference-transaction", "post-index-change"):
        hook = bench.root / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\necho {name} >> {tmp_path}/ran\n")
        hook.chmod(0o755)

    assert bench.workspace.land(bench.seal({"a.txt": "A\n"})).landed
    assert not (tmp_path / "ran").exists()


def test_tracked_planning_written_home_lands_with_its_commit(tmp_path: Path) -> None:
    bench = make_bench(tmp_path, {**FILES, ".planning/ROADMAP.md": "# r\n"})
    bench.workspace.snapshot_planning()
    files = {".planning/ROADMAP.md": "# done\n", ".planning/phases/01-x/PLAN.md": "plan\n"}
    commit = bench.workspace.commit_planning(bench.seal({"a.txt": "A\n"}), files, message("land"))
    bench.workspace.write_planning(files)

    assert bench.workspace.land(commit).landed
    assert git(bench.root, "status", "--porcelain") == ""


# Cut off at any instant


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A repository with the user's own things in it and a commit about to land."""
    bench = make_bench(tmp_path_factory.mktemp("landing"), FILES)
    commit = work(bench)
    users_own(bench.root)
    return bench.root, commit


@contextmanager
def copied(template: Path, folder: Path) -> Iterator[Bench]:
    root = folder / "user"
    shutil.copytree(template, root, symlinks=True)
    yield open_workspace(root)
    shutil.rmtree(root)


def in_child(action: Callable[[], object]) -> int:
    """Do it in a process of its own group, which never returns from here; its number."""
    child = os.fork()
    if child == 0:
        try:
            os.setpgid(0, 0)
            action()
        finally:
            os._exit(0)
    # Both sides set the group, so it exists whoever comes first.
    with suppress(OSError):
        os.setpgid(child, child)
    return child


def land_until(root: Path, commit: str, effect: int) -> bool:
    """Land in another process and kill -9 it right before the effect of that number; whether it got so far."""
    seen = 0

    def count(event: str, details: tuple[Any, ...]) -> None:
        nonlocal seen
        if event in EFFECTS or (event == "subprocess.Popen" and WRITERS & set(details[1])):
            if seen == effect:
                os.kill(os.getpid(), signal.SIGKILL)
            seen += 1

    def land() -> None:
        workspace = open_workspace(root).workspace
        sys.addaudithook(count)
        workspace.land(commit)

    return os.WIFSIGNALED(os.waitpid(in_child(land), 0)[1])


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_landing_killed_before_any_of_its_effects_is_finished_by_the_next(
    template: tuple[Path, str], tmp_path: Path
) -> None:
    root, commit = template
    with copied(root, tmp_path) as bench:
        assert bench.workspace.land(commit).landed
        expected = state(bench.root)

    effect, killed = 0, True
    while killed:
        with copied(root, tmp_path) as bench:
            killed = land_until(bench.root, commit, effect)
            assert bench.workspace.land(commit).landed, f"killed before effect {effect}"
            assert state(bench.root) == expected, f"killed before effect {effect}"
        effect += 1
    assert effect > 20


@pytest.mark.parametrize("after_ms", range(5, 90, 14))
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_landing_killed_with_its_git_at_any_time_is_finished_by_the_next(
    template: tuple[Path, str], tmp_path: Path, after_ms: int
) -> None:
    root, commit = template
    with copied(root, tmp_path) as bench:
        child = in_child(lambda: open_workspace(bench.root).workspace.land(commit))
        time.sleep(after_ms / 1000)
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)

        assert bench.workspace.land(commit).landed
        assert git(bench.root, "rev-parse", "HEAD") == commit
        assert on_disk(bench.root)["keep.txt"] == "0 edited\n"
