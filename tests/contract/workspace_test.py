"""What every workspace promises: clones, commits, checkouts, planning files and the user's repository left alone."""

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from autopilot.domain.errors import RepositoryInvalid, StorageFailed
from autopilot.domain.process import Job, Ran
from autopilot.workspace.git_workspace import GitWorkspace, Places
from support.processes import CutOff, PlainProcesses, PowerCut
from support.programs import needs
from support.repos import git, make_repo, write
from support.workspaces import ENV, FILES, PLANNING, Bench, change, make_bench, message, open_workspace

if TYPE_CHECKING:
    from autopilot.ports.agents import Workspace

TRACKED = {**FILES, ".planning/ROADMAP.md": "# tracked\n", ".planning/old.md": "old\n"}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return make_bench(tmp_path)


def listing(folder: str | Path) -> dict[str, str]:
    top = Path(folder)
    files = (p for p in sorted(top.rglob("*")) if p.is_file() and p.relative_to(top).parts[0] != ".git")
    return {str(p.relative_to(top)): p.read_text() for p in files}


def show(bench: Bench, commit: str, path: str) -> str:
    return git(bench.root / ".autopilot" / "repo.git", "show", f"{commit}:{path}")


def names(bench: Bench, commit: str) -> list[str]:
    return git(bench.root / ".autopilot" / "repo.git", "ls-tree", "-r", "--name-only", commit).splitlines()


def test_git_workspace_is_a_workspace(bench: Bench) -> None:
    workspace: Workspace = bench.workspace
    assert workspace.change(bench.base, bench.base).files == ()


# Where a run begins


def test_the_start_is_the_same_however_often_and_whatever_the_user_does(bench: Bench) -> None:
    git(bench.root, "commit", "-q", "--allow-empty", "-m", "later")
    git(bench.root, "checkout", "-q", "-b", "other")

    again = open_workspace(bench.root).workspace.start()
    assert (again.branch, again.base) == ("main", bench.base)


def test_our_folder_is_ignored_without_touching_a_tracked_file(bench: Bench) -> None:
    open_workspace(bench.root, "run-2")

    assert git(bench.root, "status", "--porcelain") == ""
    assert (bench.root / ".git/info/exclude").read_text().splitlines().count("/.autopilot/") == 1


def test_an_ignore_entry_of_the_users_own_is_enough(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "user", {".gitignore": ".autopilot\n"})
    before = (root / ".git/info/exclude").read_text()

    open_workspace(root)
    assert (root / ".git/info/exclude").read_text() == before


def test_a_linked_worktree_of_the_user_works_too(tmp_path: Path) -> None:
    make_repo(tmp_path / "main", FILES)
    git(tmp_path / "main", "worktree", "add", "-q", "-b", "side", str(tmp_path / "user"))
    bench = open_workspace(tmp_path / "user")

    assert bench.workspace.land(bench.seal({"a.txt": "A\n"})).landed
    assert git(tmp_path / "user", "status", "--porcelain") == ""
    assert git(tmp_path / "main", "status", "--porcelain") == ""


def test_a_shallow_clone_of_the_user_works_too(tmp_path: Path) -> None:
    origin = make_repo(tmp_path / "origin", FILES)
    git(origin, "commit", "-q", "--allow-empty", "-m", "second")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{origin}", "user")
    bench = open_workspace(tmp_path / "user")
    commit = bench.seal({"a.txt": "A\n"})

    with bench.workspace.checkout(commit, {}) as folder:
        assert len(git(Path(folder), "log", "--oneline").splitlines()) == 2
    assert bench.workspace.land(commit).landed
    assert git(bench.root, "rev-parse", "HEAD") == commit


def test_repositories_with_long_ids_work_too(tmp_path: Path) -> None:
    root = tmp_path / "user"
    root.mkdir()
    git(root, "init", "-q", "-b", "main", "--object-format=sha256")
    bench = open_workspace(make_repo(root, FILES))
    commit = bench.seal({"a.txt": "A\n"})

    with bench.workspace.checkout(commit, {}) as folder:
        assert git(Path(folder), "rev-parse", "HEAD") == commit
    assert bench.workspace.tree(commit) == git(bench.root / ".autopilot/repo.git", "rev-parse", f"{commit}^{{tree}}")
    assert bench.workspace.land(commit).landed


@pytest.mark.parametrize(
    ("words", "what"),
    [((), "not a git repository"), (("init", "-q"), "no commit"), (("init", "-q", "--bare"), "bare")],
    ids=["no repository", "no commit", "bare"],
)
def test_a_folder_no_run_can_start_in_is_named(tmp_path: Path, words: tuple[str, ...], what: str) -> None:
    if words:
        git(tmp_path, *words)
    workspace = GitWorkspace(Places(root=tmp_path, cache=tmp_path / "cache"), PlainProcesses(), "r", ENV)

    with pytest.raises(RepositoryInvalid, match=what) as error:
        workspace.start()
    assert error.value.exit_code == 2
    assert error.value.why
    assert error.value.do
    assert not (tmp_path / ".autopilot").exists()


