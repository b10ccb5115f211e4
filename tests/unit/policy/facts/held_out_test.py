"""Held-out criteria: chosen once, and shown to nobody who does the work."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.phase import Criterion, Plan, TaskTest
from autopilot.domain.results import Executed, PlanChecked, Planned, Triaged
from autopilot.domain.settings import Honesty
from autopilot.domain.verdict import Advance, Retry
from autopilot.engine.perform.visibility import visible
from autopilot.history.record import PhaseRecord
from autopilot.planning.plan.criteria import criterion
from autopilot.policy.facts.held_out import UNSAID, WITHHELD, held_out, hidden, telling_words, veiled
from autopilot.steps import debug, execute, fix, judge, verify
from support.records import DIR, Story, brief, phase, plan, ran, started, task, work


def wanted(number: int, command: str = "run --case") -> Criterion:
    text = f"Case {number} works -- verified by: `{command} {number}` (returns {number}7)"
    return criterion(text, f"SC-{number}", "roadmap")


def told(count: int = 8, share: float = 0.25, **more: Any) -> Story:
    criteria = tuple(wanted(n) for n in range(1, count + 1))
    given_phase = phase(criteria=criteria)
    start = started(given_phase, honesty=Honesty(held_out_share=share))
    return Story(brief(phase=given_phase), start).planned(plan(task("01-01", *criteria), **more))


@pytest.mark.parametrize(
    ("count", "share", "held"), [(8, 0.25, 2), (4, 0.25, 1), (3, 0.25, 0), (5, 1.0, 5), (8, 0.0, 0), (4, 0.01, 1)]
)
def test_a_share_of_four_or_more_runnable_criteria_is_held_out(count: int, share: float, held: int) -> None:
    assert len(held_out(told(count, share).record)) == held


def test_the_choice_is_the_same_at_every_time_of_the_run() -> None:
    story = told()
    before = held_out(story.record)

    assert held_out(story.executed().record) == before


def seen_by_workers(record: PhaseRecord) -> str:
    snapshot = {
        ".planning/ROADMAP.md": "\n".join(c.text for c in record.phase.criteria),
        f"{DIR}/CONTEXT.md": "run  --case 3",
    }
    files = [*visible("execute", record, snapshot).values(), *visible("debug", record, snapshot).values()]
    return "\n".join((*files, execute.batch_prompt(record)))


@given(st.integers(4, 12), st.floats(0.0, 1.0))
def test_no_worker_is_shown_a_command_that_is_held_out(count: int, share: float) -> None:
    record = told(count, share).record
    shown = seen_by_workers(record) + execute.prompt(record, record.tasks[0])

    for held in held_out(record):
        assert f"{held.command}`" not in shown
        assert held.text.partition(" --")[0] in shown


def test_who_mends_is_told_what_fails_and_not_how_it_is_checked() -> None:
    story = told()
    (held, *_), failing = held_out(story.record), story.record.phase.criteria
    runs = tuple(ran(c.id, passed=False, command=c.command or "", output=f"output of {c.id}.") for c in failing)
    because = "; ".join(f"`{c.command}` exited 1" for c in failing)
    story.step("execute", Executed(work=work(after=runs)), Retry(step="fix", because=because), "c1")
    said = fix.prompt(story.record, story.record.tasks[0])

    assert f"Not so: {held.text.partition(' --')[0]}" in said
    assert f"{held.command}`" not in said
    assert f"output of {held.id}." not in said
    assert said.count("output of SC-") == 6


def test_the_debugger_of_the_phase_is_told_no_more() -> None:
    story = told().executed()
    (held, *_) = held_out(story.record)
    story.verified(Retry(step="debug", because=f"`{held.command}` exited 1"), passed=False)

    assert f"{held.command}`" not in debug.prompt(story.record)


def test_verifier_and_judge_see_every_criterion() -> None:
    record = told().executed().record

    for prompt in (verify.prompt(record), judge.prompt(record)):
        assert all(c.command and c.command in prompt for c in record.phase.criteria)
    assert WITHHELD not in "".join(visible("verify", record, {}).values())


def test_commands_joined_by_a_word_are_veiled_one_by_one() -> None:
    joined = criterion("Both -- verified by: `make one` and `make two`", "SC-1", "roadmap")
    given_phase = phase(criteria=(joined, *(wanted(n) for n in (2, 3, 4))))
    record = Story(brief(phase=given_phase), started(given_phase, honesty=Honesty(held_out_share=1.0))).record

    assert veiled(record, "Both -- verified by: `make one` and `make two`") == f"Both and {WITHHELD}"
    assert hidden(record, "make one && make two") == joined


def example(number: int, command: str) -> Criterion:
    return Criterion(id=f"SC-{number}", text=f"Example {number} works", command=command, source="roadmap")


EXAMPLES = (
    "pay 2x25.00 | grep -x 45.00", "pay 4x20.00 | grep -x 72.00", "python3 -m pytest tests/test_pay.py",
    "pay 1x49.99 | grep -x 49.99",
)  # fmt: skip


def shown_examples(holding: tuple[str, ...] = (), **more: Any) -> Story:
    """A phase with these examples; `holding` are the commands that were fine before the work."""
    criteria = tuple(example(n, command) for n, command in enumerate(EXAMPLES))
    given_phase = phase(criteria=criteria)
    story = Story(brief(phase=given_phase, **more), started(given_phase))
    checks = tuple(ran(c.id, command=c.command or "", passed=c.command in holding) for c in criteria)
    return story.step("triage", Triaged(routing="full_pipeline", source="roadmap", checks=checks))


@pytest.mark.parametrize("left", [0, 1, 3], ids=["the first", "the second", "the last"])
def test_a_command_that_proves_and_asks_by_itself_is_held_out_before_others(left: int) -> None:
    holding = tuple(command for command in EXAMPLES if command not in {EXAMPLES[left], EXAMPLES[2]})

    assert [c.command for c in held_out(shown_examples(holding).record)] == [EXAMPLES[left]]


def test_what_was_held_out_once_stays_so_when_it_holds() -> None:
    assert [c.id for c in held_out(shown_examples((EXAMPLES[1],), held=("SC-1",)).record)] == ["SC-1"]


def test_inputs_and_answers_of_a_held_out_command_are_veiled_in_any_shape() -> None:
    story = shown_examples((EXAMPLES[0], EXAMPLES[3]))
    spec = TaskTest(path="tests/task-01-01.sh", text="check 4x20.00 72.00\ncheck 2x25.00 45.00\n")
    made = Plan(text="Action: 4x20.00 must cost 72.00 in src/pay.py", tasks=(task(),), tests=(spec,))
    story.step("plan", Planned(plan=made)).step("plan_check", PlanChecked(plan=made), Advance())
    files = visible("execute", story.record, {})

    assert files[f"{DIR}/tests/task-01-01.sh"] == f"check {UNSAID} {UNSAID}\ncheck 2x25.00 45.00\n"
    assert files[f"{DIR}/PLAN.md"] == f"Action: {UNSAID} must cost {UNSAID} in src/pay.py"
    assert visible("verify", story.record, {})[f"{DIR}/PLAN.md"] == made.text


@given(st.integers(0, 3), st.text("ab 1x./-'\n", max_size=40))
def test_no_telling_word_is_left_in_any_text(left: int, around: str) -> None:
    """A word is one of its own: as part of a longer one or of a path it says something else."""
    record = shown_examples(tuple(command for n, command in enumerate(EXAMPLES) if n != left)).record

    for word in telling_words(record):
        assert word not in re.split(r"[^\w./-]+", veiled(record, f"{around} {word} {around}"))
