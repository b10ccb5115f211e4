"""What follows the last phase: integration check, self-audit, version, report, numbers, and the way on."""

import json
from pathlib import Path
from typing import Any

import pytest

from autopilot.domain.errors import StorageFailed, UsageLimited
from autopilot.domain.events import (
    AgentAnswered,
    CompletionFinished,
    Entry,
    PhaseFinished,
    RunFinished,
    RunStarted,
    StepFinished,
)
from autopilot.domain.request import report_name
from autopilot.domain.results import Mended
from autopilot.domain.verdict import Advance, Stop
from support.project import audit, audit_row, plan_answer, reviews, work_answer
from support.repos import git, write
from support.runs import Drive, driven

GAP = audit_row("SIGN-01", "the letter is not signed")
SIGNED = {"role": "fix", "task": "SIGN-01", "result": {"fixed": True}, "write": {"letter1.txt": "done\nsigned\n"}}
NEEDS = (
    "# Requirements\n\n- [ ] **SIGN-01**: Letters are signed\n\n| Requirement | Phase |\n|---|---|\n| SIGN-01 | 1 |\n"
)
SERVED = "\n| Requirement | Task |\n|---|---|\n| SIGN-01 | 01-01 |\n"
RULES = "# Working here\n\nBump the version with each run: minor for features, patch for small ones.\n"
PACKAGE = '{\n  "name": "letters",\n  "config": {"version": "9.9.9"},\n  "version": "1.4.2"\n}\n'


def letters(*phases: str) -> list[dict[str, Any]]:
    answers: list[dict[str, Any]] = []
    for n in phases:
        plan = plan_answer(n, [(f"letter{n}.txt", "done")])
        plan["write"]["{dir}/PLAN.md"] += SERVED if n == "1" else ""
        answers += [plan, work_answer(n, f"0{n}-01", f"letter{n}.txt", "done\n")]
    return answers


def project_of(place: Path, *answers: dict[str, Any], phases: tuple[str, ...] = ("1",)) -> Drive:
    """Letters of which the first has a requirement of its own, stated in REQUIREMENTS.md."""
    content = [*reviews(), *letters("1", "2", "3"), audited(audit_row("SIGN-01"), attempt=None)]
    project = driven(place, [*content, *answers], *phases)
    write(project.root, {".planning/REQUIREMENTS.md": NEEDS})
    return project


def audited(*rows: dict[str, Any], attempt: int | None = 1) -> dict[str, Any]:
    """The letters after the first have no stated requirement, and so their criteria stand for one."""
    told = {"role": "audit", "phase": "completion", "result": audit(*rows, audit_row("P2-C1"), audit_row("P3-C1"))}
    return told if attempt is None else told | {"attempt": attempt}


CLOSED = audited(audit_row("SIGN-01"), attempt=2)


def done(project: Drive) -> CompletionFinished:
    (found,) = project.of(CompletionFinished)
    return found


def ending_calls(project: Drive) -> list[str]:
    return [call.removeprefix("completion/") for call in project.calls if call.startswith("completion/")]


def report_of(project: Drive) -> str:
    """Of the newest run; by their names a second run in the same second would come before the first."""
    reports = (project.root / ".autopilot").glob("completion-*.md")
    return max(reports, key=lambda path: path.stat().st_mtime_ns).read_text(encoding="utf-8")


def events_of(project: Drive) -> list[tuple[str, dict[str, Any]]]:
    (archived,) = (project.root / ".autopilot" / "archive").glob("run-*.json")
    log = json.loads(archived.read_text(encoding="utf-8"))["event_log"]
    return [(line["event"], line["details"]) for line in log if line["event"].startswith("self_audit")]


def tries(project: Drive) -> list[tuple[str, type]]:
    steps = [step for step in project.of(StepFinished) if isinstance(step.result, Mended)]
    return [(step.result.route, type(step.verdict)) for step in steps if isinstance(step.result, Mended)]


def test_comp_01_when_the_last_phases_pass_integration_and_requirements_are_looked_at(place: Path) -> None:
    """COMP-01, AUDT-01, AUDT-05."""
    project = project_of(place, phases=("1", "2"))

    assert project.run().exit == 0
    assert ending_calls(project) == ["integration/1", "audit/1"]
    assert (done(project).integration, done(project).clean) == ("pass", True)
    assert [name for name, _ in events_of(project)] == ["self_audit_started", "self_audit_completed"]
    assert events_of(project)[0][1] == {"phases_to_audit": ["1", "2"], "spec_path": ".planning/REQUIREMENTS.md"}