def test_a_project_in_a_folder_of_a_repository_works_on_the_whole_of_it(bench: Bench, tmp_path: Path) -> None:
    places = Places(root=bench.root / "src", cache=tmp_path)

    assert (places.top, places.within.prefix) == (bench.root, "src")
    assert GitWorkspace(places, PlainProcesses(), "r", ENV).start().base


@pytest.mark.parametrize("run", ["../x", "a b", "-x", "x..y", "x.lock", "", "a/b"])
def test_a_run_whose_name_is_no_name_is_refused(tmp_path: Path, run: str) -> None:
    with pytest.raises(ValueError, match="not a name"):
        GitWorkspace(Places(root=tmp_path, cache=tmp_path), PlainProcesses(), run, ENV)


# Clones


def test_a_clone_is_the_commit_with_the_planning_files_of_the_role(tmp_path: Path) -> None:
    bench = make_bench(tmp_path, TRACKED)
    folder = bench.workspace.clone(bench.base, PLANNING)

    assert listing(folder) == {**FILES, **PLANNING}
    assert git(Path(folder), "status", "--porcelain") == ""
    assert git(Path(folder), "branch", "--show-current") == "work"
    assert git(Path(folder), "log", "--format=%s") == "start"


def test_a_clone_lies_outside_the_users_repository(bench: Bench) -> None:
    assert not Path(bench.workspace.clone(bench.base, {})).is_relative_to(bench.root)


def test_only_planning_files_can_be_laid_over_a_clone(bench: Bench) -> None:
    with pytest.raises(ValueError, match="not a planning file"):
        bench.workspace.clone(bench.base, {"src/b.py": "hacked"})


def test_a_reused_clone_rewrites_only_what_differs(bench: Bench) -> None:
    folder = Path(bench.workspace.clone(bench.base, {}))
    before = (folder / "c.md").stat().st_ino
    write(folder, {"a.txt": "changed", "left/over.txt": "", "src/b.py": "b = 1\n"})

    assert listing(bench.workspace.clone(bench.base, {})) == FILES
    assert (folder / "c.md").stat().st_ino == before


def swap_folder(folder: Path, outside: Path) -> None:
    (folder / "src").rename(outside / "src")
    (folder / "src").symlink_to(outside / "src")


def swap_file(folder: Path, outside: Path) -> None:
    (folder / "a.txt").unlink()
    (folder / "a.txt").symlink_to(outside / "mine")


def file_for_folder(folder: Path, outside: Path) -> None:
    shutil.rmtree(folder / "src")
    (folder / "src").write_text("file")


def folder_for_file(folder: Path, outside: Path) -> None:
    (folder / "a.txt").unlink()
    write(folder, {"a.txt/in/x": "x"})


def read_only(folder: Path, outside: Path) -> None:
    write(folder, {"src/new": "", "locked/x": ""})
    for name in ("src", "locked"):
        (folder / name).chmod(0o500)


def no_permission(folder: Path, outside: Path) -> None:
    write(folder, {"locked/x": ""})
    (folder / "locked").chmod(0)


def repository_inside(folder: Path, outside: Path) -> None:
    make_repo(folder / "nested", {"x": "x"})


def link_for_all(folder: Path, outside: Path) -> None:
    shutil.rmtree(folder)
    folder.symlink_to(outside)


def pipe(folder: Path, outside: Path) -> None:
    (folder / "a.txt").unlink()
    os.mkfifo(folder / "a.txt")


HOSTILE = (
    swap_folder, swap_file, file_for_folder, folder_for_file, read_only, no_permission, repository_inside,
    link_for_all, pipe,
)  # fmt: skip


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda h: h.__name__)
def test_whatever_an_agent_leaves_behind_the_next_one_finds_the_commit(
    bench: Bench, tmp_path: Path, hostile: Callable[[Path, Path], None]
) -> None:
    folder = Path(bench.workspace.clone(bench.base, {}))
    write(tmp_path / "outside", {"mine": "mine"})
    hostile(folder, tmp_path / "outside")
    before = listing(tmp_path / "outside")

    assert listing(bench.workspace.clone(bench.base, {})) == FILES
    assert not any(p.is_symlink() or not os.access(p, os.R_OK | os.W_OK) for p in folder.rglob("*"))
    assert git(folder, "status", "--porcelain") == ""
    assert listing(tmp_path / "outside") == before


