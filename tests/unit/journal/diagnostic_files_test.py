"""Papers below `.autopilot/`: written whole, never twice, and last run's learnings out of the way."""

from pathlib import Path

import pytest

from autopilot.domain.errors import StorageFailed
from autopilot.journal.diagnostic_files import HEADER, FileDiagnostics


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / ".autopilot").mkdir()
    return tmp_path / ".autopilot"


def test_obsv_04_the_folder_is_made(home: Path) -> None:
    FileDiagnostics(home).write("phase-1-postmortem.json", "{}\n")

    assert (home / "diagnostics" / "phase-1-postmortem.json").read_text() == "{}\n"


def test_lrng_01_learnings_follow_each_other_and_none_twice(home: Path) -> None:
    papers = FileDiagnostics(home)
    assert papers.learnings() == ""
    for entry in ("### a\n", "### b\n", "### a\n"):
        papers.learn(entry)

    assert papers.learnings() == f"{HEADER}\n### a\n\n### b\n"


def test_lrng_03_a_new_run_starts_without_learnings_and_loses_none(home: Path) -> None:
    papers = FileDiagnostics(home)
    papers.learn("### a\n")

    assert papers.reset("run-1")
    assert (papers.learnings(), papers.reset("run-2")) == ("", False)
    assert (home / "archive" / "learnings-run-1.md").read_text() == f"{HEADER}\n### a\n"


def test_lrng_03_learnings_of_a_run_that_went_on_join_those_kept_before(home: Path) -> None:
    papers = FileDiagnostics(home)
    for entry in ("### a\n", "### b\n"):
        papers.learn(entry)
        papers.reset("run-1")

    kept = (home / "archive" / "learnings-run-1.md").read_text()
    assert kept == f"{HEADER}\n### a\n{HEADER}\n### b\n"


def test_learnings_that_cannot_be_read_have_taught_nothing_and_are_not_overwritten(home: Path) -> None:
    (home / "learnings.md").mkdir()

    assert FileDiagnostics(home).learnings() == ""
    with pytest.raises(StorageFailed):
        FileDiagnostics(home).learn("### a\n")


def test_what_cannot_be_written_is_said_in_our_own_words(home: Path) -> None:
    (home / "diagnostics").write_text("a file where a folder belongs")

    with pytest.raises(StorageFailed):
        FileDiagnostics(home).write("x", "y")


def test_secrets_are_taken_out_of_papers(home: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    papers = FileDiagnostics(home)
    papers.write("paper.md", f"key {secret}\n")
    papers.learn(f"### {secret}\n")

    assert (home / "diagnostics" / "paper.md").read_text() == "key [redacted:github]\n"
    assert papers.learnings() == f"{HEADER}\n### [redacted:github]\n"
