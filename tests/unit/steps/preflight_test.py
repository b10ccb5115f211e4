"""Preflight: what it tells, and how a pass ends that may not start."""

from autopilot.domain.results import Preflighted
from autopilot.domain.verdict import Stop
from autopilot.engine.close.outcome import outcome_of
from autopilot.engine.decide.next_step import Finish
from autopilot.gates import after_preflight
from autopilot.steps import preflight
from support.records import Story, brief
from support.tools import SaidWorkspace, tools


def test_pref_05_the_result_names_every_check() -> None:
    files = {".planning/debug/open.md": ""}
    workspace = SaidWorkspace(sha256="0" * 64, changed=("a.txt",), files=files)

    seen = preflight.run(Story(brief(unmet=("1",))).record, tools(workspace=workspace))

    assert (seen.all_clear, seen.spec_hash_match, seen.working_tree_clean) == (False, False, False)
    assert (seen.dependencies_met, seen.unresolved_debug, len(seen.issues)) == (False, (".planning/debug/open.md",), 2)


def test_pref_06_a_pass_that_may_not_start_ends_at_once_with_nothing_done() -> None:
    blocked = Preflighted(spec_hash_match=True, working_tree_clean=True, dependencies_met=False, issues=("no phase 1",))
    told = Story().step("preflight", blocked)
    assert after_preflight.GATE.decide(told.record) == Stop(because="Preflight failed: no phase 1")

    ended = outcome_of(told.record, Finish("failed", "Preflight failed: no phase 1"))
    assert (ended.status, ended.alignment_score, ended.recommendation) == ("failed", None, "halt")
    assert (ended.issues, ended.commit_shas) == (("Preflight failed: no phase 1",), ())
    assert (ended.tasks_completed, ended.tasks_failed) == ("0/0", "0/0")
