"""What an agent or a command wrote is counted before git looks at it, and never more than the bounds allow."""

import os
import subprocess
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.errors import TOO_MUCH, NoAnswer
from autopilot.domain.settings import Limits
from autopilot.workspace.files.removal import remove
from autopilot.workspace.files.volume import Volume
from support.repos import git
from support.workspaces import PLANNING, Bench, change, make_bench, message

GIB = 1 << 30
SMALL = Limits(work_files=50, work_mebibytes=4, file_mebibytes=2, ignored_files=500)


@pytest.fixture
def place() -> Iterator[Path]:
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="autopilot-volume-", dir=memory if os.access(memory, os.W_OK) else None))
    yield folder
    remove(folder)  # at any depth


def many(count: int, below: str = "out") -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        for number in range(count):
            if number % 1000 == 0:
                (folder / below / f"{number // 1000}").mkdir(parents=True)
            os.close(os.open(folder / below / f"{number // 1000}" / f"{number}", os.O_CREAT | os.O_WRONLY))

    return write


def sparse(size: int, *names: str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        for name in names:
            with (folder / name).open("wb") as file:
                file.truncate(size)

    return write


def deep(levels: int) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        here = os.open(folder, os.O_RDONLY)
        for _ in range(levels):
            os.mkdir("d", dir_fd=here)
            below = os.open("d", os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = below
        os.close(os.open("end", os.O_CREAT | os.O_WRONLY, dir_fd=here))
        os.close(here)

    return write


def refused(bench: Bench, write: Callable[[Path], None]) -> str:
    """What is said about it; nothing was added, and the folder is as it was."""
    folder = Path(bench.workspace.clone(bench.base, PLANNING))
    write(folder)
    before, objects = listed(folder), store(bench)
    with pytest.raises(NoAnswer) as told:
        bench.workspace.seal(str(folder), bench.base, message("s1"))

    assert told.value.outcome == TOO_MUCH
    assert listed(folder) == before
    assert store(bench) == objects
    return told.value.detail


def listed(folder: Path) -> bytes:
    return subprocess.run(["find", folder, "-printf", "%P %s %T@\\n"], capture_output=True, check=True).stdout


def store(bench: Bench) -> str:
    return git(bench.root / ".autopilot" / "repo.git", "count-objects", "-v")


TOO_LARGE = {
    "files": (many(51), "more than 50 new or changed files (limits.work_files); most of it in out/0 (51 files)"),
    "one file": (sparse(20 * GIB, "core"), "a file of more than 2 MiB (limits.file_mebibytes)"),
    "all files": (sparse(2 << 20, "a1", "a2", "a3"), "more than 4 MiB in new or changed files (limits.work_mebibytes)"),
    "folders": (deep(1000), "folders more than 200 deep"),
    "a changed file": (sparse(GIB, "a.txt"), "the largest are a.txt (1,024 MiB)"),
}


@pytest.mark.parametrize(("write", "told"), TOO_LARGE.values(), ids=TOO_LARGE)
def test_more_than_the_bounds_is_not_added(write: Callable[[Path], None], told: str, place: Path) -> None:
    bench = make_bench(place)
    bench.workspace.bound(SMALL)

    assert told in refused(bench, write)


@pytest.mark.slow
def test_300_000_files_are_counted_to_the_bound_and_no_further(place: Path) -> None:
    bench = make_bench(place)
    folder = Path(bench.workspace.clone(bench.base, PLANNING))
    many(300_000)(folder)
    tracemalloc.start()
    with pytest.raises(NoAnswer, match="more than 20,000 new or changed files"):
        bench.workspace.seal(str(folder), bench.base, message("s1"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 16 << 20
    assert sum(len(files) for _, _, files in os.walk(folder / "out")) == 300_000


def test_what_git_ignores_counts_toward_a_bound_of_its_own(place: Path) -> None:
    bench = make_bench(place, {".gitignore": "out/\n*.core\n", "a.txt": "a\n"})
    bench.workspace.bound(SMALL)
    folder = Path(bench.workspace.clone(bench.base, PLANNING))
    many(300)(folder)
    sparse(20 * GIB, "big.core")(folder)
    change(folder, {"b.txt": "b\n", "pkg/__pycache__/x.pyc": "x"})

    made = bench.workspace.seal(str(folder), bench.base, message("s1"))
    assert [file.path for file in made.files] == ["b.txt"]
    assert "more than 500 files, ignored ones counted" in refused(bench, many(600))


def test_a_link_leads_nowhere_and_a_large_repository_counts_for_nothing(place: Path) -> None:
    (place / "elsewhere").mkdir()
    many(200, "many")(place / "elsewhere")
    bench = make_bench(place, {f"d/{n}.txt": f"{n}\n" for n in range(120)})
    bench.workspace.bound(SMALL)
    folder = Path(bench.workspace.clone(bench.base, PLANNING))
    (folder / "way").symlink_to(place / "elsewhere")
    for path in (folder / "d").iterdir():
        os.utime(path)

    made = bench.workspace.seal(str(folder), bench.base, message("s1"))
    assert [file.path for file in made.files] == ["way"]


def test_a_folder_with_too_much_in_it_is_moved_aside_and_never_cleared(place: Path) -> None:
    bench = make_bench(place)
    bench.workspace.bound(SMALL)
    refused(bench, many(60))

    folder = Path(bench.workspace.clone(bench.base, PLANNING))

    (kept,) = (place / "cache").glob("*/aside/*")
    assert sum(len(files) for _, _, files in os.walk(kept / "out")) == 60
    assert not (folder / "out").exists()
    bench.seal({"a.txt": "b\n"})


def test_half_done_work_that_is_too_much_is_moved_aside_too(place: Path) -> None:
    bench = make_bench(place)
    bench.workspace.bound(SMALL)
    folder = bench.workspace.clone(bench.base, PLANNING)
    many(60)(Path(folder))

    assert bench.workspace.keep_interrupted(folder, bench.base, "s1") is None
    bench.workspace.clone(bench.base, PLANNING)
    assert len([*(place / "cache").glob("*/aside/*")]) == 1


@given(st.lists(st.tuples(st.text("ab/", min_size=1, max_size=6), st.integers(0, 3 << 20)), max_size=80))
def test_it_is_over_exactly_when_a_bound_is_passed(files: list[tuple[str, int]]) -> None:
    found = Volume()
    for path, size in files:
        if not found.take(path, size, SMALL):
            break
    sizes = [size for _, size in files[: found.files]]
    passed = len(sizes) > 50 or sum(sizes) > 4 << 20 or any(size > 2 << 20 for size in sizes)

    assert bool(found.over) == passed
    assert bool(found.over) or found.files == len(files)
    assert sorted(size for size, _ in found.largest) == sorted(sorted(sizes)[-5:])
