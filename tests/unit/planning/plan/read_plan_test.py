"""Plans in both forms seen in the wild, and those without any tag."""

import pytest

from autopilot.domain.errors import ConfigInvalid
from autopilot.domain.phase import Plan, task_types
from autopilot.planning.plan import read_plan as plan

AUTOPILOT = """# Plan: Phase 3 -- Shop
## Traceability
| Requirement | Task(s) | Description |
|-------------|---------|-------------|
| REQ-01 | 03-01, 03-02 | both |
| REQ-02 | 03-02 | second |
## Wave 1
<task complexity="medium" type="auto" id="03-01">
### Task 03-01: Add the cart
**Files:** src/cart.py, `tests/test_cart.py` (new, small)
**Action:** Write it:
```python
# </task> in code ends nothing
<task id="99-99">
```
and **bold words:** stay.
**Verify:**
- Cart adds -- verified by: `pytest tests/test_cart.py` (expect EXIT:0)
- Names -- verified by: `grep -c def src/cart.py` (returns at least 2)
**Done:** The cart adds up.
</task>
## Wave 2
<task id="03-02" type="checkpoint:human-verify" depends_on="03-01">
### Task 03-02: Look at it
</task>
"""

GSD = """---
phase: 08-chat
plan: 02
type: execute
wave: 2
depends_on: ["08-01"]
files_modified:
  - src/a.tsx
requirements:
  - CHAT-01
  - CHAT-03
must_haves:
  truths:
    - "x: y"
  artifacts:
    - path: "src/a.tsx"
---
<objective>x</objective>
<tasks>
<task type="auto" tdd="true">
  <name>Task 1: Layout & <Sidebar /></name>
  <files>
    src/a.tsx
    src/b.tsx (new)
  </files>
  <action>
Put <Sidebar /> left & right.
  </action>
  <verify>
    <automated>cd app &amp;&amp; npm test</automated>
  </verify>
  <acceptance_criteria>
    - `src/a.tsx` contains Sidebar
  </acceptance_criteria>
  <done>It shows.</done>
</task>
<task type="checkpoint:human-verify" gate="blocking">
  <what-built>Layout</what-built>
  <how-to-verify>Look</how-to-verify>
</task>
</tasks>
"""


def read(text: str) -> Plan:
    return plan.read(text, {})


def test_the_autopilot_form_is_read_in_full() -> None:
    """PLAN-02, PLAN-06."""
    first, second = read(AUTOPILOT).tasks

    assert (first.id, first.title, first.type, first.complexity, first.wave) == (
        "03-01",
        "Add the cart",
        "auto",
        "medium",
        1,
    )
    assert first.files == ("src/cart.py", "tests/test_cart.py")
    assert "</task> in code" in first.action
    assert first.action.endswith("**bold words:** stay.")
    assert [(c.id, c.command, c.line) for c in first.criteria] == [
        ("03-01.1", "pytest tests/test_cart.py", 18),
        ("03-01.2", "grep -c def src/cart.py", 19),
    ]
    assert (first.done, first.requirements, first.line) == ("The cart adds up.", ("REQ-01",), 8)
    assert (second.type, second.wave, second.depends_on) == ("checkpoint:human-verify", 2, ("03-01",))
    assert second.requirements == ("REQ-01", "REQ-02")


def test_the_gsd_form_is_read_in_full() -> None:
    first, second = read(GSD).tasks

    assert (first.id, first.title, first.wave) == ("08-02-1", "Layout & <Sidebar />", 2)
    assert first.files == ("src/a.tsx", "src/b.tsx")
    assert first.action == "Put <Sidebar /> left & right."
    assert [c.command for c in first.criteria] == [None, "cd app && npm test"]
    assert (first.done, first.requirements, first.depends_on) == ("It shows.", ("CHAT-01", "CHAT-03"), ())
    assert (second.type, second.action) == ("checkpoint:human-verify", "Layout")


def test_tasks_without_tags_are_found_by_their_headings() -> None:
    text = "## Tasks\n### Task 1: First\n**File:** a.py\nDo it.\n**Verify:** x -- verified by: `make`\n### Task 2 — Second\n#### Note\n## Risks\n- no\n"
    first, second = read(text).tasks

    assert (first.id, first.title, first.files, first.criteria[0].command) == ("01", "First", ("a.py",), "make")
    assert (second.id, second.title) == ("02", "Second")
    assert "no" not in second.action


def test_the_title_names_the_phase_where_nothing_else_does() -> None:
    assert [task.id for task in read("# Phase 2.1: Fix - Plan\n### Task 1: A\n### Task 2: B\n").tasks] == [
        "02.1-01",
        "02.1-02",
    ]


