"""The ledger over archived states: what the journal no longer knows is not forgotten (AMB-06)."""

import json
from pathlib import Path
from typing import Any

import pytest

from autopilot.domain.attempt import PhaseOutcome
from autopilot.domain.errors import StorageFailed
from autopilot.domain.events import PhaseFinished
from autopilot.domain.phase import Phase, Roadmap
from autopilot.domain.rework import Scored, Standing
from autopilot.domain.verdict import Advance, Retry, Stop, Verdict
from autopilot.journal.clock import TickingClock
from autopilot.journal.earlier_runs import Ledger, ledger_of_archive, read_ledger
from autopilot.journal.memory import MemoryJournal
from autopilot.journal.state_file import StateFile
from support.records import started

ROADMAP = Roadmap(path="R", phases=tuple(Phase(id=n, name=n) for n in "123"))


def state(run: str, **phases: str) -> dict[str, Any]:
    told = {name: {"status": status, "alignment_score": 9.1} for name, status in phases.items()}
    return {"_meta": {"version": "1.0", "run_id": run}, "phases": told}


def archive(folder: Path, name: str, content: Any) -> None:
    (folder / "archive").mkdir(exist_ok=True)
    (folder / "archive" / name).write_text(content if isinstance(content, str) else json.dumps(content))


def journalled(verdict: Verdict, archived: tuple[dict[str, Any], ...]) -> Ledger:
    journal = MemoryJournal(TickingClock())
    outcome = PhaseOutcome(phase="1", status="completed", reason="", commit="c", alignment_score=8.0)
    journal.append("run-0", 0, started())
    journal.append("run-0", 1, PhaseFinished(cycle=0, outcome=outcome, verdict=verdict))
    return read_ledger(journal, archived)


def test_amb_06_the_newest_archived_word_on_a_phase_counts(tmp_path: Path) -> None:
    archive(tmp_path, "run-2026-01-02-000000.json", state("run-2026-01-02-000000", **{"1": "failed"}))
    archive(
        tmp_path,
        "run-2026-01-01-000000.json",
        state("run-2026-01-01-000000", **{"1": "completed", "phase_2": "completed"}),
    )
    ledger = ledger_of_archive(StateFile(tmp_path).archived())

    assert ledger.completed(ROADMAP) == {"2"}
    assert ledger.standings["2"] == Standing(status="completed", score=9.1, archived="run-2026-01-01-000000")
    assert not ledger.resumable


@pytest.mark.parametrize(("verdict", "done"), [(Advance(), {"1", "2"}), (Stop(because="x"), {"2"})])
def test_amb_06_the_journal_counts_before_the_archive(verdict: Verdict, done: set[str]) -> None:
    archived = (state("run-2027-01-01-000000", **{"1": "completed", "2": "completed", "3": "in_progress"}),)
    ledger = journalled(verdict, archived)

    assert ledger.completed(ROADMAP) == done
    assert ledger.standings["1"].score == 8.0


@pytest.mark.parametrize(
    "content",
    ["[]", {"phases": {"1": {"status": "completed"}}}, state("../x", **{"1": "completed"}),
     {**state("run-2026-01-01-000000"), "phases": []}, {**state("run-2026-01-01-000000"), "phases": {"1": 3, "2": {"status": []}}}],
)  # fmt: skip
def test_what_is_not_ours_is_passed_over(content: Any, tmp_path: Path) -> None:
    archive(tmp_path, "run-2026-01-01-000000.json", content)

    assert ledger_of_archive(StateFile(tmp_path).archived()) == Ledger()


@pytest.mark.parametrize("content", ["", "{", "null"], ids=["empty", "cut off", "nothing"])
def test_a_damaged_one_is_named_unless_the_journal_tells_of_its_run(content: Any, tmp_path: Path) -> None:
    archive(tmp_path, "run-2026-01-01-000000.json", content)

    with pytest.raises(StorageFailed, match=r"run-2026-01-01-000000\.json' is damaged"):
        StateFile(tmp_path).archived()
    assert StateFile(tmp_path).archived(["run-2026-01-01-000000"]) == ()


def test_without_an_archive_nothing_is_remembered(tmp_path: Path) -> None:
    assert StateFile(tmp_path).archived() == ()


def test_hist_01_scores_are_remembered_over_runs_each_once() -> None:
    first = {"score": 9.1, "timestamp": "2025-01-01T00:00:00.000Z", "flag": "initial", "cycle": 0}
    told = {"status": "completed", "alignment_score": 9.1, "score_history": [first, first, {"score": "odd"}]}
    archived = ({"_meta": {}, "phases": {"1": told}},)

    history = journalled(Advance(), archived).standings["1"].history

    assert [(s.score, s.flag) for s in history] == [(9.1, "initial"), (8.0, "initial")]
    assert history[0] == Scored(score=9.1, timestamp="2025-01-01T00:00:00.000Z")


def test_a_phase_that_was_only_to_be_mended_and_was_left_stands_as_before() -> None:
    archived = (state("run-2025-01-01-000000", **{"1": "completed"}),)
    ledger = journalled(Retry(step="quality", because="low"), archived)

    assert ledger.completed(ROADMAP) == {"1"}
