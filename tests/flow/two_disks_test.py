"""A project on another file system than the user's cache, as on a mounted volume or a second disk."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.project import honest
from support.repos import git
from support.runs import MEMORY, driven

pytestmark = pytest.mark.skipif(not os.access(MEMORY, os.W_OK), reason="there is no second file system to write to")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache on another file system than the project."""
    with tempfile.TemporaryDirectory(prefix="autopilot-cache-", dir=MEMORY) as name:
        if Path(name).stat().st_dev == tmp_path.stat().st_dev:
            pytest.skip("temporary folders and memory are one file system")
        monkeypatch.setenv("AUTOPILOT_CACHE", name)
        yield Path(name)


@pytest.mark.parametrize("name", ["plain", 'a:b "c" \\d é'])
def test_a_roadmap_is_driven_to_its_end(tmp_path: Path, cache: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    project = driven(tmp_path / name, honest(), "1")

    end = project.run()

    assert (end.exit, end.phases["1"].status) == (0, "completed")
    assert "letter1.txt" in git(project.root, "ls-files").splitlines()
    assert any(cache.iterdir())
