"""The pipeline and its gates, printed from the tables in force."""

import json

from autopilot.app.explain import RuleRow, StageRow, stages
from autopilot.cli.verbs.explain import explain

ROWS = (
    StageRow("plan", "PLAN", "Make a plan.", "after_plan", "Is it good?", (RuleRow("it is", "go on"),)),
    StageRow("fix", "EXECUTE", "Mend it.", "after_plan", "Is it good?", (RuleRow("it is", "go on"),)),
)


def test_steps_are_listed_in_order_and_a_shared_gate_once() -> None:
    assert explain(ROWS).splitlines() == [
        "The pipeline",
        "",
        "  step  shown as  what it does",
        "  plan  PLAN      Make a plan.",
        "  fix   EXECUTE   Mend it.",
        "",
        "A gate stands behind each step. Its table is read from the top; the first row",
        "that applies decides.",
        "",
        "after_plan: Is it good?",
        "",
        "  when   then",
        "  it is  go on",
    ]


def test_every_rule_of_every_gate_is_printed_within_the_screen() -> None:
    text = explain(stages())

    assert max(map(len, text.splitlines())) <= 80
    flat = " ".join(text.split())
    assert all(stage.gate in flat for stage in stages())


def test_the_same_as_json() -> None:
    told = json.loads(explain(stages(), as_json=True))["stages"]

    assert [stage["name"] for stage in told] == [stage.name for stage in stages()]
    assert told[0]["rules"][-1] == {"name": "otherwise", "verdict": "go on"}
