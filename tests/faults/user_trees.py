"""Checkouts as users leave them, made at random: each feature puts one thing of the user's into a repository."""

import os
import random
import subprocess
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from support.repos import ENV, git, make_repo, write
from support.runs import roadmap_of

NAMES = (
    "plain.txt", "with space.txt", "tab\tname", "new\nline", "-dash", "über.txt", "\U0001f600.md", "quote\"'.txt", "a/b/c/deep.txt", "$HOME", "*.glob", "CON",
    "trailing.", "UPPER", "x" * 200,
)  # fmt: skip
ODD = b"not-\xff-utf8"
LETTER = "letter1.txt"
HOOKS = ("pre-commit", "post-checkout", "post-merge", "reference-transaction", "post-index-change", "pre-auto-gc")
Dice = random.Random


@dataclass(frozen=True)
class Feature:
    """`hinders`: with it no landing is possible, so that the work stays on a branch of its own."""

    name: str
    make: Callable[[Path, Dice], object]
    hinders: bool = False


def content(dice: Dice) -> bytes:
    kind = dice.randrange(4)
    if kind == 0:
        return dice.randbytes(dice.randrange(300))
    end = "\r\n" if kind == 1 else "\n"
    return "".join(f"line {dice.randrange(99)}{end}" for _ in range(dice.randrange(1, 9))).encode()


def make_tree(folder: Path, dice: Dice) -> Path:
    """A project of one phase with committed files of all kinds, before the user touches anything."""
    config = '{"workflow": {"research": false}}\n'
    root = make_repo(
        folder, {".planning/ROADMAP.md": roadmap_of("1"), ".planning/config.json": config, "README.md": "r\n"}
    )
    for name in dice.sample(NAMES, 6):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content(dice))
        path.chmod(dice.choice([0o644, 0o755, 0o600, 0o444]))
    (root / "link").symlink_to(dice.choice(["README.md", "nowhere", "/etc"]))
    Path(os.fsdecode(os.fsencode(root) + b"/" + ODD)).write_bytes(b"odd\n")
    write(root, {f"tracked{n}.txt": f"one\ntwo {n}\nthree\n" for n in range(8)})
    git(root, "add", "-A")
    git(root, "commit", "-qm", "files")
    return root


def staged(root: Path, dice: Dice) -> None:
    write(root, {"tracked0.txt": f"staged {dice.random()}\n", "added.txt": "new and staged\n"})
    git(root, "add", "tracked0.txt", "added.txt")
    if dice.random() < 0.5:
        write(root, {"tracked0.txt": "staged, and changed again\n", "added.txt": "changed again\n"})


def unstaged(root: Path, dice: Dice) -> None:
    write(root, {"tracked1.txt": f"unstaged {dice.random()}\n"})
    (root / "tracked2.txt").chmod(0o755)


def deleted(root: Path, dice: Dice) -> None:
    (root / "tracked3.txt").unlink()
    git(root, "rm", "-q", "--cached" if dice.random() < 0.5 else "-f", "tracked4.txt")


def untracked(root: Path, dice: Dice) -> None:
    for name in dice.sample(NAMES, 3):
        with suppress(OSError):
            path = root / "scratch" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content(dice))
    (root / "scratch" / "broken").symlink_to("gone")
    (root / "scratch" / "empty" / "folders").mkdir(parents=True)
    os.mkfifo(root / "scratch" / "pipe")


def ignored(root: Path, dice: Dice) -> None:
    write(root, {".gitignore": "*.log\nbuild/\n", "a.log": "kept\n", "build/out/x.o": "object\n"})
    if dice.random() < 0.5:
        git(root, "add", ".gitignore")


def stashed(root: Path, dice: Dice) -> None:
    for n in range(dice.randrange(1, 3)):
        write(root, {"tracked5.txt": f"stashed {n}\n", "only in stash": "u\n"})
        git(root, "stash", "push", "-q", "-u", "-m", f"stash {n}", "--", "tracked5.txt", "only in stash")


def renamed(root: Path, dice: Dice) -> None:
    git(root, "mv", "tracked6.txt", "moved here.txt")


def intent_to_add(root: Path, dice: Dice) -> None:
    write(root, {"intended.txt": "soon\n"})
    git(root, "add", "-N", "intended.txt")


def hidden_changes(root: Path, dice: Dice) -> None:
    git(root, "update-index", "--assume-unchanged", "tracked7.txt")
    git(root, "update-index", "--skip-worktree", "README.md")
    write(root, {"tracked7.txt": "changed, and git is not to look\n", "README.md": "local\n"})


def repository_inside(root: Path, dice: Dice) -> None:
    make_repo(root / "vendored", {"v.txt": "v\n"})


def submodule(root: Path, dice: Dice) -> None:
    origin = make_repo(root.parent / "library", {"lib.txt": "l\n"})
    _git(root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(origin), "sub")
    git(root, "commit", "-qm", "sub", "--", "sub", ".gitmodules")
    if dice.random() < 0.5:
        write(root / "sub", {"lib.txt": "changed inside\n", "more.txt": "m\n"})


def sparse(root: Path, dice: Dice) -> None:
    write(root, {"left/out.txt": "o\n", "kept/in.txt": "i\n"})
    git(root, "add", "left", "kept")
    git(root, "commit", "-qm", "folders", "--", "left", "kept")
    git(root, "sparse-checkout", "set", *dice.choice([["--cone", "kept", ".planning"], ["--no-cone", "/*", "!/left/"]]))


