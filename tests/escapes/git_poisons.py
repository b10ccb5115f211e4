"""What can be put into a repository so that git runs a program or writes elsewhere, each with a command it works on."""

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from support.repos import git, make_repo, write

HOOKS = (
    "applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg",
    "commit-msg", "post-commit", "pre-rebase", "post-checkout", "post-merge", "pre-push", "pre-receive", "update",
    "proc-receive", "post-receive", "post-update", "reference-transaction", "push-to-checkout", "pre-auto-gc",
    "post-rewrite", "sendemail-validate", "fsmonitor-watchman", "p4-changelist", "p4-prepare-changelist",
    "p4-post-changelist", "p4-pre-submit", "post-index-change",
)  # fmt: skip
ATTRIBUTES = "* filter=x diff=x merge=x\n"
COMMIT = ("git", "commit", "-qam", "m")


@dataclass(frozen=True, slots=True)
class Trap:
    """The program that must never run, and the folder that must stay as it is."""

    folder: Path

    @property
    def program(self) -> str:
        return str(self.folder / "run")

    @property
    def victim(self) -> Path:
        return self.folder / "victim"

    @property
    def sprung(self) -> bool:
        return (self.folder / "ran").exists() or [p.name for p in self.victim.iterdir()] != ["x"]


def make_trap(folder: Path) -> Trap:
    write(folder, {"run": f"#!/bin/sh\necho ran >> {folder}/ran\nexec cat\n", "victim/x": "mine"})
    # For a git that would wait for its answer.
    write(folder, {"fail": f"#!/bin/sh\necho ran >> {folder}/ran\nexit 1\n"})
    write(folder, {"evil.conf": f'[core]\n\tfsmonitor = "{folder}/run"\n'})
    for name in ("run", "fail"):
        (folder / name).chmod(0o755)
    return Trap(folder)


Plant = Callable[[Path, Trap], None]


@dataclass(frozen=True, slots=True)
class Poison:
    """`plant` puts it into a checkout with a `.git`; `trigger` is what springs it for a git that trusts the folder."""

    name: str
    plant: Plant
    trigger: tuple[str, ...] = ("git", "status")

    @property
    def plants_files(self) -> bool:
        """Whether it is more than a setting."""
        return not self.plant.__qualname__.startswith("configured") or self.name == "core.worktree"


def configured(*lines: str) -> Plant:
    """Lines of the repository's config; `{run}` is the program, `{folder}` where it lies."""

    def plant(tree: Path, trap: Trap) -> None:
        text = "\n".join(lines).format(run=trap.program, folder=trap.folder, git=tree / ".git")
        with (tree / ".git" / "config").open("a") as config:
            config.write(f"\n{text}\n")

    return plant


def attributed(*lines: str) -> Plant:
    """The same, and attributes in the tree that call for it."""

    def plant(tree: Path, trap: Trap) -> None:
        configured(*lines)(tree, trap)
        write(tree, {".gitattributes": ATTRIBUTES})

    return plant


def hooks(tree: Path, trap: Trap) -> None:
    (tree / ".git" / "hooks").mkdir(exist_ok=True)
    for name in HOOKS:
        shutil.copy(trap.program, tree / ".git" / "hooks" / name)


def hooks_elsewhere(tree: Path, trap: Trap) -> None:
    hooks(tree, trap)
    (tree / ".git" / "hooks").rename(tree / ".git" / "crooks")
    configured("[core]", "\thooksPath = {git}/crooks")(tree, trap)


def _evil(trap: Trap) -> Path:
    """A repository outside that is poisoned already."""
    folder = trap.folder / "evil"
    if not folder.exists():
        configured('[core]\n\tfsmonitor = "{run}"')(make_repo(folder, {"a.txt": "a\n"}), trap)
    return folder / ".git"


def git_file(tree: Path, trap: Trap) -> None:
    shutil.rmtree(tree / ".git")
    (tree / ".git").write_text(f"gitdir: {_evil(trap)}\n")


def git_link(tree: Path, trap: Trap) -> None:
    shutil.rmtree(tree / ".git")
    (tree / ".git").symlink_to(_evil(trap))


def common_folder(tree: Path, trap: Trap) -> None:
    (tree / ".git" / "commondir").write_text(f"{_evil(trap)}\n")


def config_of_worktree(tree: Path, trap: Trap) -> None:
    configured("[core]\n\trepositoryformatversion = 1\n[extensions]\n\tworktreeConfig = true")(tree, trap)
    shutil.copy(trap.folder / "evil.conf", tree / ".git" / "config.worktree")


def submodule(tree: Path, trap: Trap) -> None:
    if not (tree / "lib").exists():
        inner = make_repo(tree / "lib", {"x": "x"})
        hooks(inner, trap)
        configured('[core]\n\tfsmonitor = "{run}"')(inner, trap)
    write(tree, {".gitmodules": '[submodule "lib"]\n\tpath = lib\n\turl = ./lib\n\tignore = none\n'})
    configured('[submodule "lib"]\n\turl = ./lib\n\tupdate = !{run}\n\tactive = true')(tree, trap)


