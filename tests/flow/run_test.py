"""Several phases and several passes: what the run makes of each, and what a resumed one goes on with."""

import json
from pathlib import Path
from typing import Any

import pytest

from autopilot.domain.errors import AgentUnavailable, SandboxUnavailable, UsageLimited
from autopilot.domain.events import (
    AgentAnswered,
    Entry,
    Noted,
    PhaseFinished,
    PhaseStarted,
    RunStarted,
    RunStopped,
    StepFinished,
)
from autopilot.domain.results import Verified
from autopilot.sandbox.choose_tier import choose
from autopilot.sandbox.processes.children import ChildProcesses
from support.project import honest, plan_answer, rate_answer, reviews, work_answer
from support.repos import git, write
from support.runs import Drive, driven

PLAN = plan_answer("1", [("letter1.txt", "done")])
GOOD = work_answer("1", "01-01", "letter1.txt", "done 1\n")
CONDEMNED = {
    "role": "judge",
    "result": {"recommendation": "halt", "concerns": ["wrong"], "independent_evidence": ["a:1"]},
}


def mend(cycle: int, text: str, **more: Any) -> dict[str, Any]:
    return work_answer("1", f"1-R{cycle}", "letter1.txt", text, **more)


def letters(*phases: str) -> list[dict[str, Any]]:
    """Plans and work for the phases, as they ought to be."""
    answers: list[dict[str, Any]] = []
    for n in phases:
        answers += [
            plan_answer(n, [(f"letter{n}.txt", "done")]),
            work_answer(n, f"0{n}-01", f"letter{n}.txt", "done\n"),
        ]
    return answers


def cycles(project: Drive) -> list[int]:
    return [started.brief.cycle for started in project.of(PhaseStarted)]


def test_a_middling_score_is_remediated_until_it_is_high(place: Path) -> None:
    """PGAT-02."""
    scores = [rate_answer(8.0, attempt=1), rate_answer(9.1, attempt=2)]
    project = driven(place, [*reviews(), *scores, PLAN, GOOD, mend(1, "done 1, mended\n")])

    end = project.run()

    assert (end.exit, end.phases["1"].score, cycles(project)) == (0, 9.1, [0, 1])
    assert project.reads("letter1.txt") == "done 1, mended\n"
    assert "fix(01): 1-R1 - remediation 1" in project.log()
    assert project.of(PhaseStarted)[1].brief.feedback == (
        "letter1.txt: as asked (+1.00, resolves the letter is there)",
        "letter1.txt: short (up to +1.00, resolves a concern of the judge)",
    )


def test_remd_01_a_remediation_is_not_planned_but_reviewed_in_full(place: Path) -> None:
    scores = [rate_answer(8.0, attempt=1), rate_answer(9.1, attempt=2)]
    project = driven(place, [*reviews(), *scores, PLAN, GOOD, mend(1, "done 1, mended\n")])
    project.run()

    assert project.steps[project.steps.index("rate") + 1 :] == [
        "preflight", "triage", "execute", "mini_verify", "verify", "judge", "judge_divergence", "rate",
    ]  # fmt: skip


def test_a_score_that_stays_middling_passes_as_incomplete(place: Path) -> None:
    project = driven(place, [*reviews(8.0), PLAN, GOOD, mend(1, "done a\n"), mend(2, "done b\n")])

    end = project.run()

    assert (end.exit, end.phases["1"].reason, cycles(project)) == (
        12,
        "passed below the bar, 8.0 of 9.0",
        [0, 1, 2],
    )
    assert project.reads("letter1.txt") == "done b\n"


def test_a_remediation_that_fails_takes_nothing_away(place: Path) -> None:
    harm = [mend(n, "ruined\n") for n in (1, 2)]
    lost = {"role": "debug", "result": {"fixed": True}}
    project = driven(place, [*reviews(8.0), PLAN, GOOD, *harm, lost])

    end = project.run()

    assert (end.exit, end.phases["1"].reason, end.phases["1"].score) == (
        12,
        "passed below the bar, 8.0 of 9.0",
        8.0,
    )
    assert project.reads("letter1.txt") == "done 1\n"


def test_a_remediation_that_makes_it_worse_takes_nothing_away(place: Path) -> None:
    scores = [rate_answer(8.0, attempt=1), rate_answer(6.0)]
    project = driven(place, [*scores, *reviews(), PLAN, GOOD, mend(1, "done, worse\n"), mend(2, "done, worst\n")])

    end = project.run()

    assert (end.exit, end.phases["1"].score, cycles(project)) == (12, 8.0, [0, 1, 2])
    assert project.reads("letter1.txt") == "done 1\n"
    assert project.steps.count("plan") == 1


def test_lenient_is_content_with_a_seven(place: Path) -> None:
    project = driven(place, [*reviews(7.0), PLAN, GOOD])

    assert project.run(lenient=True).exit == 0
    assert cycles(project) == [0]