def test_history_an_agent_damaged_is_made_anew(bench: Bench) -> None:
    bench.workspace.clone(bench.base, {})
    for pack in (Path(bench.workspace.history) / "objects" / "pack").iterdir():
        pack.chmod(0o600)
        pack.write_bytes(b"broken")

    folder = bench.workspace.clone(bench.base, {})
    assert git(Path(folder), "log", "-p", "--format=%s").startswith("start")
    assert bench.workspace.diff(bench.base, bench.base) == ""


def test_a_deleted_home_starts_afresh_beside_an_old_cache(bench: Bench) -> None:
    bench.seal({"a.txt": "A\n"})
    bench.workspace.clone(bench.base, {})
    shutil.rmtree(bench.root / ".autopilot")
    git(bench.root, "commit", "-q", "--allow-empty", "-m", "later")

    fresh = open_workspace(bench.root)
    assert listing(fresh.workspace.clone(fresh.base, {})) == FILES
    assert git(Path(fresh.workspace.folder), "log", "-1", "--format=%s") == "later"


def test_slots_are_folders_of_their_own(bench: Bench) -> None:
    second = bench.workspace.in_slot(1)
    first, other = bench.workspace.clone(bench.base, {}), second.clone(bench.base, {})
    write(Path(other), {"a.txt": "second\n"})

    assert first != other
    sealed = second.seal(other, bench.base, message("s2"))
    assert bench.workspace.sealed(bench.base, "s2") == sealed
    assert bench.workspace.seal(first, bench.base, message("s1")).files == ()


# Commits


def test_a_change_is_one_commit_on_its_base_with_everything_in_it(bench: Bench) -> None:
    folder = Path(bench.workspace.clone(bench.base, PLANNING))
    change(folder, {"a.txt": "A\nA\n", "new/x.txt": "x\n", "c.md": None, ".planning/PLAN.md": "plan"})
    made = bench.workspace.seal(str(folder), bench.base, message("s1"))

    assert [(f.path, f.status) for f in made.files] == [("a.txt", "M"), ("c.md", "D"), ("new/x.txt", "A")]
    assert (made.added, made.removed) == (3, 2)
    assert names(bench, made.commit) == ["a.txt", "new/x.txt", "src/b.py"]
    home = bench.root / ".autopilot" / "repo.git"
    assert git(home, "log", "--format=%P %an <%ae> %s", "-1", made.commit) == (
        f"{bench.base} Ada <ada@example.org> feat(01): 01-01 - title"
    )
    assert bench.workspace.change(bench.base, made.commit) == made


def test_commits_the_agent_made_are_folded_into_ours(bench: Bench) -> None:
    folder = Path(bench.workspace.clone(bench.base, {}))
    write(folder, {"a.txt": "1\n"})
    git(folder, "commit", "-qam", "mine")
    write(folder, {"c.md": "2\n"})
    git(folder, "commit", "-qam", "mine too")

    made = bench.workspace.seal(str(folder), bench.base, message("s1"))
    assert [f.path for f in made.files] == ["a.txt", "c.md"]
    assert git(bench.root / ".autopilot/repo.git", "rev-list", "--count", made.commit) == "2"


def test_no_change_makes_no_commit(bench: Bench) -> None:
    folder = bench.workspace.clone(bench.base, PLANNING)
    made = bench.workspace.seal(folder, bench.base, message("s1"))

    assert (made.commit, made.files, made.tree) == (bench.base, (), bench.workspace.tree(bench.base))
    assert bench.workspace.sealed(bench.base, "s1") is None


def test_work_on_top_of_work_can_be_sealed_as_one_commit_on_an_older_base(bench: Bench) -> None:
    first = bench.seal({"a.txt": "A\n", "new.txt": "n\n"})
    folder = Path(bench.workspace.clone(first, {}))
    write(folder, {"c.md": "C\n"})

    made = bench.workspace.seal(str(folder), bench.base, message("s2"))
    assert made.base == bench.base
    assert [f.path for f in made.files] == ["a.txt", "c.md", "new.txt"]


def test_what_running_python_leaves_behind_is_no_part_of_the_work(bench: Bench) -> None:
    caches = {"__pycache__/a.cpython-311.pyc": "x", "src/__pycache__/b.cpython-311.pyc": "y"}
    commit = bench.seal({"a.py": "a = 1\n", **caches})

    assert set(names(bench, commit)) - set(names(bench, bench.base)) == {"a.py"}
    assert bench.workspace.change(bench.base, commit).left_out == ()


def test_ignored_files_stay_out(tmp_path: Path) -> None:
    bench = make_bench(tmp_path, {**FILES, ".gitignore": "*.log\n"})
    commit = bench.seal({"x.log": "noise", "x.txt": "x"})

    assert "x.log" not in names(bench, commit)
    assert "x.txt" in names(bench, commit)


