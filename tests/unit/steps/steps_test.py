"""Each step by itself: whom it asks, what it runs, and what it makes of it."""

from typing import Any

import pytest

from autopilot.domain.answers import FixClaim, PlanClaim, PlanOpinion, RateOpinion, VerifyOpinion, WorkClaim
from autopilot.domain.errors import NoAnswer
from autopilot.domain.evidence import Finding
from autopilot.domain.results import Planned, Triaged
from autopilot.domain.settings import Commands
from autopilot.domain.verdict import Retry
from autopilot.steps import debug, execute, fix, plan, plan_check, preflight, rate, triage, verify
from autopilot.steps.prompt import criteria_lines
from support.project import plan_text
from support.records import BASE, DIR, DONE, SPEC, Story, brief, criterion, phase, started, task, whole
from support.records import plan as made_plan
from support.tools import SaidAgents, SaidFacts, SaidPlanning, SaidWorkspace, tools


def wanting(count: int) -> Any:
    """A phase with as many criteria, the first of which is `c0`."""
    return phase(criteria=tuple(criterion(f"SC-{n}", f"c{n}") for n in range(count)))


@pytest.mark.parametrize(
    ("count", "holding", "routing"),
    [(5, 5, "verify_only"), (6, 5, "full_pipeline"), (5, 4, "full_pipeline"), (1, 0, "full_pipeline")],
    ids=["all", "five of six", "four of five", "none"],
)
def test_every_criterion_must_hold_to_skip_the_work(count: int, holding: int, routing: str) -> None:
    """TRGE-03."""
    record = Story(brief(phase=wanting(count))).record

    seen = triage.run(record, tools(facts=SaidFacts(frozenset(f"c{n}" for n in range(holding)))))

    assert (seen.routing, seen.source) == (routing, "roadmap")


@pytest.mark.parametrize(
    ("criteria", "routing"),
    [
        ((criterion("SC-1", "c0"), criterion("SC-2", None)), "full_pipeline"),
        ((criterion("SC-1", "c0"), criterion("SC-2", "c1", behavioural=True)), "full_pipeline"),
        ((criterion("SC-1", "pytest -q"),), "full_pipeline"),
        ((criterion("SC-1", "CI=1 python3 -m pytest 2>&1"), criterion("SC-2", "ruff check .")), "full_pipeline"),
        ((criterion("SC-1", "pytest -q"), criterion("SC-2", "c0")), "verify_only"),
        ((criterion("SC-1", "pytest tests/new_test.py"),), "verify_only"),
    ],
    ids=["prose", "behavior", "a gate", "gates in other words", "a gate and more", "a part of a gate"],
)
def test_trge_03_what_cannot_be_run_or_is_only_a_gate_proves_nothing(criteria: Any, routing: str) -> None:
    start = started(phase(criteria=criteria), commands=Commands(test="pytest", lint="ruff check"))
    record = Story(brief(phase=start.phases[0]), start).record

    seen = triage.run(record, tools(facts=SaidFacts(frozenset(c.command for c in criteria if c.command))))

    assert seen.routing == routing


def test_triage_of_nothing_goes_the_whole_way() -> None:
    """TRGE-02."""
    seen = triage.run(Story(brief(phase=wanting(0))).record, tools())

    assert (seen.routing, seen.source, seen.pass_ratio) == ("full_pipeline", "none", 0.0)


def test_triage_by_the_user_s_plan_runs_its_frozen_tests() -> None:
    """TRGE-02."""
    facts = SaidFacts(frozenset({DONE}))
    given = made_plan(existed_before=True)

    seen = triage.run(Story(brief(plan=given)).record, tools(facts=facts))

    assert (seen.routing, seen.source) == ("verify_only", "plan")
    assert facts.asked == [(BASE, (DONE,), {f"{DIR}/tests/task-01-01.sh": given.tests[0].text})]


def test_a_remediation_is_never_skipped() -> None:
    seen = triage.run(Story(brief(plan=made_plan(), cycle=1)).record, tools(facts=SaidFacts(frozenset({DONE}))))

    assert (seen.routing, seen.note) == ("full_pipeline", "override: remediation")


