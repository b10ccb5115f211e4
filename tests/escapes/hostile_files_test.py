"""No file an agent or a command leaves makes us read a secret, wait for ever, or fill our memory."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from autopilot.evidence import canary as planting
from autopilot.evidence import junit_reports as junit
from autopilot.evidence.content import references
from autopilot.evidence.content.tree_files import TreeFiles
from autopilot.evidence.safe_read import read_beneath
from autopilot.workspace.files.beneath import Refused, opened, read_regular
from autopilot.workspace.files.planning_files import take_back
from autopilot.workspace.user_files import root_files
from support.powers import writes_anywhere
from support.repos import git
from support.workspaces import PLANNING, Bench, make_bench, message

SECRET = '<testcase name="hunter2"/> package hunter2'
TRIES = 5_000


def link_to(target: str) -> Callable[[Path, Path], None]:
    return lambda place, secret: place.symlink_to(target.format(secret=secret))


def climbing_link(place: Path, secret: Path) -> None:
    place.symlink_to(os.path.relpath(secret, place.parent))


def linked_folder(place: Path, secret: Path) -> None:
    (secret.parent / place.name).write_text(SECRET)
    place.parent.rmdir()
    place.parent.symlink_to(secret.parent)


def second_name(place: Path, secret: Path) -> None:
    place.hardlink_to(secret)


def pipe(place: Path, secret: Path) -> None:
    os.mkfifo(place)


def listener(place: Path, secret: Path) -> None:
    # A socket's path must be short.
    here = os.open(place.parent, os.O_RDONLY | os.O_DIRECTORY)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"/proc/self/fd/{here}/{place.name}")
    os.close(here)


def device(place: Path, secret: Path) -> None:
    if not writes_anywhere():
        pytest.skip("only root can make a device")
    try:
        os.mknod(place, 0o20666, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("no device can be made here")


def endless(place: Path, secret: Path) -> None:
    place.touch()
    os.truncate(place, 1 << 40)


def unreadable(place: Path, secret: Path) -> None:
    place.write_text("" if writes_anywhere() else SECRET)
    place.chmod(0)


def folder(place: Path, secret: Path) -> None:
    (place / "in").mkdir(parents=True)


KINDS = {
    "a link to a secret": link_to("{secret}"),
    "a link that climbs": climbing_link,
    "a link through a folder": linked_folder,
    "a link to itself": link_to("PLAN.md"),
    "a link to nothing": link_to("/nonexistent"),
    "a link to standard input": link_to("/dev/stdin"),
    "a link to an endless device": link_to("/dev/zero"),
    "a link to our environment": link_to("/proc/self/environ"),
    "a link through a process's root": link_to("/proc/self/root{secret}"),
    "a link to an open file": link_to("/proc/self/fd/0"),
    "a second name of a secret": second_name,
    "a pipe": pipe,
    "a socket": listener,
    "a device": device,
    "an endless sparse file": endless,
    "an unreadable file": unreadable,
    "a folder in the place of a file": folder,
}


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secrets" / "key"
    path.parent.mkdir()
    path.write_text(SECRET)
    return path


def planted(kind: str, place: Path, secret: Path) -> None:
    place.parent.mkdir(parents=True)
    KINDS[kind](place, secret)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["PLAN.md", "RESEARCH.md", "tests/task-01-01.sh"])
def test_a_planning_file_that_is_no_plain_file_is_refused(tmp_path: Path, secret: Path, kind: str, name: str) -> None:
    """PLAN.md, RESEARCH.md and tests/ are all that is taken from agents as files."""
    planted(kind, tmp_path / "clone/.planning/phases/01-x" / name, secret)

    taken = take_back(tmp_path / "clone", PLANNING)
    assert "hunter2" not in str(taken.changes)
    assert all(not text for text in taken.changes.values())
    assert taken.refused or kind in {"an unreadable file", "a folder in the place of a file"}


READERS: dict[str, Callable[[Path, Path], object]] = {
    "contents": lambda top, place: TreeFiles(str(top)).read(place.relative_to(top).as_posix()),
    "neighbours": lambda top, place: (
        *references.related(str(top), [place.relative_to(top).as_posix(), "../secrets/key"]),
        *(text for _, text in references._texts(str(top))),
    ),
    "canary": lambda top, place: planting._head(top, place.relative_to(top).as_posix()),
    "test report": lambda top, place: junit.read_report(place),
    "any": lambda top, place: read_beneath(top, place.relative_to(top).as_posix(), 1000),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reader", READERS)
def test_what_commands_leave_in_a_checkout_is_read_only_if_plain(
    tmp_path: Path, secret: Path, kind: str, reader: str
) -> None:
    place = tmp_path / "checkout" / "in" / "PLAN.md"
    planted(kind, place, secret)

    found = READERS[reader](tmp_path / "checkout", place)
    said = found.strip(b"\0") if isinstance(found, bytes) else found
    assert "hunter2" not in str(said)
    assert not said or kind == "an endless sparse file"
    assert len(str(found)) < 40_000_000


def test_the_readers_do_read_a_plain_file(tmp_path: Path) -> None:
    place = tmp_path / "checkout" / "in" / "PLAN.md"
    place.parent.mkdir(parents=True)
    place.write_text(SECRET)

    found = {name: str(read(tmp_path / "checkout", place)) for name, read in READERS.items()}
    assert {name for name, text in found.items() if "hunter2" not in text} == {"neighbours", "test report"}
    assert "in/PLAN.md" in found["neighbours"]
    assert found["test report"] == "1/1 tests"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (b"new\nline.sh", "new\\nline.sh"),
        (b"\x1b[31mred.sh", "\\x1b[31mred.sh"),
        ("right\u202eleft.sh".encode(), "right\\u202eleft.sh"),
        (b"not\xfftext.sh", "not\\udcfftext.sh"),
    ],
    ids=["newline", "escape code", "turned around", "no UTF-8"],
)
def test_a_name_that_does_not_print_is_refused_and_shown_in_plain_characters(
    tmp_path: Path, name: bytes, shown: str
) -> None:
    (tmp_path / ".planning").mkdir()
    Path(os.fsdecode(os.fsencode(tmp_path / ".planning") + b"/" + name)).write_text("x")

    taken = take_back(tmp_path, {})
    assert (taken.changes, taken.refused) == ({}, (f".planning/{shown}: its name is not plain text",))


def test_the_longest_name_and_a_deep_folder_are_only_names(tmp_path: Path) -> None:
    deep = tmp_path / ".planning" / "/".join("d" * 200 for _ in range(15))
    deep.mkdir(parents=True)
    (tmp_path / ".planning" / ("n" * 255)).write_text("long")
    (deep / "x").write_text("deep")

    assert sorted(take_back(tmp_path, {}).changes.values(), key=str) == ["deep", "long"]


@pytest.mark.parametrize("name", [".GIT/config", ".git /config", "git~1/config", "in/.Git/config", ".g\u200cit/config"])
def test_a_spelling_of_git_neither_ends_the_run_nor_is_committed(tmp_path: Path, name: str) -> None:
    bench = make_bench(tmp_path)
    clone = Path(bench.workspace.clone(bench.base, PLANNING))
    (clone / name).parent.mkdir(parents=True)
    (clone / name).write_text("[core]\n\tfsmonitor = payload\n")
    (clone / "a.txt").write_text("A\n")

    made = bench.workspace.seal(str(clone), bench.base, message("s1"))
    assert "a.txt" in [file.path for file in made.files]
    assert bench.workspace.land(made.commit).landed
    assert not (bench.root / ".GIT").exists()


def test_a_link_for_the_list_of_submodules_does_not_end_the_run(tmp_path: Path) -> None:
    bench = make_bench(tmp_path)
    clone = Path(bench.workspace.clone(bench.base, PLANNING))
    (clone / ".gitmodules").symlink_to("/etc/passwd")
    (clone / "a.txt").write_text("A\n")

    made = bench.workspace.seal(str(clone), bench.base, message("s1"))
    assert [file.path for file in made.files] == ["a.txt"]


@pytest.mark.parametrize("name", [".Autopilot/journal.db", ".AUTOPILOT/lock", ".Planning/ROADMAP.md"])
def test_another_spelling_of_our_own_folders_is_not_committed(tmp_path: Path, name: str) -> None:
    bench = make_bench(tmp_path)

    made = bench.seal({name: "theirs\n", "a.txt": "A\n"})
    assert [file.path for file in bench.workspace.change(bench.base, made).files] == ["a.txt"]


def test_a_manifest_that_links_out_of_the_project_is_not_read(tmp_path: Path, secret: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "Makefile").symlink_to(secret)
    (tmp_path / "project" / "package.json").write_text("{}")

    assert root_files(tmp_path / "project", {"Makefile", "package.json"}) == {"Makefile": "", "package.json": "{}"}


SWAPPER = """
import os, sys
place, secret, rounds = sys.argv[1], sys.argv[2], 0
os.mkdir("spare"); os.mkdir("spare/in"); open("spare/in/x", "w").write("plain"); os.link(secret, "second")
ready = False
while os.getppid() == int(sys.argv[3]):
    os.symlink(secret, "l"); os.replace("l", f"{place}/in/x")
    if not ready: print("ready", flush=True); ready = True
    open("p", "w").write("plain"); os.replace("p", f"{place}/in/x")
    os.link("second", "h"); os.replace("h", f"{place}/in/x")
    open("p", "w").write("plain"); os.replace("p", f"{place}/in/x")
    os.rename(f"{place}/in", "away"); os.symlink(os.path.dirname(secret), f"{place}/in")
    os.unlink(f"{place}/in"); os.rename("away", f"{place}/in")
