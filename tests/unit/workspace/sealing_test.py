"""Whatever an agent leaves in its folder, it is committed byte by byte or told; it never stops the run."""

import os
import socket
from pathlib import Path

import pytest

from autopilot.domain.errors import StorageFailed
from autopilot.domain.process import Ran
from autopilot.workspace.dependencies.link import Installed
from autopilot.workspace.git import is_ours_to_fail
from support.workspaces import PLANNING, Bench, change, make_bench, message, open_workspace

ATTRIBUTES = ("working-tree-encoding=UTF-16", "filter=lfs", "text eol=crlf", "ident", "-diff", "working-tree-encoding")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return make_bench(tmp_path)


@pytest.mark.parametrize("attributes", ATTRIBUTES)
def test_attributes_an_agent_writes_change_nothing_of_its_work(bench: Bench, attributes: str) -> None:
    text = "one\r\ntwo $Id$\nthree\r\n"
    folder = Path(bench.workspace.clone(bench.base, {}))
    (folder / ".gitattributes").write_text(f"* {attributes}\n", encoding="utf-8")
    (folder / "a.txt").write_bytes(text.encode())
    made = bench.workspace.seal(str(folder), bench.base, message("s1"))

    assert bench.workspace.read(made.commit, "a.txt") == text
    with bench.workspace.checkout(made.commit, {}) as place:
        assert Path(place, "a.txt").read_bytes() == text.encode()
    assert "+two $Id$" in bench.workspace.diff(bench.base, made.commit)


LINKED = ("node_modules", ".venv", "packages/x/node_modules")
IGNORE_LISTS = {
    "names": "node_modules\n.venv\n",
    "folders": "node_modules/\n.venv/\n",
    "anchored": "/node_modules\n/.venv\n/packages/x/node_modules\n",
    "everything dotted": ".*\n!.gitignore\nnode_modules\n",
    "our folders": ".planning\n.autopilot/\nnode_modules\n",
    "our folders as folders": ".planning/\n",
    "one in a folder": "",
    "nothing": "",
}


@pytest.mark.parametrize("kind", IGNORE_LISTS)
def test_ignored_links_keep_nothing_from_being_committed(tmp_path: Path, kind: str) -> None:
    files = {".gitignore": IGNORE_LISTS[kind], "packages/x/a.js": "a\n"}
    if kind == "one in a folder":
        files |= {"packages/.gitignore": "node_modules\n"}
    bench = make_bench(tmp_path, files)
    for name in LINKED:
        (tmp_path / "installed" / name).mkdir(parents=True)
    bench.workspace.supply(Installed({name: str(tmp_path / "installed" / name) for name in LINKED}))
    folder = Path(bench.workspace.clone(bench.base, PLANNING))
    assert all((folder / name).is_symlink() for name in LINKED)
    assert bench.workspace.seal(str(folder), bench.base, message("s0")).left_out == ()

    change(folder, {"packages/x/a.js": "b\n", "packages/x/new.js": "new\n"})
    made = bench.workspace.seal(str(folder), bench.base, message("s1"))

    assert [file.path for file in made.files] == ["packages/x/a.js", "packages/x/new.js"]
    assert made.left_out == ()


def test_an_ignored_link_does_not_hide_what_no_commit_can_hold(tmp_path: Path) -> None:
    bench = make_bench(tmp_path, {".gitignore": "node_modules\n", "a.txt": "a\n"})
    bench.workspace.supply(Installed({"node_modules": str(tmp_path)}))
    folder = Path(bench.workspace.clone(bench.base, {}))
    (folder / ".gitmodules").symlink_to("a.txt")

    assert bench.workspace.seal(str(folder), bench.base, message("s1")).left_out == (".gitmodules",)


def test_attributes_hold_in_a_repository_an_older_run_made(bench: Bench) -> None:
    path = bench.root / ".autopilot/repo.git/info/attributes"
    path.unlink()
    open_workspace(bench.root).workspace.recover()

    assert "!working-tree-encoding" in path.read_text(encoding="utf-8")


def test_a_name_no_commit_can_hold_is_told_and_the_rest_committed(bench: Bench) -> None:
    folder = Path(bench.workspace.clone(bench.base, {}))
    (folder / ".gitmodules").symlink_to("a.txt")
    (folder / "a.txt").write_text("A\n", encoding="utf-8")
    made = bench.workspace.seal(str(folder), bench.base, message("s1"))

    assert [file.path for file in made.files] == ["a.txt"]
    assert made.left_out == (".gitmodules",)
    assert bench.workspace.sealed(bench.base, "s1") == made


def test_when_nothing_else_changed_it_is_told_all_the_same(bench: Bench) -> None:
    folder = Path(bench.workspace.clone(bench.base, {}))
    (folder / ".gitmodules").symlink_to("a.txt")
    made = bench.workspace.seal(str(folder), bench.base, message("s1"))

    assert (made.files, made.commit, made.left_out) == ((), bench.base, (".gitmodules",))


def test_sockets_pipes_and_locked_folders_keep_nothing_from_being_committed(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(bench.workspace.clone(bench.base, {}))
    monkeypatch.chdir(folder)
    os.mkfifo(folder / "pipe")
    (folder / "locked").mkdir()
    (folder / "locked" / "x").write_text("x\n", encoding="utf-8")
    (folder / "locked").chmod(0)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s")
        made = bench.workspace.seal(str(folder), bench.base, message("s1"))

    assert [file.path for file in made.files] == ["locked/x"]
    assert made.left_out == ()


@pytest.mark.parametrize(
    ("said", "ours"),
    [
        ("error: insufficient permission for adding an object to repository database", True),
        ("fatal: write error: No space left on device", True),
        ("fatal: unable to write new index file", True),
        ("error: invalid path 'unable to write'", False),
        ('error: open("x"): Permission denied', False),
    ],
)
def test_a_full_disk_stops_the_run_and_a_file_s_name_does_not(said: str, ours: bool) -> None:
    assert is_ours_to_fail(Ran(exit_code=128, stdout=b"", stderr=said.encode(), seconds=0.0)) is ours


def test_an_object_store_that_cannot_be_written_is_no_fault_of_the_work(bench: Bench) -> None:
    folder = Path(bench.workspace.clone(bench.base, {}))
    (folder / "new.txt").write_text("never seen before\n", encoding="utf-8")
    objects = bench.root / ".autopilot/repo.git/objects"
    objects.rename(objects.with_name("gone"))
    objects.write_text("in the way", encoding="utf-8")

    with pytest.raises(StorageFailed):
        bench.workspace.seal(str(folder), bench.base, message("s1"))