def test_tracked_planning_stays_as_it_was_in_the_base(tmp_path: Path) -> None:
    bench = make_bench(tmp_path, TRACKED)
    commit = bench.seal({"a.txt": "A\n", ".planning/ROADMAP.md": "# hacked\n", ".autopilot/x": "x"})

    assert show(bench, commit, ".planning/ROADMAP.md") == "# tracked"
    assert names(bench, commit) == sorted(TRACKED)


def test_planning_is_no_part_of_the_tree_facts_are_made_on(tmp_path: Path) -> None:
    with_planning, without = make_bench(tmp_path / "1", TRACKED), make_bench(tmp_path / "2", FILES)

    assert with_planning.workspace.tree(with_planning.base) == without.workspace.tree(without.base)
    assert without.workspace.tree(without.base) == git(without.root, "rev-parse", "HEAD^{tree}")


@pytest.mark.parametrize("commits", [0, 1], ids=["empty", "with a commit"])
def test_a_repository_inside_is_committed_as_plain_files(bench: Bench, commits: int) -> None:
    folder = Path(bench.workspace.clone(bench.base, {}))
    write(folder, {"app/x.txt": "x\n"})
    git(folder / "app", "init", "-q")
    if commits:
        git(folder / "app", "add", "-A")
        git(folder / "app", "commit", "-q", "-m", "inner")

    made = bench.workspace.seal(str(folder), bench.base, message("s1"))
    assert show(bench, made.commit, "app/x.txt") == "x"


def test_a_submodule_of_the_project_is_left_as_it_is(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "user", FILES)
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},lib")
    git(root, "commit", "-q", "-m", "submodule")
    bench = open_workspace(root)
    folder = Path(bench.workspace.clone(bench.base, {}))
    make_repo(folder / "lib", {"x": "x"})

    assert bench.workspace.seal(str(folder), bench.base, message("s1")).files == ()
    assert not list((Path(bench.workspace.clone(bench.base, {})) / "lib").iterdir())


def test_what_git_cannot_read_does_not_keep_the_rest_from_being_committed(bench: Bench) -> None:
    folder = Path(bench.workspace.clone(bench.base, {}))
    write(folder, {"c.md": "C\n", "locked.txt": "x\n"})
    (folder / "locked.txt").chmod(0)
    (folder / "a.txt").unlink()
    os.mkfifo(folder / "a.txt")

    made = bench.workspace.seal(str(folder), bench.base, message("s1"))
    assert [(f.path, f.status) for f in made.files] == [("a.txt", "D"), ("c.md", "M"), ("locked.txt", "A")]


def test_a_missing_folder_is_never_taken_for_deleted_files(bench: Bench) -> None:
    folder = bench.workspace.clone(bench.base, {})
    shutil.rmtree(folder)

    assert bench.workspace.reopen() is None
    assert bench.workspace.keep_interrupted(folder, bench.base, "s1") is None
    with pytest.raises(StorageFailed, match="is gone"):
        bench.workspace.seal(folder, bench.base, message("s1"))


def test_a_sealed_step_is_found_beside_work_without_a_trailer(bench: Bench) -> None:
    commit = bench.seal({"a.txt": "A\n"}, step="s1")
    back = bench.workspace.change(commit, bench.base)
    bench.workspace.portion(back, {"a.txt"}, commit, "no trailer\n")

    assert bench.workspace.sealed(commit, "s2") is None
    assert bench.workspace.sealed(bench.base, "s1") is not None


def test_a_sealed_step_is_found_by_its_trailer_in_another_process(bench: Bench) -> None:
    commit = bench.seal({"a.txt": "A\n"}, step="run-1/01/execute/1")
    later = open_workspace(bench.root).workspace

    found = later.sealed(bench.base, "run-1/01/execute/1")
    assert found is not None
    assert found.commit == commit
    assert later.sealed(bench.base, "run-1/01/execute/2") is None
    assert later.sealed(commit, "run-1/01/execute/1") is None


def test_interrupted_work_is_kept_each_time_under_a_name_of_its_own(bench: Bench) -> None:
    folder = Path(bench.workspace.clone(bench.base, {}))
    assert bench.workspace.keep_interrupted(str(folder), bench.base, "run-1/01/x/1") is None
    write(folder, {"half.txt": "half\n"})

    kept = [bench.workspace.keep_interrupted(str(folder), bench.base, "run-1/01/x/1") for _ in range(2)]
    assert kept == [f"refs/autopilot/interrupted/run-1/run-1-01-x-1/{n}" for n in (1, 2)]
    assert show(bench, str(kept[1]), "half.txt") == "half"
    assert bench.workspace.reopen() == str(folder)
    assert listing(folder)["half.txt"] == "half\n"


def test_work_already_sealed_is_not_kept_again_as_interrupted(bench: Bench) -> None:
    commit = bench.seal({"a.txt": "A\n"})

    assert bench.workspace.keep_interrupted(bench.workspace.folder, commit, "next") is None


