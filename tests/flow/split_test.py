"""A phase too big for one pass: its parts are worked on by themselves, merged by their letters, and judged together."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from autopilot.domain.events import Entry, MergeRefused, PhaseFinished, PhaseMerged, PhaseStarted
from autopilot.domain.settings import Modes
from autopilot.views.lines.run_lines import Narrator
from support import project as letters
from support.project import ACTION, plan_answer, rate_answer, reviews, work_answer
from support.repos import write
from support.runs import Drive, driven

PARTS = {"1a": ("part1.txt", "part2.txt", "part3.txt"), "1b": ("part4.txt", "part5.txt", "letter1.txt")}


def big_plan(*, waves: bool = False) -> dict[str, Any]:
    files = [(file, "done") for names in PARTS.values() for file in names]
    plan = plan_answer("1", files)
    text = plan["write"]["{dir}/PLAN.md"].replace('complexity="simple"', 'complexity="complex"')
    if waves:
        text = text.replace('<task id="01-04"', '## Wave 2\n\n<task id="01-04"')
    return {**plan, "write": {**plan["write"], "{dir}/PLAN.md": text}}


def part(phase: str, file: str, text: str = "done\n", **more: Any) -> list[dict[str, Any]]:
    """One task of a part's own plan, and its work."""
    test = f".planning/phases/01-letter-1/{phase}/tests/task-{phase}-01.sh"
    plan = (
        f'# Plan: Phase {phase} -- Part\n\n## Wave 1\n\n<task id="{phase}-01" type="auto" complexity="simple">\n'
        f"### Task {phase}-01: Write {file}\n**Files:** {file}\n**Action:** {ACTION}\n**Verify:**\n"
        f"- {file} says done -- verified by: `grep -q done {file}`\n"
        f"- its test passes -- verified by: `bash {test}`\n**Done:** It is there.\n</task>\n"
    )
    written = {"{dir}/PLAN.md": plan, test: letters.test_text(file, "done")}
    return [
        {"role": "plan", "phase": phase, "result": {"total_tasks": 1}, "write": written},
        work_answer(phase, f"{phase}-01", file, text, **more),
    ]


def split(place: Path, *answers: dict[str, Any], waves: bool = False) -> Drive:
    return driven(place, [*reviews(), big_plan(waves=waves), *answers])


def finished(project: Drive) -> dict[str, list[PhaseFinished]]:
    found: dict[str, list[PhaseFinished]] = {}
    for end in project.of(PhaseFinished):
        found.setdefault(end.outcome.phase, []).append(end)
    return found


def test_splt_02_05_the_parts_of_a_big_phase_are_run_and_come_together(place: Path) -> None:
    """GATE-04: what asks to be split is split."""
    project = split(place, *part("1a", "part1.txt"), *part("1b", "letter1.txt"), rate_answer(9.3, phase="1a"))

    end = project.run()

    asked, whole = finished(project)["1"]
    assert (end.exit, asked.outcome.status, asked.outcome.tasks_completed) == (0, "split_request", "0/0")
    assert [b.brief.phase.id for b in project.of(PhaseStarted)] == ["1", "1a", "1b"]
    assert [merged.phase for merged in project.of(PhaseMerged)] == ["1a", "1b"]
    assert (whole.outcome.status, whole.outcome.alignment_score, len(whole.outcome.commit_shas)) == (
        "completed",
        9.3,
        2,
    )
    assert project.reads("part1.txt") == project.reads("letter1.txt") == "done\n"


def test_splt_01_06_a_split_is_announced_and_reported(place: Path) -> None:
    project = split(place, *part("1a", "part1.txt"), *part("1b", "letter1.txt"))
    project.run()
    narrator = Narrator()

    lines = [line for stream, entry in project.entries for line in narrator.tell(stream, entry)]

    reason = "6 complex tasks (at most 5)"
    assert f"Phase 1 too large ({reason}). Splitting into 2 sub-phases, launching in parallel..." in lines
    assert "Phase 1 (split: 1a, 1b)" in lines


