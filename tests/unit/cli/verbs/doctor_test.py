"""`autopilot doctor`, against an examiner that finds what it is told and against real repositories."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from autopilot.app import prepare as app
from autopilot.cli.verbs.doctor import lines, show
from autopilot.domain.request import Check, Level
from support.project import ROADMAP
from support.repos import git, make_repo
from support.runs import snapshot

pytestmark = pytest.mark.sandbox


@dataclass
class PlayedExaminer:
    levels: tuple[Level, ...]

    def examine(self, folder: str) -> tuple[Check, ...]:
        return tuple(
            Check(level=level, what="thing", found=f"in {folder}\x1b[31m", fix="Mend it.") for level in self.levels
        )

    def write_config(self, folder: str) -> str:
        return f"{folder}/config.json"

    def try_notifying(self) -> tuple[Check, ...]:
        return (Check(level="ok", what="notify", found="json: a test was sent"),)


def level_of(folder: Path, what: str) -> set[str]:
    return {check.level for check in app.examine(str(folder)) if check.what == what}


def project(folder: Path, **files: str) -> Path:
    return make_repo(folder / "project", {".planning/ROADMAP.md": ROADMAP, **files})


@pytest.mark.parametrize(
    ("levels", "code"), [((), 0), (("ok", "warn"), 0), (("ok", "fail", "warn"), 2)], ids=["none", "warned", "failed"]
)
def test_only_a_failure_changes_the_exit_code(
    levels: tuple[Level, ...], code: int, capfd: pytest.CaptureFixture[str]
) -> None:
    assert show("/p", PlayedExaminer(levels), as_json=True, write_config=False) == code
    assert [check["level"] for check in json.loads(capfd.readouterr().out)["checks"]] == list(levels)


def test_each_line_says_how_it_is_and_how_to_mend_it() -> None:
    assert lines(PlayedExaminer(("ok", "fail")).examine("/p")) == [
        "ok    thing         in /p",
        "fail  thing         in /p",
        f"{'':<20}-> Mend it.",
        "",
        "1 ok, 0 warn, 1 fail",
    ]


def test_a_config_is_written_only_when_asked_for(capfd: pytest.CaptureFixture[str]) -> None:
    show("/p", PlayedExaminer(("ok",)), as_json=False, write_config=True)

    assert capfd.readouterr().out.startswith("Written: /p/config.json\n\nok    thing")


def test_a_sound_project_has_no_failure_and_is_left_as_it_is(tmp_path: Path) -> None:
    root = project(tmp_path)
    before = snapshot(root)
    checks = app.examine(str(root))

    # A machine without any sandbox is not the project's fault.
    assert not [check for check in checks if check.level == "fail" and check.what != "sandbox"]
    assert {"git", "repository", "checkout", "roadmap", "config", "run", "sandbox", "disk", "cache", "python"} <= {
        check.what for check in checks
    }
    assert snapshot(root) == before


def checkout_of(root: Path) -> tuple[str, str]:
    (check,) = (check for check in app.examine(str(root)) if check.what == "checkout")
    return check.level, check.found


def test_planning_files_that_are_not_committed_are_named(tmp_path: Path) -> None:
    root = project(tmp_path)
    assert checkout_of(root) == ("ok", "nothing uncommitted")

    (root / ".planning/PROJECT.md").write_text("# Letters\n")
    planning = "1 uncommitted files in .planning/, which a run reads as they are on disk"
    assert checkout_of(root) == ("ok", planning)

    (root / "new.txt").write_text("mine")
    assert checkout_of(root) == ("warn", f"1 uncommitted files, which are no part of a run; {planning}")


def test_what_is_wrong_is_found_where_it_is(tmp_path: Path) -> None:
    root = project(tmp_path)
    (root / ".planning/config.json").write_text("{")
    (root / "new.txt").write_text("mine")
    (root / ".git/MERGE_HEAD").write_text("0" * 40)
    git(root, "checkout", "-q", "--detach")

    assert level_of(root, "config") == {"fail"}
    assert level_of(root, "repository") == level_of(root, "checkout") == {"warn"}


@pytest.mark.parametrize(
    ("damage", "what"),
    [({".autopilot/state.json": "{}"}, "run"), ({".planning/ROADMAP.md": "nothing here\n"}, "roadmap")],
    ids=["a foreign state.json", "no phases"],
)
def test_what_keeps_a_run_from_starting_is_a_failure(damage: dict[str, str], what: str, tmp_path: Path) -> None:
    root = project(tmp_path, **damage)

    assert level_of(root, what) == {"fail"}


def test_a_project_without_a_roadmap_is_told_how_to_make_one(tmp_path: Path) -> None:
    root = project(tmp_path)
    (root / ".planning/ROADMAP.md").unlink()
    (check,) = (check for check in app.examine(str(root)) if check.what == "roadmap")

    assert check.level == "fail"
    assert "`autopilot init`" in check.fix


def test_a_repository_without_a_commit_and_no_repository_at_all_fail(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    git(tmp_path / "empty", "init", "-q")
    (tmp_path / "none").mkdir()

    assert level_of(tmp_path / "empty", "repository") == level_of(tmp_path / "none", "repository") == {"fail"}


def test_a_cache_that_cannot_be_made_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("AUTOPILOT_CACHE", str(tmp_path / "file" / "cache"))

    assert level_of(project(tmp_path), "cache") == {"fail"}


def test_detected_commands_are_written_with_their_source(tmp_path: Path) -> None:
    root = project(
        tmp_path,
        **{"Makefile": "test:\n\ttrue\n", ".planning/config.json": '{"project": {"commands": {"lint": null}}}\n'},
    )
    command = [sys.executable, "-m", "autopilot", "doctor", "--write-config", "--json"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    held = json.loads((root / ".planning/config.json").read_text())["project"]

    code = 0 if app.has_sandbox() else 2
    assert (done.returncode, json.loads(done.stdout)["written"]) == (code, str(root / ".planning/config.json"))
    assert (held["type"], held["manifest"], held["commands"]["test"]) == ("makefile", "Makefile", "make test")
    assert held["commands_source"]["lint"] == "user-override"
    (root / "Makefile").write_text("check:\n\ttrue\n")
    commands = dict(app.read_project(root).commands.configured())
    assert commands == {"compile": "make check", "test": "make test"}  # what is written counts; what is not is detected


@pytest.mark.parametrize(("enabled", "levels"), [(True, {"ok", "warn"}), (False, set())], ids=["asked for", "not"])
def test_vist_04_a_browser_is_looked_for_only_where_pages_are_looked_at(
    tmp_path: Path, enabled: bool, levels: set[str]
) -> None:
    """VIST-04: one that is missing is a warning, no failure."""
    section = {
        "enabled": enabled,
        "launch_command": "x",
        "base_url": "http://a",
        "routes": [{"path": "/", "name": "a"}],
    }
    root = project(tmp_path, **{".planning/config.json": json.dumps({"project": {"visual_testing": section}})})

    found = level_of(root, "visual testing")

    assert found <= levels
    assert bool(found) is enabled
