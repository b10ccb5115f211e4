"""The return contract of a pass: what it holds, in which words, and that it cannot be had without verification."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.attempt import PhaseOutcome
from autopilot.domain.evidence import Change, FileChange
from autopilot.domain.results import Planned, Preflighted, Triaged, Unanswered, Verified
from autopilot.domain.verdict import Advance, Stop
from autopilot.engine.close.outcome import PROSE, STRUCTURED, automated, evidenced, outcome_of, set_aside
from autopilot.engine.decide.next_step import Finish, next_move
from autopilot.evidence.content import data_files, prose
from autopilot.gates import after_rate
from support.records import BASE, TREE, Story, brief, phase, plan, ran, task, whole

DONE, FAILED = Finish("completed", "every gate passed"), Finish("failed", "no good", rollback=True)
FIELDS = (
    "phase", "status", "alignment_score", "tasks_completed", "tasks_failed", "commit_shas", "automated_checks", "issues",
    "debug_attempts", "replan_attempts", "recommendation", "summary", "checkpoint_sha", "verification_duration_seconds",
    "evidence", "human_verify_justification", "split_details", "pipeline_steps",
)  # fmt: skip
STATUSES = {
    "preflight": {"pass", "fail", "skipped"},
    "triage": {"full_pipeline", "verify_only", "skipped"},
    "research": {"completed", "skipped"},
    "plan": {"completed", "skipped"},
    "plan_check": {"pass", "fail", "skipped"},
    "execute": {"completed", "partial", "skipped"},
    "verify": {"pass", "fail", "skipped"},
    "judge": {"pass", "fail", "skipped"},
    "rate": {"pass", "fail", "skipped"},
}
SILENT = Unanswered(role="x", outcome="bad_output", detail="no JSON")


def cut_off(step: str) -> Story:
    """A pass whose agent in this step gave no usable answer."""
    return Story().planned().executed().step(step, SILENT, Stop(because="no usable answer"))


def test_ret_01_a_pass_returns_every_field() -> None:
    outcome = outcome_of(whole(), DONE)

    assert all(hasattr(outcome, name) for name in FIELDS)
    assert (outcome.checkpoint_sha, outcome.tasks_completed, outcome.tasks_failed) == ("c1", "1/1", "0/1")
    assert {"compile", "build", "lint"} <= outcome.automated_checks.keys()
    assert outcome.recommendation in {"proceed", "debug", "rollback", "halt"}


@pytest.mark.parametrize("status", ["", "done", "passed", "COMPLETED", None])
def test_ret_02_a_pass_has_no_other_status(status: Any) -> None:
    told = msgspec.to_builtins(outcome_of(whole(), DONE)) | {"status": status}

    with pytest.raises(msgspec.ValidationError, match="status"):
        msgspec.convert(told, PhaseOutcome)


def test_ret_03_the_score_is_the_rater_s_with_one_decimal() -> None:
    outcome = outcome_of(Story().planned().executed().verified().judged().rated(8.7).record, DONE)

    assert (outcome.alignment_score, outcome.pipeline_steps["rate"].alignment_score) == (8.7, 8.7)


@pytest.mark.parametrize(
    ("because", "reason"),
    [("existing plan", "existing plan"), ("research is switched off", "research is switched off"), ("", "not reached")],
)
def test_ret_04_a_step_left_out_says_why(because: str, reason: str) -> None:
    triaged = Triaged(routing="full_pipeline", source="roadmap")
    steps = outcome_of(Story().step("triage", triaged, Advance(because=because)).record, FAILED).pipeline_steps

    assert {steps[name].skip_reason for name in ("research", "plan")} == {reason}
    assert {field for step in steps.values() for field in step.__struct_fields__} == {
        "status", "agent_spawned", "confidence", "skip_reason", "pass_ratio", "alignment_score", "score_band",
    }  # fmt: skip


@pytest.mark.parametrize("step", [step for step in STATUSES if step not in {"preflight", "triage"}])
def test_ret_05_a_step_without_an_answer_still_has_a_status_of_its_own(step: str) -> None:
    steps = outcome_of(cut_off(step).record, FAILED).pipeline_steps

    assert {name: steps[name].status for name in STATUSES if steps[name].status not in STATUSES[name]} == {}
    assert steps[step].status != "pass"


def test_ret_05_every_step_of_a_whole_pass_has_one_of_its_words() -> None:
    steps = outcome_of(whole(), DONE).pipeline_steps

    assert all(steps[name].status in words - {"skipped", "fail"} for name, words in STATUSES.items())


@pytest.mark.parametrize("waits", [True, False], ids=["it waits", "it does not"])
def test_ret_06_only_a_pass_that_waits_has_a_justification(waits: bool) -> None:
    story = Story().planned(plan(task(), task("01-02", type="checkpoint:human-verify"))).executed()
    status: Finish = Finish("needs_human_verification", "why") if waits else DONE
    told = outcome_of(story.record, status).human_verify_justification

    assert (told is not None) == waits
    assert told is None or (told.checkpoint_task_id, told.auto_tasks_passed, told.auto_tasks_total) == ("01-02", 1, 1)


def test_ret_07_a_pass_says_how_to_split_it_only_when_it_asks_to_be_split() -> None:
    large = plan(*(task(f"01-{n:02}", complexity="complex") for n in range(1, 8)))
    record = Story().step("plan", Planned(plan=large)).record
    details = outcome_of(record, Finish("split_request", "too large")).split_details

    assert details is not None
    assert details.total_sub_phases == len(details.recommended_sub_phases) > 1
    assert outcome_of(Story().planned(large).record, DONE).split_details is None
    assert outcome_of(whole(), DONE).split_details is None


def test_ret_10_a_rollback_says_from_where_to_where_and_where_the_work_is_kept() -> None:
    outcome = set_aside(outcome_of(whole(), FAILED), whole(), "autopilot-diagnostic-phase-1")

    assert (outcome.rollback_performed, outcome.rollback_from, outcome.rollback_to) == (True, "c1", BASE)
    assert (outcome.diagnostic_branch, outcome.deferral_evidence) == ("autopilot-diagnostic-phase-1", ())


@pytest.mark.parametrize(
    ("gates", "old", "told"),
    [((), (), "n/a"), ((ran("compile"),), (), True), ((ran("compile", passed=False),), (), False)],
    ids=["AMB-16 no command", "it compiles", "it does not"],
)
def test_intg_01_compile_is_not_applicable_only_without_a_command(gates: Any, old: Any, told: bool | str) -> None:
    assert automated(gates, old)["compile"] == told


@pytest.mark.parametrize("left_out", ["verified", "judged"])
def test_intg_01_no_pass_completes_past_a_reviewer_who_was_left_out(left_out: str) -> None:
    """SPWN-02, INTG-06: there is nothing in the record the phase's gate could go by."""
    story = Story().planned().executed()
    for name in ("verified", "judged", "rated"):
        story = story if name == left_out else getattr(story, name)()

    with pytest.raises(LookupError, match=r"no (Verified|Judged) yet"):
        after_rate.GATE.decide(story.record)


