"""What the browser saw, in the steps: whether it is asked, what is told, and what it takes off the score."""

from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.answers import CriterionScore, RateOpinion, VerifyOpinion
from autopilot.domain.results import Verified
from autopilot.domain.settings import Settings
from autopilot.domain.verdict import Retry, Stop
from autopilot.domain.visual import Look, Route, VisualIssue, VisualResults, VisualTesting, skipped
from autopilot.gates import after_verify
from autopilot.pipeline import artifacts
from autopilot.policy.score_caps import charged, score
from autopilot.steps import debug, verify
from autopilot.steps.artifacts.visual_bugs import regression_status, section, tracked
from autopilot.steps.checks import visual_check as visual
from autopilot.steps.rate import visual_lines
from support.records import DIR, DONE, Story, brief, phase, plan, ran, started, task
from support.strategies import edge_values
from support.tools import SaidAgents, SaidFacts, tools

TESTING = VisualTesting(launch_command="x", base_url="http://localhost:1", routes=(Route(path="/", name="home"),))
WIDE = VisualIssue(route="home", type="layout", severity="major", description="too wide", suggested_fix="Shrink it.")
DULL = VisualIssue(route="home", type="accessibility", severity="minor", description="images without alt")
SPEC_TEST = f"bash {DIR}/tests/task-01-01.sh"
OLD = msgspec.structs.replace(WIDE, old=True)


def saw(*issues: VisualIssue) -> VisualResults:
    return VisualResults(routes_tested=1, routes_passed=0 if issues else 1, issues_found=issues)


def looked(*looks: VisualResults, kind: Any = "ui", **more: Any) -> Story:
    """A pass verified once a look, and sent back in between."""
    told = Story(brief(phase=phase(type=kind)), started(visual=TESTING, **more)).planned().executed()
    for seen in looks:
        result = Verified(commit="c1", tree="t", checks=(ran("SC-1"),), visual_test_results=seen)
        told.step("verify", result, Retry(step="debug", because="seen"))
    return told


@dataclass(slots=True)
class SaidLooks:
    results: VisualResults
    asked: list[Look] = field(default_factory=list)

    def look(self, wanted: Look) -> VisualResults:
        self.asked.append(wanted)
        return self.results

    def keep(self, results: VisualResults) -> tuple[str, ...]:
        return ()


def verified(story: Story, looks: SaidLooks, holding: str = DONE) -> tuple[Verified, list[str]]:
    agents = SaidAgents({"verify": msgspec.convert({"pass": True, "commands_run": ["ls"]}, VerifyOpinion)})
    seen = verify.run(story.record, tools(agents=agents, looks=looks, facts=SaidFacts(frozenset({holding, SPEC_TEST}))))
    return seen, agents.asked


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("ui", 1), ("mixed", 1), ("data", 0), ("protocol", 0)],
    ids=["ui", "mixed", "data", "protocol"],
)
def test_vis_02_only_phases_that_may_draw_are_looked_at(kind: str, expected: int) -> None:
    """VIS-02: and where nobody looked, nothing is said of it."""
    looks = SaidLooks(saw())

    seen, _ = verified(looked(kind=kind), looks)

    assert len(looks.asked) == expected
    assert ("visual_test_results" in msgspec.to_builtins(seen)) is bool(expected)


def test_vis_04_what_can_be_seen_to_be_wrong_needs_no_verifier() -> None:
    """VIS-04."""
    assert verified(looked(), SaidLooks(saw(WIDE)))[1] == []
    assert verified(looked(), SaidLooks(saw(DULL, OLD)))[1] == ["verify"]


def test_nothing_is_launched_while_a_command_fails() -> None:
    looks = SaidLooks(saw())

    verified(looked(), looks, holding="nothing")

    assert looks.asked == []


@pytest.mark.parametrize(
    ("kind", "files", "expected"),
    [("ui", (), True), ("mixed", ("a.py", "web/a.css"), True), ("mixed", ("a.py",), False)],
    ids=["by the roadmap", "by the plan", "not at all"],
)
def test_a_changed_look_is_expected_only_where_roadmap_or_plan_say_so(kind: Any, files: Any, expected: bool) -> None:
    named = msgspec.structs.replace(task(), files=files)
    told = Story(brief(phase=phase(type=kind)), started(visual=TESTING)).planned(plan(named))

    assert visual.redrawn(told.record) is expected


@pytest.mark.parametrize(
    ("seen", "failing"),
    [(saw(WIDE, DULL), (WIDE.told,)), (saw(OLD), ()), (skipped("Visual testing skipped: x."), ())],
    ids=["new", "old", "skipped"],
)
def test_vist_04_only_what_is_new_and_grave_counts_as_failing(seen: VisualResults, failing: tuple[str, ...]) -> None:
    """VIST-04, VIS-04."""
    assert after_verify.facts_of(looked(seen).record).failing == failing