def test_a_failed_phase_halts_those_that_need_it_and_a_resumed_run_retries_it(place: Path) -> None:
    """RSM-03: a failed run that is resumed retries."""
    project = driven(place, [*reviews(), CONDEMNED | {"phase": "1"}, *letters("1", "2")], "1", "2>1")

    end = project.run()
    assert (end.exit, end.phases["2"].status) == (10, "not_started")

    project.rewrite([*reviews(), *letters("1", "2")])
    end = project.resume()

    assert (end.exit, [p.status for p in end.phases.values()]) == (0, ["completed", "completed"])
    assert project.reads("letter1.txt") + project.reads("letter2.txt") == "done\ndone\n"


def test_a_phase_that_fails_again_is_skipped_with_those_that_need_it(place: Path) -> None:
    """RSM-03: the second failure is passed over."""
    script = [*reviews(), CONDEMNED | {"phase": "1"}, *letters("1", "2", "3")]
    project = driven(place, script, "1", "2>1", "3")

    assert project.run().phases["3"].status == "not_started"
    end = project.resume()

    assert [p.status for p in end.phases.values()] == ["failed", "skipped", "completed"]
    assert (end.exit, end.phases["2"].reason) == (10, "blocked_by_phase_1")
    assert project.reads("letter3.txt") == "done\n"


def test_phases_that_get_another_chance_build_on_each_other(place: Path) -> None:
    failing = [CONDEMNED | {"phase": n} for n in ("1", "2")]
    project = driven(place, [*reviews(), *failing, *letters("1", "2", "3")], "1", "2", "3")
    assert [p.status for p in project.run().phases.values()] == ["failed", "failed", "completed"]

    project.rewrite([*reviews(), *letters("1", "2", "3")])
    end = project.resume()

    assert end.exit == 0
    assert [project.reads(f"letter{n}.txt") for n in "123"] == ["done\n"] * 3


def test_a_usage_limit_stops_the_run_and_it_goes_on_afterwards(place: Path) -> None:
    limit = {"role": "execute", "outcome": "usage_limited", "resets_at": "2126-01-01T00:00:00Z"}
    project = driven(place, [*reviews(), PLAN, limit | {"phase": "1", "task": "01-01", "attempt": 1}, GOOD])

    with pytest.raises(UsageLimited, match="2126-01-01") as stopped:
        project.run(wait=False)
    assert stopped.value.exit_code == 22
    assert project.of(RunStopped)[-1].exit_code == 22

    project.rewrite([*reviews(), PLAN, GOOD])
    assert project.resume(now=True).exit == 0
    assert [done.step for done in project.of(StepFinished)].count("plan") == 1
    assert [a.outcome for a in project.of(AgentAnswered) if a.role == "execute"] == ["usage_limited", "ok"]


def test_a_reviewers_usage_limit_stops_the_run_too(place: Path) -> None:
    project = driven(place, [{"role": "judge", "phase": "1", "outcome": "usage_limited"}, *reviews(), PLAN, GOOD])
    with pytest.raises(UsageLimited):
        project.run(wait=False)

    project.rewrite([*reviews(), PLAN, GOOD])

    assert project.resume(now=True).exit == 0
    assert [call for call in project.calls if "/judge/" in call] == ["1/judge/1", "1/judge/1"]


@pytest.mark.parametrize("agent", ["claude", "exec:no-such-program-here"])
def test_an_agent_that_is_not_there_stops_everything_before_it_starts(place: Path, agent: str) -> None:
    project = driven(place, honest())
    project.agent = agent

    with pytest.raises(AgentUnavailable) as stopped:
        project.run()

    assert stopped.value.exit_code == 3
    assert not (project.root / ".autopilot").exists()


def test_a_finished_run_is_over_and_the_next_one_starts_where_it_ended(place: Path) -> None:
    project = driven(place, [*reviews(), *letters("1", "2")], "1", "2>1")
    assert project.run("1").exit == 0

    assert "Already finished" in project.resume().reason
    assert project.run("next").phases.keys() == {"2"}
    assert project.run("all").reason == "All phases complete. Project is done."


def test_an_unmet_dependency_fails_preflight(place: Path) -> None:
    """PREF-03, PREF-06."""
    project = driven(place, [*reviews(), *letters("2")], "1", "2>1")

    end = project.run("2")

    assert (end.exit, project.steps) == (10, ["preflight"])
    assert "dependency not complete: phase 1" in end.phases["2"].reason


def test_a_specification_changed_during_a_run_fails_preflight(place: Path) -> None:
    """PREF-01."""
    project = driven(place, [*reviews(), *letters("1", "2")], "1", "2")

    def edit(entry: Entry) -> None:
        if isinstance(entry.event, PhaseFinished):
            (project.root / ".planning/ROADMAP.md").write_text("# another\n", encoding="utf-8")

    project.meanwhile = edit
    end = project.run()

    assert (end.phases["1"].status, end.phases["2"].status) == ("completed", "failed")
    assert "spec_hash_mismatch" in end.phases["2"].reason


