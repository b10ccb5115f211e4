"""What detectors found, on its way to gates, reviewers and papers."""

import msgspec
import pytest

from autopilot.domain.answers import VerifyOpinion, WorkClaim
from autopilot.domain.evidence import Finding
from autopilot.domain.phase import DeclaredChange
from autopilot.domain.results import Executed, Verified
from autopilot.domain.settings import Honesty
from autopilot.domain.verdict import Advance, Retry
from autopilot.gates import after_task, after_verify
from autopilot.steps import debug, execute, fix, judge, rate, verify
from autopilot.steps.artifacts.verification import holds
from support.records import DIR, DONE, TREE, Story, plan, ran, started, task, work
from support.tools import SaidAgents, SaidFacts, SaidWorkspace, tools

SKIPPED = Finding(rule="test-skipped", where="tests/test_a.py:3", what="`@skip`", why="A skipped test never fails.")
NOTED = Finding(rule="suppression-added", where="a.py:1", what="`# noqa`", severity="warning", why="It is silenced.")
DECLARING = msgspec.structs.replace(task(), changes_tests=(DeclaredChange(path="tests/test_a.py", reason="new rule"),))


def executed(story: Story) -> Executed:
    facts = SaidFacts(frozenset({DONE}), tampered=(SKIPPED, NOTED))
    return execute.run(story.record, tools(agents=SaidAgents({"execute": WorkClaim()}), facts=facts))


def verified(story: Story, *found: Finding) -> Verified:
    spec = f"bash {DIR}/tests/task-01-01.sh"
    facts = SaidFacts(frozenset({DONE, spec}), tampered=found)
    agents = SaidAgents({"verify": VerifyOpinion(passed=True, commands_run=(DONE,))})
    return verify.run(story.record, tools(facts=facts, agents=agents, workspace=SaidWorkspace(new=("letter.txt",))))


def test_a_blocker_sends_the_task_to_the_fixer_who_is_told() -> None:
    told = Story().planned()
    done = msgspec.structs.replace(executed(told), work=work(findings=executed(told).work.findings))
    verdict = after_task.GATE.decide(told.step("execute", done, commit="c1").record)

    assert isinstance(verdict, Retry)
    again = Story().planned().step("execute", done, verdict, "c1").record
    assert "tests/test_a.py:3: `@skip`" in fix.prompt(again, task())


@pytest.mark.parametrize(("files", "severity"), [((), "blocker"), ((".github/workflows/ci.yml",), "warning")])
def test_a_file_that_the_plan_names_may_be_relaxed(files: tuple[str, ...], severity: str) -> None:
    gone = Finding(rule="ci-relaxed", where=".github/workflows/ci.yml", what="a CI definition is gone")
    named = msgspec.structs.replace(task(), files=("letter.txt", *files))

    found = verified(Story().planned(plan(named)).executed(), gone).tampering
    assert [f.severity for f in found] == [severity]


def test_a_change_the_accepted_plan_declares_does_not_block_the_task() -> None:
    severities = [
        f.severity for f in executed(Story().planned(plan(DECLARING))).work.findings if f.rule == "test-skipped"
    ]

    assert severities == ["warning"]


def test_another_task_s_declaration_excuses_nothing() -> None:
    other = msgspec.structs.replace(DECLARING, id="01-02")
    found = executed(Story().planned(plan(task(), other))).work.findings

    assert found[0].severity == "blocker"


def test_the_user_s_policy_weighs_what_was_found() -> None:
    told = Story(
        start=started(honesty=Honesty(rules={"test-skipped": "info", "suppression-added": "blocker"}))
    ).planned()

    assert {f.rule: f.severity for f in executed(told).work.findings if f.why} == {
        "test-skipped": "info",
        "suppression-added": "blocker",
    }


def test_a_phase_with_a_blocker_is_not_shown_to_the_verifier_and_goes_to_the_debugger() -> None:
    told = Story().planned().executed()
    seen = verified(told, SKIPPED)
    verdict = after_verify.GATE.decide(told.step("verify", seen).record)

    assert seen.opinion is None
    assert isinstance(verdict, Retry)
    assert verdict.step == "debug"
    again = Story().planned().executed().step("verify", seen, verdict).record
    assert "tests/test_a.py:3: `@skip`" in debug.prompt(again)


def test_a_concern_lets_the_phase_pass() -> None:
    told = Story().planned().executed()

    assert after_verify.GATE.decide(told.step("verify", verified(told, NOTED)).record) == Advance()


@pytest.mark.parametrize("found", [(), (SKIPPED,)], ids=["clean", "tampered"])
def test_the_facts_do_not_hold_beside_a_blocker(found: tuple[Finding, ...]) -> None:
    opinion = VerifyOpinion(passed=True, commands_run=(DONE,))
    seen = Verified(commit="c1", tree=TREE, checks=(ran("SC-1"),), opinion=opinion, tampering=found)
    record = Story().planned().executed().step("verify", seen).record

    assert after_verify.facts_hold(after_verify.facts_of(record)) == (not found)
    assert holds(seen) == (not found)


def test_reviewers_are_shown_concerns_and_announced_changes() -> None:
    told = Story().planned(plan(DECLARING)).executed()
    record = told.step("verify", verified(told, NOTED)).record

    for text in (verify.prompt(record, record.latest(Verified)), judge.prompt(record), rate.prompt(record)):
        assert "concern suppression-added: a.py:1: `# noqa`. It is silenced." in text
    for text in (verify.prompt(record, record.latest(Verified)), judge.prompt(record)):
        assert "changes what tests/test_a.py expects. Reason: new rule" in text


def test_the_paper_lists_what_was_noticed() -> None:
    told = Story().planned().executed()
    told.step("verify", verified(told, NOTED))

    assert "## Tampering\n- concern suppression-added: a.py:1" in verify.artifacts(told.record)["VERIFICATION.md"]