def bare_inside(tree: Path, trap: Trap) -> None:
    """The files of a repository without a `.git`: they can be committed like any others."""
    if not (tree / "bare").exists():
        (tree / "bare").mkdir()
        git(tree / "bare", "init", "-q", "--bare")
        with (tree / "bare" / "config").open("a") as config:
            config.write(f'[core]\n\tbare = false\n\tworktree = .\n\tfsmonitor = "{trap.program}"\n')
        write(tree / "bare", {"refs/keep": "", "objects/keep": ""})


def alternates(tree: Path, trap: Trap) -> None:
    configured('[core]\n\talternateRefsCommand = "{run}"')(tree, trap)
    (tree / ".git" / "objects" / "info" / "alternates").write_text(f"{_evil(trap)}/objects\n")


def on_a_terminal(*words: str) -> tuple[str, ...]:
    return (sys.executable, "-c", f"import pty; pty.spawn({list(words)!r})")


POISONS = (
    Poison("hooks of every name", hooks, COMMIT),
    Poison("core.hooksPath", hooks_elsewhere, COMMIT),
    Poison("core.fsmonitor", configured('[core]\n\tfsmonitor = "{run}"')),
    Poison(
        "filter clean and smudge",
        attributed('[filter "x"]\n\tclean = "{run}"\n\tsmudge = "{run}"\n\trequired = true'),
        ("git", "add", "-A"),
    ),
    Poison("filter process", attributed('[filter "x"]\n\tprocess = "{run}"\n\trequired = true'), ("git", "add", "-A")),
    Poison("diff textconv", attributed('[diff "x"]\n\ttextconv = "{run}"'), ("git", "diff")),
    Poison("diff command", attributed('[diff "x"]\n\tcommand = "{run}"'), ("git", "diff")),
    Poison("diff.external", configured('[diff]\n\texternal = "{run}"'), ("git", "diff")),
    Poison(
        "merge driver",
        attributed('[merge "x"]\n\tdriver = "{run} %A"'),
        ("sh", "-c", "git commit -qam one; git checkout -qf HEAD~; echo 2 >>a.txt; git commit -qam 2; git merge -q @{-1}"),
    ),
    Poison("include.path", configured("[include]\n\tpath = {folder}/evil.conf")),
    Poison("includeIf", configured('[includeIf "gitdir:**"]\n\tpath = {folder}/evil.conf')),
    Poison("config of a worktree", config_of_worktree),
    Poison("core.worktree", configured("[core]\n\tworktree = {folder}/victim"), ("git", "checkout", "-qf", "HEAD")),
    Poison("a .git file that points elsewhere", git_file),
    Poison("a .git link that points elsewhere", git_link),
    Poison("commondir", common_folder),
    Poison(
        "core.sshCommand",
        configured('[core]\n\tsshCommand = "{folder}/fail"\n[remote "origin"]\n\turl = ssh://host/x'),
        ("git", "fetch", "origin"),
    ),
    Poison(
        "aliases",
        configured("[alias]", *(f'\t{verb} = "!{{run}}"' for verb in ("add", "status", "fetch", "read-tree", "st"))),
        ("git", "st"),
    ),
    Poison(
        "uploadpack",
        configured('[uploadpack]\n\tpackObjectsHook = "{run}"\n[remote "origin"]\n\turl = .\n\tuploadpack = "{folder}/fail"'),
        ("git", "fetch", "origin"),
    ),
    Poison("core.pager", configured('[core]\n\tpager = "{run}"'), on_a_terminal("git", "log")),
    Poison("core.editor", configured('[core]\n\teditor = "{run}"'), ("git", "commit", "-a", "--allow-empty")),
    Poison("gpg.program", configured('[commit]\n\tgpgsign = true\n[gpg]\n\tprogram = "{run}"'), COMMIT),
    Poison(
        "credential.helper",
        configured('[credential]\n\thelper = "!{run}"\n[core]\n\taskPass = "{run}"'),
        ("sh", "-c", "echo url=https://host/x | git credential fill"),
    ),
    Poison(
        "protocol ext",
        configured('[protocol "ext"]\n\tallow = always\n[remote "origin"]\n\turl = "ext::{folder}/fail"'),
        ("git", "fetch", "origin"),
    ),
    Poison("a submodule with hooks", submodule, ("sh", "-c", "git add lib; cd lib; git commit --allow-empty -qm m")),
    Poison("a bare repository in the tree", bare_inside, ("git", "-C", "bare", "status")),
    Poison("alternates", alternates, ("git", "fetch", ".")),
)  # fmt: skip
ENV = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
}