@pytest.mark.parametrize(
    ("phases", "asked", "config"),
    [
        pytest.param(("1",), "all", {}, id="a roadmap of one phase"),
        pytest.param(
            ("1", "2"), "all", {"workflow": {"integration_check": False, "self_audit": False}}, id="switched off"
        ),
    ],
)
def test_nobody_is_asked_where_there_is_nothing_to_hold_together(
    place: Path, phases: tuple[str, ...], asked: str, config: dict[str, Any]
) -> None:
    project = driven(place, [*reviews(), *letters("1", "2")], *phases)
    write(project.root, {".planning/config.json": json.dumps(config)})

    assert project.run(asked).exit == 0
    assert ending_calls(project) == []
    assert project.of(CompletionFinished) == []


FAILS = {"role": "integration", "phase": "completion", "result": {"pass": False, "broken_flows": ["no way to post"]}}


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(FAILS, id="it says fail"),
        pytest.param(FAILS | {"result": {"pass": True, "broken_imports": ["a.py:1"]}}, id="it says pass and lists"),
        pytest.param(FAILS | {"result": None, "text": "all is well"}, id="it gives no answer"),
    ],
)
def test_a_failed_integration_check_is_recorded_and_the_audit_runs_all_the_same(
    place: Path, answer: dict[str, Any]
) -> None:
    """COMP-01 with AMB-24: completed, `integration: fail`, exit 12."""
    project = project_of(place, {key: value for key, value in answer.items() if value is not None}, phases=("1", "2"))
    end = project.run()

    assert (end.exit, end.closing.integration) == (12, "fail")
    assert project.of(RunFinished)[-1].status == "completed"
    assert "audit/1" in ending_calls(project)
    assert "integration: fail" in report_of(project)
    assert project.reads("letter2.txt") == "done\n"


def test_no_opinion_outweighs_a_criterion_that_a_later_phase_broke(place: Path) -> None:
    harm = work_answer("2", "02-01", "letter2.txt", "done\n", remove=["letter1.txt"], attempt=1)
    project = project_of(place, harm, phases=("1", "2"))
    end = project.run()

    assert (end.exit, end.closing.integration) == (12, "fail")
    assert "grep -q done letter1.txt" in done(project).because


def test_a_small_gap_is_fixed_checked_committed_and_audited_again(place: Path) -> None:
    """AUDT-04, AUDT-06, AUDT-07, AUDT-09, AUDT-10, AUDT-11, AUDT-12."""
    project = project_of(place, audited(GAP), CLOSED, SIGNED)

    assert project.run().exit == 0
    assert ending_calls(project) == ["audit/1", "gap_fix/1", "audit/2"]
    assert project.log()[0] == "fix(audit): close SIGN-01 gap -- the letter is not signed"
    assert project.reads("letter1.txt") == "done\nsigned\n"
    told = dict(events_of(project))
    commit = git(project.root, "rev-parse", "HEAD").strip()
    assert told["self_audit_gap_found"] == {
        "requirement_id": "SIGN-01", "phase_id": "1", "gap_description": "the letter is not signed",
        "fix_complexity": "small",
    }  # fmt: skip
    assert told["self_audit_gap_fixed"] == {
        "requirement_id": "SIGN-01", "phase_id": "1", "fix_commit": commit, "re_verified": True,
    }  # fmt: skip
    assert told["self_audit_completed"] == {
        "total_requirements_checked": 1, "passed_on_first_check": 0, "gaps_found": 1, "gaps_fixed": 1,
        "gaps_remaining": 0, "audit_cycles": 1,
    }  # fmt: skip


def test_audt_12_the_summary_is_kept_with_the_archived_state(place: Path) -> None:
    project = project_of(place, audited(GAP), CLOSED, SIGNED)
    project.run()

    (archived,) = (project.root / ".autopilot" / "archive").glob("run-*.json")
    state = json.loads(archived.read_text(encoding="utf-8"))
    assert (state["integration"], state["_meta"]["status"]) == ("not_run", "completed")
    assert state["self_audit"] == {
        "total_requirements_checked": 1, "passed_on_first_check": 0, "gaps_found": 1, "gaps_fixed": 1,
        "gaps_remaining": 0, "remaining_gap_details": [], "audit_cycles": 1,
        "fix_commits": [git(project.root, "rev-parse", "HEAD").strip()],
    }  # fmt: skip


@pytest.mark.parametrize(
    "harm",
    [
        pytest.param({"write": {"letter1.txt": "signed\n"}}, id="a criterion no longer holds"),
        pytest.param({"write": {}}, id="nothing changed"),
        pytest.param({"result": {"fixed": False}}, id="it admits that it failed"),
    ],
)
def test_a_fix_that_does_not_hold_is_set_aside_and_the_gap_remains(place: Path, harm: dict[str, Any]) -> None:
    project = project_of(place, audited(GAP), CLOSED, SIGNED | harm)
    end = project.run()

    assert (end.exit, end.closing.gaps) == (12, ("SIGN-01",))
    assert tries(project) == [("fix", Stop), ("fix", Stop)]
    assert project.reads("letter1.txt") == "done\n"
    assert not any(line.startswith("fix(audit)") for line in project.log())


