"""Visual testing in a whole run: a bug seen in the browser is mended, and what passed becomes the baseline."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from autopilot.domain.errors import ConfigInvalid
from autopilot.domain.events import PhaseFinished, StepFinished
from autopilot.domain.results import Verified
from support.aftermath import survivors
from support.project import plan_answer, reviews
from support.repos import git, write
from support.runs import Drive, driven
from support.site import FINE, WIDE, answers, free_port, needs_browser, server, serving_tier
from support.waiting import soon

pytestmark = pytest.mark.sandbox

ROADMAP = """# Roadmap: Site

### Phase 1: Letter 1
**Goal**: Write the start page.
**Success Criteria** (what must be TRUE):
  1. The page greets -- verified by: `grep -q Hello index.html`
"""
FOLDER = ".planning/phases/01-letter-1"
SHOTS = ".planning/screenshots"
PLAN = plan_answer("1", [("index.html", "Hello")])
WORK = {
    "role": "execute", "phase": "1", "task": "01-01", "write": {"index.html": WIDE},
    "result": {"tasks_completed": "1/1", "tasks_failed": "0/1"},
}  # fmt: skip
MENDED = {"role": "debug", "result": {"fixed": True}, "write": {"index.html": FINE}}
BOASTED = {"role": "debug", "result": {"fixed": True, "changes": ["it fits now"]}, "write": {"notes.md": "fits\n"}}


def site(place: Path, *debugger: dict[str, Any], **section: Any) -> tuple[Drive, int]:
    port = free_port()
    project, fields = (
        driven(place, [*reviews(), PLAN, WORK, *debugger]),
        {
            "enabled": True,
            "launch_command": server(port),
            "launch_wait_ms": 0,
            "base_url": f"http://localhost:{port}",
            "routes": [{"path": "/", "name": "home", "wait_ms": 0}],
            **section,
        },
    )
    config = {"project": {"visual_testing": fields}}
    write(project.root, {".planning/config.json": json.dumps(config), ".planning/ROADMAP.md": ROADMAP})
    git(project.root, "add", "-A")
    git(project.root, "commit", "-qm", "a site")
    return project, port


def looks(project: Drive) -> list[Any]:
    return [s.result.visual for s in project.of(StepFinished) if isinstance(s.result, Verified)]


@needs_browser
def test_vist_06_a_bug_is_seen_mended_and_the_page_becomes_the_baseline(place: Path) -> None:
    """VIST-06, VIS-02, VIS-04: with nobody but the browser noticing."""
    project, port = site(place, MENDED)

    end = project.run(sandbox=serving_tier())

    assert (end.exit, project.steps[-6:]) == (0, ["verify", "debug", "verify", "judge", "judge_divergence", "rate"])
    assert [len(seen.blocking) for seen in looks(project)] == [1, 0]
    # What can be seen needs no verifier to say so.
    assert [call for call in project.calls if call.startswith("1/verify/")] == ["1/verify/2"]
    bugs = project.reads(f"{FOLDER}/VISUAL-BUGS.md")
    assert "[major] layout on home: the page is 3008 px wide" in bugs
    assert "Resolution: resolved, gone in look 2 (first seen in look 1)" in bugs
    assert "1/1 routes passed" in project.reads(f"{FOLDER}/VERIFICATION.md").partition("## Visual Testing Results")[2]
    newest = looks(project)[-1].screenshots[0].screenshot_path
    baseline = project.root / SHOTS / "baseline" / "home.png"
    assert baseline.read_bytes() == (project.root / newest).read_bytes()
    assert "screenshots" not in git(project.root, "log", "--name-only", "--format=")
    assert git(project.root, "status", "--porcelain") == ""
    assert not answers(port)


@needs_browser
def test_vis_04_a_bug_that_stays_fails_the_phase_whatever_is_said(place: Path) -> None:
    """VIS-04, VIST-06: three attempts, and no baseline of what did not pass."""
    project, _ = site(place, BOASTED)
    limits = {"limits": {"debug_attempts": 1}, **json.loads(project.reads(".planning/config.json"))}
    write(project.root, {".planning/config.json": json.dumps(limits)})

    end = project.run(sandbox=serving_tier())

    assert end.exit == 10
    assert "max retries exceeded: major layout issue on home" in end.phases["1"].reason
    assert not (project.root / SHOTS / "baseline").exists()


def test_vist_04_an_app_that_does_not_launch_is_told_and_fails_nothing(place: Path) -> None:
    """VIST-04, RATE-11: also where there is no browser at all."""
    project, _ = site(place, launch_command="exit 5")

    assert project.run().exit == 0
    assert looks(project)[0].infrastructure_available is False
    issues = project.of(PhaseFinished)[-1].outcome.issues
    assert any(issue.startswith("Visual testing skipped: ") for issue in issues)
    assert "visual testing not performed" in project.reads(f"{FOLDER}/SCORECARD.md")


def test_vis_01_an_incomplete_section_is_told_and_skipped(place: Path) -> None:
    """VIS-01: and nothing of visual testing is in the result (schema 16)."""
    project, _ = site(place, base_url=None)

    assert project.run().exit == 0
    told = "Visual testing config incomplete: missing base_url. Visual testing will be skipped."
    assert told in project.warnings
    assert "visual_test_results" not in project.reads(f"{FOLDER}/VERIFICATION.json")


def test_vis_03_the_flag_without_the_section_halts_before_anything_happens(place: Path) -> None:
    """VIS-03."""
    project = driven(place, reviews())

    with pytest.raises(ConfigInvalid, match=r"^Visual testing requires project\.visual_testing in \.planning/config"):
        project.run(visual=True)
    assert not (project.root / ".autopilot").exists()


@needs_browser
def test_a_run_that_is_killed_leaves_neither_server_nor_browser(place: Path) -> None:
    """VIST-04: also by a signal that nobody can catch."""
    project, port = site(place, MENDED, routes=[{"path": "/", "name": "home", "wait_ms": 60_000}])
    words = [sys.executable, "-m", "autopilot", "all", "--agent", f"scripted:{project.script}", "--sandbox", "none"]
    run = subprocess.Popen(words, cwd=project.root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    try:
        assert soon(lambda: "--headless" in " ".join(survivors(project.root)) and answers(port))
    finally:
        run.kill()
        run.wait()
    assert soon(lambda: not survivors(project.root) and not answers(port))
