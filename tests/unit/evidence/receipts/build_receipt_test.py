"""The receipt says what the records say, in in-toto's words, and never more."""

import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autopilot.domain.attempt import PhaseOutcome
from autopilot.domain.events import Entry, RunResumed
from autopilot.domain.phase import Expectation
from autopilot.domain.receipt import Statement
from autopilot.domain.results import Executed, Verified
from autopilot.domain.verdict import Advance, AskHuman, Retry, Stop, Verdict
from autopilot.evidence.receipts.build_receipt import FORCED, UNANCHORED, UNCONFINED, statement, text_of
from autopilot.history.record import PhaseRecord, RunRecord
from support.records import SPEC, TREE, Story, brief, criterion, phase, ran, started, whole, work

if TYPE_CHECKING:
    from autopilot.domain.evidence import CommandRun

TOOLS = {"git": "2.50", "autopilot": "0.1"}


def run_of(record: PhaseRecord, *events: tuple[str, Any]) -> RunRecord:
    first = Entry(number=0, at="2026-01-01T11:00:00.000Z", event=msgspec.structs.replace(record.start, tools=TOOLS))
    more = (Entry(number=n, at=at, event=event) for n, (at, event) in enumerate(events, start=1))
    return RunRecord(entries=(first, *more))


def made(record: PhaseRecord, verdict: Verdict | None = None, **outcome: Any) -> Statement:
    fields: dict[str, Any] = {"phase": "1", "status": "completed", "reason": "fine", "commit": record.commit, **outcome}
    return statement(record, run_of(record), PhaseOutcome(**fields), verdict or Advance())


def confined(record: PhaseRecord) -> PhaseRecord:
    """The same pass with every command in a sandbox."""
    text = msgspec.json.encode(record).replace(b'"sandbox":"none"', b'"sandbox":"bubblewrap"')
    return msgspec.json.decode(text.replace(b'"sandbox":"bubblewrap"}}', b'"sandbox":"auto"}}'), type=PhaseRecord)


def test_it_is_an_in_toto_test_result() -> None:
    data = json.loads(text_of(made(whole())))

    assert (data["_type"], data["predicateType"]) == (
        "https://in-toto.io/Statement/v1",
        "https://in-toto.io/attestation/test-result/v0.1",
    )
    assert [part["digest"] for part in data["subject"]] == [{"gitCommit": "c1"}, {"gitTree": TREE}]
    assert data["predicate"]["configuration"][0] == {"name": SPEC.path, "digest": {"sha256": SPEC.sha256}}
    assert data["predicate"]["passedTests"] == ["01-01.1", "SC-1"]


def test_every_command_that_decided_is_in_it() -> None:
    runs = made(whole()).proof.runs

    assert [(r.step, r.when, r.check, r.commit, r.passed) for r in runs] == [
        ("triage", "before", "SC-1", "base", False),
        ("execute", "before", "01-01.1", "base", False),
        ("execute", "after", "01-01.1", "c1", True),
        ("verify", "after", "SC-1", "c1", True),
    ]
    assert [r.laid for r in runs] == [False, True, True, True]


@pytest.mark.parametrize(
    ("verdict", "outcome", "result", "word"),
    [
        (Advance(), {}, "PASSED", "accepted"),
        (Advance(), {"unanchored": True}, "WARNED", "accepted"),
        (Advance(because="force_incomplete"), {}, "WARNED", "force_incomplete"),
        (Advance(), {"status": "failed"}, "FAILED", "accepted"),
        (AskHuman(question="?"), {"status": "needs_human_verification"}, "FAILED", "needs_human_verification"),
        (Retry(step="execute", because="low"), {}, "FAILED", "remediation_pending"),
        (Stop(because="no"), {}, "FAILED", "failed"),
    ],
    ids=["accepted", "unanchored", "forced", "failed pass", "waiting", "remediation", "stopped"],
)
def test_only_an_accepted_phase_passes(verdict: Verdict, outcome: dict[str, Any], result: str, word: str) -> None:
    told = made(confined(whole()), verdict, **outcome)

    assert (told.predicate.result, told.proof.verdict) == (result, word)


def test_what_a_reader_must_know_is_told() -> None:
    told = made(whole(), Advance(because="force_incomplete"), unanchored=True)

    assert told.proof.warnings == (UNANCHORED, FORCED, UNCONFINED)
    assert told.proof.anchor == "unanchored"