def test_a_body_without_children_is_the_action() -> None:
    (task,) = read('<task id="1" name="Seed">\nCreate `seed.py` that\n1. loads\n</task>').tasks

    assert (task.title, task.action) == ("Seed", "Create `seed.py` that\n1. loads")


def test_a_feature_of_a_test_driven_plan_is_a_task() -> None:
    (task,) = read(
        "---\nphase: 1\nplan: 2\n---\n<feature>\n<name>Fit</name>\n<files>[a.py, b.py]</files>\n<behavior>x</behavior>\n</feature>"
    ).tasks

    assert (task.id, task.title, task.files, task.action) == ("01-02-1", "Fit", ("a.py", "b.py"), "x")


def test_a_test_specification_named_in_verify_is_run() -> None:
    (task,) = read(
        "<task>\n**Verify:** Run test specification at `.planning/phases/26-x/tests/task-26-01.sh`\n</task>"
    ).tasks

    assert task.criteria[0].command == "bash .planning/phases/26-x/tests/task-26-01.sh"


@pytest.mark.parametrize(
    ("tag", "means"),
    [
        ("<task>", "auto"), ('<task type="auto">', "auto"), ("<task type='tdd'>", "auto"), ('<task gate="x" type=auto>', "auto"),
        ('<TASK TYPE="checkpoint:decision">', "checkpoint:decision"), ('<task type="checkpoint:new">', "checkpoint:human-action"),
        ('<task\n  id="1"\n  type="checkpoint:human-verify"\n>', "checkpoint:human-verify"),
    ],
)  # fmt: skip
def test_tags_with_attributes_in_any_order(tag: str, means: str) -> None:
    assert [task.type for task in read(f"{tag}\nx\n</task>").tasks] == [means]


def test_a_task_never_closed_ends_at_the_next() -> None:
    assert [task.action for task in read("<task>\none\n<task>\ntwo\n").tasks] == ["one", "two"]


@pytest.mark.parametrize(
    "text", ["", "# Plan\nAll good.\n", "```\n<task>\n</task>\n```", "<!-- <task> -->", "<tasks></tasks>"]
)
def test_a_plan_without_tasks_is_refused(text: str) -> None:
    with pytest.raises(ConfigInvalid, match="no task") as caught:
        read(text)

    assert caught.value.do


def test_an_automated_check_that_is_missing_is_no_check() -> None:
    (task,) = read("<task><verify><automated>MISSING — wave 0 makes it</automated></verify></task>").tasks

    assert task.criteria == ()


def test_the_hash_is_over_the_text_and_every_test_in_a_fixed_order() -> None:
    one = plan.read(AUTOPILOT, {"tests/b.sh": "x", "tests/a.sh": "y"})
    two = plan.read(AUTOPILOT, {"tests/a.sh": "y", "tests/b.sh": "x"})

    assert [test.path for test in one.tests] == ["tests/a.sh", "tests/b.sh"]
    assert one.sha256 == two.sha256
    others = [{"tests/a.sh": "y"}, {"tests/a.sh": "x", "tests/b.sh": "y"}, {"tests/a.sh": "ytests/b.sh", "": "x"}]
    assert len({one.sha256, *(plan.read(AUTOPILOT, other).sha256 for other in others)}) == 4


def test_tasks_are_counted_by_type() -> None:
    """PRE-04, AMB-13: whatever stands before the type in its tag."""
    assert task_types(read(AUTOPILOT)) == "1 auto tasks, 1 checkpoint:human-verify tasks"
    assert task_types(None) == "0 auto tasks, 0 checkpoint:human-verify tasks"


def test_a_task_may_declare_the_tests_it_changes_with_a_reason() -> None:
    lines = "**Changes tests:**\n- `tests/test_a.py` -- prices include tax\n- tests/old/*.py -- the format is new\n"
    (made,) = read(f'# Plan: Phase 3 -- X\n<task id="03-01">\n{lines}**Kind:** refactor\n</task>\n').tasks

    assert [change.path for change in made.changes_tests] == ["tests/test_a.py", "tests/old/*.py"]
    assert [change.reason for change in made.changes_tests] == ["prices include tax", "the format is new"]
    assert made.kind == "refactor"


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ('kind="docs"', "docs"),
        ('kind="refactor"', "refactor"),
        ("", "feature"),
        ('kind="refactor and more"', "feature"),
    ],
)
def test_a_kind_is_the_word_itself_or_a_feature(said: str, kind: str) -> None:
    assert read(f'# Plan: Phase 3 -- X\n<task id="03-01" {said}>\n</task>\n').tasks[0].kind == kind
