"""The page on agents says what is true: its examples run, and its tables are complete."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from autopilot.agents.exec_agent import ExecAgent
from autopilot.agents.scripted import ScriptedAgent
from autopilot.domain import answers
from autopilot.domain import answers as open_points
from autopilot.domain.agent_call import ROLES, Call, PhaseRef
from autopilot.policy.budget import BUDGETS, budget_of
from autopilot.sandbox.processes.children import ChildProcesses
from support.homes import homes_at

PAGE = Path(__file__).parents[3] / "docs" / "agents.md"
ANSWERS: dict[str, type[Any]] = {
    "research": answers.ResearchClaim,
    "plan": answers.PlanClaim,
    "plan_check": answers.PlanOpinion,
    "execute": answers.WorkClaim,
    "mini_verify": answers.TaskOpinion,
    "debug": answers.FixClaim,
    "verify": answers.VerifyOpinion,
    "judge": answers.JudgeOpinion,
    "judge_divergence": answers.DivergenceOpinion,
    "rate": answers.RateOpinion,
    "question": open_points.QuestionsClaim,
    "gray_areas": open_points.GrayAreasClaim,
    "follow_up": open_points.FollowUpClaim,
}
CALL = Call(
    id="r/1/judge/1",
    role="judge",
    prompt="Judge it.",
    answer_schema={"type": "object"},
    phase=PhaseRef(id="1", name="One", type="mixed", dir="d"),
)


def example(name: str) -> str:
    found = re.search(rf"<!-- example: {name} -->\n```\w+\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


@pytest.mark.parametrize(
    ("says", "exit_code", "outcome"),
    [('Well: {"notes": "fine"}', 0, "ok"), ("Usage limit reached", 1, "usage_limited"), ("oh", 2, "crashed")],
)
def test_the_example_agent_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str, exit_code: int, outcome: str
) -> None:
    tool = tmp_path / "tool.py"
    tool.write_text(f"import sys; assert 'Judge it.' in sys.stdin.read(); print({says!r}); sys.exit({exit_code})")
    (tmp_path / "my_agent.py").write_text(example("agent"))
    monkeypatch.setenv("MY_TOOL", f"{sys.executable} {tool}")
    monkeypatch.setenv("AUTOPILOT_PASS_ENV", "MY_TOOL")
    processes = ChildProcesses(territory=str(tmp_path))
    agent = ExecAgent(f"{sys.executable} my_agent.py", processes, tmp_path / "t", "r", tmp_path, homes_at(tmp_path))

    reply = agent.call(msgspec.structs.replace(CALL, folder=str(tmp_path)), lambda _: None)
    assert (reply.outcome, reply.answer) == (outcome, '{"notes": "fine"}' if outcome == "ok" else None)


def test_the_example_script_is_played(tmp_path: Path) -> None:
    (tmp_path / "script.toml").write_text(example("script"), encoding="utf-8")
    reply = ScriptedAgent.from_file(tmp_path / "script.toml").call(CALL, lambda _: None)

    assert (reply.outcome, reply.resets_at) == ("usage_limited", "2026-01-01T05:00:00Z")


def test_every_role_is_on_the_page() -> None:
    assert [role for role in ROLES if f"`{role}`" not in PAGE.read_text(encoding="utf-8")] == []


@pytest.mark.parametrize("role", ANSWERS)
def test_the_answer_fields_of_a_role_are_those_of_its_type(role: str) -> None:
    row = re.search(rf"^\| `{role}` \|[^|]*\|(.*)\|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert row is not None
    schema = msgspec.json.schema(ANSWERS[role])["$defs"][ANSWERS[role].__name__]

    assert ["issues_detected", *re.findall(r"`(\w+)`", row[1])] == list(schema["properties"])
    assert re.findall(r"`(\w+)`\*", row[1]) == schema.get("required", [])


def test_the_example_envelope_is_json() -> None:
    text = PAGE.read_text(encoding="utf-8")

    assert json.loads(text.split("```json\n")[1].split("```")[0])["autopilot"] == 1


@pytest.mark.parametrize("role", [role for role in ANSWERS if role in BUDGETS])
def test_bud_01_the_page_names_the_line_budget_of_a_role(role: str) -> None:
    told = re.search(r"A response has a budget of lines: (.*?)\. Of a", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert told is not None
    groups = re.findall(r"(\d+)\s+for ((?:`\w+`(?:, |\s+and )?)+)", told[1])

    assert [int(lines) for lines, roles in groups if f"`{role}`" in roles] == [budget_of(role).response]