@pytest.mark.parametrize("old", [(), ("test",)], ids=["new failure", "old failure"])
def test_a_gate_that_failed_before_warns_and_a_new_failure_fails(old: tuple[str, ...]) -> None:
    checks, gates = (ran("SC-1"),), (ran("test", passed=False, command="make test"),)
    seen = Verified(commit="c1", tree="t", checks=checks, gates=gates, old_failures=old)
    told = made(Story().planned().executed().step("verify", seen).record).predicate

    assert told.warned_tests == (("gate:test",) if old else ())
    assert told.failed_tests == (() if old else ("gate:test",))
    assert told.result == ("WARNED" if old else "FAILED")


def test_nothing_checked_is_never_a_pass() -> None:
    bare = Story(brief(phase=phase(criteria=()))).begin("preflight").record

    assert made(bare).predicate.result == "FAILED"
    assert made(bare).proof.checks.total == 0


def test_work_that_was_replaced_is_not_in_the_receipt_of_a_completed_phase() -> None:
    story = (
        Story()
        .planned()
        .step("execute", Executed(work=work("01-01", commit="lost", passed=False)), Retry(step="fix", because="no"))
    )
    record = story.executed(commit="kept").verified().record

    assert {run.commit for run in made(record).proof.runs} == {"base", "kept"}


def test_what_a_criterion_expects_goes_with_its_command() -> None:
    own = criterion("SC-1", expect=Expectation(form="count", number=3))
    told = made(Story(brief(phase=phase(criteria=(own,)))).planned().executed().verified().record)

    assert {r.expect for r in told.proof.runs if r.check == "SC-1"} == {own.expect}


def test_an_old_check_names_what_was_put_back() -> None:
    checks = (ran("SC-1"), ran("SC-1.old", restored=("check.sh",), tree="mixed"))
    seen = Verified(commit="c1", tree="t", checks=checks)
    last = made(Story().planned().executed().step("verify", seen).record).proof.runs[-1]

    assert (last.kind, last.restored, last.tree) == ("old", ("check.sh",), "mixed")


def test_a_resume_after_the_pass_changes_nothing() -> None:
    record = whole()
    outcome = PhaseOutcome(phase="1", status="completed", reason="fine", commit="c1")
    later = RunResumed(pid=1, spec=msgspec.structs.replace(SPEC, sha256="6" * 64), tools={"git": "3.0"})
    resumed = run_of(record, ("2027-01-01T00:00:00.000Z", later))

    assert statement(record, resumed, outcome, Advance()) == statement(record, run_of(record), outcome, Advance())


def test_a_resume_within_the_pass_is_told_with_its_tools() -> None:
    record = whole()
    outcome = PhaseOutcome(phase="1", status="completed", reason="fine", commit="c1")
    later = RunResumed(pid=1, spec=msgspec.structs.replace(SPEC, sha256="6" * 64), tools={"git": "3.0"})
    told = statement(record, run_of(record, ("2026-01-01T12:00:02.500Z", later)), outcome, Advance()).proof

    assert (told.tools, told.earlier_tools) == ({"git": "3.0"}, (TOOLS,))
    assert told.spec.sha256 == "6" * 64


def test_the_same_records_give_the_same_bytes_after_a_way_through_json() -> None:
    record = whole()
    again = msgspec.json.decode(msgspec.json.encode(record), type=PhaseRecord)

    assert text_of(made(again)) == text_of(made(record))


@settings(max_examples=80, deadline=None)
@given(passed=st.lists(st.booleans(), max_size=5), gates=st.lists(st.booleans(), max_size=3))
def test_it_never_passes_with_a_check_that_fails(passed: list[bool], gates: list[bool]) -> None:
    checks: tuple[CommandRun, ...] = tuple(ran(f"SC-{n}", passed=p) for n, p in enumerate(passed))
    around = tuple(ran(f"g{n}", passed=p) for n, p in enumerate(gates))
    seen = Verified(commit="c1", tree="t", checks=checks, gates=around)
    told = made(Story(start=started()).planned().executed().step("verify", seen).record).predicate

    assert (told.result == "FAILED") == (not all((*passed, *gates)))
