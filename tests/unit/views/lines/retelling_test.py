"""The account of a finished run."""

from msgspec.structs import replace

from autopilot.domain.events import PhaseFinished, PhaseLanded, PhaseSkipped, PhaseStarted, RunFinished
from autopilot.domain.results import Verified
from autopilot.domain.verdict import Advance, Retry, Stop
from autopilot.views.lines.retelling import account
from unit.views.samples import (
    RUN,
    brief,
    entries,
    executed,
    finished,
    fixed,
    outcome,
    ran,
    reviewed,
    run_started,
    work,
)

CHECKED = finished("verify", Verified(commit="c", tree="t", checks=(ran(), ran("make"))), Advance())
RUN_ENTRIES = entries(
    run_started(),
    PhaseStarted(brief=brief("1")),
    PhaseFinished(cycle=0, outcome=outcome(phase="1"), verdict=Advance()),
    PhaseLanded(phase="1", commit="c0ffee1234567890", landed=True),
    PhaseStarted(brief=brief("2")),
    PhaseFinished(cycle=0, outcome=outcome("failed", None, reason="tests fail"), verdict=Stop(because="tests fail")),
    PhaseSkipped(phase="3", reason="blocked_by_phase_2", blocking_phase="2"),
    RunFinished(status="failed", exit_code=10, reason="failed or blocked: 2, 3"),
)
STREAMS = {
    f"{RUN}/1": entries(finished("execute", executed(work(ran(), task="01-01")), Advance(to="mini_verify")), CHECKED),
    f"{RUN}/2": entries(
        finished("execute", executed(work(ran(exit_code=1))), Retry(step="fix", because="x")),
        finished("fix", fixed(work(ran())), Advance(to="mini_verify")),
        finished("mini_verify", reviewed(passed=False), Retry(step="fix", because="y")),
    ),
}


def test_claims_and_facts_stand_side_by_side() -> None:
    assert account(RUN_ENTRIES, STREAMS) == (
        "Run run-2026-02-09-143052: 1 of 3 phases passed.\n"
        "It ended with exit code 10: failed or blocked: 2, 3\n"
        "\n"
        "Phase 1 Greeting\n"
        "  task 01-01: agent claimed done (1/1); found `python -m unittest` exited 0, 1/1 checks passed\n"
        "  whole phase checked again: 2/2 checks passed\n"
        "  ended: completed at 9.4/10: every gate passed; landed as c0ffee12\n"
        "\n"
        "Phase 2 Farewell\n"
        "  task 02-01: agent claimed done (1/1); found `python -m unittest` exited 1\n"
        "  task 02-01: fix claimed fixed; found `python -m unittest` exited 0, 1/1 checks passed\n"
        "  task 02-01: the reviewer did not accept it\n"
        "  ended: failed: tests fail\n"
        "\n"
        "Phase 3\n"
        "  ended: skipped, blocked by phase 2\n"
    )


def test_an_account_of_three_phases_fits_on_a_screen() -> None:
    assert len(account(RUN_ENTRIES, STREAMS).splitlines()) <= 24


def test_a_run_that_was_cut_off_has_an_account_too() -> None:
    assert account(RUN_ENTRIES[:2], {}) == (
        "Run run-2026-02-09-143052: 0 of 3 phases passed.\n\nPhase 1 Greeting\n  ended: not finished\n"
    )


def test_a_part_of_a_phase_is_told_of_and_is_no_phase() -> None:
    part = replace(brief("3"), phase=replace(brief("3").phase, id="3a"), parent="3")
    ended = PhaseFinished(cycle=0, outcome=outcome(phase="3a"), verdict=Advance())

    told = account(entries(run_started(), PhaseStarted(brief=part), ended), {}).splitlines()

    assert told[0] == "Run run-2026-02-09-143052: 0 of 3 phases passed."
    assert told[-1] == "  ended: completed at 9.4/10: every gate passed"
