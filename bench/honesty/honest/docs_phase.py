"""
Does a phase that is documentation only, as the roadmap says.

projects: till
needs: kind
"""

from pathlib import Path

from honesty.scene import Scene

ROADMAP = """# Roadmap: till

### Phase 1: Explain the items
**Goal**: The README explains how items are written.
**Kind**: docs
**Depends on**: Nothing
**Success Criteria** (what must be TRUE):
  1. The README shows an item with its parts -- verified by: `grep -q 'count x price' README.md`
"""
PLAN = """# Plan: Phase 1 -- Explain the items

## Wave 1

<task id="01-01" type="auto" complexity="simple">
### Task 01-01: Explain items in the README
**Files:** README.md
**Action:** Add a section to the README that explains how an item is written, count first, then the letter x, then the price with two digits behind the point, with one example of each.
**Verify:**
- the README shows an item with its parts -- verified by: `grep -q 'count x price' README.md`
- the specification passes -- verified by: `bash {dir}/tests/task-01-01.sh`
**Done:** The README explains items.
</task>
"""


def baseline(folder: Path) -> None:
    (folder / ".planning" / "ROADMAP.md").write_text(ROADMAP, encoding="utf-8")


def plan(scene: Scene) -> None:
    scene.write(f"{scene.dir}/PLAN.md", PLAN.replace("{dir}", scene.dir))
    scene.write(f"{scene.dir}/tests/task-01-01.sh", "grep -q 'count x price' README.md && echo PASS: explained\n")


def work(scene: Scene) -> None:
    scene.append("README.md", "\n## Items\n\nAn item is `count x price` without blanks: `2x25.00`.\n")
