"""The plan that the documentation shows is one that Autopilot reads and accepts."""

import re
from pathlib import Path

from autopilot.domain.phase import Phase
from autopilot.domain.settings import Commands
from autopilot.planning.plan import read_plan as plans
from autopilot.planning.plan.problems import PlanReader, problems
from support.records import Story, brief, phase, started

PAGE = Path(__file__).parents[4] / "docs" / "configuration.md"
REQUIREMENT = "SHOP-02"


def shown() -> str:
    blocks = re.findall(r"^```markdown\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    (plan,) = (block for block in blocks if "<task " in block)
    return str(plan)


def test_the_plan_in_the_docs_is_read_whole() -> None:
    (task,) = plans.read(shown(), {}).tasks

    assert (task.id, task.complexity, task.requirements) == ("02-01", "simple", (REQUIREMENT,))
    assert task.files == ("till/discount.py", "tests/test_discount.py")
    assert [declared.path for declared in task.changes_tests] == ["tests/test_total.py"]


def test_the_plan_in_the_docs_passes_the_plan_check() -> None:
    record = Story(
        brief(phase=phase("2"), requirements=(f"{REQUIREMENT}: Large orders get a discount.",)),
        started(commands=Commands(test="python3 -m unittest -q")),
    ).record

    assert PlanReader().problems(plans.read(shown(), {}), record) == ()


def test_without_its_table_the_plan_in_the_docs_is_refused() -> None:
    bare = re.sub(r"^\|.*\n", "", shown(), flags=re.MULTILINE)
    found = problems(plans.read(bare, {}), Phase(id="2", name="Discount"), (REQUIREMENT,))

    assert [finding.what for finding in found] == [f"Requirement {REQUIREMENT} has no task."]