def test_audt_03_a_small_fix_that_grows_is_done_over_by_an_executor(place: Path) -> None:
    grown = SIGNED | {"write": {"letter1.txt": "done\nsigned\n", "other.txt": "more\n"}}
    proper = work_answer("completion", "SIGN-01", "letter1.txt", "done\nsigned well\n")
    project = project_of(place, audited(GAP), CLOSED, grown, proper)

    assert project.run().exit == 0
    assert tries(project) == [("fix", Stop), ("execute", Advance)]
    assert project.reads("letter1.txt") == "done\nsigned well\n"


def test_audt_08_a_large_gap_goes_to_an_executor_as_one_task(place: Path) -> None:
    large = audit_row("SIGN-01", "the letters are not signed", "large")
    both = work_answer("completion", "SIGN-01", "letter1.txt", "done\nsigned\n")
    both["write"]["stamp.txt"] = "paid\n"
    project = project_of(place, audited(large), CLOSED, both)

    assert project.run().exit == 0
    assert [answer.role for answer in project.of(AgentAnswered)][-2:] == ["execute", "audit"]
    assert project.log()[0] == "fix(audit): close SIGN-01 gap -- the letters are not signed"
    assert project.reads("stamp.txt") == "paid\n"


def test_audt_10_after_two_re_audits_what_is_left_is_reported(place: Path) -> None:
    again = SIGNED | {"attempt": 2, "write": {"letter1.txt": "done\nsigned again\n"}}
    project = project_of(place, *(audited(GAP, attempt=n) for n in (1, 2, 3)), SIGNED, again)
    end = project.run()

    assert (end.exit, end.closing.gaps) == (12, ("SIGN-01",))
    assert ending_calls(project) == ["audit/1", "gap_fix/1", "audit/2", "gap_fix/2", "audit/3"]
    summary = done(project).self_audit
    assert summary is not None
    assert (summary.audit_cycles, summary.gaps_fixed, len(summary.fix_commits)) == (2, 0, 2)


def test_audt_02_a_requirement_nobody_looked_at_is_asked_for_once_more_and_then_a_gap(place: Path) -> None:
    """AUDT-02: what is missing from the answer is never a pass."""
    project = project_of(place, audited())
    end = project.run()

    assert (end.exit, end.closing.gaps) == (12, ("SIGN-01",))
    assert ending_calls(project) == ["audit/1", "audit/1.2"]


def versioned(project: Drive, **files: str) -> None:
    held = {"CLAUDE.md": RULES, "VERSION": "1.4.2\n", "package.json": PACKAGE, **files}
    write(project.root, held)
    git(project.root, "add", "-A")
    git(project.root, "commit", "-qm", "versions")


def test_vers_01_a_whole_phase_gives_a_minor_version_in_a_commit_of_its_own(place: Path) -> None:
    project = project_of(place, phases=("1", "4"))
    versioned(project, **{"CHANGELOG.md": "# Changelog\n\n## 1.4.2 (2026-01-01)\n\n### Features\n\n- **Old:** thing\n"})
    end = project.run("1")

    assert (end.exit, end.closing.version) == (0, "1.5.0")
    assert project.log()[0] == "chore: bump to v1.5.0 after phase 1"
    assert project.reads("VERSION") == "1.5.0\n"
    assert project.reads("package.json") == PACKAGE.replace('"1.4.2"', '"1.5.0"')
    assert project.reads("CHANGELOG.md").startswith("# Changelog\n\n## 1.5.0 (")
    assert "- **Letter 1:** Write letter 1.\n" in project.reads("CHANGELOG.md")


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        pytest.param({}, "1.4.2\n", id="no rules in CLAUDE.md"),
        pytest.param({"workflow": {"version_bump": True}}, "1.5.0\n", id="asked for in the config"),
    ],
)
def test_vers_01_without_rules_nothing_is_bumped_unless_the_config_asks(
    place: Path, setting: dict[str, Any], expected: str
) -> None:
    """AMB-25."""
    project = project_of(place, phases=("1",))
    versioned(project, **{"CLAUDE.md": "# Working here\n\nBe brief.\n"})
    write(project.root, {".planning/config.json": json.dumps(setting)})

    assert project.run().exit == 0
    assert project.reads("VERSION") == expected


