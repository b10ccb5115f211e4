"""State that came with a repository, with links in it: nothing outside is written, and nobody waits for a pipe."""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from autopilot.agents import transcripts
from autopilot.app import dashboard as serving
from autopilot.cli.main import main
from autopilot.domain.errors import AutopilotError
from autopilot.files import home_files
from autopilot.journal.clock import SystemClock
from autopilot.journal.inbox import FileInbox
from autopilot.journal.lock import owner
from autopilot.journal.sqlite import SqliteJournal
from autopilot.sessions.files.jsonl import LineFile
from support.dashboards import served
from support.project import honest
from support.runs import Drive, driven, playground

FILES = (
    "lock", "journal.db", "journal.db-wal", "journal.db-shm", "journal.head", "state.json", "state.json.backup",
    "learnings.md", "calibration.json", "context-map.json", ".context-map.json.lock", "questions.json", "resume.log",
    "metrics/sessions.jsonl", "metrics/runs.json", "inbox/retry", "repo.git/info/attributes", "repo.git/config",
    "STATE.md", "repo-map.json",
)  # fmt: skip
FOLDERS = (
    "", "inbox", "keep", "archive", "diagnostics", "transcripts", "metrics", "landing", "repo.git", "repo.git/info",
    "repo.git/objects", "repo.git/refs", "repo.git/autopilot", "repo.git.new",
)  # fmt: skip


@pytest.fixture
def project() -> Iterator[Drive]:
    with playground() as place:
        made = driven(place, honest(), "1", "3")
        (made.root / ".git" / "info" / "exclude").write_text("/.autopilot\n")
        yield made


def outside(tmp_path: Path) -> tuple[Path, Callable[[], dict[str, bytes]]]:
    """A folder and a file that are not the project's, and what is in them."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "file").write_bytes(b"mine\n")
    (folder / "below").mkdir()

    def content() -> dict[str, bytes]:
        return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else b"" for p in folder.rglob("*")}

    return folder, content


def worked(project: Drive) -> None:
    """A run and all that is done beside one; each may refuse with an error of ours, and with no other."""
    home = project.root / ".autopilot"
    for deed in (
        lambda: project.run("1"),
        lambda: FileInbox(home).put("run", "1", "pass"),
        lambda: FileInbox(home).waiting(),
        lambda: LineFile(home / "metrics" / "sessions.jsonl").append({"a": 1}),
        lambda: serving.resume(project.root),
        lambda: transcripts.store(
            home / "transcripts",
            transcripts.Transcript(call="a/b", command=(), stdin={}, stdout="", stderr="", exit=0, seconds=0.0),
        ),
    ):
        with suppress(AutopilotError):
            deed()


@pytest.mark.slow
@pytest.mark.parametrize("name", FOLDERS, ids=lambda name: name or ".autopilot")
def test_nothing_is_written_through_a_linked_folder(name: str, project: Drive, tmp_path: Path) -> None:
    place, content = outside(tmp_path)
    target = project.root / ".autopilot" / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.symlink_to(place)
    before = content()

    worked(project)

    assert content() == before


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_nothing_is_written_through_a_linked_file(name: str, project: Drive, tmp_path: Path) -> None:
    place, content = outside(tmp_path)
    target = project.root / ".autopilot" / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.symlink_to(place / "file")
    before = content()

    worked(project)

    assert content() == before


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in FILES if not name.startswith("repo")])
def test_nobody_waits_for_the_other_end_of_a_pipe(
    name: str, project: Drive, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.root)
    target = project.root / ".autopilot" / name
    target.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(target)

    worked(project)
    main(["status"])

    assert "Traceback" not in capfd.readouterr().err


def test_a_linked_info_folder_is_told_in_three_parts(project: Drive, tmp_path: Path) -> None:
    assert project.run("1").exit == 0
    info = project.root / ".autopilot" / "repo.git" / "info"
    (info / "attributes").unlink()
    info.rmdir()
    info.symlink_to(tmp_path)

    with pytest.raises(home_files.Foreign, match=f"{info} is a link") as told:
        project.run("3")
    assert told.value.why
    assert f"mv {info}" in told.value.do
    assert list(tmp_path.iterdir()) == []


def test_a_log_that_leads_elsewhere_is_not_written(project: Drive, tmp_path: Path) -> None:
    place, content = outside(tmp_path)
    home = project.root / ".autopilot"
    home.mkdir()
    (home / "resume.log").symlink_to(place / "file")
    with served(project.root, deeds=serving.verbs()) as site:
        answer = site.post("/api/projects/1/resume", {})

    assert (answer.status, answer.json["error"]) == (409, f"{home / 'resume.log'} is a link.")
    assert content()["file"] == b"mine\n"


def test_a_log_with_a_second_name_is_not_written(project: Drive, tmp_path: Path) -> None:
    home = project.root / ".autopilot"
    home.mkdir()
    other = project.root.parent / "other"
    other.write_bytes(b"mine\n")
    os.link(other, home / "resume.log")

    with pytest.raises(home_files.Foreign, match="second name"):
        serving.resume(project.root)
    assert other.read_bytes() == b"mine\n"


def test_what_a_run_keeps_is_for_its_owner_alone(project: Drive) -> None:
    """Also what an older version left open to others, as soon as it is used again."""
    home = project.root / ".autopilot"
    project.run("1")
    for path in (home, home / "journal.db", home / "journal.head", home / "lock"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    with SqliteJournal(home / "journal.db", SystemClock()):
        names = ("journal.db", "journal.db-wal", "journal.db-shm", "journal.head")
        modes = {name: stat.S_IMODE((home / name).stat().st_mode) for name in names}
    kept = [path for path in (home / "transcripts").rglob("*") if path.is_file()]

    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept} <= {0o600}
    assert owner(home) is None


def test_a_look_at_a_linked_journal_is_refused(tmp_path: Path) -> None:
    with SqliteJournal(tmp_path / "there" / "journal.db", SystemClock()):
        pass
    home = tmp_path / "here" / ".autopilot"
    home.mkdir(parents=True)
    (home / "journal.db").symlink_to(tmp_path / "there" / "journal.db")

    with pytest.raises(home_files.Foreign, match="is a link"):
        SqliteJournal.read_only(home / "journal.db")