def test_a_revert_brings_the_old_tree_back_and_keeps_history(bench: Bench) -> None:
    commit = bench.seal({"a.txt": "A\n"})
    back = bench.workspace.revert(commit, bench.base, "revert: phase 1\n")

    assert bench.workspace.change(bench.base, back).files == ()
    assert git(bench.root / ".autopilot/repo.git", "rev-parse", f"{back}^") == commit


def test_a_difference_is_text_and_has_an_end(bench: Bench) -> None:
    commit = bench.seal({"a.txt": "A\n", "big.txt": "0123456789\n" * 300_000})
    text = bench.workspace.diff(bench.base, commit)

    assert "-a\n+A\n" in text
    assert len(text) < 2_100_000
    assert "[cut off:" in text


@pytest.mark.parametrize("name", ["a b.txt", "-rf", "ünï.txt", 'quo"te', "new\nline", "tab\there", ":colon", "*", "\\"])
def test_any_name_a_file_can_have_is_committed_and_lands(bench: Bench, name: str) -> None:
    commit = bench.seal({name: "1\n", f"in {name}/{name}": "2\n"})

    assert [f.path for f in bench.workspace.change(bench.base, commit).files] == sorted([name, f"in {name}/{name}"])
    assert bench.workspace.land(commit).landed
    assert (bench.root / name).read_text() == "1\n"
    assert git(bench.root, "status", "--porcelain") == ""


@pytest.mark.parametrize("after", range(24))
def test_a_power_cut_before_any_program_changes_nothing(tmp_path: Path, after: int) -> None:
    root = make_repo(tmp_path / "user", TRACKED)
    places = Places(root=root, cache=tmp_path / "cache")

    def work(processes: PlainProcesses) -> tuple[dict[str, str], list[str]]:
        workspace = GitWorkspace(places, processes, "run-1", ENV)
        workspace.recover()
        base = workspace.start().base
        workspace.snapshot_planning()
        done = workspace.sealed(base, "s1")
        if done is None:
            folder = workspace.clone(base, PLANNING)
            write(Path(folder), {"a.txt": "A\n"})
            done = workspace.seal(folder, base, message("s1"))
        with workspace.checkout(done.commit, PLANNING) as checkout:
            return listing(checkout), [f.path for f in done.files]

    with pytest.raises(PowerCut):
        work(CutOff(after))
    assert git(root, "status", "--porcelain", "--", ":!.autopilot") == ""
    assert work(PlainProcesses()) == ({**FILES, **PLANNING, "a.txt": "A\n"}, ["a.txt"])
    assert git(root / ".autopilot/repo.git", "rev-list", "--count", "refs/autopilot/work/run-1") == "2"


# Nothing an agent puts into its folder runs in our hands

PAYLOADS = ("fsmonitor", "sshCommand", "pager", "editor", "alternateRefsCommand", "gitProxy", "askPass")


def poison(repository: Path, payload: Path) -> None:
    config = repository / "config"
    run = str(payload)
    lines = [f'[core]\n\t{name} = "{run}"' for name in PAYLOADS]
    lines += [f'[filter "x"]\n\tclean = "{run}"\n\tsmudge = "{run}"\n\tprocess = "{run}"\n\trequired = true']
    lines += [f'[diff "x"]\n\ttextconv = "{run}"\n\tcommand = "{run}"', f'[merge "x"]\n\tdriver = "{run}"']
    lines += [f"[core]\n\thooksPath = {repository / 'hooks'}\n\tworktree = {payload.parent / 'victim'}"]
    lines += [f'[include]\n\tpath = {payload.parent / "evil.conf"}\n[diff]\n\texternal = "{run}"']
    config.write_text("\n".join(lines) + "\n")
    (repository / "hooks").mkdir(exist_ok=True)
    for hook in ("pre-commit", "post-checkout", "post-index-change", "reference-transaction", "post-commit", "update"):
        shutil.copy(payload, repository / "hooks" / hook)


@pytest.fixture
def payload(tmp_path: Path) -> Path:
    script = tmp_path / "payload" / "run"
    write(script.parent, {"run": f"#!/bin/sh\necho ran >> {script.parent}/ran\ncat\n", "victim/x": "mine"})
    (script.parent / "evil.conf").write_text(f'[core]\n\tfsmonitor = "{script}"\n')
    script.chmod(0o755)
    return script


