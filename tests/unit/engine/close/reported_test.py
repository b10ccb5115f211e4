"""What the issues of a pass tell beside its failures (PROM-04, BUD-02, PREF-04); none of it decides anything."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autopilot.domain import answers
from autopilot.domain.agent_call import Role
from autopilot.domain.events import StepFinished
from autopilot.domain.evidence import Claim, Opinion
from autopilot.domain.results import Debugged, Fixed, Preflighted
from autopilot.domain.verdict import Advance
from autopilot.engine.close.outcome import MOST_ISSUES, detected, outcome_of
from autopilot.engine.decide.next_step import Finish
from autopilot.history.record import PhaseRecord
from autopilot.pipeline import stage_named
from support.records import Story, whole, work

DONE = Finish("completed", "every gate passed")
ANSWERS = [
    kind
    for kind in vars(answers).values()
    if isinstance(kind, type) and issubclass(kind, Claim | Opinion) and kind not in {Claim, Opinion}
]
ISSUE = "the clock is wrong"
SMALLEST: dict[str, Any] = {"pass": True, "confidence": 9, "recommendation": "proceed", "alignment_score": 9.1, "scorecard": [], "audit_results": [], "questions": [], "gray_areas": []}  # fmt: skip


def told() -> PhaseRecord:
    """A pass in which every kind of step that asks an agent has an end."""
    story = Story().planned().executed().step("fix", Fixed(work=work()), Advance(to="mini_verify"))
    return story.verified().step("debug", Debugged(work=work())).verified().judged().rated().record


def worried(record: PhaseRecord, issues: tuple[str, ...], only: str | None = None) -> PhaseRecord:
    """The same record, in which the agents (of one step, if named) report these issues."""
    entries = []
    for entry in record.entries:
        done = entry.event
        if isinstance(done, StepFinished) and only in {None, done.step}:
            for part in ("claim", "opinion"):
                said = getattr(done.result, part, None)
                if said is not None:
                    said = msgspec.structs.replace(said, issues_detected=issues)
                    done = msgspec.structs.replace(done, result=msgspec.structs.replace(done.result, **{part: said}))
        entries.append(msgspec.structs.replace(entry, event=done))
    return msgspec.structs.replace(record, entries=tuple(entries))


@pytest.mark.parametrize("kind", ANSWERS, ids=lambda kind: kind.__name__)
def test_prom_04_every_answer_may_report_issues(kind: type[Claim | Opinion]) -> None:
    written = msgspec.json.encode({**SMALLEST, "issues_detected": [ISSUE]})

    assert msgspec.json.decode(written, type=kind, strict=False).issues_detected == (ISSUE,)


ASKING: tuple[Role | str, ...] = (
    "research", "plan", "plan_check", "execute", "mini_verify", "fix", "verify", "debug", "judge", "judge_divergence",
    "rate",
)  # fmt: skip


@pytest.mark.parametrize("step", ASKING)
def test_prom_04_what_an_agent_reports_is_among_the_issues_of_the_phase(step: str) -> None:
    assert f"{step}: {ISSUE}" in outcome_of(worried(told(), (ISSUE,), step), DONE).issues
    assert outcome_of(told(), DONE).issues == ()


@settings(max_examples=15)
@given(st.lists(st.text(max_size=20), max_size=3).map(tuple))
def test_prom_04_reported_issues_change_no_verdict_and_nothing_else_of_the_outcome(issues: tuple[str, ...]) -> None:
    calm, record = told(), worried(told(), issues)

    for n, entry in enumerate(record.entries):
        assert isinstance(entry.event, StepFinished)
        gate = stage_named(entry.event.step).gate
        then, now = (msgspec.structs.replace(r, entries=r.entries[: n + 1]) for r in (calm, record))
        assert gate.decide(now) == gate.decide(then)
    assert msgspec.structs.replace(outcome_of(record, DONE), issues=()) == outcome_of(calm, DONE)


def test_prom_04_many_long_issues_are_cut_and_the_same_is_told_once() -> None:
    many = tuple(f"{n} {'x' * 900}" for n in range(50))

    found = detected(worried(told(), (*many, *many), "verify"))

    assert len(found) == MOST_ISSUES + 1
    assert found[-1] == "and 30 more issues that agents reported"
    assert max(map(len, found)) < 350


def test_bud_02_an_answer_that_was_too_long_is_an_issue() -> None:
    warning = "Agent plan exceeded budget (301 > 300 lines). Truncating to JSON/SUMMARY only."
    story = Story().answer("r/1/plan/1", issues=(warning,)).answer("r/1/plan/1.2", issues=(warning,))

    assert outcome_of(story.record, DONE).issues == (warning,)


def test_pref_04_debugging_left_open_and_a_dirty_checkout_are_issues() -> None:
    seen = Preflighted(
        spec_hash_match=True, working_tree_clean=False, dependencies_met=True,
        unresolved_debug=(".planning/debug/a.md",), warnings=("1 uncommitted file",),
    )  # fmt: skip

    assert outcome_of(Story().step("preflight", seen).record, DONE).issues == (
        "1 uncommitted file", "unresolved debug session: .planning/debug/a.md",
    )  # fmt: skip


def test_a_pass_that_asked_nobody_has_nothing_to_report() -> None:
    assert outcome_of(whole(), DONE).issues == ()
