"""Roadmaps as people keep them: restarted milestones, contradicting marks, inserted and superseded phases."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.project import honest, make_project, plan_answer, reviews, work_answer
from support.repos import git, write
from support.runs import Drive

SECTION = """### Phase {id}: {name}
**Goal**: Write letter {id}.
**Depends on**: {needs}
**Success Criteria** (what must be TRUE):
  1. The letter is there -- verified by: `grep -q done letter{id}.txt`

"""
SHIPPED = """# Roadmap: Letters

## Milestones

- ✅ **v1.0 MVP** — Phases 1-2 (shipped 2026-02-23)
- 🚧 **v1.1 Redesign** — Phases 1-2 (in progress)

## Phases

<details>
<summary>✅ v1.0 MVP (Phases 1-2) — SHIPPED 2026-02-23</summary>

- [x] Phase 1: Catalog schema (4/4 plans) — completed 2026-02-22
- [x] Phase 2: Catalog browser (3/3 plans) — completed 2026-02-22

</details>

"""
RESTARTED = (
    SHIPPED
    + SECTION.format(id=1, name="Theme rework", needs="Nothing")
    + SECTION.format(id=2, name="UX consolidation", needs="Phase 1")
)
DISPUTED = (
    "# Roadmap: Letters\n\n- [ ] **Phase 1: Letter 1** - first\n\n"
    + SECTION.format(id=1, name="Letter 1", needs="Nothing")
    + "## Progress\n\n| Phase | Plans Complete | Status | Completed |\n|---|---|---|---|\n"
    "| 1. Letter 1 | 1/1 | Complete | 2026-03-22 |\n"
)


def autopilot(root: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "autopilot", *words]
    return subprocess.run(
        command, cwd=root, capture_output=True, text=True, timeout=300, check=False, stdin=subprocess.DEVNULL
    )


def foreseen(root: Path, *words: str) -> dict[str, Any]:
    done = autopilot(root, *words, "--dry-run", "--json", "--agent", f"scripted:{root.parent / 'project.toml'}")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def would_run(root: Path, *words: str) -> list[str]:
    return [phase["id"] for phase in foreseen(root, *words)["phases"]]


def agent(root: Path) -> tuple[str, ...]:
    return "--agent", f"scripted:{root.parent / 'project.toml'}", "--unsandboxed"


def test_an_open_phase_is_not_done_because_an_old_milestone_has_its_number(place: Path) -> None:
    root = make_project(place / "project", [], RESTARTED)

    assert would_run(root, "all") == ["1", "2"]
    assert "2/4 phases completed" in autopilot(root, "progress").stdout
    assert autopilot(root, "phases", "check").returncode == 0


def test_a_phase_of_another_milestone_can_be_named(place: Path) -> None:
    root = make_project(place / "project", [], RESTARTED)

    assert would_run(root, "v1.0-2") == ["V1.0-2"]


def test_what_an_old_milestone_has_passed_does_not_complete_the_new_ones_phase(place: Path) -> None:
    first = "# Roadmap: Letters\n\n## v1.0 MVP\n\n" + SECTION.format(id=1, name="Letter 1", needs="Nothing")
    answers = [
        *reviews(),
        plan_answer("1", [("letter1.txt", "done")]),
        work_answer("1", "01-01", "letter1.txt", "done\n"),
    ]
    project = Drive(make_project(place / "project", answers, first))
    assert project.run("all").exit == 0
    restarted = (
        first.replace("[ ]", "[x]") + "## v1.1 Redesign\n\n" + SECTION.format(id=1, name="Rework", needs="Nothing")
    )
    write(project.root, {".planning/ROADMAP.md": restarted, ".planning/STATE.md": "---\nmilestone: v1.1\n---\n"})

    assert would_run(project.root, "all") == ["1"]
    assert "| V1.0-1 | Letter 1 | Completed   | 9.4   |" in autopilot(project.root, "progress").stdout


def test_a_phase_with_two_names_is_an_error_with_both_lines_and_never_done(place: Path) -> None:
    text = "- [x] **Phase 1: Catalog browser** - old\n\n" + SECTION.format(
        id=1, name="UX consolidation", needs="Nothing"
    )
    root = make_project(place / "project", [], text)
    checked, ran = autopilot(root, "phases", "check"), autopilot(root, "all", *agent(root))

    assert checked.returncode == 2
    assert "two names: 'UX consolidation' in line 3, 'Catalog browser' in line 1" in checked.stdout
    assert ran.returncode == 2
    assert "0/1 phases completed" in autopilot(root, "progress").stdout


def test_a_conflict_stops_a_run_before_anything_is_spent_and_names_the_lines(place: Path) -> None:
    root = make_project(place / "project", honest(), DISPUTED)
    done = autopilot(root, "all", *agent(root))

    assert done.returncode == 11
    assert "The planning files disagree on whether phase 1 is done." in done.stderr
    assert ".planning/ROADMAP.md:3: check-box: [ ]" in done.stderr
    assert ".planning/ROADMAP.md:15: table: Complete" in done.stderr
    assert not (root / ".autopilot" / "journal.db").exists()
    assert any("disagree" in problem for problem in foreseen(root, "all")["problems"])


@pytest.mark.parametrize(("evidence", "runs"), [("box", ["1"]), ("table", []), ("summaries", ["1"])])
def test_evidence_settles_it(evidence: str, runs: list[str], place: Path) -> None:
    root = make_project(place / "project", honest(), DISPUTED)

    assert would_run(root, "all", "--evidence", evidence) == runs


def test_a_phase_whose_plans_all_have_a_summary_is_not_run_again(place: Path) -> None:
    text = "# Roadmap: Letters\n\n- [ ] **Phase 1: Letter 1** - first\n\n"
    root = make_project(place / "project", honest(), text + SECTION.format(id=1, name="Letter 1", needs="Nothing"))
    folder = ".planning/phases/01-letter-1"
    write(root, {f"{folder}/01-01-PLAN.md": "plan\n", f"{folder}/01-01-SUMMARY.md": "# Summary\n"})

    done = autopilot(root, "all", *agent(root))

    assert done.returncode == 11
    assert f"{folder}/01-01-SUMMARY.md:1: summaries: 1 of 1 plans have a SUMMARY.md" in done.stderr
    assert would_run(root, "all", "--evidence", "summaries") == []


def test_a_phase_named_on_its_own_is_meant_to_run(place: Path) -> None:
    root = make_project(place / "project", honest(), DISPUTED)

    assert foreseen(root, "1")["problems"] == []
    assert would_run(root, "1") == ["1"]


@pytest.mark.parametrize(("answer", "code"), [("a", 0), ("b", 0), ("", 11)])
def test_a_person_at_a_terminal_is_asked(answer: str, code: int, place: Path) -> None:
    root = make_project(place / "project", honest(), DISPUTED)
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "autopilot", "all", "--plain", *agent(root)]
    with subprocess.Popen(command, cwd=root, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as run:
        os.write(ours, f"{answer}\n".encode())
        told = run.communicate(timeout=300)[0].decode()
    os.close(ours)
    os.close(theirs)

    assert "Is phase 1 (Letter 1) done?" in told
    assert run.returncode == code, told
    assert ((root / "letter1.txt").exists()) is (answer == "b")


def test_inserted_phases_run_between_their_neighbours(place: Path) -> None:
    """CMPL-01d."""
    numbers = ("1", "2", "3", "4", "5", "6", "3.6", "4.1")
    text = "".join(SECTION.format(id=n, name=f"Letter {n}", needs="Nothing") for n in numbers)

    assert would_run(make_project(place / "project", [], text), "all") == ["1", "2", "3", "3.6", "4", "4.1", "5", "6"]


def test_superseded_and_cancelled_phases_never_run_and_their_dependents_follow(place: Path) -> None:
    text = (
        SECTION.format(id="2.1", name="Streaming", needs="Nothing")
        + "### ~~Phase 6: Streaming and voice~~ — SUPERSEDED by Phase 02.1\n\n"
        + SECTION.format(id="7", name="Gaps", needs="Phase 6")
        + "### ~~Phase 8: Old idea~~\n\n"
        + SECTION.format(id="9", name="Next idea", needs="Phase 8")
    )
    root = make_project(place / "project", [], text)
    listed = json.loads(autopilot(root, "phases", "list", "--json").stdout)["phases"]
    checked = autopilot(root, "phases", "check").stdout

    assert would_run(root, "all") == ["2.1", "7", "9"]
    assert {p["id"]: p["status"] for p in listed if p["id"] in {"6", "8"}} == {"6": "superseded", "8": "cancelled"}
    assert next(p["depends_on"] for p in listed if p["id"] == "7") == ["2.1"]
    assert "phase 9 depends on phase 8, which is cancelled: it cannot start" in checked


def test_the_name_of_a_program_in_a_sentence_is_not_a_command(place: Path) -> None:
    text = "### Phase 1: Close\n**Goal**: g\n**Success Criteria**:\n1. Ports are closed (verified via `nmap` from off-host)\n"
    (phase,) = foreseen(make_project(place / "project", [], text), "all")["phases"]

    assert (phase["runnable"], phase["unanchored"]) == (0, True)


def test_a_success_line_and_a_dependency_in_the_context_are_read(place: Path) -> None:
    text = (
        "### Phase 1: One\n**Goal**: g\n**Success:** All six layouts render.\n\n"
        "### Phase 2: Two\n**Goal**: g\n\n**Context:**\n- Depends on Phase 3 for stable tuning\n- more\n\n"
        "### Phase 3: Three\n**Goal**: g\n"
    )
    root = make_project(place / "project", [], text)

    assert would_run(root, "all") == ["1", "3", "2"]
    assert (
        "phase 1, SC-1 has no command that proves it: 'All six layouts render.'"
        in autopilot(root, "phases", "check").stdout
    )


def test_between_milestones_the_finished_one_is_named(place: Path) -> None:
    root = make_project(place / "project", [], "# Roadmap\n\n## Completed Milestones\n\n### v1.0 -- Core\nAll of it.\n")
    state = "# State\n\nStatus: v1.0 milestone complete\nLast activity: 2026-02-08 -- tagged\n"
    write(root, {".planning/STATE.md": state, ".planning/milestones/v1.0-ROADMAP.md": "# old\n"})
    done = autopilot(root, "all", *agent(root))

    assert done.returncode == 2
    assert "Milestone v1.0 Core was finished on 2026-02-08. The next milestone has no phases yet." in done.stderr
    assert ".planning/milestones/v1.0-ROADMAP.md" in done.stderr


def test_without_a_roadmap_the_history_tells_the_finished_milestone(place: Path) -> None:
    root = make_project(place / "project", [])
    (root / ".planning" / "ROADMAP.md").unlink()
    write(root, {".planning/MILESTONES.md": "# Milestones\n\n## v1.3 Background jobs (Shipped: 2026-01-22)\n\nText.\n"})

    assert "Milestone v1.3 Background jobs was finished on 2026-01-22." in autopilot(root, "phases", "list").stderr


def test_a_project_with_milestones_is_not_called_done(place: Path) -> None:
    done = autopilot(make_project(place / "project", [], SHIPPED), "progress").stdout

    assert "Milestone v1.0 MVP was finished on 2026-02-23. Milestone v1.1 Redesign has no phases yet." in done
    assert "Project is done" not in done


def test_nobody_ticks_the_users_roadmap_while_a_run_works(place: Path) -> None:
    """DESIGN 11.11: what an agent ticks is dropped with everything else it writes to `.planning`."""
    text = "# Roadmap\n\n- [ ] **Phase 1: Letter 1** - first\n\n" + SECTION.format(
        id=1, name="Letter 1", needs="Nothing"
    )
    ticked = text.replace("[ ]", "[x]")
    work = work_answer("1", "01-01", "letter1.txt", "done\n")
    work["write"] = {**work["write"], ".planning/ROADMAP.md": ticked}
    answers = [*reviews(), plan_answer("1", [("letter1.txt", "done")]), work]
    project = Drive(make_project(place / "project", answers, text))

    project.run("all")

    assert (project.root / ".planning" / "ROADMAP.md").read_text(encoding="utf-8") == text
    assert git(project.root, "show", "HEAD:.planning/ROADMAP.md").strip() == text.strip()
