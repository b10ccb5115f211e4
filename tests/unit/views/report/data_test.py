"""What each section of a report is made of."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.events import AgentAnswered, Noted, PhaseMerged, VerdictGiven
from autopilot.domain.evidence import Usage
from autopilot.domain.results import Executed, Lowered, Rated
from autopilot.text.redact import redact
from autopilot.views.report.data import data
from autopilot.views.report.dependency_chart import graph_of
from autopilot.views.report.diffs import changes_of, wanted
from autopilot.views.report.fact_list import facts_of, merge_facts, noticed
from autopilot.views.report.gantt import Pause, Timeline, scaled, timeline
from autopilot.views.report.phase_rows import PhaseSeen, phases_seen
from autopilot.views.report.scorecards import scorecard
from autopilot.views.report.source import Told
from autopilot.views.report.spending import agent_name, dollars_told, spending_of, tokens_told
from autopilot.views.report.verdict_rows import brakes, rulings, used
from support.records import Story, brief, phase, started, work
from support.reports import SECRET, clock, fact, finished, long_story, run_record, told_run, waiting_run


def test_each_phase_of_the_roadmap_has_its_status_and_what_it_stands_on() -> None:
    first, second, third = phases_seen(told_run())

    assert [(seen.id, seen.word, seen.score) for seen in (first, second, third)] == [
        ("1", "passed", 9.4), ("2", "failed", None), ("3", "not started", None),
    ]  # fmt: skip
    assert first.evidence == (
        "1/1 checks passed (unsandboxed)", "verifier agrees", "judge says proceed", "rated 9.4",
    )  # fmt: skip
    assert (first.passes, second.reason, third.depends_on) == (2, "it cannot be mended", ("1", "2"))


def test_a_phase_of_the_roadmap_that_is_no_target_is_told_apart() -> None:
    told = Told(
        run=run_record((clock(0), started(phase("1"), phase("2"), targets=("2",), completed=("1",)))), passes={}, now=""
    )

    assert [seen.word for seen in phases_seen(told)] == ["done before", "not started"]


def test_a_pass_that_ran_without_a_sandbox_says_so() -> None:
    assert "its commands ran without a sandbox" in phases_seen(told_run())[0].remarks


def test_every_fact_of_a_pass_is_there_with_the_step_it_was_made_in() -> None:
    found = [(fact.step, fact.when, fact.run.check, fact.run.passed) for fact in facts_of(long_story().records[0])]

    assert found == [
        ("triage", "before", "SC-1", False), ("execute", "before", "01-01.1", False),
        ("execute", "after", "01-01.1", True), ("verify", "criterion", "SC-1", True),
    ]  # fmt: skip


def test_what_fails_before_the_work_speaks_against_nobody() -> None:
    told = [fact.telling for fact in facts_of(told_run().passes["2"][0])]

    assert told == [False, True]


def test_a_probe_that_fails_speaks_against_nobody_either() -> None:
    made = Executed(work=msgspec.structs.replace(work(), before=(), extra=(fact(passed=False),)))
    told = [(one.when, one.telling) for one in facts_of(Story().step("execute", made).record)]

    assert told == [("after", False), ("probe", False)]


def test_what_was_run_on_a_merged_tree_belongs_to_its_phase() -> None:
    merged = PhaseMerged(phase="2", base="a", onto="b", commit="c", checks=(fact(),))
    found = merge_facts(run_record((clock(0), started()), (clock(1), merged)))

    assert [(one.step, one.run.check) for one in found["2"]] == [("merge", "SC-1")]


def test_findings_of_tampering_are_told_from_others_and_told_once() -> None:
    told = told_run()
    twice = Told(run=told.run, passes={**told.passes, "3": told.passes["2"]}, now="")
    (found,) = noticed(twice)

    assert (found.finding.rule, found.tampering, found.times, found.phase) == ("test-deleted", True, 2, "2")


def test_planning_files_that_an_agent_touched_are_findings() -> None:
    record = Story().begin("execute").answer("c", role="execute", touched=(".planning/ROADMAP.md",)).record
    (found,) = noticed(Told(run=run_record((clock(0), started())), passes={"1": (record,)}, now=""))

    assert (found.finding.rule, found.finding.where) == ("planning-files", ".planning/ROADMAP.md")


def test_scores_are_those_of_the_pass_the_phase_stands_on() -> None:
    card = scorecard(told_run(), "1")

    assert card is not None
    assert (card.score, card.threshold, card.passes) == (9.4, 9.0, (8.0, 9.4))
    assert [(row.criterion, row.score, row.said) for row in card.rows] == [("the letter", 9.4, None)]


def test_a_row_that_counts_for_less_names_what_the_rater_said() -> None:
    told = long_story()
    record = told.passes["1"][0]
    rated = record.latest(Rated)
    low = Lowered(criterion="the letter", said=9.9, counted=9.4, because=("no file:line evidence",))
    last = msgspec.structs.replace(record.entries[-1].event, result=msgspec.structs.replace(rated, lowered=(low,)))
    entries = (*record.entries[:-1], msgspec.structs.replace(record.entries[-1], event=last))
    card = scorecard(Told(run=told.run, passes={"1": (msgspec.structs.replace(record, entries=entries),)}, now=""), "1")

    assert card is not None
    assert (card.rows[0].said, card.rows[0].why) == (9.9, "as asked; held at 9.4: no file:line evidence")


def test_spending_is_by_phase_role_and_model_and_what_nobody_told_is_unknown() -> None:
    spending = spending_of(told_run())
    (own,) = spending.phases

    assert [share.name for share in (*spending.phases, *spending.roles, *spending.models)] == [
        "phase 2", "execute", "scripted:x.toml, model unknown",
    ]  # fmt: skip
    assert (tokens_told(own.spent), dollars_told(own.spent), own.seconds) == ("1,000", "unknown", 3)


def test_spending_stands_beside_what_was_estimated_and_names_who_answered() -> None:
    story = Story(brief(estimated_tokens=900))
    listed = Usage(input_tokens=1000, cost_usd=0.5, by_list=True)
    story.answer("c", task="01-01", usage=listed, backend="exec:/opt/tool --fast", model="m-1")
    spending = spending_of(Told(run=run_record((clock(0), started())), passes={"1": (story.record,)}, now=""))

    assert (spending.whole.estimated, spending.phases[0].estimated) == (900, 900)
    assert [share.name for share in (*spending.tasks, *spending.models)] == ["phase 1 01-01", "exec:tool, model m-1"]
    assert dollars_told(spending.whole.spent) == "$0.50 (1 calls by list price)"


@given(st.lists(st.tuples(st.none() | st.integers(0, 9), st.none() | st.floats(0, 9)), max_size=8))
def test_no_unknown_call_is_ever_shown_as_nothing(costs: list[tuple[int | None, float | None]]) -> None:
    story = Story()
    for tokens, usd in costs:
        story.answer("c", usage=Usage(input_tokens=tokens, cost_usd=usd))
    told = spending_of(Told(run=run_record((clock(0), started())), passes={"1": (story.record,)}, now="")).whole.spent

    assert ("unknown" in tokens_told(told)) == (not costs or any(tokens is None for tokens, _ in costs))
    assert ("unknown" in dollars_told(told)) == (not costs or any(usd is None for _, usd in costs))


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("claude", "claude"),
        ("exec:python3 /home/a/my.py --key x", "exec:python3"),
        ("scripted:/a/b.toml", "scripted:b.toml"),
    ],
)
def test_an_agent_is_named_without_its_folder_and_arguments(agent: str, name: str) -> None:
    assert agent_name(agent) == name


def test_the_timeline_has_a_lane_a_phase_and_names_what_lay_still() -> None:
    shown = timeline(told_run())

    assert [(lane.phase, lane.bars[0].begin) for lane in shown.lanes] == [("1", 60.0), ("2", 2520.0)]
    assert shown.pauses == (Pause(begin=180.0, end=2340.0, why="so many dollars are spent"),)
    assert (shown.lanes[1].bars[-1].how, shown.lanes[1].bars[-1].because) == ("gave up", "it cannot be mended")


def test_a_step_that_was_cut_off_ends_with_what_is_known_of_it() -> None:
    record = Story().begin("plan").answer("c").begin("plan").record
    told = Told(run=run_record(("2026-01-01T12:00:00.000Z", started())), passes={"1": (record,)}, now="")

    assert [(bar.begin, bar.end, bar.how) for bar in timeline(told).lanes[0].bars] == [
        (0.0, 1.0, "interrupted"), (2.0, 2.0, "interrupted"),
    ]  # fmt: skip


def test_a_phase_that_waits_for_a_person_waits_up_to_the_end() -> None:
    (wait,) = timeline(waiting_run()).lanes[0].waits

    assert (wait.begin, wait.end, wait.because) == (120.0, 600.0, "Does it look right?")


SPANS = st.lists(st.tuples(st.floats(0, 50), st.floats(0.1, 1000)), max_size=5)


@given(SPANS, st.floats(1, 100))
def test_time_never_runs_backwards_in_the_picture_nor_out_of_it(spans: list[tuple[float, float]], rest: float) -> None:
    pauses, at = [], 0.0
    for gap, length in spans:
        pauses.append(Pause(begin=at + gap, end=at + gap + length, why=""))
        at = pauses[-1].end
    shown = Timeline(seconds=at + rest, pauses=tuple(pauses))
    place = scaled(shown, 850)
    moments = [place(shown.seconds * n / 50) for n in range(51)]

    assert moments == sorted(moments)
    assert (moments[0], abs(moments[-1] - 850) < 0.1) == (0.0, True)


def seen(name: str, *needs: str) -> PhaseSeen:
    return PhaseSeen(id=name, name=name, depends_on=needs)


def test_what_is_needed_stands_before_what_needs_it() -> None:
    graph = graph_of([seen("1"), seen("2", "1"), seen("3", "1"), seen("4", "2", "3")])

    assert [(node.column, node.row) for node in graph.nodes] == [(0, 0), (1, 0), (1, 1), (2, 0)]
    assert graph.edges == ((0, 1), (0, 2), (1, 3), (2, 3))


def test_a_long_chain_goes_on_below() -> None:
    graph = graph_of([seen(str(n), *([str(n - 1)] if n else [])) for n in range(12)], columns=5)

    assert [(node.column, node.row) for node in graph.nodes][4:6] == [(4, 0), (0, 1)]
    assert (graph.columns, graph.rows) == (5, 3)


@given(st.lists(st.sets(st.integers(0, 9), max_size=4), min_size=1, max_size=10))
def test_every_roadmap_can_be_drawn_whatever_waits_for_what(needs: list[set[int]]) -> None:
    graph = graph_of([seen(str(n), *(str(m) for m in sorted(own))) for n, own in enumerate(needs)])

    places = [(node.column, node.row) for node in graph.nodes]
    assert len(set(places)) == len(needs)
    assert all(column < graph.columns and row < graph.rows for column, row in places)


def test_every_verdict_is_there_in_the_order_of_time() -> None:
    assert [(one.phase, one.who, one.what, one.score) for one in rulings(told_run())] == [
        ("1", "gate", "completed: sent back", 8.0), ("1", "gate", "completed: went on", 9.4),
        ("2", "gate", "failed: gave up", None),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("event", "what", "because"),
    [
        (VerdictGiven(id="1", phase="1", verdict="issues_found", issues=("no date",)), "issues found", "no date"),
        (Noted(event="human_verdict_refused", phase="1", details={"n": 1}), "human verdict refused", "n: 1"),
    ],
    ids=["given", "refused"],
)
def test_what_a_person_said_is_among_the_verdicts(event: Any, what: str, because: str) -> None:
    (one,) = rulings(Told(run=run_record((clock(0), started()), (clock(1), event)), passes={}, now=""))

    assert (one.who, one.what, one.because) == ("person", what, because)


def test_brakes_and_new_starts_are_told_with_what_to_type() -> None:
    stop, again, end = brakes(told_run())

    assert (stop.what, stop.brake, stop.do) == ("stopped, exit code 20", "usd_per_run", "autopilot resume")
    assert (again.what, end.what) == ("taken up again", "ended, failed, exit code 10")


def test_what_is_used_leaves_out_the_time_in_which_the_run_lay_still() -> None:
    told = told_run()
    found = {one.what: one.used for one in used(told.run, spending_of(told).whole, timeline(told))}

    assert found == {"dollars": "unknown", "tokens": "1,000", "minutes": "8.0"}


def test_git_is_asked_for_the_changes_a_phase_stands_on_first() -> None:
    told = told_run()

    assert [made.key for made in changes_of(told.passes["2"][0])] == [("base", "c1")]
    assert wanted(told) == (("base", "c1"),)


def test_the_same_for_programs_has_no_secret_and_no_letter_that_acts() -> None:
    named = msgspec.structs.replace(phase("1"), name=f"\u202e{SECRET}\x1b[31m")
    told = Told(
        run=run_record((clock(0), started(named)), (clock(1), finished("1"))), passes={}, now="", learnings=SECRET
    )
    shown = data(told, redact)

    assert shown["phases"][0]["name"] == "[redacted:github][31m"
    assert SECRET not in json.dumps(shown)
    assert {"scores", "facts", "findings", "timeline", "spending", "brakes", "verdicts", "receipts"} <= shown.keys()


def test_a_record_that_is_under_way_is_told_as_far_as_it_has_come() -> None:
    record = Story(brief()).begin("plan").record
    told = Told(run=run_record((clock(0), started())), passes={"1": (record,)}, now="")

    assert not [e for e in record.entries if isinstance(e.event, AgentAnswered)]
    assert data(told, redact)["status"] == "running"