@pytest.mark.parametrize(
    ("workspace", "unmet", "issue"),
    [
        (SaidWorkspace(), (), None),
        (
            SaidWorkspace(sha256="0" * 64),
            (),
            "spec_hash_mismatch: .planning/ROADMAP.md was 555555555555, is 000000000000",
        ),
        (SaidWorkspace(sha256=None), (), "spec_hash_mismatch: .planning/ROADMAP.md was 555555555555, is missing"),
        (SaidWorkspace(), ("1",), "dependency not complete: phase 1"),
        (SaidWorkspace(changed=("a.txt",)), (), None),
    ],
    ids=["clear", "changed", "missing", "dependency", "dirty"],
)
def test_preflight_stops_what_must_not_start(
    workspace: SaidWorkspace, unmet: tuple[str, ...], issue: str | None
) -> None:
    """PREF-01..03, PREF-07."""
    seen = preflight.run(Story(brief(unmet=unmet)).record, tools(workspace=workspace))

    assert seen.issues == ((issue,) if issue else ())
    assert seen.all_clear == (issue is None)
    assert bool(seen.warnings) == bool(workspace.changed)


def test_pref_04_preflight_tells_of_debugging_left_open() -> None:
    files = {".planning/debug/a.md": "", ".planning/debug/resolved/b.md": "", ".planning/x.md": ""}
    seen = preflight.run(Story().record, tools(workspace=SaidWorkspace(files=files)))

    assert (seen.unresolved_debug, SPEC.path) == ((".planning/debug/a.md",), ".planning/ROADMAP.md")


def test_a_checker_is_not_asked_about_what_a_machine_rejects() -> None:
    agents, blocker = SaidAgents(), Finding(rule="PCHK-02", where="01-01", what="no action")
    record = Story().step("plan", Planned(plan=made_plan())).record

    seen = plan_check.run(record, tools(agents=agents, planning=SaidPlanning((blocker,))))

    assert (seen.opinion, seen.findings, agents.asked) == (None, (blocker,), [])


def test_a_checker_is_asked_about_the_newest_plan() -> None:
    newest = made_plan(task("01-09"))
    agents = SaidAgents({"plan_check": PlanOpinion(passed=True, confidence=9)})
    told = Story(brief(plan=made_plan())).step("plan", Planned(plan=newest)).step("plan", Planned(plan=None))

    seen = plan_check.run(told.record, tools(agents=agents))

    assert (seen.plan, agents.asked) == (newest, ["plan_check"])


def test_without_any_plan_there_is_nothing_to_check() -> None:
    with pytest.raises(LookupError, match="no plan to check"):
        plan_check.proposal(Story().record)


@pytest.mark.parametrize(
    ("wrote", "problem"),
    [
        ({}, f"no new {DIR}/PLAN.md was written"),
        ({f"{DIR}/tests/a.sh": "true"}, f"no new {DIR}/PLAN.md was written"),
        ({f"{DIR}/PLAN.md": "prose"}, "The plan has no task."),
        ({f"{DIR}/PLAN.md": plan_text("1", [("a.txt", "a")])}, ""),
    ],
    ids=["nothing", "only a test", "prose", "a plan"],
)
def test_a_plan_is_the_file_and_not_the_talk_about_it(wrote: dict[str, str], problem: str) -> None:
    agents = SaidAgents({"plan": PlanClaim(total_tasks=9)}, wrote)

    seen = plan.run(Story().record, tools(agents=agents))

    assert (seen.problem, seen.plan is None) == (problem, bool(problem))


def test_a_revision_of_the_tests_alone_keeps_the_plan() -> None:
    first = plan.run(
        Story().record,
        tools(agents=SaidAgents({"plan": PlanClaim()}, {f"{DIR}/PLAN.md": plan_text("1", [("a", "a")])})),
    )
    told = Story().step("plan", first).step("plan_check", Planned(plan=None), Retry(step="plan", because="no test"))

    seen = plan.run(told.record, tools(agents=SaidAgents({"plan": PlanClaim()}, {f"{DIR}/tests/t.sh": "true\n"})))

    assert seen.plan is not None
    assert [test.path for test in seen.plan.tests] == ["tests/t.sh"]


