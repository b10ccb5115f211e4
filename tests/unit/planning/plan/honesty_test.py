"""Where exemptions come from: the user's config and declared test changes of a plan."""

import json

import pytest

from autopilot.domain.errors import ConfigInvalid
from autopilot.domain.phase import DeclaredChange
from autopilot.planning.config import read_config as config
from autopilot.planning.plan import problems as plan_problems
from autopilot.planning.plan import read_plan as plan
from autopilot.planning.roadmap import read_roadmap as roadmap

PLAN = '<task id="03-01" type="auto">\n### Task 03-01: A\n**Files:** a.py\n{declared}\n**Done:** yes\n</task>\n'


def declared(text: str) -> tuple[DeclaredChange, ...]:
    return plan.read(PLAN.format(declared=text), {}).tasks[0].changes_tests


def test_the_user_weighs_rules_in_plain_words() -> None:
    read = config.read('{"honesty": {"test-skipped": "concern", "symlink-added": "blocker"}}', "c")

    assert read.honesty.rules == {"test-skipped": "warning", "symlink-added": "blocker"}
    assert config.read("{}", "c").honesty.rules == {}


@pytest.mark.parametrize(
    ("section", "told"),
    [
        ({"test-skiped": "note"}, "Did you mean test-skipped?"),
        ({"test-skipped": "off"}, "cannot be switched off"),
        ({"test-skipped": None}, "cannot be switched off"),
        ("off", "test-skipped"),
        (None, "each value one of"),
    ],
    ids=["unknown rule", "unknown weight", "null", "no object", "null section"],
)
def test_a_slip_in_honesty_is_refused_with_a_hint(section: object, told: str) -> None:
    with pytest.raises(ConfigInvalid) as caught:
        config.read(json.dumps({"honesty": section}), "c.json")

    assert told in caught.value.do
    assert "c.json" in caught.value.what


@pytest.mark.parametrize(
    ("text", "paths", "reason"),
    [
        ("**Changes tests:** tests/test_a.py -- rounding is new", ["tests/test_a.py"], "rounding is new"),
        ("**changes_tests:** `tests/a.js`, tests/b.js - new rule", ["tests/a.js", "tests/b.js"], "new rule"),
        ("**Changes tests:**\n- tests/test_a.py \u2014 rounding", ["tests/test_a.py"], "rounding"),
        ("<changes_tests>tests/test_a.py -- why</changes_tests>", ["tests/test_a.py"], "why"),
        ("changes_tests: tests/test_a.py - why", ["tests/test_a.py"], "why"),
        ("It changes_tests: not a label", [], ""),
        ("**Changes tests:** tests/test_a.py", ["tests/test_a.py"], ""),
        ("changes_tests: tests/test_a.py - new rule", ["tests/test_a.py"], "new rule"),
        ("**Changes tests:** none", [], ""),
    ],
)
def test_a_task_declares_which_tests_it_changes_and_why(text: str, paths: list[str], reason: str) -> None:
    found = declared(text)

    assert [d.path for d in found] == paths
    assert {d.reason for d in found} <= {reason}


def test_a_declaration_without_a_reason_is_told_to_plan_check() -> None:
    phase = roadmap.read("### Phase 3: A\n**Goal**: g\n", "R").phases[0]
    read = plan.read(PLAN.format(declared="**Changes tests:** tests/test_a.py"), {})

    told = [f for f in plan_problems.problems(read, phase, ()) if f.rule == "changes-tests"]

    assert [f.severity for f in told] == ["blocker"]
