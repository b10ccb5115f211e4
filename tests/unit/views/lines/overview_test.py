"""How far the roadmap is, and what to type next."""

import pytest

from autopilot.domain.phase import Phase, Roadmap
from autopilot.domain.rework import Standing
from autopilot.history.record import RunRecord
from autopilot.journal.clock import TickingClock
from autopilot.journal.earlier_runs import Ledger, read_ledger
from autopilot.journal.memory import MemoryJournal
from autopilot.views.lines.overview import lines, overview
from support.records import started


def roadmap() -> Roadmap:
    phases = (
        Phase(id="1", name="One", status="completed"),
        Phase(id="2", name="Two", depends_on=("1",)),
        Phase(id="3", name="Three", depends_on=("2",)),
        Phase(id="4", name="Four | odd", status="deferred"),
    )
    return Roadmap(path="R", phases=phases)


def recorded(**statuses: str) -> Ledger:
    told = {name.removeprefix("p"): Standing(status=status, score=9.25) for name, status in statuses.items()}
    return Ledger(standings=told, verdicts={name: s.status == "completed" for name, s in told.items()})


@pytest.mark.parametrize(
    ("ledger", "begun", "statuses", "percent", "next_"),
    [
        (Ledger(), set(), ["Completed", "Not Started", "Not Started", "Deferred"], 33, "autopilot 2"),
        (Ledger(), {"2"}, ["Completed", "In Progress", "Not Started", "Deferred"], 33, "autopilot 2"),
        (recorded(p2="completed"), set(), ["Completed", "Completed", "Not Started", "Deferred"], 67, "autopilot 3"),
        (recorded(p1="failed"), set(), ["Failed", "Not Started", "Not Started", "Deferred"], 0, "autopilot 1"),
        (recorded(p2="needs_human_verification"), set(), ["Completed", "Needs a person", "Not Started", "Deferred"], 33, "autopilot status"),
        (recorded(p2="completed", p3="completed"), set(), ["Completed", "Completed", "Completed", "Deferred"], 100, ""),
    ],
    ids=["fresh", "begun", "recorded", "a record before a mark", "a person", "done"],
)  # fmt: skip
def test_records_count_before_marks(
    ledger: Ledger, begun: set[str], statuses: list[str], percent: int, next_: str
) -> None:
    seen = overview(roadmap(), ledger, begun)

    assert [row.status for row in seen.phases] == statuses
    assert (seen.percent, seen.next) == (percent, next_)


def test_an_unfinished_run_comes_first() -> None:
    journal = MemoryJournal(TickingClock())
    journal.append("run-0", 0, started())
    ledger = read_ledger(journal)

    assert isinstance(ledger.newest, RunRecord)
    assert overview(roadmap(), ledger, set()).next == "autopilot resume"


def test_the_table_has_its_columns_and_ends_with_the_next_command() -> None:
    shown = list(lines(overview(roadmap(), recorded(p2="completed"), set())))

    assert shown[0].split() == ["|", "#", "|", "Phase", "|", "Status", "|", "Score", "|"]
    assert shown[3].split() == ["|", "2", "|", "Two", "|", "Completed", "|", "9.2", "|"]
    assert "Four / odd" in shown[5]
    assert shown[-2:] == ["2/3 phases completed (67%)", "Next: autopilot 3 (phase 3 is next)"]


def test_when_all_is_done_it_says_so() -> None:
    shown = list(lines(overview(roadmap(), recorded(p2="completed", p3="completed"), set())))

    assert shown[-1] == "All phases complete. Project is done."
