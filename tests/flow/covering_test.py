"""Integration check and self-audit at the end of every run: what they cover, what is left, and across runs and resumes."""

import json
from pathlib import Path
from typing import Any

import pytest

from autopilot.domain.errors import UsageLimited
from autopilot.domain.events import CompletionFinished, CompletionStarted, Entry, Noted, PhaseFinished, RunStarted
from autopilot.domain.settings import Modes
from support.project import audit, audit_row, plan_answer, reviews, work_answer
from support.repos import write
from support.runs import Drive, driven

LAZY = {"role": "execute", "phase": "2", "result": {"tasks_completed": "1/1"}, "write": {"letter2.txt": "not yet\n"}}
NO_FIX = {"role": "debug", "phase": "2", "result": {"fixed": True}, "write": {"letter2.txt": "still not\n"}}


def letters(*phases: str) -> list[dict[str, Any]]:
    plans = [plan_answer(n, [(f"letter{n}.txt", "done")]) for n in phases]
    return [*plans, *(work_answer(n, f"0{n}-01", f"letter{n}.txt", "done\n") for n in phases)]


def ends(project: Drive) -> list[str]:
    return [call.removeprefix("completion/") for call in project.calls if call.startswith("completion/")]


def covered(project: Drive) -> list[tuple[str, ...] | None]:
    return [done.covered for done in project.of(CompletionFinished)]


def report_of(project: Drive) -> str:
    reports = (project.root / ".autopilot").glob("completion-*.md")
    return max(reports, key=lambda path: path.stat().st_mtime_ns).read_text(encoding="utf-8")


def two_fails(place: Path) -> Drive:
    """Three letters that need nothing of each other; the second is never written."""
    return driven(place, [*reviews(), *letters("1", "3"), plan_answer("2", [("letter2.txt", "done")]), LAZY, NO_FIX],
                  "1", "2", "3")  # fmt: skip


@pytest.mark.parametrize("jobs", [1, 2])
def test_comp_01_a_run_with_a_failed_phase_audits_those_that_passed(place: Path, jobs: int) -> None:
    project = two_fails(place)
    end = project.run(modes=Modes(complete=True, jobs=jobs))

    assert (end.exit, end.closing.integration) == (10, "pass")
    assert ends(project) == ["integration/1", "audit/1"]
    assert (end.closing.covered, end.closing.uncovered) == (("1", "3"), ())
    assert "Covered: phase 1, 3." in report_of(project)


def test_a_run_of_a_part_of_the_roadmap_audits_it_and_the_next_one_does_not_again(place: Path) -> None:
    project = driven(place, [*reviews(), *letters("1", "2")], "1", "2")

    assert project.run("1").closing.covered == ("1",)
    assert ends(project) == ["audit/1"]
    assert project.run("2").closing.covered == ("2",)
    assert covered(project) == [("1",), ("2",)]
    assert project.of(RunStarted)[1].unaudited == ()


def test_what_a_stopped_run_left_is_covered_by_the_next(place: Path) -> None:
    """The first run lands a phase and is stopped before its end; another one is begun in its place."""
    project = driven(place, [*reviews(), *letters("1", "2", "3")], "1", "2", "3")
    off = {"workflow": {"integration_check": False, "self_audit": False}}
    write(project.root, {".planning/config.json": json.dumps(off)})
    first = project.run("1")
    assert (first.closing.uncovered, "switched off" in first.closing.uncovered_because) == (("1",), True)
    assert "Not covered: phase 1: switched off in the config" in report_of(project)

    write(project.root, {".planning/config.json": "{}"})
    end = project.run("2")

    assert end.exit == 0
    assert project.of(RunStarted)[1].unaudited == ("1",)
    assert end.closing.covered == ("1", "2")


def test_a_run_that_a_cap_ends_spends_nothing_more_and_says_so(place: Path) -> None:
    costly = [answer | {"usage": {"cost_usd": 1.0}} for answer in (*reviews(), *letters("1", "2"))]
    project = driven(place, costly, "1", "2")
    write(project.root, {".planning/config.json": json.dumps({"limits": {"usd_per_run": 9.5}})})
    end = project.run()

    assert (end.exit, ends(project)) == (20, [])
    assert end.closing.uncovered == ("1",)
    assert "Not covered: phase 1: usd_per_run" in report_of(project)


def test_the_calls_of_the_end_count_for_the_caps(place: Path) -> None:
    """Without that an audit with many gaps could spend without a bound."""
    costly = [answer | {"usage": {"cost_usd": 1.0}} for answer in (*reviews(), *letters("1", "2"))]
    project = driven(place, costly, "1", "2")
    write(project.root, {".planning/config.json": json.dumps({"limits": {"usd_per_run": 19.5}})})
    end = project.run()

    assert (end.exit, ends(project)) == (20, ["integration/1"])


