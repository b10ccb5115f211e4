"""Who sees what: the contamination table, for every role, over a record that has all there is to see."""

import pytest

from autopilot.domain.agent_call import ROLES, Role
from autopilot.engine.close.trace import TRACED
from autopilot.engine.perform.visibility import LEARNINGS, REPORTS, visible, writable
from autopilot.pipeline import artifacts
from support.records import CLAIMED, DIR, OPINED, PLANNED, Story, brief, plan, whole

SNAPSHOT = {
    ".planning/ROADMAP.md": "# roadmap\n",
    f"{DIR}/CONTEXT.md": "context\n",
    f"{DIR}/VERIFICATION.md": f"of last year: {OPINED}\n",
    ".planning/phases/00-old/EXECUTION-LOG.md": f"{CLAIMED}\n",
    ".planning/phases/00-old/00-VERIFICATION.md": f"{OPINED}\n",
    ".planning/phases/00-old/verify-trace.jsonl": f"{OPINED}\n",
    ".planning/phases/00-old/RECEIPT.json": f"{OPINED}\n",
    ".planning/phases/00-old/RECEIPT.json.sig": f"{OPINED}\n",
}
ASKED: tuple[Role, ...] = (
    "research", "plan", "plan_check", "execute", "mini_verify", "debug", "verify", "judge", "judge_divergence", "rate",
)  # fmt: skip
NAMES = {path.rpartition("/")[2] for path in SNAPSHOT} | {
    "PLAN.md", "RESEARCH.md", "task-01-01.sh", "TRIAGE.json", "EXECUTION-LOG.md", "VERIFICATION.md", "JUDGE-REPORT.md",
    "SCORECARD.md", "VERIFICATION.json", "JUDGE-REPORT.json", "SCORECARD.json",
}  # fmt: skip
OPEN = {"ROADMAP.md", "CONTEXT.md", "PLAN.md", "RESEARCH.md", "task-01-01.sh"}
SEES: dict[Role, set[str]] = {
    **dict.fromkeys(ASKED, OPEN),
    "judge_divergence": OPEN | {"VERIFICATION.md", "JUDGE-REPORT.md"},
    "rate": set(),
}


def test_the_record_of_this_table_has_every_artifact() -> None:
    assert {name.rpartition("/")[2] for name in artifacts(whole())} >= NAMES - {"ROADMAP.md", "CONTEXT.md"} - {
        "00-VERIFICATION.md", "verify-trace.jsonl", "RECEIPT.json", "RECEIPT.json.sig",
    }  # fmt: skip


@pytest.mark.parametrize("role", ASKED)
def test_a_role_sees_these_files_and_no_others(role: Role) -> None:
    """VRFY-01, JUDG-04, RATE-01."""
    shown = visible(role, whole(), SNAPSHOT)

    assert {path.rpartition("/")[2] for path in shown} == SEES[role]
    assert all(path.startswith(".planning/") for path in shown)


@pytest.mark.parametrize("role", ["mini_verify", "verify", "judge", "rate"])
def test_a_blind_reviewer_finds_nobody_s_words(role: Role) -> None:
    """VRFY-01, JUDG-01."""
    said = "\n".join(visible(role, whole(), SNAPSHOT).values())

    assert OPINED not in said
    assert "9.4" not in said
    assert CLAIMED not in said


def test_the_second_judge_call_sees_this_phase_s_reports_and_not_older_ones() -> None:
    """JUDG-04."""
    shown = visible("judge_divergence", whole(), SNAPSHOT)

    assert "of last year" not in shown[f"{DIR}/VERIFICATION.md"]
    assert not any(path.startswith(".planning/phases/00-old/") for path in shown)


def test_the_rater_sees_nothing_at_all() -> None:
    """RATE-01."""
    assert visible("rate", whole(), SNAPSHOT) == {}


def test_a_plan_that_is_proposed_is_what_the_checker_sees() -> None:
    shown = visible("plan_check", Story(brief(plan=plan(existed_before=True))).record, SNAPSHOT)

    assert PLANNED in shown[f"{DIR}/PLAN.md"]


def test_every_report_is_withheld_under_any_number() -> None:
    snapshot = {f".planning/phases/02-x/{prefix}{name}": "x" for name in REPORTS for prefix in ("", "02-", "02-01-")}

    assert visible("verify", whole(), snapshot).keys() == visible("verify", whole(), {}).keys()


@pytest.mark.parametrize("name", ["SUMMARY-R1.md", "EXECUTION-LOG-H1.md", *(f"{step}-trace.jsonl" for step in TRACED)])
def test_papers_of_other_passes_and_traces_of_steps_are_withheld(name: str) -> None:
    assert f"{DIR}/{name}" not in visible("judge_divergence", whole(), {f"{DIR}/{name}": OPINED})


@pytest.mark.parametrize(
    ("role", "path", "may"),
    [
        ("plan", f"{DIR}/PLAN.md", True),
        ("plan", f"{DIR}/tests/task-01-01.sh", True),
        ("plan", f"{DIR}/VERIFICATION.md", False),
        ("plan", ".planning/phases/02-other/PLAN.md", False),
        ("plan", ".planning/ROADMAP.md", False),
        ("research", f"{DIR}/RESEARCH.md", True),
        ("research", f"{DIR}/PLAN.md", False),
        ("execute", f"{DIR}/tests/task-01-01.sh", False),
        ("verify", f"{DIR}/VERIFICATION.md", False),
    ],
)
def test_a_role_writes_only_its_own_files(role: Role, path: str, may: bool) -> None:
    assert writable(role, whole(), path) == may


def test_only_researcher_and_planner_write_anything() -> None:
    paths = [f"{DIR}/{name}" for name in (*REPORTS, "PLAN.md", "RESEARCH.md", "tests/x.sh")]
    writers = {role for role in ROLES for path in paths if writable(role, whole(), path)}  # type: ignore[arg-type]  # ROLES are the roles

    assert writers == {"plan", "research"}


@pytest.mark.parametrize("role", ASKED)
def test_lrng_02_planner_and_executor_see_learnings_and_no_reviewer_does(role: Role) -> None:
    shown = visible(role, whole(), SNAPSHOT, "what went wrong\n")

    assert (shown.get(LEARNINGS) == "what went wrong\n") == (role in {"plan", "execute"})
    assert visible(role, whole(), SNAPSHOT).keys() == shown.keys() - {LEARNINGS}
