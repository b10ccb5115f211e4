"""Which dependency folders lead back into the checkout they lie in."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from autopilot.domain.process import Ran
from autopilot.workspace.dependencies.find import advice, interpreter_home, is_missing, leads_back, survey
from autopilot.workspace.dependencies.link import Installed, lay_links, scripts_in
from support.repos import git, write
from support.workspaces import Bench, make_bench, message

PACKAGES = ".venv/lib/python3.12/site-packages"


def back(root: Path, name: str, text: str) -> None:
    write(root, {f"{PACKAGES}/{name}": text.format(root=root)})


LEADING: dict[str, Callable[[Path], None]] = {
    "a path in a .pth": lambda root: back(root, "__editable__.calc.pth", "{root}/src\n"),
    "a relative path in a .pth": lambda root: back(root, "calc.pth", "../../../../src\n"),
    "an egg-link": lambda root: back(root, "calc.egg-link", "{root}\n.\n"),
    "a finder": lambda root: back(root, "__editable___calc_finder.py", "MAPPING = {{'calc': '{root}/src/calc'}}\n"),
    "a direct url": lambda root: back(root, "calc.dist-info/direct_url.json", '{{"url": "file://{root}"}}'),
    "a linked package": lambda root: (root / ".venv/calc").symlink_to("../src"),
    "a linked root": lambda root: (root / ".venv/all").symlink_to(root),
}


@pytest.mark.parametrize("kind", LEADING)
def test_what_leads_back_into_the_checkout_is_found(tmp_path: Path, kind: str) -> None:
    write(tmp_path, {"src/calc.py": "", f"{PACKAGES}/needed.py": ""})
    LEADING[kind](tmp_path)

    assert [offer.refusal for offer in survey(tmp_path, (".venv",), lambda _: True)] != [""]


def test_an_ordinary_environment_leads_nowhere(tmp_path: Path) -> None:
    inside = tmp_path / ".venv"
    back(tmp_path, "_virtualenv.pth", "import _virtualenv\n")
    back(tmp_path, "own.pth", "{root}/.venv/more\n# {root}/.venv\n")
    back(tmp_path, "calc.dist-info/direct_url.json", '{{"url": "file:///elsewhere"}}')
    write(tmp_path, {".venv/bin/pytest": f"#!{inside}/bin/python\n"})
    (inside / "lib64").symlink_to("lib")
    (inside / "bin" / "python").symlink_to("/usr/bin/python3")

    assert list(leads_back(inside, tmp_path)) == []


def test_only_folders_that_are_there_and_ignored_are_offered(tmp_path: Path) -> None:
    write(tmp_path, {"node_modules/x": "", "venv": "a file", "vendor/bundle/x": ""})

    offers = survey(tmp_path, ("node_modules", "venv", "vendor/bundle", "../x", "gone"), lambda n: n != "node_modules")
    assert [offer.name for offer in offers] == ["vendor/bundle"]


def test_a_tracked_folder_is_not_taken_for_an_ignored_one(tmp_path: Path) -> None:
    bench = make_bench(tmp_path, {".gitignore": "vendor/\nnode_modules/\n", "a.txt": "a\n"})
    write(bench.root, {"vendor/bundle/x": ""})
    git(bench.root, "add", "-f", "vendor/bundle/x")

    assert not bench.workspace.ignores("vendor/bundle")
    assert bench.workspace.ignores("node_modules")
    assert not bench.workspace.ignores("other")


def test_a_folder_behind_a_symbolic_link_is_none_that_git_ignores(tmp_path: Path) -> None:
    bench = make_bench(tmp_path, {".gitignore": "vendor/bundle/\n", "elsewhere/x": ""})
    (bench.root / "vendor").symlink_to("elsewhere")

    assert not bench.workspace.ignores("vendor/bundle")


def test_a_folder_is_missing_if_git_ignores_it_in_one_place_and_no_place_has_it(tmp_path: Path) -> None:
    both = ("part/node_modules", "node_modules")
    assert is_missing(tmp_path, both, lambda name: name == "part/node_modules")
    assert not is_missing(tmp_path, both, lambda _: False)
    assert not is_missing(tmp_path, ("../outside", "/outside"), lambda _: True)

    write(tmp_path, {"node_modules/x": ""})
    assert not is_missing(tmp_path, both, lambda _: True)


@pytest.fixture
def linked(tmp_path: Path) -> Bench:
    bench = make_bench(tmp_path)
    write(tmp_path / "deps", {"x": "installed"})
    bench.workspace.supply(Installed({"node_modules": str(tmp_path / "deps"), "vendor/bundle": str(tmp_path / "deps")}))
    return bench


def test_links_are_laid_and_are_no_part_of_what_is_committed(linked: Bench) -> None:
    """Also without an entry in .gitignore, and whatever the agent puts in their place."""
    folder = Path(linked.workspace.clone(linked.base, {}))
    assert (folder / "node_modules" / "x").read_text() == (folder / "vendor/bundle/x").read_text() == "installed"
    assert git(folder, "status", "--porcelain") == ""
    (folder / "node_modules").unlink()
    write(folder, {"node_modules/evil": "", "a.txt": "A\n"})

    made = linked.workspace.seal(str(folder), linked.base, message("s1"))
    assert [file.path for file in made.files] == ["a.txt"]
    with linked.workspace.checkout(made.commit, {}) as place:
        assert [p.name for p in Path(place, "node_modules").iterdir()] == ["x"]
    again = Path(linked.workspace.clone(made.commit, {}))
    assert (again / "node_modules").is_symlink()


def test_a_link_never_takes_the_place_of_a_file_of_the_commit(tmp_path: Path) -> None:
    write(tmp_path, {"there/venv": "mine", "vendor": "a file"})

    lay_links(tmp_path / "there", {"venv": "/elsewhere"})
    lay_links(tmp_path, {"vendor/bundle": "/elsewhere"})
    assert (tmp_path / "there" / "venv").read_text() == "mine"


def test_a_set_up_runs_once_for_each_state_of_the_lock_files(tmp_path: Path) -> None:
    bench, told, ran = make_bench(tmp_path), list[str](), list[str]()

    def run(command: str, folder: str) -> Ran:
        ran.append(folder)
        write(Path(folder), {"node_modules/x": f"{len(ran)}", "venv/calc.pth": f"{folder}/src\n"})
        return Ran(exit_code=0, stdout=b"", stderr=b"", seconds=1.0)

    def again() -> None:
        bench.workspace.supply(bench.workspace.set_up("npm ci", ("node_modules", "venv"), run, told.append))

    again()
    commits = (bench.base, bench.seal({"a.txt": "A\n"}), bench.seal({"package.json": "{}"}))
    again()
    found = [Path(bench.workspace.clone(commit, {}), "node_modules/x").read_text() for commit in commits]
    assert (found, len(ran)) == (["1", "1", "2"], 2)
    assert "venv made by `npm ci` is not linked" in told[0]


def test_a_set_up_that_fails_is_told_once_and_leaves_nothing(tmp_path: Path) -> None:
    bench, told = make_bench(tmp_path), list[str]()
    failed = Ran(exit_code=7, stdout=b"", stderr=b"no network", seconds=1.0)
    bench.workspace.supply(bench.workspace.set_up("npm ci", ("node_modules",), lambda *_: failed, told.append))

    for _ in range(2):
        assert not os.path.lexists(f"{bench.workspace.clone(bench.base, {})}/node_modules")
    assert told == ["The set-up command `npm ci` ended with exit code 7; clones are without node_modules: no network"]


def test_a_set_up_runs_the_scripts_that_the_run_began_with(tmp_path: Path) -> None:
    """Its user agreed to those. What agents make of them is asked about by the next run."""
    begun = {"tools/go.sh": "theirs\n", "package.json": "{}", ".gitignore": "node_modules\n"}
    bench, seen = make_bench(tmp_path, begun), list[dict[str, str]]()

    def run(command: str, folder: str) -> Ran:
        files = (Path(folder, name) for name in ("tools/go.sh", "later.sh", "package.json", "beside.txt"))
        seen.append({file.name: file.read_text() for file in files if file.exists()})
        write(Path(folder), {"node_modules/x": ""})
        return Ran(exit_code=0, stdout=b"", stderr=b"", seconds=1.0)

    command = "sh tools/go.sh; test ! -e later.sh || sh later.sh; npm ci"
    bench.workspace.supply(bench.workspace.set_up(command, ("node_modules",), run, lambda _: None))
    work = {"tools/go.sh": "evil\n", "later.sh": "evil\n", "package.json": "[]", "beside.txt": "work\n"}
    bench.workspace.clone(bench.seal(work), {})
    folder = Path(bench.workspace.clone(bench.base, {}))
    (folder / "tools/go.sh").unlink()
    (folder / "tools").rmdir()
    (folder / "tools").symlink_to(tmp_path / "elsewhere")
    write(folder, {"package.json": "[1]"})
    bench.workspace.clone(bench.workspace.seal(str(folder), bench.base, message("s2")).commit, {})

    assert seen == [
        {"go.sh": "theirs\n", "package.json": "{}"},
        {"go.sh": "theirs\n", "package.json": "[]", "beside.txt": "work\n"},
        {"go.sh": "theirs\n", "package.json": "[1]"},
    ]


def test_the_advice_fits_the_lock_file(tmp_path: Path) -> None:
    assert advice(tmp_path) == ""
    write(tmp_path, {"package.json": "", "package-lock.json": ""})
    assert advice(tmp_path) == "npm ci"


def test_a_python_below_the_home_is_shown_without_the_home(tmp_path: Path) -> None:
    write(tmp_path, {"python/bin/python3": "", "python/lib/x": "", "project/.venv/pyvenv.cfg": ""})
    (tmp_path / "project/.venv/bin").mkdir()
    (tmp_path / "project/.venv/bin/python").symlink_to(tmp_path / "python/bin/python3")

    assert interpreter_home(tmp_path / "project/.venv", tmp_path / "project") == str(tmp_path / "python")
    assert interpreter_home(tmp_path / "project/.venv", tmp_path / "python/project") is None


def test_a_command_names_the_scripts_it_starts() -> None:
    found = scripts_in(
        "FOO=1 sh scripts/set-up.sh && (./go.py>out; python3 'a b.py') --flag -x /usr/bin/env -r requirements.txt"
    )

    assert {"scripts/set-up.sh", "go.py", "a b.py"} <= {*found}
    assert not {word for word in found if word.startswith(("-", "/"))}
    assert "requirements.txt" not in found
