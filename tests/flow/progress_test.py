"""What a run prints while it goes on: the plain lines of group H, with one phase at a time and with three."""

import io
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from autopilot.app import prepare as app
from autopilot.domain.request import RunRequest
from autopilot.domain.settings import Modes
from autopilot.views.lines.plain import PlainView
from support.project import honest, make_project
from support.repos import write
from support.runs import roadmap_of

MEMORY = Path("/dev/shm")
LINES = {
    "PROG-01": r"--- \[PHASE 2/3\] Letter 2 ---",
    "PROG-02": r"  Step: EXECUTE \.\.\. 2/2 tasks",
    "PROG-02 judge": r"  Step: JUDGE \.\.\. proceed",
    "PROG-02 rate": r"  Step: RATE \.\.\. 9\.4/10",
    "PROG-03": r"--- \[PHASE 2/3\] Complete: 9\.4/10 \| \d+s ---",
    "PROG-04": r"\[Phase 2\] Step: VERIFY \(7/9\)",
    "PROG-04 end": r"\[Phase 2\] Step: PREFLIGHT complete\.",
    "PROG-05": r"\[Phase 2\] Step: RESEARCH skipped \(.+\)\.",
    "PROG-06 triage": r"\[Phase 2\] Step: TRIAGE complete\. Routing: full_pipeline",
    "PROG-06 plan-check": r"\[Phase 2\] Step: PLAN-CHECK complete\. Confidence: 9/10",
    "PROG-06 execute": r"\[Phase 2\] Step: EXECUTE \(6/9\) -- 2 tasks",
    "PROG-06 executed": r"\[Phase 2\] Step: EXECUTE complete\. 2/2 tasks\.",
    "PROG-06 verify": r"\[Phase 2\] Step: VERIFY complete\. Result: pass",
    "PROG-06 judge": r"\[Phase 2\] Step: JUDGE complete\. Recommendation: proceed",
    "PROG-06 rate": r"\[Phase 2\] Step: RATE complete\. Score: 9\.4/10",
    "PROG-07": r"\[Phase 2\] Task 02-01 \(1/2\): Write draft2\.txt",
    "PROG-07 file": r"\[Phase 2\] Task 02-02: modifying letter2\.txt",
    "PROG-07 end": r"\[Phase 2\] Task 02-02 \(2/2\): VERIFIED",
}


@pytest.fixture(scope="module", params=[1, 3], ids=["one at a time", "three at a time"])
def lines(request: pytest.FixtureRequest) -> Iterator[list[str]]:
    memory = MEMORY if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) else None
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory(dir=memory) as folder:
        patch.setenv("AUTOPILOT_CACHE", f"{folder}/cache")
        root, out = make_project(Path(folder) / "project", honest(), roadmap_of("1", "2", "3")), io.StringIO()
        write(root, {".planning/config.json": '{"workflow": {"research": false}}'})
        agent, modes = f"scripted:{folder}/project.toml", Modes(jobs=request.param)
        asked = RunRequest(folder=str(root), phases="all", agent=agent, sandbox="none", modes=modes)
        assert app.start(asked, PlainView(out), print).exit == 0
        yield out.getvalue().splitlines()


@pytest.mark.parametrize("rule", list(LINES))
def test_the_line_is_printed_once_and_names_its_phase(lines: list[str], rule: str) -> None:
    """PROG-01..07: whatever other phases are at work meanwhile."""
    found = [line for line in lines if re.fullmatch(LINES[rule], line)]

    # Of the nine steps told once more every phase has the same lines, in a block above its footer.
    assert len(found) == (3 if rule in {"PROG-02 judge", "PROG-02 rate"} else 1)


def test_loop_03_04_a_phase_is_told_from_its_header_over_its_steps_to_its_footer(lines: list[str]) -> None:
    """LOOP-03, LOOP-04: the footer is the closing line; each phase has one of each, in this order."""
    for name in ("1", "2", "3"):
        header = lines.index(f"--- [PHASE {name}/3] Letter {name} ---")
        first = lines.index(f"[Phase {name}] Step: PREFLIGHT (1/9)")
        last = lines.index(f"[Phase {name}] Step: RATE complete. Score: 9.4/10")
        footer = next(n for n, line in enumerate(lines) if line.startswith(f"--- [PHASE {name}/3] Complete: 9.4/10"))
        assert header < first < last < footer


def test_prog_08_nothing_but_plain_text(lines: list[str]) -> None:
    assert all(line.isascii() and line.isprintable() for line in lines)
    assert not any(re.match(r"#|\*|```", line) for line in lines)
