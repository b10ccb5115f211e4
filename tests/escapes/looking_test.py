"""Whoever only looks at a repository runs nothing of it: no command, and nothing that its git folder names."""

import os
import shutil
import subprocess
from contextlib import chdir
from pathlib import Path

import pytest

from autopilot.cli.main import main
from autopilot.sandbox.processes.children import ChildProcesses
from autopilot.sandbox.processes.scratch import room
from autopilot.workspace.project_folder import Within
from autopilot.workspace.read_only_git import read_only
from escapes.git_poisons import ENV as TRUSTING
from escapes.git_poisons import POISONS, Poison, Trap, attributed, configured, make_trap
from support.adoption import adopted
from support.project import honest, make_project
from support.repos import git, make_repo, write
from support.runs import Drive, playground, roadmap_of

LOOKS = (
    ("doctor",), ("doctor", "--json"), ("status",), ("status", "--json"), ("phases", "list"),
    ("phases", "check", "--no-run"), ("progress",), ("report",), ("report", "--json"), ("report", "--html"),
    ("trends",), ("receipt", "show", "1"), ("trust", "--show"), ("explain",),
)  # fmt: skip


def promised(tree: Path, trap: Trap) -> None:
    """The newest commit is missing, and a remote that names a program promises to have it."""
    configured(
        "[core]\n\trepositoryformatversion = 1\n\tsshCommand = {folder}/fail",
        '[extensions]\n\tpartialClone = origin\n[remote "origin"]\n\tpromisor = true\n\turl = ssh://host/x',
    )(tree, trap)
    head = git(tree, "rev-parse", "HEAD")
    (tree / ".git" / "objects" / head[:2] / head[2:]).unlink()


def filtering_submodule(tree: Path, trap: Trap) -> None:
    inner = make_repo(tree / "lib", {"x": "x\n"})
    git(tree, "add", "lib")
    git(tree, "commit", "-qm", "lib")
    write(inner, {"x": "y\n"})
    attributed('[filter "x"]\n\tclean = {run}')(inner, trap)


MORE = (
    Poison("filter clean, seen by status", attributed('[filter "x"]\n\tclean = "{run}"')),
    Poison("filter process, seen by status", attributed('[filter "x"]\n\tprocess = "{run}"')),
    Poison("a commit that a remote promises", promised, ("git", "log", "-1")),
    Poison("a filter of a submodule", filtering_submodule),
)


