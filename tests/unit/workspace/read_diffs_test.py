"""Many diffs of our own repository in one go."""

from pathlib import Path

import pytest

from autopilot.workspace.read_diffs import differences, reader
from support.workspaces import ENV, Bench, make_bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return make_bench(tmp_path)


def read(bench: Bench, *pairs: tuple[str, str]) -> dict[tuple[str, str], str]:
    return differences(reader(bench.root / ".autopilot" / "repo.git", bench.processes, ENV), pairs)


def test_each_diff_is_found_under_its_base_and_commit(bench: Bench) -> None:
    first = bench.seal({"a.txt": "new\n"})
    second = bench.seal({"c.md": None, f"{first}.txt": f"{first}\n"}, "s2", first)
    found = read(bench, (bench.base, first), (first, second), (bench.base, second))

    assert "-a\n+new\n" in found[bench.base, first]
    assert "c.md" not in found[bench.base, first]
    assert "deleted file" in found[first, second]
    assert f"+{first}\n" in found[first, second]
    assert "+new\n" in found[bench.base, second]


@pytest.mark.parametrize("name", ["c1", "0" * 40, "--output=/tmp/x", "HEAD"], ids=["no id", "unknown", "option", "ref"])
def test_what_the_repository_does_not_have_is_left_out(bench: Bench, name: str) -> None:
    commit = bench.seal({"a.txt": "new\n"})

    assert list(read(bench, (bench.base, name), (bench.base, commit), (name, commit))) == [(bench.base, commit)]


def test_a_diff_past_the_bounds_is_not_shown_in_part(bench: Bench) -> None:
    small, big = bench.seal({"a.txt": "new\n"}), bench.seal({"a.txt": "x\n" * 200_000}, "s2")
    git = reader(bench.root / ".autopilot" / "repo.git", bench.processes, ENV)
    found = differences(git, [(bench.base, small), (bench.base, big)], 100_000)

    assert list(found) == [(bench.base, small)]


def test_without_a_repository_there_is_nothing_to_show(tmp_path: Path, bench: Bench) -> None:
    git = reader(tmp_path / "user" / "gone.git", bench.processes, ENV)

    assert differences(git, [(bench.base, bench.base)]) == {}