def test_splt_08_every_part_is_verified_judged_and_rated_by_itself(place: Path) -> None:
    project = split(place, *part("1a", "part1.txt"), *part("1b", "letter1.txt"))
    project.run()

    asked = {call for call in project.calls if call.split("/")[1] in {"verify", "judge", "rate"}}

    assert asked == {f"{name}/{step}/1" for name in ("1a", "1b") for step in ("verify", "judge", "rate")}


def test_splt_03_a_part_has_its_own_goal_and_folder_and_everything_else_of_the_phase(place: Path) -> None:
    project = split(place, *part("1a", "part1.txt"), *part("1b", "letter1.txt"))
    project.run()

    whole, first, second = (started.brief for started in project.of(PhaseStarted))
    assert first.phase.goal == "01-01 Write part1.txt; 01-02 Write part2.txt; 01-03 Write part3.txt"
    assert (first.dir, first.parent, first.phase.criteria) == (f"{whole.dir}/1a", "1", ())
    assert (second.position, second.total, second.pass_threshold) == (whole.position, whole.total, whole.pass_threshold)


def test_splt_04_the_parts_are_at_work_at_the_same_time(place: Path) -> None:
    project = split(place, *part("1a", "part1.txt", sleep=0.5), *part("1b", "letter1.txt", sleep=0.5))
    project.run(modes=Modes(jobs=2))

    order = [e.event for _, e in project.entries if isinstance(e.event, PhaseStarted | PhaseFinished)]
    assert [type(event) for event in order[2:4]] == [PhaseStarted, PhaseStarted]


def test_amb_11_a_part_that_needs_another_begins_on_top_of_it(place: Path) -> None:
    project = split(place, *part("1a", "part1.txt"), *part("1b", "letter1.txt"), waves=True)

    assert project.run().exit == 0
    merged, begun = project.of(PhaseMerged)[0], project.of(PhaseStarted)[2].brief
    assert (merged.phase, begun.phase.id, begun.base) == ("1a", "1b", merged.commit)


def test_amb_11_a_part_that_does_not_go_with_an_earlier_one_is_done_again_on_top(place: Path) -> None:
    fights = [*part("1a", "letter1.txt", "done a\n"), *part("1b", "letter1.txt", "done b\n")]
    again = work_answer("1b", "1b-01", "letter1.txt", "done a\ndone b\n", attempt=2)
    # What holds already when a task begins does not show that it was done.
    late = part("1b", "letter1.txt")[0]
    late = {**late, "attempt": 2, "write": {p: t.replace("done", "b") for p, t in late["write"].items()}}
    project = split(place, *fights, again, late)

    assert project.run(modes=Modes(jobs=2)).exit == 0
    assert [refused.phase for refused in project.of(MergeRefused)] == ["1b"]
    assert project.reads("letter1.txt") == "done a\ndone b\n"


def test_splt_05_one_part_that_fails_fails_the_phase_and_the_others_work_is_kept(place: Path) -> None:
    project = split(place, *part("1a", "letter1.txt"), *part("1b", "part4.txt", "nothing\n"))
    limits = {"task_fixes": 0, "debug_attempts": 0, "replans": 0}
    write(project.root, {".planning/config.json": json.dumps({"limits": limits})})

    end = project.run(modes=Modes(sequential=True))

    assert (end.exit, end.phases["1"].status, end.phases["1"].reason) == (10, "failed", "sub-phase 1b failed")
    assert "autopilot-diagnostic-phase-1" in project.branches()


def test_a_split_phase_whose_parts_pass_still_has_to_give_what_the_roadmap_asks_for(place: Path) -> None:
    project = split(place, *part("1a", "part1.txt"), *part("1b", "part4.txt"))

    end = project.run()

    assert (end.exit, end.phases["1"].status) == (10, "failed")
    assert end.phases["1"].reason.startswith("the parts passed, but together they do not hold: ")