def test_nothing_in_an_agents_folder_runs_in_our_hands(bench: Bench, payload: Path) -> None:
    workspace, folder = bench.workspace, Path(bench.workspace.clone(bench.base, {}))
    write(folder, {".gitattributes": "* filter=x diff=x merge=x\n", "a.txt": "A\n", "nested/x": "x\n"})
    git(folder / "nested", "init", "-q")
    poison(folder / "nested" / ".git", payload)
    poison(folder / ".git", payload)

    made = workspace.seal(str(folder), bench.base, message("s1"))
    workspace.keep_interrupted(str(folder), bench.base, "s1")
    workspace.diff(bench.base, made.commit)
    with workspace.checkout(made.commit, PLANNING) as checkout:
        assert (Path(checkout) / "a.txt").read_text() == "A\n"
    workspace.clone(made.commit, PLANNING)
    assert "nested/x" in names(bench, made.commit)
    assert not (payload.parent / "ran").exists()
    assert listing(payload.parent / "victim") == {"x": "mine"}


def test_the_poison_is_alive_for_a_git_that_trusts_the_folder(bench: Bench, payload: Path) -> None:
    folder = Path(bench.workspace.clone(bench.base, {}))
    poison(folder / ".git", payload)

    subprocess.run(["git", "status"], cwd=folder, env=ENV, capture_output=True, check=False)
    assert (payload.parent / "ran").exists()


def test_a_git_file_that_points_elsewhere_is_not_followed(bench: Bench, payload: Path, tmp_path: Path) -> None:
    folder = Path(bench.workspace.clone(bench.base, {}))
    evil = make_repo(tmp_path / "evil", {"x": "x"})
    poison(evil / ".git", payload)
    shutil.rmtree(folder / ".git")
    (folder / ".git").write_text(f"gitdir: {evil / '.git'}\n")
    write(folder, {"a.txt": "A\n"})

    assert [f.path for f in bench.workspace.seal(str(folder), bench.base, message("s1")).files] == ["a.txt"]
    bench.workspace.clone(bench.base, {})
    assert not (payload.parent / "ran").exists()


def test_a_submodule_filled_with_a_poisoned_repository_runs_nothing(tmp_path: Path, payload: Path) -> None:
    root = make_repo(tmp_path / "user", FILES)
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},lib")
    git(root, "commit", "-q", "-m", "submodule")
    bench = open_workspace(root)
    folder = Path(bench.workspace.clone(bench.base, {}))
    poison(make_repo(folder / "lib", {"x": "x"}) / ".git", payload)

    bench.workspace.seal(str(folder), bench.base, message("s1"))
    poison(make_repo(folder / "lib", {"x": "y"}) / ".git", payload)
    bench.workspace.clone(bench.base, {})
    assert not (payload.parent / "ran").exists()


# Checkouts


def test_a_checkout_is_the_commit_and_gone_afterwards(tmp_path: Path) -> None:
    bench = make_bench(tmp_path, TRACKED)
    commit = bench.seal({"a.txt": "A\n"})

    with bench.workspace.checkout(commit, PLANNING) as folder:
        assert listing(folder) == {**FILES, **PLANNING, "a.txt": "A\n"}
        assert git(Path(folder), "status", "--porcelain") == ""
        write(Path(folder), {"locked/x": ""})
        (Path(folder) / "locked").chmod(0o500)
    assert not list(Path(folder).parent.iterdir())


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda h: h.__name__)
def test_a_large_checkout_is_used_again_as_if_it_were_new(
    bench: Bench, tmp_path: Path, hostile: Callable[[Path, Path], None]
) -> None:
    bench.workspace._checkouts = replace(bench.workspace._checkouts, pool_from=0)
    write(tmp_path / "outside", {"mine": "mine"})
    with bench.workspace.checkout(bench.base, PLANNING) as first:
        hostile(Path(first), tmp_path / "outside")
    assert not Path(first).exists()
    before = listing(tmp_path / "outside")

    with bench.workspace.checkout(bench.seal({"c.md": "C\n"}), {}) as folder:
        assert listing(folder) == {**FILES, "c.md": "C\n"}
        assert git(Path(folder), "status", "--porcelain") == ""
    assert listing(tmp_path / "outside") == before
    bench.workspace.recover()
    assert not list(Path(first).parent.iterdir())


def test_checkouts_of_the_dead_are_removed_and_those_of_the_living_stay(bench: Bench) -> None:
    with bench.workspace.checkout(bench.base, {}) as folder:
        stale = Path(folder).with_name("0123456789ab")
        write(stale, {"x": ""})
        stale.with_name(f"{stale.name}.owner").write_text("")
        open_workspace(bench.root).workspace.recover()

        assert not stale.exists()
        assert listing(folder) == FILES
    assert not list(Path(folder).parent.iterdir())


def test_recovery_clears_the_locks_of_a_killed_git(bench: Bench) -> None:
    bench.workspace.clone(bench.base, {})
    home, trees = bench.root / ".autopilot/repo.git", Path(bench.workspace.folder).parent
    locks = [
        home / "refs/autopilot/work/run-1.lock",
        home / "HEAD.lock",
        home / "packed-refs.lock",
        trees / "0.index.lock",
    ]
    for lock in locks:
        lock.parent.mkdir(parents=True, exist_ok=True)
        lock.write_text("")

    bench.workspace.recover()
    assert not any(lock.exists() for lock in locks)
    assert bench.seal({"a.txt": "A\n"}) != bench.base


