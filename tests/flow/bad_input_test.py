"""Input no run can start from: told in three parts, with the right exit code, and not a byte is changed."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from autopilot.app import prepare as app
from autopilot.domain.errors import (
    AutopilotError,
    ConfigInvalid,
    RepositoryInvalid,
    RoadmapInvalid,
    StorageFailed,
    UsageInvalid,
)
from support.powers import writes_anywhere
from support.project import honest
from support.repos import git, write
from support.runs import Drive, driven, parts_of, roadmap_of, snapshot

Spoil = Callable[[Path], object]


def overwrite(path: str, text: str) -> Spoil:
    return lambda root: write(root, {path: text})


def without_git(root: Path) -> None:
    subprocess.run(["rm", "-rf", str(root / ".git")], check=True)


def without_commit(root: Path) -> None:
    without_git(root)
    git(root, "init", "-q")


BAD: dict[str, tuple[Spoil, str, type[AutopilotError], int]] = {
    "no repository": (without_git, "all", RepositoryInvalid, 2),
    "no commit": (without_commit, "all", RepositoryInvalid, 2),
    "no roadmap": (lambda root: (root / ".planning/ROADMAP.md").unlink(), "all", RoadmapInvalid, 2),
    "no phases": (overwrite(".planning/ROADMAP.md", "# Roadmap\n\nSoon.\n"), "all", RoadmapInvalid, 2),
    "unknown phase": (lambda root: None, "7", RoadmapInvalid, 2),
    "no phase named": (lambda root: None, "", UsageInvalid, 2),
    "nonsense for phases": (lambda root: None, "one to three", UsageInvalid, 2),
    "config is no JSON": (overwrite(".planning/config.json", "{torn"), "all", ConfigInvalid, 2),
    "config is no object": (overwrite(".planning/config.json", "[]"), "all", ConfigInvalid, 2),
    "another tool's state": (overwrite(".autopilot/state.json", '{"tool": "other"}'), "all", RepositoryInvalid, 2),
    "a damaged journal": (overwrite(".autopilot/journal.db", "no database"), "all", StorageFailed, 2),
    "phases in a circle": (
        overwrite(".planning/ROADMAP.md", roadmap_of("1>2", "2>1")), "all", RoadmapInvalid, 2),
}  # fmt: skip


@pytest.fixture
def project(place: Path) -> Drive:
    return driven(place, honest(), "1", "2>1")


@pytest.mark.parametrize(("spoil", "phases", "kind", "code"), BAD.values(), ids=BAD)
def test_bad_input_is_told_and_nothing_is_touched(
    project: Drive, spoil: Spoil, phases: str, kind: type[AutopilotError], code: int
) -> None:
    spoil(project.root)
    before = snapshot(project.root)

    with pytest.raises(AutopilotError) as refused:
        project.run(phases)

    assert isinstance(refused.value, kind)
    assert refused.value.exit_code == code
    assert all(parts_of(refused.value))
    assert snapshot(project.root) == before


@pytest.mark.parametrize("script", ["torn = [", '[[answer]]\nrole = "cook"\n', None], ids=["torn", "odd role", "none"])
def test_a_script_that_cannot_be_played_is_told_before_anything_is_written(project: Drive, script: str | None) -> None:
    project.script.unlink()
    if script is not None:
        project.script.write_text(script, encoding="utf-8")
    before = snapshot(project.root)

    with pytest.raises(ConfigInvalid) as refused:
        project.run()

    assert all(parts_of(refused.value))
    assert snapshot(project.root) == before


def test_a_home_that_cannot_be_made_is_told(project: Drive) -> None:
    """A file stands where the folder belongs: refused for every user, the superuser too."""
    write(project.root, {".autopilot": "a file\n"})
    before = snapshot(project.root)

    with pytest.raises(AutopilotError) as refused:
        project.run()

    assert refused.value.exit_code == 5
    assert all(parts_of(refused.value))
    assert snapshot(project.root) == before


@pytest.mark.skipif(writes_anywhere(), reason="this user may write anywhere")
def test_a_home_that_cannot_be_written_is_told(project: Drive) -> None:
    home = project.root / ".autopilot"
    home.mkdir()
    home.chmod(0o500)
    before = snapshot(project.root)

    with pytest.raises(StorageFailed) as refused:
        project.run()

    home.chmod(0o700)
    assert all(parts_of(refused.value))
    assert snapshot(project.root) == before


VERBS: dict[str, Callable[[str], object]] = {
    "resume": lambda folder: app.resume(folder, lambda stream, entry: None, print),
    "rebuild": app.rebuild,
}


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
def test_without_a_run_there_is_nothing_to_go_on_with(project: Drive, verb: Callable[[str], object]) -> None:
    before = snapshot(project.root)

    with pytest.raises(UsageInvalid, match="No run found") as refused:
        verb(str(project.root))

    assert all(parts_of(refused.value))
    assert snapshot(project.root) == before


def test_without_a_run_there_is_nothing_to_stop(project: Drive) -> None:
    before = snapshot(project.root)

    assert app.stop(str(project.root), now=False) == "No run is going on here."
    assert snapshot(project.root) == before