"""


@contextmanager
def swapping(folder: Path, secret: Path) -> Iterator[Path]:
    """A folder whose file `in/x` is plain, a link, a second name and behind a linked folder, in quick turns."""
    place = folder / "place"
    (place / "in").mkdir(parents=True)
    (place / "in" / "x").write_text("plain")
    (secret.parent / "x").write_text(SECRET)
    words = [sys.executable, "-I", "-c", SWAPPER, str(place), str(secret.parent / "x"), str(os.getpid())]
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as swapper:
        try:
            assert swapper.stdout
            swapper.stdout.readline()
            yield place
        finally:
            swapper.kill()


def by_kernel(top: int, place: Path) -> bytes:
    return read_regular(top, "in/x")


def by_evidence(top: int, place: Path) -> bytes | None:
    return read_beneath(place, "in/x", 100)


@pytest.mark.parametrize("way", [by_kernel, by_evidence], ids=["planning files", "checkouts"])
def test_no_swap_in_the_right_moment_brings_out_a_secret(
    tmp_path: Path, secret: Path, way: Callable[[int, Path], bytes | None]
) -> None:
    seen: dict[object, int] = {}
    with swapping(tmp_path, secret) as place, opened(place) as top:
        for _ in range(TRIES):
            try:
                found: object = way(top, place)
            except (Refused, FileNotFoundError) as why:
                found = type(why)
            seen[found] = seen.get(found, 0) + 1

    assert set(seen) <= {b"plain", b"", None, Refused, FileNotFoundError}
    assert len(seen.keys() - {b""}) > 1, f"nothing was swapped: {seen}"


def test_a_hostile_tree_is_committed_without_what_it_points_to(tmp_path: Path, secret: Path) -> None:
    bench: Bench = make_bench(tmp_path)
    clone = Path(bench.workspace.clone(bench.base, {}))
    for number, kind in enumerate(KINDS):
        if kind != "an endless sparse file":
            planted(kind, clone / f"k{number}" / "PLAN.md", secret)

    made = bench.workspace.seal(str(clone), bench.base, message("s1"))
    store = bench.root / ".autopilot" / "repo.git"
    blobs = {path: git(store, "show", f"{made.commit}:{path}") for path in (file.path for file in made.files)}
    # What an agent can give a second name it can read and copy; the sandbox keeps it from both.
    assert {path for path, text in blobs.items() if "hunter2" in text} == {
        f"k{list(KINDS).index('a second name of a secret')}/PLAN.md"
    }
