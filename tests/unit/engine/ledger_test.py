"""What earlier runs left behind: which was the newest, whether it is over, and which phases are done."""

from hashlib import sha256

import pytest

from autopilot.domain.attempt import PhaseOutcome
from autopilot.domain.events import Event, PhaseFinished, RunFinished, RunStopped
from autopilot.domain.phase import Roadmap
from autopilot.domain.results import Planned
from autopilot.domain.verdict import Advance, Retry, Stop, Verdict
from autopilot.journal.clock import TickingClock
from autopilot.journal.earlier_runs import Ledger, read_ledger
from autopilot.journal.memory import MemoryJournal
from support.records import Story, phase, plan, started

ROADMAP = Roadmap(path="ROADMAP.md", phases=(phase("1"), phase("2", status="completed")))


def ledger_of(*runs: tuple[Event, ...]) -> Ledger:
    journal = MemoryJournal(TickingClock())
    for number, events in enumerate(runs):
        for n, event in enumerate((started(), *events)):
            journal.append(f"run-{number}", n, event)
        journal.append(f"run-{number}/1", 0, RunStopped(exit_code=0, reason="another stream"))
    return read_ledger(journal)


def ended(name: str, verdict: Verdict) -> PhaseFinished:
    outcome = PhaseOutcome(phase=name, status="completed", reason="", commit="c")
    return PhaseFinished(cycle=0, outcome=outcome, verdict=verdict)


def test_without_a_run_the_roadmap_s_marks_count() -> None:
    ledger = ledger_of()

    assert (ledger.runs, ledger.newest, ledger.resumable) == ((), None, False)
    assert ledger.completed(ROADMAP) == {"2"}


@pytest.mark.parametrize(
    ("runs", "done"),
    [
        ([(ended("1", Advance()),)], {"1", "2"}),
        ([(ended("1", Advance()),), (ended("1", Stop(because="x")),)], {"2"}),
        ([(ended("1", Stop(because="x")), ended("1", Advance()))], {"1", "2"}),
        ([(ended("1", Retry(step="remediate", because="8")),)], {"2"}),
        ([(ended("2", Stop(because="x")),)], set()),
    ],
    ids=["passed", "failed later", "passed later", "being mended", "ticked but failed"],
)
def test_the_newest_word_on_a_phase_counts(runs: list[tuple[Event, ...]], done: set[str]) -> None:
    assert ledger_of(*runs).completed(ROADMAP) == done


@pytest.mark.parametrize(
    ("events", "resumable"),
    [
        ((), True),
        ((RunStopped(exit_code=22, reason="limit"),), True),
        ((RunFinished(status="failed", exit_code=10, reason=""),), True),
        ((RunFinished(status="completed", exit_code=0, reason=""),), False),
    ],
    ids=["crashed", "stopped", "failed", "completed"],
)
def test_all_but_a_completed_run_can_be_resumed(events: tuple[Event, ...], resumable: bool) -> None:
    ledger = ledger_of((RunFinished(status="completed", exit_code=0, reason=""),), events)

    assert (ledger.resumable, ledger.runs) == (resumable, ("run-0", "run-1"))


@pytest.mark.parametrize(
    ("verdicts", "counts"),
    [([Stop(because="x")], True), ([], True), ([Advance()], False), ([Stop(because="x"), Advance()], False)],
    ids=["failed", "cut off", "passed", "passed at last"],
)
def test_a_plan_of_agents_that_led_to_no_pass_is_remembered(verdicts: list[Verdict], counts: bool) -> None:
    journal = MemoryJournal(TickingClock())
    events: list[Event] = [started(), *(ended("1", verdict) for verdict in verdicts)]
    for n, event in enumerate(events):
        journal.append("run-0", n, event)
    told = Story().step("plan", Planned(plan=None)).step("plan", Planned(plan=plan())).entries
    for stream in ("run-0/1", "run-0/1~1"):
        for entry in told:
            journal.append(stream, entry.number, entry.event)

    assert read_ledger(journal).proposals == ((sha256(plan().text.encode()).hexdigest(),) if counts else ())