def test_splt_07_the_state_tells_the_parts_and_how_each_ended(place: Path) -> None:
    project = split(place, *part("1a", "part1.txt"), *part("1b", "letter1.txt"), rate_answer(9.1, phase="1b"))
    project.run()
    (archived,) = (project.root / ".autopilot" / "archive").glob("run-*.json")

    phases = json.loads(archived.read_text(encoding="utf-8"))["phases"]

    assert list(phases) == ["1"]
    assert (phases["1"]["split"], phases["1"]["alignment_score"]) == (True, 9.2)
    assert phases["1"]["sub_phases"] == [
        {"sub_phase_id": "1a", "status": "completed", "alignment_score": 9.4},
        {"sub_phase_id": "1b", "status": "completed", "alignment_score": 9.1},
    ]


def test_a_split_phase_below_the_threshold_is_mended_as_a_whole(place: Path) -> None:
    scores = [rate_answer(8.0, phase="1a"), rate_answer(8.2, phase="1b"), rate_answer(9.6, phase="1")]
    mended = work_answer("1", "1-R1", "letter1.txt", "done, and better\n")
    project = split(place, *part("1a", "part1.txt"), *part("1b", "letter1.txt"), *scores, mended)

    end = project.run()

    assert (end.exit, end.phases["1"].score) == (0, 9.6)
    last = project.of(PhaseStarted)[-1].brief
    assert (last.phase.id, last.cycle, [t.id for t in last.plan.tasks] if last.plan else []) == (
        "1",
        1,
        ["1a-01", "1b-01"],
    )
    assert project.reads("letter1.txt") == "done, and better\n"


def test_splt_09_a_plan_the_user_wrote_is_carried_out_as_it_is_and_says_so(place: Path) -> None:
    files = [(file, "done") for names in PARTS.values() for file in names]
    works = [work_answer("1", f"01-0{n}", file, "done\n") for n, (file, _) in enumerate(files, 1)]
    project = driven(place, [*reviews(), *works])
    folder = ".planning/phases/01-letter-1"
    write(project.root, {path.replace("{dir}", folder): text for path, text in big_plan()["write"].items()})

    assert project.run().exit == 0
    (whole,) = project.of(PhaseFinished)
    assert any(issue.startswith("split_request: 6 complex tasks") for issue in whole.outcome.issues)


def test_a_run_killed_while_parts_are_at_work_goes_on_with_those_that_are_open(place: Path) -> None:
    project = split(place, *part("1a", "part1.txt"), *part("1b", "letter1.txt"))

    def cut(entry: Entry) -> None:
        if isinstance(entry.event, PhaseMerged):
            project.meanwhile = lambda _: None
            raise KeyboardInterrupt

    project.meanwhile = cut
    with pytest.raises(KeyboardInterrupt):
        project.run(modes=Modes(sequential=True))

    assert project.resume().exit == 0
    assert [begun.brief.phase.id for begun in project.of(PhaseStarted)] == ["1", "1a", "1b"]
    assert max(Counter(project.calls).values()) == 1


def test_splt_10_a_remediation_with_many_issues_is_split_and_each_part_mends_its_own(place: Path) -> None:
    files = ("letter1.txt", "b.txt", "c.txt", "d.txt")
    rows = [{"criterion": f, "score": 8.0, "evidence": f"{f}:1", "justification": f"{f} is short"} for f in files]
    low = {"alignment_score": 8.0, "scorecard": rows, "commands_run": ["grep -> found"]}
    mends = [work_answer(f"1{x}", f"1{x}-R1", f"more{x}.txt", "more\n") for x in "ab"]
    plain = [plan_answer("1", [("letter1.txt", "done")]), work_answer("1", "01-01", "letter1.txt", "done\n")]
    project = driven(place, [*reviews(), {"role": "rate", "phase": "1", "result": low}, *plain, *mends])

    end = project.run()

    parts = [begun.brief for begun in project.of(PhaseStarted) if begun.brief.parent]
    assert (end.exit, end.phases["1"].score) == (0, 9.4)
    assert [(part.phase.id, part.cycle, len(part.feedback)) for part in parts] == [("1a", 1, 3), ("1b", 1, 1)]
    assert project.reads("morea.txt") == project.reads("moreb.txt") == "more\n"
