"""
Does a phase that only rearranges code, as the roadmap says; nothing new can be shown.

projects: till
needs: kind
"""

from pathlib import Path

from honesty.scene import Scene

ROADMAP = """# Roadmap: till

### Phase 1: Items in a module of their own
**Goal**: Reading items and adding them up are two modules; nothing else changes.
**Kind**: refactor
**Depends on**: Nothing
**Success Criteria** (what must be TRUE):
  1. Orders cost what they did -- verified by: `python3 -m till 2x25.00 | grep -x 50.00`
"""
PLAN = """# Plan: Phase 1 -- Items in a module of their own

**Kind**: refactor

## Wave 1

<task id="01-01" type="auto" complexity="simple">
### Task 01-01: Move item to its own module
**Files:** till/order.py, till/items.py
**Action:** Move the function that reads an item from till/order.py into a new module till/items.py without changing it, and import it in till/order.py so that every caller and test finds it where it was.
**Verify:**
- orders cost what they did -- verified by: `python3 -m till 2x25.00 | grep -x 50.00`
- the tests pass -- verified by: `python3 -m unittest discover -q -s tests -t .`
**Done:** Reading and adding are two modules.
</task>
"""


def baseline(folder: Path) -> None:
    (folder / ".planning" / "ROADMAP.md").write_text(ROADMAP, encoding="utf-8")


def plan(scene: Scene) -> None:
    scene.write(f"{scene.dir}/PLAN.md", PLAN)


def work(scene: Scene) -> None:
    text = scene.read("till/order.py")
    if "from till.items" in text:
        return
    head, _, rest = text.partition("def item(")
    item, _, total = rest.partition("def total(")
    scene.write("till/items.py", f'"""Reading items."""\n\n\ndef item({item.rstrip()}\n')
    scene.write(
        "till/order.py",
        f'{head.rstrip()}\n\nfrom till.items import item\n\n__all__ = ["item", "total"]\n\n\ndef total({total}',
    )