def test_vist_06_no_debug_attempt_left_ends_the_phase() -> None:
    """VIST-06."""
    verdicts = [after_verify.GATE.decide(looked(saw(WIDE), debug_attempts=n).record) for n in (3, 0)]

    assert [type(verdict) for verdict in verdicts] == [Retry, Stop]


def test_vis_04_the_debugger_is_told_what_was_seen_and_where_to_read_it() -> None:
    """VIS-04."""
    prompt = debug.prompt(looked(saw(WIDE, DULL)).record)

    assert "(details in `.planning/phases/01-letter/VISUAL-BUGS.md`)" in prompt
    assert "- major layout issue on home: too wide. Shrink it." in prompt
    assert DULL.description not in prompt


def test_vist_03_bugs_are_tracked_until_they_are_gone_and_when_they_come_back() -> None:
    """VIST-03."""
    first, gone, back = saw(WIDE, DULL), saw(DULL), saw(WIDE)

    assert [(bug.resolution, bug.gone) for bug in tracked((first, gone))] == [("resolved", 2), ("open", None)]
    assert [(bug.resolution, bug.first) for bug in tracked((first, gone, back))] == [("open", 1), ("resolved", 1)]
    assert [bug.resolution for bug in tracked((saw(OLD),))] == ["there before this phase"]


@pytest.mark.parametrize(
    ("looks", "status"),
    [((saw(),), "no_change"), ((saw(WIDE),), "new_issues"), ((saw(WIDE), saw()), "resolved"),
     ((saw(WIDE), saw(WIDE)), "no_change"), ((saw(WIDE), saw(DULL)), "new_issues"), ((saw(OLD),), "no_change")],
    ids=["none", "first", "mended", "as before", "another", "old"],
)  # fmt: skip
def test_the_newest_look_is_told_against_the_one_before(looks: tuple[VisualResults, ...], status: str) -> None:
    assert regression_status(looks) == status


def test_vist_03_papers_tell_what_was_seen() -> None:
    """VIST-03: and only where something was."""
    papers = artifacts(looked(saw(WIDE), saw(DULL)).record)

    assert (
        "## 1. [major] layout on home: too wide\n- Suggested fix: Shrink it.\n- Resolution: resolved"
        in papers["VISUAL-BUGS.md"]
    )
    assert "## Visual Testing Results\n0/1 routes passed" in papers["VERIFICATION.md"]
    assert '"regression_status": "new_issues"' in papers["VISUAL-BUGS.json"]
    assert "VISUAL-BUGS.md" not in artifacts(looked(saw()).record)
    assert section(skipped("Visual testing skipped: x.")) == "Visual testing skipped: x."


@pytest.mark.parametrize(
    ("issues", "expected"),
    [((), 9.5), ((DULL,), 9.2), ((WIDE,), 9.0), ((msgspec.structs.replace(WIDE, severity="critical"),), 8.5)],
    ids=["none", "minor", "major", "critical"],
)
def test_rate_11_each_issue_is_taken_off_the_criterion_that_names_its_page(
    issues: tuple[VisualIssue, ...], expected: float
) -> None:
    """RATE-11."""
    rows = [{"criterion": "the home page greets", "score": 10.0}, {"criterion": "it adds up", "score": 9.0}]
    opinion = msgspec.convert({"alignment_score": 10.0, "scorecard": rows}, RateOpinion)

    assert score(charged(opinion, issues)[0]) == expected


def test_rate_11_a_page_no_criterion_names_counts_all_the_same() -> None:
    """RATE-11."""
    rows = [{"criterion": "it adds up", "score": 9.0}, {"criterion": "it greets", "score": 10.0}]
    opinion = msgspec.convert({"alignment_score": 10.0, "scorecard": rows}, RateOpinion)

    assert score(charged(opinion, (WIDE, DULL))[0]) == 8.7


@given(st.lists(edge_values(CriterionScore), min_size=1, max_size=3), st.lists(edge_values(VisualIssue), max_size=3))
def test_rate_11_what_is_seen_can_only_lower_a_score(rows: list[CriterionScore], issues: list[VisualIssue]) -> None:
    """RATE-11: and never below 0."""
    opinion = RateOpinion(alignment_score=10.0, scorecard=tuple(rows))

    assert 0 <= score(charged(opinion, issues)[0]) <= score(opinion)


def test_rate_11_a_scorecard_says_when_nobody_looked() -> None:
    """RATE-11."""
    unseen = Verified(commit="c", tree="t", visual_test_results=skipped("no browser"))

    assert {visual_lines(each) for each in (None, unseen)} == {"visual testing not performed"}


def test_an_old_journal_and_a_new_one_tell_the_same_of_a_phase_nobody_looked_at() -> None:
    old = b'{"kind":"Verified","commit":"c","tree":"t"}'

    assert msgspec.json.decode(old, type=Verified).visual is None
    assert b"visual" not in msgspec.json.encode(Verified(commit="c", tree="t"))
    assert msgspec.json.decode(b'{"agent":"a"}', type=Settings).visual is None