def test_the_project_s_own_checks_hold_work_back_only_for_what_is_new(place: Path) -> None:
    config = '{"project": {"commands": {"lint": "false", "test": "test ! -e broken"}}}'
    broken = {**GOOD, "write": {"letter1.txt": "done\n", "broken": ""}}
    mended = {"role": "debug", "result": {"fixed": True}, "remove": ["broken"]}
    project = driven(place, [*reviews(), PLAN, broken, mended])
    (project.root / ".planning/config.json").write_text(config, encoding="utf-8")

    assert project.run().exit == 0
    assert [type(s.verdict).__name__ for s in project.of(StepFinished) if s.step in {"execute", "fix"}] == [
        "Retry",
        "Advance",
    ]
    outcome = project.of(PhaseFinished)[-1].outcome
    assert outcome.automated_checks == {"compile": "n/a", "lint": "failed before too", "test": True, "build": "n/a"}
    assert outcome.reason == "passed; the lint command never passed here (exit 1 before and after)"


@pytest.mark.sandbox
def test_a_whole_phase_holds_in_the_sandbox(place: Path) -> None:
    try:
        ground = choose("auto", ChildProcesses())
    except SandboxUnavailable as error:
        pytest.skip(error.what)
    project = driven(place, [*reviews(), PLAN, GOOD])

    assert project.run(sandbox="auto").exit == 0
    verified = [s.result for s in project.of(StepFinished) if isinstance(s.result, Verified)]
    assert {run.sandbox for seen in verified for run in seen.checks} == {ground.label}
    assert git(project.root, "status", "--short", "--", "letter1.txt") == ""


def test_a_failed_phase_leaves_a_post_mortem_and_teaches_the_next_try(place: Path) -> None:
    """OBSV-03, OBSV-04, LRNG-01."""
    project = driven(place, [*reviews(), {**CONDEMNED, "phase": "1"}, PLAN, GOOD])
    assert project.run().exit == 10

    told = json.loads(project.reads(".autopilot/diagnostics/phase-1-postmortem.json"))
    assert (told["root_cause"]["category"], told["root_cause"]["step"]) == ("executor_wrong_approach", "judge")
    assert project.reads(".autopilot/learnings.md").count("### Phase 1 failure") == 1


def test_lrng_03_a_new_run_begins_without_the_learnings_of_the_last(place: Path) -> None:
    project = driven(place, [*reviews(), {**CONDEMNED, "phase": "1"}, *letters("1", "2")], "1", "2")
    project.run("1")
    first = project.of(RunStarted)[0].run

    assert project.run("2").exit == 0
    assert not (project.root / ".autopilot/learnings.md").exists()
    assert "### Phase 1 failure" in project.reads(f".autopilot/archive/learnings-{first}.md")
    assert "Learnings file reset for new run." in project.warnings


def test_cenf_02_a_remediated_phase_leaves_its_confidence_diagnostic(place: Path) -> None:
    scores = [rate_answer(8.0, attempt=1), rate_answer(9.1, attempt=2)]
    project = driven(place, [*reviews(), *scores, PLAN, GOOD, mend(1, "done 1, mended\n")])
    project.run()

    text = project.reads(".autopilot/diagnostics/phase-1-confidence.md")
    assert "**Status:** remediated_to_9.1" in text
    assert "| 0 | 8.0 |" in text
    assert [note.event for note in project.of(Noted)] == ["confidence_diagnostic_written"] * 2


def test_obsv_02_every_phase_leaves_a_trace_of_all_its_passes(place: Path) -> None:
    scores = [rate_answer(8.0, attempt=1), rate_answer(9.1, attempt=2)]
    project = driven(place, [*reviews(), *scores, PLAN, GOOD, mend(1, "done 1, mended\n")])
    project.run()

    spans = [json.loads(line) for line in project.reads(".planning/phases/01-letter-1/TRACE.jsonl").splitlines()]
    assert [span["output_summary"] for span in spans if span["input_summary"] == "Phase pipeline complete"] == [
        "status completed, score 8.0: every gate passed", "status completed, score 9.1: every gate passed",
    ]  # fmt: skip
    assert {"agent_spawn", "command_run", "decision", "file_write"} == {span["action"] for span in spans}


def test_a_diagnostic_that_cannot_be_written_does_not_stop_the_run(place: Path) -> None:
    """OBSV-05."""
    project = driven(place, [*reviews(), {**CONDEMNED, "phase": "1"}, PLAN, GOOD])
    write(project.root, {".autopilot/diagnostics": "a file where a folder belongs\n"})

    assert project.run().exit == 10
    assert any("post-mortem could not be written" in issue for issue in project.of(PhaseFinished)[-1].outcome.issues)
