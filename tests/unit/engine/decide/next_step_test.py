"""The next move of a phase: the record alone decides, and the same record always decides the same."""

from typing import Any

import msgspec
import pytest

from autopilot.domain.answers import JudgeOpinion, TaskOpinion
from autopilot.domain.results import Debugged, Executed, Fixed, Judged, MiniVerified, Unanswered
from autopilot.domain.verdict import Advance, AskHuman, Retry, Stop, Verdict
from autopilot.engine.decide.next_step import Finish, Run, next_move, tip
from autopilot.pipeline import PIPELINE, stage_named
from support.records import BASE, Story, brief, started, whole, work

JUDGED = Judged(opinion=JudgeOpinion(recommendation="proceed"))
ASIDE = Advance(to="verify", because="task FAILED: x")


def test_a_phase_begins_with_the_first_step() -> None:
    assert next_move(Story().record) == Run(stage_named("preflight"), 1)


@pytest.mark.parametrize(
    ("step", "verdict", "wanted"),
    [
        ("judge", Advance(), Run(stage_named("judge_divergence"), 1)),
        ("triage", Advance(to="verify", because="there"), Run(stage_named("verify"), 1)),
        ("judge", Retry(step="judge", because="idle"), Run(stage_named("judge"), 2)),
        ("verify", Retry(step="debug", because="broken"), Run(stage_named("debug"), 1)),
        ("rate", AskHuman(question="look"), Finish("needs_human_verification", "look")),
        ("judge", Stop(because="no", rollback=True), Finish("failed", "no", rollback=True)),
        ("rate", Advance(), Finish("completed", "every gate passed")),
    ],
    ids=["on", "ahead", "again", "aside", "a person", "stop", "done"],
)
def test_the_last_verdict_leads_on(step: str, verdict: Verdict, wanted: Run | Finish) -> None:
    assert next_move(Story().step(step, JUDGED, verdict).record) == wanted


def test_deciding_changes_nothing_and_comes_out_the_same_after_storage() -> None:
    record = whole()
    stored = msgspec.json.decode(msgspec.json.encode(record), type=type(record))

    assert stored == record
    assert next_move(stored) == next_move(record) == next_move(record)


def test_only_the_last_step_completes_a_phase() -> None:
    completes = []
    for stage in (s for s in PIPELINE if s.name not in {"debug", "fix"}):
        move = next_move(Story().step(stage.name, JUDGED, Advance()).record)
        completes += [stage.name] if isinstance(move, Finish) and move.status == "completed" else []

    assert completes == ["rate"]


def test_steps_are_numbered_on_over_the_passes_of_a_phase() -> None:
    record = Story(brief(earlier={"preflight": 2})).record

    assert next_move(record) == Run(stage_named("preflight"), 3)


def test_a_phase_without_end_is_ended() -> None:
    told = Story(start=started(steps_per_phase=3))
    for _ in range(3):
        told.step("judge", JUDGED, Retry(step="judge", because="again"))

    move = next_move(told.record)
    assert isinstance(move, Finish)
    assert (move.status, move.rollback) == ("failed", True)


def reviewed(name: str = "01-01") -> MiniVerified:
    return MiniVerified(task=name, opinion=TaskOpinion(passed=True))


@pytest.mark.parametrize(
    ("result", "verdict", "wanted"),
    [
        (Executed(work=work()), Advance(to="mini_verify"), "c1"),
        (Executed(work=work()), Retry(step="fix", because="x"), "c1"),
        (Executed(work=work()), ASIDE, BASE),
        (Fixed(work=work(commit="c2")), Advance(to="mini_verify"), "c2"),
        (Fixed(work=work(commit="c2")), ASIDE, BASE),
        (Debugged(work=work(base="c1", commit="c3")), Advance(to="verify"), "c3"),
        (JUDGED, Stop(because="no"), BASE),
        (Unanswered(role="judge", outcome="timeout", detail=""), Retry(step="judge", because="x"), BASE),
    ],
    ids=["work", "work to mend", "work set aside", "fix", "fix set aside", "debugged", "judged", "silence"],
)
def test_a_step_leaves_the_work_where_it_belongs(result: Any, verdict: Verdict, wanted: str) -> None:
    assert tip(Story().planned().record, result, verdict) == wanted


@pytest.mark.parametrize(
    ("verdict", "wanted"), [(Advance(to="verify"), "c1"), (ASIDE, BASE)], ids=["kept", "set aside"]
)
def test_a_reviewed_task_stays_or_goes_as_a_whole(verdict: Verdict, wanted: str) -> None:
    told = Story().planned().step("execute", Executed(work=work()), Retry(step="fix", because="x"), "c0")
    told.step("fix", Fixed(work=work(commit="c1")), Advance(to="mini_verify"), "c1")

    assert tip(told.record, reviewed(), verdict) == wanted


def test_an_empty_change_leaves_the_work_where_it_was() -> None:
    idle = Executed(work=work(commit=BASE))

    assert tip(Story().record, idle, Retry(step="fix", because="idle")) == BASE
