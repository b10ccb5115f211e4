"""Triage: what it leaves to read, on whichever way it sends the phase."""

import json
from typing import Any

import pytest

from autopilot.domain.phase import Kind, PhaseStatus
from autopilot.domain.results import Triaged
from autopilot.domain.settings import Honesty
from autopilot.pipeline import artifacts
from autopilot.steps import triage, verify
from support.records import DONE, Story, brief, criterion, phase, ran, started
from support.tools import SaidFacts, tools


@pytest.mark.parametrize(
    ("criteria", "holding", "routing"),
    [((), set(), "full_pipeline"), ((DONE,), set(), "full_pipeline"), ((DONE,), {DONE}, "verify_only")],
    ids=["nothing to run", "nothing there", "all there"],
)
def test_trge_01_triage_leaves_its_paper_on_every_way(
    criteria: tuple[str, ...], holding: set[str], routing: str
) -> None:
    wanted = tuple(criterion(f"SC-{n}", command) for n, command in enumerate(criteria))
    told = Story(brief(phase=phase(criteria=wanted)))
    told.step("triage", triage.run(told.record, tools(facts=SaidFacts(frozenset(holding)))))

    assert json.loads(artifacts(told.record)["TRIAGE.json"])["routing_decision"] == routing


@pytest.mark.parametrize("kind", ["refactor", "docs"])
@pytest.mark.parametrize(
    ("status", "routing"), [("not_started", "full_pipeline"), ("completed", "verify_only")], ids=["open", "done"]
)
def test_trge_03_criteria_that_hold_do_not_show_a_declared_kind_of_work_to_be_done(
    kind: Kind, status: PhaseStatus, routing: str
) -> None:
    declared = phase(kind=kind, status=status)
    by_config = started(phase(status=status), honesty=Honesty(kinds={"1": kind}))

    for told in (Story(brief(phase=declared)), Story(brief(phase=by_config.phases[0]), by_config)):
        assert triage.run(told.record, tools(facts=SaidFacts(frozenset({DONE})))).routing == routing


def papers(routing: Any, *passed: bool, source: Any = "roadmap") -> dict[str, Any]:
    checks = tuple(ran(f"SC-{n}", passed=holds, output="x" * 900) for n, holds in enumerate(passed))
    told = Story().step("triage", Triaged(routing=routing, source=source, checks=checks, note="why"))
    told_of: dict[str, Any] = json.loads(artifacts(told.record)["TRIAGE.json"])
    return told_of


def test_trge_05_the_paper_tells_source_checks_ratio_route_and_what_is_left_out() -> None:
    told = papers("verify_only", True, True, True, True, True, False)

    assert [c["result"] for c in told.pop("criteria_checked")] == ["pass"] * 5 + ["fail"]
    assert told == {
        "phase_id": "1", "timestamp": "2026-01-01T12:00:00.000Z", "criteria_source": "roadmap", "total_criteria": 6,
        "passed_criteria": 5, "pass_ratio": 0.83, "routing_decision": "verify_only", "note": "why",
        "skipped_steps": ["research", "plan", "plan_check", "execute"],
    }  # fmt: skip


def test_trge_05_a_check_is_told_with_its_command_and_the_beginning_of_its_output() -> None:
    (check,) = papers("full_pipeline", False)["criteria_checked"]

    assert check == {"criterion": "text of SC-0", "command": DONE, "result": "fail", "output": "x" * 200}
    assert papers("full_pipeline", False)["skipped_steps"] == []


def test_trge_04_the_verifier_of_work_that_was_there_gets_what_triage_ran() -> None:
    """TRGE-06: with the share that held."""
    checks = (ran("SC-0"), ran("SC-1", command="test -s b", passed=False))
    told = Story().step("triage", Triaged(routing="verify_only", source="roadmap", checks=checks, note=""))

    asked = verify.prompt(told.record)

    assert "TRIAGE CONTEXT: 1 of 2 criteria (50%) held before this run" in asked
    assert f"- PASS: text of SC-0 -- `{DONE}`" in asked
    assert "- FAIL: text of SC-1 -- `test -s b`" in asked


def test_trge_04_the_verifier_of_new_work_hears_nothing_of_triage() -> None:
    told = Story().step("triage", Triaged(routing="full_pipeline", source="roadmap", checks=(ran("SC-0"),), note=""))

    assert "TRIAGE" not in verify.prompt(told.record)