@given(st.lists(st.sampled_from(["verify", "judge", "judge_divergence"]), max_size=4))
def test_intg_01_only_the_last_gate_completes_a_pass(steps: list[str]) -> None:
    """INTG-04a, SPWN-02: the way to `completed` leads through every reviewer, in whatever order they were asked."""
    story = Story().planned().executed()
    for step in steps:
        story.step(step, Verified(commit="c1", tree=TREE), Advance())
    move = next_move(story.record)

    assert not isinstance(move, Finish) or move.status != "completed"


def evidence_of(kind: Any, path: str, **more: Any) -> tuple[str, ...]:
    files = (FileChange(path=path, status="M"),)
    story = Story(brief(phase=phase(type=kind))).planned().executed()
    story.step("verify", Verified(commit="c1", tree=TREE, checks=(ran("SC-1"),), **more))
    made = Change(base=BASE, commit="c1", tree=TREE, files=files, added=2)
    evidence = evidenced(outcome_of(story.record, DONE), story.record, made).evidence
    assert evidence.git_diff_summary == "1 files changed, 2 insertions(+), 0 deletions(-)"
    return evidence.commands_run


@pytest.mark.parametrize(
    ("kind", "path", "wanted"),
    [
        ("protocol", "docs/a.md", "autopilot: cross-reference check of docs/a.md -> 0 findings"),
        ("data", "a.json", "autopilot: JSON and data validity check of a.json -> 0 findings"),
        ("mixed", "docs/a.md", "autopilot: cross-reference check of docs/a.md -> 0 findings"),
        ("mixed", "a.json", "autopilot: JSON and data validity check of a.json -> 0 findings"),
    ],
    ids=["PTYP-02 protocol", "PTYP-03 data", "PTYP-04 AMB-39 prose of a mixed phase", "PTYP-04 data of a mixed phase"],
)
def test_stat_01_what_the_type_asks_for_is_among_the_evidence(kind: str, path: str, wanted: str) -> None:
    assert wanted in evidence_of(kind, path)


def test_stat_01_a_user_interface_has_its_compilation_and_build_among_the_evidence() -> None:
    """PTYP-01."""
    gates = (ran("compile", command="tsc"), ran("build", command="vite build"))

    assert {"tsc", "vite build"} <= set(evidence_of("ui", "src/app.tsx", gates=gates))


def test_stat_01_the_files_named_are_those_the_checks_read() -> None:
    assert frozenset(PROSE) == prose.MARKDOWN
    assert set(STRUCTURED) == set(data_files.READERS)


def test_stat_01_a_pass_on_which_nothing_was_run_is_none() -> None:
    story = Story().planned().executed().step("verify", Verified(commit="c1", tree=TREE)).judged().rated()

    assert isinstance(after_rate.GATE.decide(story.record), Stop)


def test_pref_06_a_pass_that_never_began_has_skipped_all_that_follows() -> None:
    blocked = Preflighted(spec_hash_match=True, working_tree_clean=True, dependencies_met=False, issues=("x",))
    steps = outcome_of(Story().step("preflight", blocked, Stop(because="x")).record, FAILED).pipeline_steps

    assert {step.status for name, step in steps.items() if name != "preflight"} == {"skipped"}