def worktree(root: Path, dice: Dice) -> None:
    git(root, "worktree", "add", "-q", "-b", "side", str(root.parent / "side"))
    write(root.parent / "side", {"tracked0.txt": "in the other worktree\n"})


def hooks(root: Path, dice: Dice) -> None:
    for name in HOOKS:
        hook = root / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\necho {name} >> '{root.parent}/hooks-ran'\nexit 1\n", encoding="utf-8")
        hook.chmod(0o755)


def signing(root: Path, dice: Dice) -> None:
    for key, value in (("commit.gpgsign", "true"), ("tag.gpgsign", "true"), ("gpg.program", "/bin/false")):
        git(root, "config", key, value)


def line_endings(root: Path, dice: Dice) -> None:
    git(root, "config", "core.autocrlf", dice.choice(["true", "input"]))
    (root / "tracked5.txt").write_bytes(b"one\r\ntwo 5\r\nthree\r\n")


def filtered(root: Path, dice: Dice) -> None:
    for key, value in (("clean", "tr A-Z a-z"), ("smudge", "tr a-z A-Z"), ("required", "true")):
        git(root, "config", f"filter.up.{key}", value)
    write(root, {".gitattributes": "*.dat filter=up -text\n", "big.dat": "LARGE FILE\n", "other.dat": "OTHER\n"})
    git(root, "add", ".gitattributes", "big.dat", "other.dat")
    git(root, "commit", "-qm", "large files", "--", ".gitattributes", "big.dat", "other.dat")
    write(root, {"other.dat": "OTHER, CHANGED\n"})


def odd_index(root: Path, dice: Dice) -> None:
    choice = dice.randrange(3)
    if choice == 0:
        git(root, "update-index", "--index-version", "4")
    elif choice == 1:
        git(root, "update-index", "--split-index")
    else:
        git(root, "update-index", "--force-untracked-cache")


def odd_settings(root: Path, dice: Dice) -> None:
    git(root, "config", "core.fileMode", "false")
    git(root, "config", "core.quotePath", "false")
    git(root, "config", "status.showUntrackedFiles", dice.choice(["no", "all"]))
    git(root, "config", "diff.external", "/bin/false")
    git(root, "pack-refs", "--all")


def other_refs(root: Path, dice: Dice) -> None:
    git(root, "tag", "v1")
    git(root, "branch", "other")
    git(root, "notes", "add", "-m", "a note", "HEAD")
    git(root, "update-ref", "refs/mine/kept", "HEAD")


def own_letter(root: Path, dice: Dice) -> None:
    write(root, {LETTER: "written by the user\n"})
    if dice.random() < 0.5:
        git(root, "add", LETTER)


def detached(root: Path, dice: Dice) -> None:
    git(root, "checkout", "-q", "--detach")


def _diverged(root: Path) -> None:
    """A branch `theirs` that cannot be merged without a conflict."""
    git(root, "branch", "theirs")
    _committed(root, "ours\n")
    git(root, "checkout", "-q", "theirs")
    _committed(root, "theirs\n")
    git(root, "checkout", "-q", "main")


def _committed(root: Path, text: str) -> None:
    write(root, {"conflict.txt": text})
    git(root, "add", "conflict.txt")
    git(root, "commit", "-qm", text, "--", "conflict.txt")


def merging(root: Path, dice: Dice) -> None:
    _diverged(root)
    _git(root, "merge", "theirs")


def picking(root: Path, dice: Dice) -> None:
    _diverged(root)
    _git(root, "cherry-pick", "theirs")


def rebasing(root: Path, dice: Dice) -> None:
    _diverged(root)
    _git(root, "rebase", "--autostash", "theirs")


def bisecting(root: Path, dice: Dice) -> None:
    for n in range(4):
        git(root, "commit", "-q", "--allow-empty", "-m", f"step {n}")
    git(root, "bisect", "start", "HEAD", "HEAD~4")


def _git(root: Path, *words: str) -> None:
    """A command that may well end in a conflict."""
    subprocess.run(["git", *words], cwd=root, env={**ENV, "GIT_EDITOR": "true"}, capture_output=True, check=False)


# In this order: what needs a clean tree or commits comes first.
STATES = (
    Feature("merge in progress", merging, hinders=True),
    Feature("cherry-pick in progress", picking, hinders=True),
    Feature("rebase in progress", rebasing, hinders=True),
    Feature("bisect in progress", bisecting, hinders=True),
    Feature("detached head", detached, hinders=True),
    Feature("own letter", own_letter, hinders=True),
)
FEATURES = (
    Feature("submodule", submodule), Feature("sparse checkout", sparse), Feature("filters", filtered), Feature("worktree", worktree),
    Feature("line endings", line_endings), Feature("stash", stashed), Feature("other refs", other_refs), Feature("staged", staged),
    Feature("unstaged", unstaged), Feature("deleted", deleted), Feature("untracked", untracked), Feature("ignored", ignored), Feature("renamed", renamed),
    Feature("intent to add", intent_to_add), Feature("hidden changes", hidden_changes), Feature("repository inside", repository_inside),
    Feature("odd index", odd_index), Feature("odd settings", odd_settings), Feature("signing", signing), Feature("hooks", hooks),
)  # fmt: skip


def chosen(dice: Dice) -> tuple[Feature, ...]:
    """A few features; in a third of all trees also a state in which nothing can be landed, made before the last."""
    some = set(dice.sample(FEATURES, dice.randrange(2, 9)))
    early = [feature for feature in FEATURES[:7] if feature in some]
    late = [feature for feature in FEATURES[7:] if feature in some]
    state = [dice.choice(STATES)] if dice.random() < 0.35 else []
    return (*early, *state, *late)
