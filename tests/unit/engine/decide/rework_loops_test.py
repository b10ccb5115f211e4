"""The loops that mend a phase: where a pass stands in them, and what the next one is about."""

from typing import Any

import pytest

from autopilot.domain.attempt import PhaseOutcome
from autopilot.domain.events import Entry, Event, PhaseFinished, PhaseStarted
from autopilot.domain.rework import Before, Deficiency, Mode
from autopilot.domain.settings import Modes
from autopilot.domain.verdict import Advance, Retry, Stop, Verdict
from autopilot.engine.decide.next_move import End, Land, Spawn, next_phase
from autopilot.engine.decide.rework_loops import open_gaps, pass_end, stood, told_what_to_mend
from autopilot.history.best_attempt import best
from autopilot.history.record import PhaseRecord, RunRecord
from support.records import BASE, Story, brief, phase, plan, started, whole

ENDING = Deficiency(criterion="ending", current_score=8.0, deficiency="short", target_file="a.txt")
GREETING = Deficiency(criterion="greeting", current_score=9.0, deficiency="cold", target_file="b.txt")
BEFORE = Before(status="completed", score=9.0, plan=plan(), feedback=("a.txt: short",), deficiencies=(ENDING, GREETING))


def run_of(modes: Modes, *events: Event, before: Before | None = BEFORE, **more: Any) -> RunRecord:
    start = started(modes=modes, before={"1": before} if before else {}, **more)
    return RunRecord(entries=tuple(Entry(number=n, at="", event=e) for n, e in enumerate((start, *events))))


def begun(mode: Mode, turn: int, **more: Any) -> PhaseStarted:
    return PhaseStarted(brief=brief(mode=mode, turn=turn, cycle=turn, base="line", **more))


def ended(score: float | None, verdict: Verdict, mode: Mode = "initial", turn: int = 0) -> PhaseFinished:
    status: Any = "completed" if score is not None else "failed"
    outcome = PhaseOutcome(phase="1", status=status, reason="", commit=f"c{turn}", alignment_score=score)
    return PhaseFinished(cycle=turn, outcome=outcome, verdict=verdict, mode=mode, turn=turn)


@pytest.mark.parametrize(
    ("modes", "before", "wanted"),
    [
        pytest.param(Modes(force=""), BEFORE, Spawn(phase(), 0, BASE, mode="force"), id="FORC-04 anew"),
        pytest.param(Modes(quality=""), BEFORE, Spawn(phase(), 1, BASE, mode="quality", turn=1), id="QUAL-07 in its loop at once"),
        pytest.param(Modes(gaps=""), BEFORE, Spawn(phase(), 1, BASE, mode="gaps", turn=1), id="GAPS-09 in its loop at once"),
        pytest.param(Modes(quality="", gaps=""), BEFORE, Spawn(phase(), 1, BASE, mode="quality", turn=1), id="FLAG-05 quality first"),
        pytest.param(Modes(quality=""), None, Spawn(phase(), 0, BASE), id="QUAL-03 not completed"),
        pytest.param(Modes(), BEFORE, Spawn(phase(), 0, BASE), id="named without a flag"),
        pytest.param(Modes(quality=""), Before(status="completed"), Spawn(phase(), 0, BASE), id="AMB-06 no score"),
    ],
)  # fmt: skip
def test_the_first_pass_of_a_target(modes: Modes, before: Before | None, wanted: Spawn) -> None:
    assert next_phase(run_of(modes, before=before)) == wanted


def test_a_loop_goes_on_from_the_best_pass_and_not_from_a_worse_one() -> None:
    """AMB-37, QUAL-07."""
    more = Retry(step="quality", because="low")
    run = run_of(
        Modes(quality=""), begun("quality", 1), ended(9.2, more, "quality", 1), begun("quality", 2, number=1),
        ended(9.1, more, "quality", 2),
    )  # fmt: skip

    assert next_phase(run) == Spawn(phase(), 3, "c1", mode="quality", turn=3)
    assert best(run, "1").alignment_score == 9.2


def test_flag_05_the_gaps_follow_the_quality_loop_with_a_count_of_their_own() -> None:
    run = run_of(
        Modes(quality="", gaps=""), begun("quality", 1), ended(9.2, Retry(step="gaps", because=""), "quality", 1)
    )

    assert next_phase(run) == Spawn(phase(), 2, "c1", mode="gaps", turn=1)