@pytest.mark.parametrize(
    ("files", "laying", "sealing"), [(FILES, 6, 6), (TRACKED, 9, 8)], ids=["plain", "planning tracked"]
)
def test_few_programs_are_started(tmp_path: Path, files: dict[str, str], laying: int, sealing: int) -> None:
    bench = make_bench(tmp_path, files)
    commit, jobs = bench.seal({"a.txt": "A\n"}), bench.processes.jobs
    jobs.clear()
    folder = bench.workspace.clone(commit, PLANNING)
    assert len(jobs) <= laying

    jobs.clear()
    write(Path(folder), {"c.md": "C\n"})
    bench.workspace.seal(folder, commit, message("s2"))
    assert len(jobs) <= sealing

    jobs.clear()
    with bench.workspace.checkout(commit, PLANNING):
        assert len(jobs) <= 5


def test_our_own_git_sees_nothing_of_the_users_settings(bench: Bench) -> None:
    bench.processes.jobs.clear()
    bench.seal({"a.txt": "A\n"})

    ours = [job for job in bench.processes.jobs if "GIT_DIR" in job.env]
    assert ours
    assert all(job.env["GIT_CONFIG_GLOBAL"] == os.devnull and job.env["HOME"] == "/nonexistent" for job in ours)
    assert all("core.hooksPath=/dev/null" in job.argv and "core.fsync=all" in job.argv for job in ours)


# Planning files


def test_a_resumed_run_sees_the_planning_files_of_its_start(bench: Bench) -> None:
    texts = {".planning/ROADMAP.md": "# ünï\n", '.planning/phases/01-a b/"odd".md': "", ".planning/debug/x.md": "x"}
    write(bench.root, texts)
    assert bench.workspace.snapshot_planning() == texts
    write(bench.root, {".planning/ROADMAP.md": "# edited\n"})

    later = open_workspace(bench.root).workspace
    assert later.planning_files() == texts
    assert later.snapshot_planning() == texts


def test_a_project_without_planning_files_has_none(bench: Bench) -> None:
    assert bench.workspace.planning_files() == {}
    assert bench.workspace.snapshot_planning() == {}


def test_artifacts_are_written_home_but_not_over_the_users_changes(bench: Bench) -> None:
    write(bench.root, {".planning/phases/01-x/PLAN.md": "theirs\n"})
    bench.workspace.snapshot_planning()
    assert bench.workspace.write_planning({".planning/phases/01-x/PLAN.md": "one\n"}) == ()
    assert open_workspace(bench.root).workspace.write_planning({".planning/phases/01-x/PLAN.md": "two\n"}) == ()
    write(bench.root, {".planning/phases/01-x/PLAN.md": "edited\n"})

    notes = bench.workspace.write_planning({".planning/phases/01-x/PLAN.md": "three\n"})
    assert "PLAN.autopilot.md" in notes[0]
    assert (bench.root / ".planning/phases/01-x/PLAN.md").read_text() == "edited\n"


def test_texts_are_committed_on_top_of_the_work_and_found_again_by_their_step(bench: Bench) -> None:
    made = bench.workspace.commit_files(bench.base, {"VERSION": "1.1.0\n"}, message("bump"))

    assert bench.workspace.read(made.commit, "VERSION") == "1.1.0\n"
    assert [file.path for file in made.files] == ["VERSION"]
    assert bench.workspace.sealed(bench.base, "bump") == made


def test_tracked_planning_files_are_committed_on_top_of_the_work(tmp_path: Path) -> None:
    bench = make_bench(tmp_path, TRACKED)
    bench.workspace.snapshot_planning()
    work = bench.seal({"a.txt": "A\n"})
    files = {".planning/ROADMAP.md": "# done\n", ".planning/phases/01-x/PLAN.md": "plan\n"}

    made = bench.workspace.commit_planning(work, files, message("land"))
    assert bench.workspace.sealed(work, "land") is not None
    assert show(bench, made, ".planning/ROADMAP.md") == "# done"
    assert bench.workspace.tree(made) == bench.workspace.tree(work)
    assert bench.workspace.commit_planning(made, files, message("land")) == made


def test_untracked_planning_files_are_not_committed(bench: Bench) -> None:
    assert bench.workspace.commit_planning(bench.base, PLANNING, message("land")) == bench.base


def test_a_planning_file_the_user_changed_is_not_committed_over(tmp_path: Path) -> None:
    bench = make_bench(tmp_path, TRACKED)
    bench.workspace.snapshot_planning()
    write(bench.root, {".planning/ROADMAP.md": "# mine\n"})

    assert bench.workspace.commit_planning(bench.base, {".planning/ROADMAP.md": "# ours\n"}, message("l")) == bench.base


