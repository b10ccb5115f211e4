"""No other way to pass: every verdict that lets work through rests on commands run on the tree it lets through."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.answers import VerifyOpinion
from autopilot.domain.evidence import CommandRun, Finding
from autopilot.domain.results import Executed, Verified
from autopilot.domain.verdict import Advance
from autopilot.gates import after_task, after_verify
from autopilot.pipeline import stage_named
from support.records import DONE, TREE, Story, ran, whole, work

AGREES = VerifyOpinion(passed=True, commands_run=(DONE,))
RUNS = st.lists(
    st.builds(
        ran,
        st.sampled_from(["SC-1", "01-01.1"]),
        passed=st.booleans(),
        tree=st.sampled_from([TREE, TREE, TREE, "another"]),
        exit_code=st.sampled_from([0, 0, 1, None]),
    ),
    max_size=3,
).map(tuple)
FINDINGS = st.sampled_from([(), (), (Finding(rule="canary", where="make t", what="stays green"),)])


def sound(runs: tuple[CommandRun, ...], tree: str) -> bool:
    """Each has a command, ended by itself, passed, and is about the tree."""
    return bool(runs) and all(r.command and r.exit_code is not None and r.passed and r.tree == tree for r in runs)


@given(RUNS, RUNS, FINDINGS)
def test_verification_advances_only_on_runs_of_its_own_tree(
    checks: tuple[CommandRun, ...], gates: tuple[CommandRun, ...], findings: tuple[Finding, ...]
) -> None:
    told = Story().planned().executed()
    seen = Verified(commit=told.record.commit, tree=TREE, checks=checks, gates=gates, findings=findings, opinion=AGREES)
    verdict = after_verify.GATE.decide(told.step("verify", seen).record)

    if isinstance(verdict, Advance):
        assert sound(checks, TREE)
        assert not gates or sound(gates, TREE)
        assert not findings


@given(RUNS, FINDINGS)
def test_a_task_is_reviewed_only_on_runs_of_its_own_tree(
    after: tuple[CommandRun, ...], findings: tuple[Finding, ...]
) -> None:
    told = Story().planned().step("execute", Executed(work=work(after=after, findings=findings)), commit="c1")
    verdict = after_task.GATE.decide(told.record)

    if isinstance(verdict, Advance) and verdict.to == "mini_verify":
        assert sound(after, TREE)
        assert not findings


@pytest.mark.parametrize("lost", ["no checks", "another tree", "another commit"])
def test_a_phase_is_not_complete_on_facts_about_something_else(lost: str) -> None:
    record = whole()
    all_changes: dict[str, dict[str, Any]] = {
        "no checks": {"checks": ()},
        "another tree": {"judged": "another"},
        "another commit": {"commit": "another"},
    }
    changes = all_changes[lost]
    entries = tuple(
        msgspec.structs.replace(e, event=msgspec.structs.replace(e.event, result=msgspec.structs.replace(r, **changes)))
        if isinstance(r := getattr(e.event, "result", None), Verified)
        else e
        for e in record.entries
    )
    gate = stage_named("rate").gate

    assert isinstance(gate.decide(record), Advance)
    assert not isinstance(gate.decide(msgspec.structs.replace(record, entries=entries)), Advance)