@pytest.mark.parametrize("score", [8.9, None], ids=["worse", "failed"])
def test_what_an_earlier_run_left_is_what_lands_when_nothing_better_came(score: float | None) -> None:
    """AMB-37."""
    run = run_of(
        Modes(quality=""), begun("quality", 1), ended(score, Advance(because="quality_exhausted"), "quality", 1)
    )

    assert next_phase(run) == Land("1", "line")
    assert (best(run, "1").alignment_score, stood(run, "1", "quality")) == (9.0, 9.0)


def test_gate_07_a_phase_the_judge_wants_undone_halts_the_run() -> None:
    loose = (phase("1"), phase("2"))
    start = started(*loose)
    told: tuple[Event, ...] = (start, ended(None, Stop(because="harmful", rollback=True)))
    run = RunRecord(entries=tuple(Entry(number=n, at="", event=e) for n, e in enumerate(told)))

    assert next_phase(run) == End("failed", 10, "phase 1 was rolled back: harmful")


def mending(mode: Mode, run: RunRecord, *passes: PhaseRecord) -> Any:
    return told_what_to_mend(brief(mode=mode, turn=1, cycle=1), run, passes)


def test_a_gap_pass_is_told_one_shortcoming_and_the_rest_waits() -> None:
    """GAPS-09, AMB-05."""
    made = mending("gaps", run_of(Modes(gaps="")))

    assert (made.deficiency, made.deficiencies, made.pass_threshold) == (ENDING, (GREETING,), 9.5)
    assert made.feedback == ("a.txt: short (medium, resolves ending)",)


def test_qual_06_a_quality_pass_is_told_every_deduction_below_its_target() -> None:
    run = run_of(Modes(quality=""), begun("initial", 0), ended(9.4, Retry(step="quality", because="")), before=None)

    made = mending("quality", run, whole())

    assert made.pass_threshold == 9.5
    assert made.feedback[0] == "letter.txt:1: as asked (+0.10, resolves the letter)"


def test_the_next_gap_pass_takes_the_next_shortcoming_from_the_list_made_first() -> None:
    """GAPS-10."""
    first = Story(brief(mode="gaps", turn=1, cycle=1, deficiency=ENDING, deficiencies=(GREETING,))).record
    run = run_of(Modes(gaps=""), begun("gaps", 1), ended(8.9, Retry(step="gaps", because=""), "gaps", 1))

    assert open_gaps(run, "1", (first,)) == (GREETING,)


@pytest.mark.parametrize(
    ("mode", "turn", "modes", "loop", "left"),
    [
        ("initial", 0, Modes(), "standard", 2),
        ("initial", 0, Modes(quality=""), "quality", 3),
        ("quality", 2, Modes(quality=""), "quality", 1),
        ("gaps", 1, Modes(gaps=""), "gaps", 1),
        ("force", 0, Modes(force=""), "standard", 2),
    ],
    ids=["CENF-01e two cycles", "QUAL-03 leads into its loop", "QUAL-05 three cycles", "GAPS-09 as gaps are left", "force"],
)  # fmt: skip
def test_how_many_passes_a_loop_has_left(mode: Mode, turn: int, modes: Modes, loop: str, left: int) -> None:
    given = brief(mode=mode, turn=turn, cycle=turn, deficiencies=(GREETING,))
    outcome = PhaseOutcome(phase="1", status="completed", reason="", commit="c", alignment_score=8.0)

    end = pass_end(given, outcome, run_of(modes), (Story(given).record,))

    assert (end.loop, end.cycles_left) == (loop, left)


@pytest.mark.parametrize("modes", [Modes(quality=""), Modes(gaps="")], ids=["FLAG-07", "FLAG-08"])
def test_lenient_does_not_shorten_a_loop_that_was_asked_for(modes: Modes) -> None:
    given = brief(mode="initial", pass_threshold=9.5)
    outcome = PhaseOutcome(phase="1", status="completed", reason="", commit="c", alignment_score=8.0)

    assert pass_end(given, outcome, run_of(modes, lenient=True), (whole(given),)).cycles_left > 0
    assert pass_end(given, outcome, run_of(Modes(), lenient=True), (whole(given),)).cycles_left == 0
