"""No poisoned repository makes our own git run a program or write elsewhere, whichever command of ours meets it."""

import ast
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from autopilot.app.workspace_checkup import git_check, repository_checks
from autopilot.workspace.git import COMMON, Git, user_env
from autopilot.workspace.user_repository import UserRepository
from escapes.git_poisons import ENV as TRUSTING
from escapes.git_poisons import POISONS, Poison, Trap, hooks, make_trap
from support.repos import git, make_repo, write
from support.workspaces import ENV, FILES, PLANNING, Bench, message, open_workspace

SOURCE = Path(__file__).parents[2] / "src" / "autopilot"
START = {**FILES, ".planning/ROADMAP.md": "# roadmap\n"}


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    return make_trap(tmp_path / "trap")


def live(bench: Bench, planted: tuple[Poison, ...], trap: Trap) -> set[str]:
    """Everything a workspace does in the life of a run, poison put wherever agents and commands can; the verbs used."""
    workspace, base = bench.workspace, bench.base
    workspace._checkouts = replace(workspace._checkouts, pool_from=0)
    workspace.snapshot_planning()

    def put(folder: str) -> None:
        for poison in planted:
            poison.plant(Path(folder), trap)

    folder = workspace.clone(base, PLANNING)
    # git takes no folder of this name, and has to say what it left out.
    refused = {"sub/.GIT/x": "no\n"}
    write(Path(folder), {"a.txt": "agent\n", "new.txt": "new\n", ".planning/PLAN.md": "plan\n", **refused})
    put(folder)
    workspace.planning_changes(folder)
    workspace.keep_interrupted(folder, base, "s0")
    made = workspace.seal(folder, base, message("s1"))
    assert "new.txt" in {file.path for file in made.files}
    assert workspace.sealed(base, "s1") == made
    workspace.portion(made, ["new.txt"], base, message("s2"))
    for files in (PLANNING, {}):
        with workspace.checkout(made.commit, files) as place:
            put(place)
            write(Path(place), {"a.txt": "spoilt\n"})
    with workspace.checkout(made.commit, PLANNING) as place:
        assert Path(place, "a.txt").read_text() == "agent\n"
    look(bench, made.commit)
    back = workspace.revert(made.commit, base, message("s3"))
    again = workspace.clone(back, PLANNING)
    assert Path(again, "a.txt").read_text() == "a\n"
    put(again)
    bring_home(bench, made.commit)
    workspace.recover()
    return verbs_of(bench)


def look(bench: Bench, commit: str) -> None:
    workspace, base = bench.workspace, bench.base
    assert "+agent" in workspace.diff(base, commit)
    assert workspace.change(base, commit).files
    assert workspace.texts(base, commit)
    assert workspace.wanted_texts(commit, lambda path: path == "a.txt") == {"a.txt": "agent\n"}
    assert workspace.read(commit, "a.txt") == "agent\n"
    assert workspace.file_sha256("a.txt")
    assert workspace.tree(commit) != workspace.tree(base)
    assert workspace.merge(base, commit, message("s5")).commit


def bring_home(bench: Bench, commit: str) -> None:
    workspace, root = bench.workspace, bench.root
    files = {".planning/ROADMAP.md": "# done\n"}
    final = workspace.commit_planning(commit, files, message("s4"))
    workspace.branch("autopilot-diagnostic-phase-1", commit)
    (root / "a.txt").write_bytes(b"a\r\n")
    git(root, "config", "core.autocrlf", "input")
    assert workspace.dirty() is not None
    assert workspace.land(final).landed
    workspace.write_planning(files)
    user = Git(processes=bench.processes, cwd=root, env=user_env(ENV), flags=COMMON)
    assert {check.level for check in (git_check(user), *repository_checks(root, UserRepository(root, user)))} <= {
        "ok",
        "warn",
    }


def verbs_of(bench: Bench) -> set[str]:
    """What stands behind the flags of each git that was started."""
    return {next(word for word in job.argv[1:] if word != "-c" and "=" not in word) for job in bench.processes.jobs}


@cache
def written_verbs() -> set[str]:
    """Every git command our source can start, by its first word in a call or a list of words."""
    known = set(
        subprocess.run(["git", "--list-cmds=main,others"], capture_output=True, text=True, check=True).stdout.split()
    )
    found = set()
    for module in SOURCE.rglob("*.py"):
        text = module.read_text()
        if "workspace.git import" in text or "workspace.own_repository import" in text:
            found |= {first for node in ast.walk(ast.parse(text)) if (first := first_word(node)) in known}
    return found


def first_word(node: ast.AST) -> object:
    match node:
        case ast.Call(func=ast.Attribute(attr="run" | "out" | "text"), args=[ast.Constant(value=word), *_]):
            return word
        case ast.Tuple(elts=[ast.Constant(value=word), *_]) | ast.List(elts=[ast.Constant(value=word), *_]):
            return word
    return None


@pytest.mark.parametrize("poison", POISONS, ids=lambda p: p.name)
def test_a_poison_works_on_a_git_that_trusts_the_folder(tmp_path: Path, trap: Trap, poison: Poison) -> None:
    tree = make_repo(tmp_path / "tree", {"a.txt": "a\n"})
    write(tree, {"a.txt": "b\n"})
    git(tree, "commit", "-qam", "second")
    write(tree, {"a.txt": "c\n"})
    poison.plant(tree, trap)

    subprocess.run(poison.trigger, cwd=tree, env=TRUSTING, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    assert trap.sprung


ALONE = tuple(p for p in POISONS if p.plants_files)
TOGETHER = tuple(p for p in POISONS if not p.name.startswith("a .git"))
"""The others put something else in the place of `.git`, where no second poison can be put."""


@pytest.mark.parametrize(
    "planted", [*((p,) for p in ALONE), TOGETHER], ids=lambda ps: " and ".join(p.name for p in ps)[:40]
)
def test_no_command_of_ours_is_poisoned_by_an_agents_folder(
    tmp_path: Path, trap: Trap, planted: tuple[Poison, ...]
) -> None:
    """Mere settings are tried all at once; what changes the tree or the shape of `.git` is tried alone as well."""
    bench = open_workspace(make_repo(tmp_path / "user", START))

    used = live(bench, planted, trap)
    assert not trap.sprung
    assert used - {"--version"} == written_verbs()


def test_the_users_own_hooks_and_programs_do_not_run_in_our_hands(tmp_path: Path, trap: Trap) -> None:
    """Filters are the exception: what lands is written as the user's own git would write it."""
    elsewhere = ("filter", "core.worktree", "a .git", "commondir", "a submodule", "a bare", "hooks", "core.hooksPath")
    root = make_repo(tmp_path / "user", START)
    bench = open_workspace(root)
    for poison in POISONS:
        if not poison.name.startswith(elsewhere):
            poison.plant(root, trap)
    hooks(root, trap)

    live(bench, (), trap)
    assert not trap.sprung


def test_git_is_started_in_one_place_only() -> None:
    """The demo besides, which builds a sample of its own in a new folder."""
    starters = {
        module.relative_to(SOURCE).as_posix()
        for module in SOURCE.rglob("*.py")
        if any(
            isinstance(n, ast.Tuple | ast.List) and first_word(n) == "git"
            for n in ast.walk(ast.parse(module.read_text()))
        )
    }
    assert starters == {"workspace/git.py", "cli/demo/sample_project.py"}