# The user's checkout


def test_the_users_checkout_is_described_as_it_is(bench: Bench) -> None:
    assert bench.workspace.dirty() == ()
    write(bench.root, {"a.txt": "mine\n", "new/é.txt": "", ".planning/x.md": "", ".autopilot/y": ""})

    assert bench.workspace.dirty() == ("a.txt", "new/é.txt")
    assert bench.workspace.file_sha256("c.md") == "a3a5e715f0cc574a73c3f9bebb6bc24f32ffd5b67b387244c2c909da779a1478"
    assert bench.workspace.file_sha256("missing") is None


def test_work_without_an_identity_is_signed_by_autopilot(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "user", FILES)
    for key in ("user.name", "user.email"):
        git(root, "config", "--unset", key)
    bench = open_workspace(root)

    commit = bench.seal({"a.txt": "A\n"})
    who = git(root / ".autopilot/repo.git", "log", "-1", "--format=%an <%ae>", commit)
    assert who == "Autopilot <autopilot@localhost>"


def test_a_branch_is_made_and_a_taken_name_gets_a_suffix(bench: Bench) -> None:
    one, two = bench.seal({"a.txt": "1\n"}), bench.seal({"a.txt": "2\n"})

    assert bench.workspace.branch("autopilot-diagnostic-phase-1", one) == "autopilot-diagnostic-phase-1"
    assert bench.workspace.branch("autopilot-diagnostic-phase-1", one) == "autopilot-diagnostic-phase-1"
    assert bench.workspace.branch("autopilot-diagnostic-phase-1", two) == "autopilot-diagnostic-phase-1-2"
    assert git(bench.root, "rev-parse", "autopilot-diagnostic-phase-1") == one
    assert bench.workspace.branch("autopilot/run-1", one) == "autopilot/run-1"
    assert bench.workspace.branch("autopilot/run-1", two) == "autopilot/run-1"


def test_a_branch_named_like_our_folder_is_in_nobodys_way(bench: Bench) -> None:
    git(bench.root, "branch", "autopilot")
    commit = bench.seal({"a.txt": "A\n"})

    assert bench.workspace.branch("autopilot/run-1", commit) == "autopilot-run-1"


def test_a_full_disk_is_an_error_the_user_can_act_on(tmp_path: Path) -> None:
    class FullDisk(PlainProcesses):
        def run(self, job: Job, started: Callable[[int], None] | None = None) -> Ran:
            if "commit-tree" in job.argv:
                job = Job(argv=("sh", "-c", "echo 'fatal: No space left on device' >&2; exit 128"), cwd=job.cwd)
            return super().run(job, started)

    bench = make_bench(tmp_path)
    full = GitWorkspace(Places(root=bench.root, cache=tmp_path / "cache"), FullDisk(), "run-1", ENV)
    folder = Path(full.clone(bench.base, {}))
    write(folder, {"a.txt": "A\n"})

    with pytest.raises(StorageFailed, match="disk full") as error:
        full.seal(str(folder), bench.base, message("s1"))
    assert "Free some space" in error.value.do
    assert bench.workspace.sealed(bench.base, "s1") is None
    assert bench.workspace.seal(str(folder), bench.base, message("s1")).files


def test_a_missing_git_is_named(tmp_path: Path) -> None:
    workspace = GitWorkspace(Places(root=tmp_path, cache=tmp_path), PlainProcesses(), "r", {"PATH": str(tmp_path)})

    with pytest.raises(RepositoryInvalid, match="git is not installed"):
        workspace.start()


def test_a_commit_is_on_disk_before_it_is_announced(bench: Bench, tmp_path: Path) -> None:
    needs("strace")
    folder = bench.workspace.clone(bench.base, {})
    write(Path(folder), {"a.txt": "A\n"})
    bench.processes.jobs.clear()
    bench.workspace.seal(folder, bench.base, message("s1"))
    words = next(job for job in bench.processes.jobs if "commit-tree" in job.argv)
    log = tmp_path / "trace"

    subprocess.run(
        ["strace", "-f", "-e", "fsync,fdatasync", "-o", str(log), *words.argv], env=words.env, cwd=words.cwd,
        input=b"again", check=True, capture_output=True,
    )  # fmt: skip
    assert "sync(" in log.read_text()


def test_a_file_is_read_as_it_is_in_a_commit(bench: Bench) -> None:
    moved = bench.seal({"a.txt": "b\n", "c.md": None})

    assert [bench.workspace.read(c, "a.txt") for c in (bench.base, moved)] == ["a\n", "b\n"]
    assert [bench.workspace.read(moved, path) for path in ("c.md", "src", "*.txt")] == [None, None, None]