def test_a_failed_run_that_is_resumed_audits_what_passes_then(place: Path) -> None:
    gap = {"role": "audit", "attempt": 1, "result": audit(audit_row("P1-C1", "no date"), audit_row("P3-C1"))}
    dated = {"role": "fix", "task": "P1-C1", "result": {"fixed": True}, "write": {"letter1.txt": "done\ndated\n"}}
    project = two_fails(place)
    project.rewrite([*reviews(), *letters("1", "3"), plan_answer("2", [("letter2.txt", "done")]), LAZY, NO_FIX, gap,
                     dated])  # fmt: skip
    assert project.run(modes=Modes(complete=True)).exit == 10
    assert ends(project) == ["integration/1", "audit/1", "gap_fix/1", "audit/2"]
    assert project.reads("letter1.txt") == "done\ndated\n"

    project.rewrite([*reviews(), *letters("1", "2", "3")])
    end = project.resume()

    assert (end.exit, end.closing.covered) == (0, ("1", "2", "3"))
    assert ends(project)[4:] == ["integration/2", "audit/3"]
    assert covered(project) == [("1", "3"), ("2",)]
    log = project.state()["event_log"]
    audited = [line["details"]["phases_to_audit"] for line in log if line["event"] == "self_audit_started"]
    assert audited == [["1", "3"], ["2"]]
    assert [project.reads(f"letter{n}.txt") for n in (1, 2, 3)] == ["done\ndated\n", "done\n", "done\n"]
    assert [line for line in project.told() if line.startswith("Self-audit: all")] == [
        "Self-audit: all 1 requirements passed. No gaps found."
    ]


def test_killed_inside_an_audit_a_failed_run_goes_on_with_it(place: Path) -> None:
    project = two_fails(place)

    def cut(entry: Entry) -> None:
        if project.calls and project.calls[-1] == "completion/integration/1":
            project.meanwhile = lambda _: None
            raise UsageLimited("cut", why="a test", do="resume")

    project.meanwhile = cut
    with pytest.raises(UsageLimited):
        project.run(modes=Modes(complete=True))
    assert len(project.of(CompletionStarted)) == 1

    assert project.resume().exit == 10
    assert (ends(project), covered(project)) == (["integration/1", "audit/1"], [("1", "3")])


def test_an_auditor_without_an_answer_has_covered_nothing(place: Path) -> None:
    silent = [answer for answer in reviews() if answer["role"] != "audit"]
    project = driven(place, [*silent, {"role": "audit", "text": "later"}, *letters("1", "2")], "1", "2")
    end = project.run("1")

    assert (end.exit, covered(project)) == (12, [()])
    assert "Not covered: phase 1: the reviewer gave no usable answer." in report_of(project)
    project.rewrite([*reviews(), *letters("1", "2")])
    assert project.run("2").closing.covered == ("1", "2")


def test_audt_10_a_try_that_was_set_aside_uses_up_no_audit_cycle(place: Path) -> None:
    """Two re-audits at most; between them a try that changes nothing is followed by another try."""
    gap = audit_row("P1-C1", "no date")
    audits = [{"role": "audit", "attempt": n, "result": audit(gap if n < 3 else audit_row("P1-C1"))} for n in (1, 2, 3)]
    fixes = [
        {"role": "fix", "attempt": 1, "result": {"fixed": True}},
        {"role": "fix", "attempt": 2, "result": {"fixed": True}, "write": {"letter1.txt": "done\ndat\n"}},
        {"role": "fix", "attempt": 3, "result": {"fixed": True}, "write": {"letter1.txt": "done\ndate\n"}},
    ]
    usual = [answer for answer in reviews() if answer["role"] != "audit"]
    project = driven(place, [*usual, *audits, *fixes, *letters("1")], "1", "2")

    assert project.run("1").exit == 0
    assert ends(project) == ["audit/1", "gap_fix/1", "gap_fix/2", "audit/2", "gap_fix/3", "audit/3"]
    assert project.reads("letter1.txt") == "done\ndate\n"


def test_cenf_02d_each_write_of_the_diagnostic_has_its_event(place: Path) -> None:
    """CENF-02d: also where nothing about the score has changed."""
    low = [answer for answer in reviews(8.2) if answer["role"] != "execute"]
    extra = {"role": "execute", "phase": "1", "result": {"tasks_completed": "1/1"}, "write": {"extra.txt": "x\n"}}
    more = [extra | {"task": f"1-R{n}", "write": {"extra.txt": f"{n}\n"}} for n in (1, 2)]
    project = driven(place, [*low, *letters("1"), *more], "1")
    project.run("1")

    notes = [note for note in project.of(Noted) if note.event == "confidence_diagnostic_written"]
    assert len(notes) == len(project.of(PhaseFinished)) == 3