@pytest.fixture(scope="module")
def worked_on(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a run behind it, one phase of which could not land: there is something to look at."""
    place = tmp_path_factory.mktemp("worked")
    with pytest.MonkeyPatch.context() as patch, playground():
        patch.setenv("AUTOPILOT_CACHE", str(place / "cache"))
        drive = Drive(make_project(place / "project", honest(), roadmap_of("1", "2>1")))
        write(drive.root, {"a.txt": "a\n"})
        git(drive.root, "add", "-A")
        git(drive.root, "commit", "-qm", "a")
        write(drive.root, {"a.txt": "b\n"})
        git(drive.root, "commit", "-qam", "second")
        write(drive.root, {"letter1.txt": "the user's own\n"})
        drive.run("1")
        (drive.root / "letter1.txt").unlink()
    return drive.root


@pytest.fixture
def tree(worked_on: Path, tmp_path: Path) -> Path:
    """A copy, with a change that git has to compare."""
    shutil.copytree(worked_on, tmp_path / "tree", symlinks=True)
    (tmp_path / "tree" / "a.txt").write_text("c\n", encoding="utf-8")
    return adopted(tmp_path / "tree")


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    return make_trap(tmp_path / "trap")


def look_everywhere(tree: Path, worked_on: Path) -> list[int]:
    script = worked_on.with_suffix(".toml")
    with chdir(tree):
        dry = ("run", "all", "--dry-run", "--agent", f"scripted:{script}", "--unsandboxed")
        return [main([*words]) for words in (*LOOKS, dry)]


@pytest.mark.parametrize("poison", [*POISONS, *MORE], ids=lambda poison: poison.name)
def test_no_look_springs_what_a_git_folder_holds(poison: Poison, tree: Path, worked_on: Path, trap: Trap) -> None:
    poison.plant(tree, trap)

    look_everywhere(tree, worked_on)
    assert not trap.sprung
    subprocess.run(poison.trigger, cwd=tree, env=TRUSTING, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    assert trap.sprung, "a plain git does not run it either: this proves nothing"


def test_looks_at_a_sound_repository_all_succeed(
    tree: Path, worked_on: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert set(look_everywhere(tree, worked_on)) == {0}
    told = capfd.readouterr().out
    assert "1 uncommitted files" in told
    assert "git merge autopilot" in told


def test_no_look_starts_a_program_of_the_repository(
    tree: Path, worked_on: Path, trap: Trap, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither by an absolute path into it nor by a relative one, for tools of the project and for agents."""
    for name in ("pytest", "make", "claude", "codex"):
        for folder in (".venv/bin", "tools"):
            write(tree, {f"{folder}/{name}": f"#!/bin/sh\necho ran >> {trap.folder}/ran\necho {name} 1.2.3\n"})
            (tree / folder / name).chmod(0o755)
    write(tree, {".planning/config.json": '{"project": {"commands": {"test": "pytest", "build": "make"}}}'})
    monkeypatch.setenv("PATH", f"{tree}/.venv/bin:tools:{os.environ['PATH']}")

    look_everywhere(tree, worked_on)
    assert not trap.sprung
    subprocess.run(["pytest", "--version"], cwd=tree, capture_output=True, check=True)
    assert trap.sprung


def shaped(form: str, place: Path) -> Path:
    """A repository of that form."""
    top = make_repo(place / "user", {"a.txt": "a\n", "b/c.txt": "c\n", ".gitignore": "left/\n"})
    steps: dict[str, list[str]] = {
        "split index": ["update-index --split-index"],
        "sparse": ["sparse-checkout set b"],
        "detached": ["checkout -q --detach"],
        "crlf": ["config core.autocrlf true"],
        "empty": ["checkout -q --orphan new", "rm -rqf --cached ."],
    }
    for words in steps.get(form, ()):
        git(top, *words.split())
    if form == "worktree":
        git(top, "worktree", "add", "-q", str(place / "linked"))
        top = place / "linked"
    elif form == "sha256":
        shutil.rmtree(top / ".git")
        git(top, "init", "-q", "-b", "main", "--object-format=sha256")
        git(top, "add", "-A")
        git(top, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "start")
    elif form == "crlf":
        (top / "a.txt").write_bytes(b"a\r\n")
    return top


@pytest.mark.parametrize("form", ["plain", "worktree", "split index", "sparse", "sha256", "detached", "crlf", "empty"])
def test_a_look_sees_what_the_users_own_git_sees(form: str, tmp_path: Path) -> None:
    top = shaped(form, tmp_path)
    write(top, {"new.txt": "new\n", "left/out.txt": "out\n", "b/c.txt": "changed\n"})

    with read_only(top, Within(), ChildProcesses(), {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}, room) as seen:
        status = git(top, "status", "--porcelain", "-uall").splitlines()
        assert sorted(seen.dirty()) == sorted(line.split(" ", 2)[-1].strip() for line in status)
        assert (seen.ignores("left"), seen.ignores("b")) == (True, False)
        assert seen.shape().object_format == git(top, "rev-parse", "--show-object-format")
        assert seen.shape().git_dir.resolve() == Path(git(top, "rev-parse", "--absolute-git-dir"))
        if form != "empty":
            assert seen.start().base == git(top, "rev-parse", "HEAD")
            assert seen.branch() == (git(top, "branch", "--show-current") or None)
            assert seen.tree() == git(top, "rev-parse", "HEAD^{tree}")


def test_a_look_leaves_no_trace(tmp_path: Path) -> None:
    top = make_repo(tmp_path / "user", {"a.txt": "a\n"})
    (top / "a.txt").touch()
    before = {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in (top / ".git").rglob("*")}

    with read_only(top, Within(), ChildProcesses(), os.environ, room) as seen:
        assert (seen.dirty(), seen.start().branch) == ((), "main")
    assert {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in (top / ".git").rglob("*")} == before