@pytest.mark.parametrize(
    ("criteria", "holding", "asked"),
    [((), set(), []), ((DONE,), set(), []), ((DONE,), {DONE}, ["verify"])],
    ids=["nothing to check", "a fact fails", "all hold"],
)
def test_a_verifier_is_asked_only_when_the_facts_hold(
    criteria: tuple[str, ...], holding: set[str], asked: list[str]
) -> None:
    agents = SaidAgents({"verify": VerifyOpinion(passed=True)})
    record = Story(brief(phase=phase(criteria=tuple(criterion(c, c) for c in criteria)))).record

    seen = verify.run(record, tools(agents=agents, facts=SaidFacts(frozenset(holding))))

    assert (agents.asked, seen.commit, seen.seconds) == (asked, BASE, 1.0 if asked else 0.0)


@pytest.mark.parametrize(
    "opinion", [RateOpinion(alignment_score=9.9, scorecard=()), RateOpinion(alignment_score=9.9, scorecard=(), commands_run=("ls",))],
    ids=["ran nothing", "scored nothing"],
)  # fmt: skip
def test_a_rating_without_work_behind_it_is_none(opinion: RateOpinion) -> None:
    """RATE-03."""
    with pytest.raises(NoAnswer, match="commands_run and a scorecard"):
        rate.run(whole(), tools(agents=SaidAgents({"rate": opinion})))


def test_facts_of_a_task_are_made_before_and_after_with_the_frozen_tests() -> None:
    facts = SaidFacts(frozenset({DONE}))
    told = Story(start=started(commands=Commands(test="make t")))
    record = told.planned().record

    made = execute.run(record, tools(facts=facts, agents=SaidAgents({"execute": WorkClaim()})))

    frozen = {f"{DIR}/tests/task-01-01.sh": made_plan().tests[0].text}
    assert facts.asked == [(BASE, (DONE,), frozen), ("new", (DONE,), frozen)]
    assert [run.check for run in made.work.gates_after] == ["test"]


def test_messages_name_phase_and_task() -> None:
    """EXEC-03, DBG-02."""
    agents = SaidAgents({"execute": WorkClaim(), "debug": FixClaim()})
    said = tools(agents=agents)
    told = Story().planned()
    execute.run(told.record, said)
    fix.run(told.executed().record, said)
    debug.run(told.verified(passed=False).record, said)
    execute.run(Story(brief(cycle=1, plan=made_plan(), feedback=("a",))).record, said)

    assert agents.asked == [
        "feat(01): 01-01 - title of 01-01",
        "feat(01): 01-01 - title of 01-01",
        "fix(01): debug attempt 1",
        "fix(01): 1-R1 - remediation 1",
    ]


def test_without_criteria_a_prompt_says_so() -> None:
    assert criteria_lines(()) == "none with a command"
    assert criteria_lines((criterion("c", None),)) == "- text of c"


def test_triage_that_found_nothing_to_run_has_no_ratio() -> None:
    assert Triaged(routing="full_pipeline", source="none").pass_ratio == 0.0


def test_tspc_01_a_test_file_that_no_criterion_runs_is_run_all_the_same() -> None:
    facts = SaidFacts(frozenset({DONE}))

    seen = verify.run(Story().planned().record, tools(facts=facts))

    spec = f"bash {DIR}/tests/task-01-01.sh"
    assert [(run.command, run.passed) for run in seen.checks] == [(DONE, True), (spec, False)]
    assert seen.opinion is None


def test_tspc_01_a_test_file_that_a_criterion_runs_is_run_once() -> None:
    spec = f"bash {DIR}/tests/task-01-01.sh"
    made = made_plan(task("01-01", criterion("01-01.1", spec)))

    seen = verify.run(Story().planned(made).record, tools())

    assert [run.command for run in seen.checks] == [DONE, spec]
