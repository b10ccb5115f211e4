"""A whole run that tells the user it is finished, as their own config.toml wants it and never as a repository does."""

import json
from pathlib import Path

import pytest

from support.project import honest
from support.receivers import receiving
from support.repos import git, write
from support.runs import driven


def test_a_run_tells_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOPILOT_CONFIG", str(tmp_path / "mine"))
    (tmp_path / "mine").mkdir()
    with receiving() as received:
        config = f'[notify]\nurls = ["json://127.0.0.1:{received.port}", "json://127.0.0.1:1"]\n'
        (tmp_path / "mine" / "config.toml").write_text(config)
        project = driven(tmp_path, honest(), "1")
        end = project.run()

    assert end.exit == 0
    assert [json.loads(body)["title"] for _, body in received.posts] == ["project: the run is finished"]
    assert any("You were not told by json" in warning for warning in project.warnings)


def test_a_repository_cannot_have_anybody_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOPILOT_CONFIG", str(tmp_path / "mine"))
    with receiving() as received:
        url = f"json://127.0.0.1:{received.port}"
        project = driven(tmp_path, honest(), "1")
        named = {"notify": {"urls": [url]}}
        write(
            project.root, {".planning/config.json": json.dumps(named), "config.toml": f'[notify]\nurls = ["{url}"]\n'}
        )
        git(project.root, "add", "-A")
        git(project.root, "commit", "-qm", "settings")
        project.run()

    assert received.posts == []
