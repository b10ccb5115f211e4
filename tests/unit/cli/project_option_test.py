"""`--project DIR` before the verb: as if the verb was typed there."""

from pathlib import Path

import pytest

from autopilot.cli.main import main
from support.repos import git


@pytest.mark.parametrize("form", [["--project", "there"], ["--project=there"]], ids=["two words", "one word"])
def test_the_verb_works_on_the_project_that_is_named(
    form: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "there" / ".autopilot"
    home.mkdir(parents=True)
    (home / "state.json").write_text("{}")
    git(tmp_path, "init", "-q", "there")
    monkeypatch.chdir(tmp_path)

    assert main([*form, "status"]) == 2
    assert f"{home}/state.json cannot be read" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--project"], "--project needs a folder."),
        (["--project="], "--project needs a folder."),
        (["--project", "nowhere", "status"], "There is no project at 'nowhere': No such file or directory."),
        (["status", "--project", "."], "Unknown option '--project'"),
    ],
    ids=["nothing", "empty", "missing", "behind the verb"],
)
def test_a_folder_that_cannot_be_gone_to_is_told(
    words: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    assert main(words) == 2
    said = capfd.readouterr().err
    assert told in said
    assert len(said.strip().splitlines()) == 3
