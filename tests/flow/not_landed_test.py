"""A phase that passed and could not be landed: every verb says so, and nothing is lost on the way to the branch."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from autopilot.app import prepare as app
from autopilot.app.wiring import past
from autopilot.cli.verbs import status
from autopilot.domain.events import Entry, PhaseFinished, PhaseLanded, RunFinished
from autopilot.domain.request import RunRequest
from autopilot.engine.run.result import run_end
from autopilot.views.lines.announcement import announcement
from autopilot.views.lines.overview import lines
from autopilot.views.lines.run_lines import Narrator
from support.deferring import script
from support.repos import git
from support.runs import Drive, Stage, driven, playground
from support.workspaces import change, make_bench, message

PLAIN = '{"workflow": {"research": false, "integration_check": false, "self_audit": false}}'


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    """Phase 1 passed while the user had a file of theirs where its work belongs."""
    with playground() as place, playground() as aside:
        project = driven(place, script(phases="12"), "1", "2>1")
        (project.root / ".planning/config.json").write_text(PLAIN, encoding="utf-8")

        def write(entry: Entry) -> None:
            if isinstance(entry.event, PhaseFinished):
                (project.root / "letter1.txt").write_text("mine\n", encoding="utf-8")

        project.meanwhile = write
        end = project.run("1")
        assert (end.exit, end.phases["1"].status) == (12, "completed")
        assert "phase 1 is not on your branch yet: you have changes in letter1.txt" in end.reason
        assert not project.of(PhaseLanded)[-1].landed
        yield Stage.of(place, aside, project)


@pytest.fixture
def project(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Drive:
    monkeypatch.setenv("AUTOPILOT_CACHE", str(stage.place / "cache"))
    return stage.again()


def run_branch(project: Drive) -> str:
    return next(name for name in project.branches() if name.startswith("autopilot/run-"))


def test_resume_lands_it_when_the_way_is_free(project: Drive) -> None:
    (project.root / "letter1.txt").unlink()

    end = project.resume()

    assert (end.exit, end.reason) == (
        0, "Phase 1 is on main now. Already finished. Start new with `autopilot <phases>`."
    )  # fmt: skip
    assert project.reads("letter1.txt") == "done\n"
    assert git(project.root, "rev-parse", "main") == git(project.root, "rev-parse", run_branch(project))
    assert git(project.root, "status", "--porcelain", "-uno") == ""
    assert project.resume().reason == "Already finished. Start new with `autopilot <phases>`."
    assert project.of(RunFinished)[-1].exit_code == 0
    (report,) = (project.root / ".autopilot").glob("completion-*.md")
    assert "not on your branch" not in report.read_text(encoding="utf-8").partition("## Account")[0]


def test_the_last_line_of_the_run_names_it(project: Drive) -> None:
    narrator = Narrator()
    for stream, entry in project.entries:
        list(narrator.tell(stream, entry))
    finished = project.of(RunFinished)[-1]
    record = past(project.root / ".autopilot").newest
    assert record is not None

    shown = list(announcement(run_end(record, (), finished), narrator))

    assert shown[-1] == "Not on your branch yet: phase 1. To try again: autopilot resume"
    assert not [line for line in shown if "Project is done" in line]


def test_resume_says_what_still_stands_in_the_way(project: Drive) -> None:
    end = project.resume()

    assert end.exit == 12
    assert "Phase 1 is not on your branch yet: you have changes in letter1.txt" in end.reason
    assert f"git merge --ff-only {run_branch(project)}" in end.reason
    assert project.reads("letter1.txt") == "mine\n"


def test_progress_names_the_merge_before_the_next_phase(project: Drive) -> None:
    seen = app.survey(str(project.root))
    merge = f"git merge {run_branch(project)}"

    assert (seen.phases[0].status, seen.phases[0].merge, seen.phases[1].merge) == ("Completed", merge, "")
    assert seen.next == merge
    assert f"Phase 1 is not on your branch yet: {merge}" in lines(seen)


def test_status_says_that_a_completed_phase_is_not_on_the_branch(project: Drive) -> None:
    shown = status.show(as_json=False, folder=str(project.root))

    assert f"Phase 1 is not on your branch yet: git merge {run_branch(project)}" in shown.splitlines()
    assert project.state()["not_landed"] == ["1"]


def test_a_run_on_top_of_it_warns_at_its_start(project: Drive) -> None:
    said = (
        "Phase 2 depends on phase 1, which is completed and not on your branch yet: the run starts without its work. "
        f"Stop it and merge first: git merge {run_branch(project)}"
    )

    foreseen = app.foresee(RunRequest(folder=str(project.root), phases="2", agent=f"scripted:{project.script}"))
    project.run("2")

    assert said in foreseen.notes
    assert said in project.warnings


@pytest.mark.parametrize("way", ["resumed", "merged", "branch deleted"])
def test_nothing_is_said_of_what_is_settled(project: Drive, way: str) -> None:
    (project.root / "letter1.txt").unlink()
    if way == "resumed":
        project.resume()
    elif way == "merged":
        git(project.root, "update-ref", "refs/heads/main", run_branch(project))
    else:
        git(project.root, "branch", "-D", run_branch(project))

    assert "not on your branch" not in status.show(as_json=False, folder=str(project.root))
    assert app.survey(str(project.root)).next == "autopilot 2"
    project.run("2")
    assert not [said for said in project.warnings if "not on your branch" in said]


def unlanded(place: Path, meanwhile: Callable[[Path], None]) -> Drive:
    """Phase 1 passed, and before it landed the user did something."""
    project = driven(place, script(phases="12"), "1", "2>1")
    (project.root / ".planning/config.json").write_text(PLAIN, encoding="utf-8")

    def hear(entry: Entry) -> None:
        if isinstance(entry.event, PhaseFinished):
            meanwhile(project.root)

    project.meanwhile = hear
    assert project.run("1").exit == 12
    return project


def commits(root: Path) -> None:
    (root / "other.txt").write_text("other\n", encoding="utf-8")
    git(root, "add", "other.txt")
    git(root, "commit", "-qm", "meanwhile")


def hint(project: Drive) -> list[str]:
    return project.of(PhaseLanded)[-1].note.partition("merge it with: git ")[2].split()


def test_the_hint_works_as_printed_when_the_branch_has_moved_on(place: Path) -> None:
    project = unlanded(place, commits)
    log = project.root / ".planning/phases/01-letter-1/EXECUTION-LOG.md"
    held = git(project.root, "show", f"{run_branch(project)}:{log.relative_to(project.root)}")

    git(project.root, *hint(project), "--no-edit")

    assert (project.reads("letter1.txt"), project.reads("other.txt")) == ("done\n", "other\n")
    assert log.read_text(encoding="utf-8").strip() == held.strip()
    assert app.survey(str(project.root)).next == "autopilot 2"


def test_planning_files_the_user_changed_stay_when_the_branch_has_moved_on(place: Path) -> None:
    mine = {"EXECUTION-LOG.md": "my own words\n", "notes.md": "mine\n"}

    def write(root: Path) -> None:
        commits(root)
        for name, text in mine.items():
            (root / ".planning/phases/01-letter-1" / name).write_text(text, encoding="utf-8")

    project = unlanded(place, write)

    for name, text in mine.items():
        assert project.reads(f".planning/phases/01-letter-1/{name}") == text


def test_the_hint_works_as_printed_when_the_users_file_is_out_of_the_way(project: Drive) -> None:
    (project.root / "letter1.txt").unlink()

    git(project.root, *hint(project))

    assert project.reads("letter1.txt") == "done\n"


def test_an_untracked_planning_file_from_before_the_run_stays_where_it_is(tmp_path: Path) -> None:
    text, path = "the same words\n", ".planning/phases/01-a/NOTES.md"
    bench = make_bench(tmp_path, {"a.txt": "a\n", ".planning/ROADMAP.md": "# R\n"})
    change(bench.root, {path: text})
    bench.workspace.snapshot_planning()
    bench.workspace.write_planning({path: text, ".planning/phases/01-a/LOG.md": "log\n"})
    files = {path: text, ".planning/phases/01-a/LOG.md": "log\n"}
    commit = bench.workspace.commit_planning(bench.seal({"b.txt": "b\n"}), files, message("land"))
    change(bench.root, {"b.txt": "mine\n"})

    assert not bench.workspace.land(commit).landed
    assert (bench.root / path).read_text(encoding="utf-8") == text
    assert not (bench.root / ".planning/phases/01-a/LOG.md").exists()