def test_a_version_file_with_changes_of_the_users_is_left_alone(place: Path) -> None:
    project = project_of(place, phases=("1",))
    versioned(project)
    write(project.root, {"VERSION": "1.4.2-mine\n"})

    assert project.run().exit == 0
    assert project.reads("VERSION") == "1.4.2-mine\n"
    assert project.log()[0].startswith("docs(01)")
    assert "VERSION has changes of yours" in done(project).note


@pytest.mark.parametrize("moment", range(0, 12, 2))
def test_killed_anywhere_at_its_end_a_run_asks_nothing_twice(place: Path, moment: int) -> None:
    project = project_of(place, audited(GAP), CLOSED, SIGNED)
    versioned(project)
    seen: list[Entry] = []

    def cut(entry: Entry) -> None:
        ending = project.entries[-1][0].endswith("/completion") or isinstance(entry.event, CompletionFinished)
        seen.extend([entry] if ending else [])
        if len(seen) == moment + 1:
            project.meanwhile = lambda _: None
            raise UsageLimited("cut", why="a test", do="resume")

    project.meanwhile = cut
    with pytest.raises(UsageLimited):
        project.run()

    assert project.resume().exit == 0
    assert sorted(ending_calls(project)) == ["audit/1", "audit/2", "gap_fix/1"]
    assert project.log()[:2] == [
        "chore: bump to v1.5.0 after phase 1",
        "fix(audit): close SIGN-01 gap -- the letter is not signed",
    ]


def test_comp_05_the_end_of_a_run_has_one_order(place: Path) -> None:
    project = project_of(place, audited(GAP), CLOSED, SIGNED, phases=("1", "2"))
    versioned(project)
    project.run()

    steps = [step.step for step in project.of(StepFinished)][-5:]
    assert steps == ["integration", "audit", "gap_fix", "audit", "version"]
    kinds = [type(entry.event).__name__ for stream, entry in project.entries if "/" not in stream][-4:]
    assert kinds == ["CompletionFinished", "LandingStarted", "PhaseLanded", "RunFinished"]
    assert project.of(RunStarted)[0].settings.version_bump


def test_comp_02_the_state_is_archived_with_report_and_numbers_beside_it(place: Path) -> None:
    project = project_of(place)
    project.run()

    home = project.root / ".autopilot"
    assert not (home / "state.json").exists()
    assert len(list((home / "archive").glob("run-*.json"))) == 1
    (entry,) = json.loads((home / "archive" / "metrics.json").read_text(encoding="utf-8"))
    assert (entry["phases_attempted"], entry["phases_succeeded"], entry["success_rate"]) == (1, 1, 1.0)
    assert "## Trend Analysis" in report_of(project)


@pytest.mark.parametrize("lost", ["metrics", "report"])
def test_comp_02_a_run_whose_papers_cannot_be_written_keeps_its_state(place: Path, lost: str) -> None:
    """COMP-05: the state is archived last, so that a run that was cut off before is wound up again."""
    project = project_of(place)

    def occupy(entry: Entry) -> None:
        home = project.root / ".autopilot"
        if isinstance(entry.event, PhaseFinished):
            name = report_name(project.of(RunStarted)[0].run) if lost == "report" else "archive/metrics.json"
            (home / name).mkdir(parents=True)

    project.meanwhile = occupy
    with pytest.raises(StorageFailed):
        project.run()

    assert (project.root / ".autopilot" / "state.json").is_file()
    assert not list((project.root / ".autopilot" / "archive").glob("run-*.json"))


def test_numbers_of_three_runs_become_a_trend(place: Path) -> None:
    """MTRC-01b, MTRC-03a, MTRC-03b, MTRC-03c."""
    project = project_of(place, phases=("1", "2", "3"))
    first, *others = [project.run(phase) for phase in ("1", "2", "3")]

    assert first.closing.notes == ("First run recorded. Trend analysis available after 2+ runs.",)
    assert [end.closing.notes for end in others] == [(), ()]
    runs = json.loads((project.root / ".autopilot/archive/metrics.json").read_text(encoding="utf-8"))
    assert [run["phases_attempted"] for run in runs] == [1, 1, 1]
    assert "| 3 runs | min | max | avg |" in report_of(project)
    assert report_of(project).count("```mermaid") == 3


def test_an_auditor_that_gives_no_answer_leaves_every_requirement_open(place: Path) -> None:
    project = project_of(place, {"role": "audit", "phase": "completion", "attempt": 1, "text": "all is well"},
                         {"role": "audit", "phase": "completion", "attempt": 2, "outcome": "timeout"})  # fmt: skip
    end = project.run()

    assert (end.exit, end.closing.gaps) == (12, ("SIGN-01",))
    assert "The auditor gave no usable answer" in report_of(project)
