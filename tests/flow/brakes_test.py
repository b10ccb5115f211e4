"""Agents that are stuck, each in its own way: every one is stopped by its brake, also when the run dies on the way."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from autopilot.app import prepare as app
from autopilot.domain.errors import BreakerOpen
from autopilot.domain.events import (
    AgentAnswered,
    Entry,
    Noted,
    PhaseFinished,
    RunFinished,
    RunResumed,
    RunStopped,
    StepFinished,
)
from autopilot.domain.request import Resumption, RunEnd
from autopilot.domain.settings import RunCaps
from support.processes import PowerCut
from support.project import honest, plan_answer, reviews, work_answer
from support.repos import git, write
from support.runs import Drive, driven, parts_of

Answers = list[dict[str, Any]]
LETTER = ("letter1.txt", "done")
WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight")
UNFIXED: dict[str, Any] = {"role": "debug", "result": {"fixed": True}}


def stuck(place: Path, answers: Answers, phases: tuple[str, ...] = ("1",), **limits: Any) -> Drive:
    drive = driven(place, answers, *phases)
    config = {"workflow": {"research": False}, "limits": limits}
    write(drive.root, {".planning/config.json": json.dumps(config)})
    git(drive.root, "add", "-A")
    git(drive.root, "commit", "-qm", "config")
    return drive


def planned(*tasks: tuple[str, str]) -> Answers:
    return [*reviews(), plan_answer("1", list(tasks))]


def repeating() -> Answers:
    idle = {"role": "execute", "result": {"tasks_completed": "1/1"}}
    return [*planned(("draft1.txt", "draft"), LETTER), idle, UNFIXED]


def varied() -> Answers:
    """Other text every time, and the same check fails."""
    tries = [{**UNFIXED, "attempt": n, "write": {"draft1.txt": f"{word}\n"}} for n, word in enumerate(WORDS, 1)]
    return [*planned(("draft1.txt", "draft"), LETTER), work_answer("1", "01-01", "draft1.txt", "zero\n"), *tries]


def taking_turns() -> Answers:
    """Writes something wrong, takes it away, writes something else that is wrong."""
    tries = [
        {**UNFIXED, "attempt": n, **({"remove": ["letter1.txt"]} if n % 2 else {"write": {"letter1.txt": f"{word}\n"}})}
        for n, word in enumerate(WORDS, 1)
    ]
    return [*planned(LETTER), work_answer("1", "01-01", "letter1.txt", "zero\n"), *tries]


def growing() -> Answers:
    """The task holds, the phase does not, and each repair is bigger than the one before."""
    repairs = [{**UNFIXED, "attempt": n, "write": {f"more{n}.txt": "more\n" * 9 * n}} for n in range(1, 9)]
    return [*planned(("draft1.txt", "draft")), work_answer("1", "01-01", "draft1.txt", "draft\n"), *repairs]


def refusing() -> Answers:
    """A new plan and a new objection every time."""
    plans = [{**plan_answer("1", [LETTER, (f"{word}.txt", word)]), "attempt": n} for n, word in enumerate(WORDS, 1)]
    refusals = [
        {"role": "plan_check", "attempt": n,
         "result": {"pass": False, "confidence": 3, "issues": [{"severity": "blocker", "description": f"no {word}"}]}}
        for n, word in enumerate(WORDS, 1)
    ]  # fmt: skip
    return [*reviews(), *plans, *refusals]


def spending(**usage: float) -> Answers:
    return [{**answer, "usage": usage} for answer in honest() if answer.get("phase") in {None, "1"}]


@dataclass(frozen=True)
class Case:
    """
    `calls` is how many agents were asked when the brake `brake` stopped the run; `dies` after so many steps.

    Where time is what runs out, a slow machine may use it up before the first call.
    """

    answers: Answers
    limits: Mapping[str, float]
    brake: str
    calls: int
    exit: int = 21
    dies: int = 4
    caps: RunCaps = field(default_factory=RunCaps)


SILENT = [{"role": "plan", "outcome": "timeout"}]
GARBAGE = [{"role": "plan", "text": f"I think it is number {n}", "attempt": n} for n in range(1, 9)]
PRICE, TOKENS = {"cost_usd": 0.4}, {"input_tokens": 4000, "output_tokens": 1000}
CASES = {
    "CB-01 repeats itself": Case(repeating(), {"task_fixes": 9}, "no_progress", 5, dies=5),
    "CB-01 never answers": Case(SILENT, {"unanswered": 50}, "no_progress", 3),
    "CB-01 talks garbage for ever": Case(GARBAGE, {"unanswered": 50}, "no_progress", 6),
    "CB-02 repeats itself with varied arguments": Case(varied(), {"same_error": 3}, "same_error", 5, dies=6),
    "alternates A-B-A-B": Case(
        taking_turns(), {"task_fixes": 9, "alternating_errors": 4}, "alternating_errors", 6, dies=6
    ),
    "ever-growing diffs": Case(growing(), {"debug_attempts": 9, "growing_diffs": 2}, "growing_diffs", 6, dies=8),
    "CB-06 retries of every kind": Case(refusing(), {"plan_checks": 99, "retries": 2}, "retries", 6),
    "CB-09 dollars": Case(spending(**PRICE), {}, "usd_per_run", 2, exit=20, caps=RunCaps(usd=1.0)),
    "CB-08 dollars of a phase": Case(spending(**PRICE), {"usd_per_phase": 1.0}, "usd_per_phase", 2, exit=20),
    "CB-09 tokens": Case(spending(**TOKENS), {}, "tokens_per_run", 3, exit=20, caps=RunCaps(tokens=19_000)),
    "CB-08 tokens of a phase": Case(spending(**TOKENS), {"tokens_per_phase": 19_000}, "tokens_per_phase", 3, exit=20),
    "CB-09 tokens without a price": Case(
        spending(**TOKENS), {"unpriced_tokens_per_run": 19_000}, "unpriced_tokens_per_run", 3, exit=20
    ),
    "CB-08 tokens of a phase without a price": Case(
        spending(**TOKENS), {"unpriced_tokens_per_phase": 19_000}, "unpriced_tokens_per_phase", 3, exit=20
    ),
    "CB-11 hours": Case(
        [{"role": "plan", "sleep": 30}], {}, "minutes_per_run", 1, exit=20, dies=2, caps=RunCaps(hours=1 / 3600)
    ),
    "CB-10 minutes of a phase": Case(
        [{"role": "plan", "sleep": 30}], {"minutes_per_phase": 1 / 60}, "minutes_per_phase", 1, exit=20, dies=2
    ),
}


def dying(drive: Drive, steps: int) -> None:
    """The process ends when so many steps are on disk."""

    def cut(entry: Entry) -> None:
        if isinstance(entry.event, StepFinished) and len(drive.of(StepFinished)) == steps:
            raise PowerCut

    drive.meanwhile = cut


def cut_and_resumed(drive: Drive, case: Case) -> RunEnd:
    dying(drive, case.dies)
    with pytest.raises(PowerCut):
        drive.run(caps=case.caps)
    drive.meanwhile = lambda _: None
    return drive.resume()


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_stuck_agent_is_stopped_by_its_brake_though_the_run_died_on_the_way(place: Path, case: Case) -> None:
    """CB-01, CB-02, CB-06, CB-08..11: within its cap and one unit, by its own exit code, and nothing of it passes."""
    drive = stuck(place, case.answers, ("1",), **dict[str, Any](case.limits))
    end = cut_and_resumed(drive, case)
    last = drive.entries[-1][1].event

    calls = {case.calls, 0} if case.brake.startswith("minutes") else {case.calls}
    assert end.exit == case.exit, end
    assert len(drive.of(AgentAnswered)) in calls, end
    assert isinstance(last, RunFinished if case.brake.endswith("_run") else RunStopped)
    assert (last.brake, last.exit_code, last.do) == (case.brake, case.exit, end.do)
    assert end.reason.startswith(case.brake)
    assert (end.phases["1"].status, drive.of(PhaseFinished)) == ("in_progress", [])


@pytest.mark.parametrize(
    "usage",
    [
        pytest.param({"input_tokens": 3_000_000, "output_tokens": 900, "cost_usd": 0.2}, id="priced"),
        pytest.param({"input_tokens": 9_000_000, "cached_tokens": 8_990_000, "output_tokens": 900}, id="mostly cached"),
    ],
)
def test_cb_08_tokens_stop_nothing_where_the_price_is_known_or_a_cache_has_them(
    place: Path, usage: dict[str, float]
) -> None:
    drive = driven(place, spending(**usage), "1")

    assert drive.run("1").exit == 0


def never_answering(place: Path) -> Drive:
    """Stopped by the breaker."""
    drive = stuck(place, [*SILENT], unanswered=50)
    assert drive.run().exit == 21
    return drive


def resume(drive: Drive, **changes: Any) -> RunEnd:
    return app.resume(str(drive.root), drive.hear, drive.warnings.append, Resumption(**changes))


def test_cb_07_an_open_breaker_cools_down_before_the_run_goes_on(place: Path) -> None:
    """CB-07, STATE-05: the file says until when."""
    drive = never_answering(place)
    state = json.loads(drive.reads(".autopilot/state.json"))

    assert (state["_meta"]["status"], state["circuit_breaker"]["state"]) == ("paused", "open")
    assert state["circuit_breaker"]["cooldown_until"] > state["_meta"]["last_checkpoint"]
    assert [line["event"] for line in state["event_log"][-2:]] == ["circuit_breaker_opened", "run_halted"]
    with pytest.raises(BreakerOpen) as refused:
        drive.resume()
    assert refused.value.exit_code == 21
    assert all(parts_of(refused.value))
    assert not drive.of(RunResumed)


def test_rsm_05_a_half_open_breaker_opens_again_at_the_first_try_that_fails(place: Path) -> None:
    drive = never_answering(place)
    before = len(drive.calls)

    assert resume(drive, now=True).exit == 21
    assert len(drive.calls) == before + 1


def test_rsm_05_a_half_open_breaker_closes_when_a_check_has_passed(place: Path) -> None:
    drive = never_answering(place)
    drive.rewrite(honest())

    assert resume(drive, now=True).exit == 0
    assert [note.event for note in drive.of(Noted)] == ["circuit_breaker_closed"]


def test_a_dead_agent_stops_the_run_and_does_not_fail_every_phase(place: Path) -> None:
    """CB-01, CB-06: each phase gives up after two silences, and the breaker counts over all of them."""
    drive = stuck(place, [{"role": "plan", "outcome": "crashed"}], ("1", "2", "3", "4"))
    end = drive.run()

    assert (end.exit, end.reason.partition(":")[0]) == (21, "no_progress")
    assert [phase.status for phase in end.phases.values()] == ["failed", "in_progress", "not_started", "not_started"]


def test_a_raised_cap_lets_the_run_go_on_to_its_end(place: Path) -> None:
    drive = stuck(place, spending(**PRICE))
    end = drive.run(caps=RunCaps(usd=1.0))

    assert (end.exit, end.usd, end.do) == (20, 0.8, "autopilot resume --max-usd 2")
    assert drive.resume().exit == 20
    assert resume(drive, caps=RunCaps(usd=50)).exit == 0


def test_a_cap_in_dollars_that_cannot_hold_is_told_once(place: Path) -> None:
    drive = stuck(place, honest())

    assert drive.run(caps=RunCaps(usd=5)).exit == 0
    (note,) = drive.of(Noted)
    assert note.event == "cost_unknown"
    assert "--max-hours" in note.details["message"]
