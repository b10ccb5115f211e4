"""What the event log says of remediation cycles and of a deferral that was not accepted."""

from typing import Any

import pytest

from autopilot.domain.answers import PlanOpinion, RateOpinion
from autopilot.domain.events import Noted
from autopilot.domain.results import PlanChecked, Rated
from autopilot.domain.verdict import Advance, Retry, Verdict
from autopilot.policy.deferral import REJECTED
from autopilot.state.build_state import state_of
from support.records import plan, task
from unit.journal.run_examples import Tape, outcome


def details(tape: Tape, name: str) -> list[dict[str, Any]]:
    return [line["details"] for line in state_of(tape.run, tape.passes)["event_log"] if line["event"] == name]


def remediated(new: float | None, verdict: Verdict, status: Any = "completed") -> Tape:
    tape = Tape()
    tape.begin("1")
    tape.end(outcome(score=8.0), Retry(step="remediate", because="low"))
    tape.tell(Noted(event="confidence_diagnostic_written", phase="1", details={"diagnostic_path": "d.md"}))
    tape.begin("1", cycle=1)
    tape.end(outcome(score=new, status=status), verdict, cycle=1)
    return tape


def test_cenf_01e_a_cycle_s_start_tells_the_score_the_bar_and_how_much_there_is_to_mend() -> None:
    (told,) = details(remediated(9.1, Advance()), "remediation_started")

    assert told == {
        "phase_id": "1", "cycle": 1, "current_score": 8.0, "pass_threshold": 9.0, "feedback_items": 1,
        "feedback": ["mend it"],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("new", "status", "improved", "reached"),
    [(9.1, "completed", True, True), (8.4, "completed", True, False), (8.0, "completed", False, False),
     (None, "failed", False, False)],
)  # fmt: skip
def test_cenf_01h_a_cycle_s_end_tells_what_it_changed(
    new: float | None, status: str, improved: bool, reached: bool
) -> None:
    (told,) = details(remediated(new, Advance(), status), "remediation_completed")

    assert (told["phase_id"], told["cycle"], told["old_score"], told["new_score"]) == ("1", 1, 8.0, new)
    assert (told["improved"], told["reached_threshold"]) == (improved, reached)


@pytest.mark.parametrize(("new", "status", "final"), [(8.4, "completed", 8.4), (None, "failed", 8.0)])
def test_cenf_03a_a_phase_passed_below_the_bar_is_marked(new: float | None, status: str, final: float) -> None:
    tape = remediated(new, Advance(because="force_incomplete"), status)

    assert details(tape, "force_incomplete_marked") == [
        {"phase_id": "1", "final_score": final, "pass_threshold": 9.0, "remediation_cycles": 1, "diagnostic_path": "d.md"}
    ]  # fmt: skip
    assert details(remediated(9.1, Advance()), "force_incomplete_marked") == []


def test_stat_03_a_deferral_that_was_rejected_is_an_event() -> None:
    opinion = RateOpinion(alignment_score=9.4, scorecard=())
    tape = Tape()
    tape.begin("1")
    checks = plan(task("01-01"), task("01-02", type="checkpoint:human-verify"))
    accepted = PlanChecked(plan=checks, opinion=PlanOpinion(passed=True, confidence=9))
    tape.step("plan_check", accepted, Advance())
    tape.step("rate", Rated(opinion=opinion, score=9.4), Retry(step="verify", because=f"{REJECTED} Say why."))

    told = {"reason": REJECTED, "task": "01-02 title of 01-02"}
    assert details(tape, "unnecessary_deferral_warning") == [told]
    assert details(tape, "replan_attempt") == []
