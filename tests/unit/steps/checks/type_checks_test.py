"""What a phase's type asks of its change, and what the judge owes the verifier's traces."""

from typing import Any

import pytest

from autopilot.domain.answers import CriterionResult, DivergenceOpinion, Trace, VerifyOpinion
from autopilot.domain.evidence import Finding
from autopilot.domain.results import Verified
from autopilot.pipeline import artifacts
from autopilot.policy.facts.behavior_traces import NOT_TRACED
from autopilot.steps import judge, judge_divergence, verify
from autopilot.steps.checks.type_checks import NO_BUILD, content_findings, handlers_in
from support.records import Story, brief, change, phase, ran
from support.tools import SaidAgents, SaidFacts, tools

BROKEN = Finding(rule="PTV-03", where="a.ts:1", what="refers to './b', which is not there")
TRACE = Trace(handler="onClick", file_line="a.tsx:1", chain="a -> b", terminal_action="saves", status="VERIFIED")


def of_type(kind: str) -> Story:
    return Story(brief(phase=phase(type=kind)))


@pytest.mark.parametrize(
    ("gate", "severity"),
    [(ran("build"), "warning"), (ran("compile"), "warning"), (ran("build", passed=False), "blocker"), (ran("lint"), "blocker")],
    ids=["built", "compiled", "not built", "only linted"],
)  # fmt: skip
def test_sbox_02_a_build_that_goes_through_outweighs_an_import_we_cannot_follow(gate: Any, severity: str) -> None:
    record, facts = of_type("mixed").record, SaidFacts(inside=(BROKEN,))

    found = content_findings(record, tools(facts=facts), change("base", "c1"), (gate,))

    assert [f.severity for f in found] == [severity]


@pytest.mark.parametrize(("kind", "told"), [("ui", [NO_BUILD]), ("mixed", []), ("data", [])])
def test_ptv_03_a_ui_phase_that_nobody_builds_is_told(kind: str, told: list[str]) -> None:
    found = content_findings(of_type(kind).record, tools(), change("base", "c1"), ())

    assert [f.what for f in found] == told


def test_btrc_01_handlers_are_read_from_what_the_change_adds() -> None:
    diff = (
        "--- a/a.tsx\n+++ b/src/a.tsx\n+<b onClick={f} onDragEnd={g}>\n-<b onSubmit={h}>\n onChange={old}\n"
        "+el.addEventListener('keydown', k)\n+ipcMain.handle('file:open', o)\n"
        '+++ b/p.vue\n+<b @click="f">\n+++ b/notes.md\n+onClick= is how\n'
    )

    assert handlers_in(diff) == (
        "onClick (src/a.tsx)", "onDragEnd (src/a.tsx)", "keydown (src/a.tsx)", "file:open (src/a.tsx)", "click (p.vue)",
    )  # fmt: skip


def test_ptv_content_that_blocks_is_told_and_nobody_is_asked() -> None:
    said = tools(facts=SaidFacts(inside=(BROKEN,), holding=frozenset({"grep -q done letter.txt"})))
    said.workspace.new = ("a.ts",)  # type: ignore[attr-defined]  # the scripted workspace

    seen = verify.run(of_type("mixed").record, said)

    assert (seen.opinion, seen.broken) == (None, (BROKEN,))


def test_ptv_the_report_tells_each_finding_and_does_not_say_passed() -> None:
    opinion = VerifyOpinion(passed=True, commands_run=("ls",))
    odd = Finding(rule="PTV-01", where="a.md:2", what="names `b.md`", severity="warning")
    seen = Verified(commit="c", tree="t", checks=(ran(),), content=(BROKEN, odd), opinion=opinion)
    text = artifacts(of_type("ui").step("verify", seen).record)["VERIFICATION.md"]

    assert "status: gaps_found" in text
    assert (
        "BLOCKER a.ts:1: refers to './b', which is not there (PTV-03)\n- WARNING a.md:2: names `b.md` (PTV-01)" in text
    )
    assert "- a.ts:1: refers to './b', which is not there (build_failure)" in text


def test_sbox_02_sbox_03_the_report_puts_our_runs_beside_words_and_names_violations() -> None:
    run = ran("SC-1", command="curl https://example.org", what="it answers")
    result = CriterionResult(criterion="It answers", status="verified", evidence="seen")
    seen = Verified(commit="c", tree="t", checks=(run,), opinion=VerifyOpinion(passed=True, criteria_results=(result,)))
    text = artifacts(Story().step("verify", seen).record)["VERIFICATION.md"]

    assert "- It answers: verified -- seen (executed by Autopilot: VERIFIED)\n" in text
    assert "## Sandbox Violations\n- `curl https://example.org`: reaches into the network\n" in text


def traced(kind: str, *traces: Trace) -> Story:
    opinion = VerifyOpinion(passed=True, behavioral_traces=traces)
    return of_type(kind).step("verify", Verified(commit="c", tree="t", opinion=opinion))


@pytest.mark.parametrize(
    ("answer", "fine"),
    [
        ({"retraced": [{"handler": "onclick"}]}, True), ({"retraced": [{"file_line": "a.tsx:1"}]}, True), ({}, False),
        ({"retraced": [{"handler": "other"}]}, False), ({"retraced": "all"}, False), ({"retraced": [7]}, False),
    ],
    ids=["by handler", "by place", "none", "another", "no list", "no row"],
)  # fmt: skip
def test_judg_06_the_judge_has_to_follow_one_row_itself(answer: dict[str, Any], fine: bool) -> None:
    found = judge_divergence.objections((TRACE,), answer)

    assert [o.issue for o in found] == [judge_divergence.NOT_RETRACED] * (not fine)


@pytest.mark.parametrize(
    ("story", "added", "asked"),
    [(traced("ui"), (NOT_TRACED,), False), (traced("ui", TRACE), (), True), (traced("data", TRACE), (), False)],
    ids=["no table", "a table", "nothing to touch"],
)
def test_judg_06_a_missing_table_is_a_concern_of_ours(story: Story, added: tuple[str, ...], asked: bool) -> None:
    opinion = DivergenceOpinion(recommendation="proceed")

    seen = judge_divergence.run(story.record, tools(agents=SaidAgents({"judge_divergence": opinion})))

    assert (seen.added, seen.concerns) == (added, added)
    assert (judge_divergence.RETRACE in judge_divergence.prompt(story.record)) == asked


@pytest.mark.parametrize(("kind", "asked"), [("ui", True), ("mixed", True), ("data", False)])
def test_judg_03_the_judge_is_asked_to_follow_a_handler_where_there_may_be_one(kind: str, asked: bool) -> None:
    assert (judge.TOUCH in judge.prompt(of_type(kind).record)) == asked
