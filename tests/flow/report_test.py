"""Reports of real runs: on the terminal, as a page with real diffs, and of a run longer than any."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from autopilot.app import prepare as app
from autopilot.cli.main import main
from autopilot.domain.errors import StorageFailed, UsageInvalid
from support.long_journal import long_run, write_journal
from support.project import plan_answer, reviews, work_answer
from support.reports import SECRET, Seen
from support.repos import make_repo, write
from support.runs import Drive, driven, playground, snapshot

PLANTED = "<img src=x onerror=window.hit=2>.txt"
PASSES = [
    *reviews(),
    plan_answer("1", [("letter1.txt", "done")]),
    work_answer(
        "1",
        "01-01",
        "letter1.txt",
        f"done\n<script>window.hit=1</script> {SECRET}\n",
        write={"letter1.txt": f"done\n<script>window.hit=1</script> {SECRET}\n", PLANTED: "done\n"},
    ),
    plan_answer("2", [("letter2.txt", "done")]),
]


@pytest.fixture(scope="module")
def project() -> Iterator[Drive]:
    """Two phases: the first passes, nobody works on the second."""
    with playground() as place:
        drive = driven(place, PASSES, "1", "2>1")
        drive.run()
        write(drive.root, {".planning/phases/09-odd/RECEIPT.json": "no receipt"})
        yield drive


def test_a_page_is_written_whole_and_nothing_else_changes(project: Drive) -> None:
    place = project.root / ".autopilot" / "report.html"
    place.unlink(missing_ok=True)
    before = snapshot(project.root)
    path = Path(app.reports(str(project.root)).page(None, None))
    after = snapshot(project.root)

    assert (path, after.pop(".autopilot/report.html") != b"") == (place, True)
    assert after == before
    assert Seen(path.read_text(encoding="utf-8")).unmatched == []


def test_the_page_shows_each_task_s_diff_without_secrets(project: Drive) -> None:
    text = Path(app.reports(str(project.root)).page(None, "own.html")).read_text(encoding="utf-8")

    assert (project.root / "own.html").is_file()
    assert "+&lt;script&gt;window.hit=1&lt;/script&gt; [redacted:github]" in text
    assert SECRET not in text


def test_the_page_shows_a_file_s_name_as_text(project: Drive) -> None:
    seen = Seen(Path(app.reports(str(project.root)).page(None, None)).read_text(encoding="utf-8"))

    assert any(PLANTED in text for text in seen.text)
    assert not seen.all("img")


def test_the_page_shows_receipts_and_those_that_are_none(project: Drive) -> None:
    text = Path(app.reports(str(project.root)).page(None, None)).read_text(encoding="utf-8")

    assert ".planning/phases/01-letter-1/RECEIPT.json" in text
    assert "09-odd/RECEIPT.json" in text


def test_the_terminal_gets_the_completion_report(
    project: Drive, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """RPT-01: the same as the file that was written when the run ended."""
    monkeypatch.chdir(project.root)
    (paper,) = project.root.glob(".autopilot/completion-*.md")

    assert main(["report"]) == 0
    assert capsys.readouterr().out == paper.read_text(encoding="utf-8")


def test_programs_get_every_fact(
    project: Drive, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.root)
    main(["report", "--json"])
    told = json.loads(capsys.readouterr().out)

    assert [(phase["id"], phase["status"]) for phase in told["phases"]] == [("1", "completed"), ("2", "failed")]
    assert any(fact["command"] == "grep -q done letter1.txt" and fact["exit_code"] == 0 for fact in told["facts"])


def test_a_run_is_found_by_the_beginning_of_its_name(project: Drive) -> None:
    run = project.entries[0][0]

    assert f"Run: {run}" in app.reports(str(project.root)).text(run.removeprefix("run-")[:4])
    with pytest.raises(UsageInvalid, match="There is no run 'run-1999'"):
        app.reports(str(project.root)).text("run-1999")


def test_without_a_run_there_is_nothing_to_report(tmp_path: Path) -> None:
    make_repo(tmp_path, {"a": "a"})

    for tell in (app.reports(str(tmp_path)).text, app.reports(str(tmp_path)).data):
        with pytest.raises(StorageFailed, match="No run found"):
            tell(None)


def test_a_run_that_is_not_over_tells_how_far_it_has_come(tmp_path: Path) -> None:
    root = make_repo(tmp_path, {"a": "a"})
    told = list(long_run(2, 100))[:-1]
    write_journal(root / ".autopilot" / "journal.db", iter(told))

    assert app.reports(str(root)).text(None).endswith("The run is not over. Go on with: autopilot resume")


def test_a_run_of_300_phases_and_100000_entries_is_reported_in_5_megabytes(tmp_path: Path) -> None:
    root = make_repo(tmp_path, {"a": "a"})
    entries = write_journal(root / ".autopilot" / "journal.db", long_run(300, 100_000))
    path = Path(app.reports(str(root)).page(None, None))

    assert 99_000 <= entries <= 101_000
    assert path.stat().st_size < 5_000_000
    assert "Phase 300: Letter 300" in path.read_text(encoding="utf-8")
