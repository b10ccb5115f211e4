"""A receipt must follow from itself, and what it calls an old failure must be one."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from autopilot.domain.attempt import PhaseOutcome
from autopilot.domain.events import Entry
from autopilot.domain.receipt import Proof, Statement
from autopilot.domain.results import Verified
from autopilot.domain.settings import Limits
from autopilot.domain.verdict import Advance
from autopilot.evidence.facts import CommandFacts
from autopilot.evidence.receipts.build_receipt import statement
from autopilot.evidence.receipts.check_receipt import Rerun, contradictions
from autopilot.history.record import RunRecord
from autopilot.sandbox.tiers.unconfined import PlainProcess
from autopilot.sandbox.toolchain import look
from support.records import Story, ran, whole
from support.workspaces import ENV, make_bench


def made(story: Story | None = None) -> Statement:
    record = story.record if story else whole()
    run = RunRecord(entries=(Entry(number=0, at="2026", event=record.start),))
    outcome = PhaseOutcome(phase="1", status="completed", reason="fine", commit=record.commit)
    return statement(record, run, outcome, Advance())


def changed(held: Statement, proof: dict[str, Any], **predicate: Any) -> Statement:
    told = msgspec.structs.replace(held.proof, **proof)
    return msgspec.structs.replace(held, predicate=msgspec.structs.replace(held.predicate, autopilot=told, **predicate))


def test_an_untouched_receipt_follows_from_itself() -> None:
    assert list(contradictions(made())) == []


@pytest.mark.parametrize(
    ("proof", "predicate", "told"),
    [
        ({"commit": "c9"}, {}, "its subject"),
        ({"tree": "t9"}, {}, "its subject"),
        ({}, {"passed_tests": ("all",)}, "its lists of tests"),
        ({"runs": ()}, {"passed_tests": ()}, "it says WARNED, but its runs show no pass"),
        ({"verdict": "failed"}, {}, "it says WARNED, but the phase was not accepted"),
    ],
    ids=["commit", "tree", "list", "runs", "verdict"],
)
def test_a_change_in_one_place_is_noticed(proof: dict[str, Any], predicate: dict[str, Any], told: str) -> None:
    assert any(said.startswith(told) for said in contradictions(changed(made(), proof, **predicate)))


@pytest.mark.parametrize("held", ["false", "test -e a.txt"], ids=["an old failure", "a new failure"])
def test_a_failure_called_old_is_looked_for_before_the_work(held: str, tmp_path: Path) -> None:
    bench = make_bench(tmp_path)
    gate = ran("test", passed=False, command=held)
    seen = Verified(commit="c1", tree="t", checks=(ran("SC-1"),), gates=(gate,), old_failures=("test",))
    told = made(Story().planned().executed().step("verify", seen))
    runs = tuple(msgspec.structs.replace(r, commit=bench.base) for r in told.proof.runs)
    claimed = changed(told, {"base": bench.base, "commit": bench.base, "runs": runs})
    sandbox = PlainProcess(bench.processes, look(ENV))
    facts = CommandFacts(workspace=bench.workspace, sandbox=sandbox, limits=Limits())
    rerun = Rerun(facts=facts, workspace=bench.workspace, known={bench.base}, files={})

    assert len(list(rerun.new_failures(claimed))) == (0 if held == "false" else 1)


def test_a_command_that_is_empty_is_not_run() -> None:
    held = made()
    empty = msgspec.structs.replace(held.proof.runs[0], command="")
    rerun = Rerun(facts=None, workspace=None, known={"base"}, files={})  # type: ignore[arg-type]  # neither is asked
    (repeated,) = rerun.repeat(msgspec.structs.replace(held.proof, runs=(empty,)))

    assert isinstance(held.proof, Proof)
    assert (repeated.same, repeated.now) == (False, "not run")
