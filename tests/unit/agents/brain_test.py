"""The mind behind the fake service: it knows each role by its prompt, and works in the words of every service."""

from importlib.resources import files
from typing import Any

import pytest

from support.fake_models.brain import OPENINGS, Brain, role_of
from support.fake_models.script import Tool, Turn
from support.project import work_answer

PROMPTS = files("autopilot.steps") / "prompts"
# Templates whose role has another name.
NAMES = {"fix": "debug"}
PROMPT = (
    "Carry out one task in this repository, completely.\n\nPhase 1: Letter 1\nTask 01-01: Write it\n"
    "- it is there -- verified by: `test -e a.txt`\nThe whole plan is `.planning/phases/01-letter-1/PLAN.md`."
)
HERE = "<cwd>/work</cwd>"
ANSWER = work_answer("1", "01-01", "a.txt", "done\n")
# A request with one tool used, from each service: its tools, and what was said.
BODIES: dict[str, dict[str, Any]] = {
    "messages": {
        "tools": [{"name": "Bash"}, {"name": "Write"}, {"name": "StructuredOutput"}],
        "messages": [{"role": "user", "content": [{"text": HERE}, {"text": PROMPT}]}, {"type": "tool_result"}],
    },
    "responses": {
        "tools": [{"name": "exec_command"}, {"type": "web_search"}],
        "input": [{"content": [{"text": HERE}, {"text": PROMPT}]}, {"type": "custom_tool_call_output", "output": "x"}],
    },
    "chat": {
        "tools": [{"type": "function", "function": {"name": "shell"}}],
        "messages": [{"role": "user", "content": f"{PROMPT}\n{HERE}"}, {"role": "tool", "content": "x"}],
    },
    "gemini": {
        "tools": [{"functionDeclarations": [{"name": "run_shell_command"}]}],
        "contents": [{"parts": [{"text": HERE}]}, {"parts": [{"text": PROMPT}]}, {"parts": [{"functionResponse": {}}]}],
    },
}
RUNS = {
    "messages": Tool(name="Bash", input={"command": "test -e a.txt", "description": "look"}),
    "responses": Tool(name="exec_command", input={"cmd": "test -e a.txt"}),
    "chat": Tool(name="shell", input={"command": "test -e a.txt"}),
    "gemini": Tool(name="run_shell_command", input={"command": "test -e a.txt"}),
}


@pytest.mark.parametrize("role", sorted(set(OPENINGS.values()) | NAMES.keys()))
def test_each_role_is_known_by_its_prompt(role: str) -> None:
    assert role_of((PROMPTS / f"{role}.md").read_text(encoding="utf-8")) == NAMES.get(role, role)


@pytest.mark.parametrize("service", BODIES)
def test_it_writes_first_then_runs_the_criteria(service: str) -> None:
    body = {**BODIES[service]}
    (said,) = body.keys() - {"tools"}
    first = Brain([ANSWER])({**body, said: body[said][:-1]})

    assert ["done" in str(tool) for tool in first.tools] == [True]
    assert Brain([ANSWER])(body).tools == (RUNS[service],)


@pytest.mark.parametrize("service", BODIES)
def test_it_answers_when_all_is_done(service: str) -> None:
    body = {**BODIES[service]}
    (said,) = body.keys() - {"tools"}
    last = Brain([ANSWER])({**body, said: [*body[said], body[said][-1]]})

    assert "tasks_completed" in last.text + str(last.tools)
    assert [tool.name for tool in last.tools] == (["StructuredOutput"] if service == "messages" else [])


def test_trouble_lasts_until_the_first_call_of_the_role_is_over() -> None:
    brain = Brain([ANSWER], troubles={"execute": Turn(status=500)})
    failed = brain(BODIES["chat"])
    brain.over = lambda role: role == "execute"

    assert (failed.status, brain(BODIES["chat"]).status) == (500, 200)


def test_a_role_nothing_is_written_for_is_refused() -> None:
    assert Brain([])(BODIES["chat"]).status == 400
