"""
A mind behind the fake service: it reads what it is asked, as a model would, and does it with the tools it is offered.

It knows one project by heart, in the words of scripted agents: what to write for a role, a phase and a task, and what
to answer. All else it takes from the request: the role, the commands of the criteria, the folder it works in. It
remembers nothing between requests; how far it has come is what the conversation says.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from support.fake_models.script import Tool, Turn

Json = dict[str, Any]

# How the prompt of each role begins.
OPENINGS = {
    "You prepare the ground for a planner": "research",
    "You turn one phase of a roadmap into a plan": "plan",
    "You decide whether a plan may become a contract": "plan_check",
    "Carry out one task in this repository": "execute",
    "Check one finished task": "mini_verify",
    "One task's work does not hold": "debug",
    "A phase does not hold": "debug",
    "Verify a phase. You did not do the work": "verify",
    "Judge a phase on your own evidence": "judge",
    "You judged this phase; your report is": "judge_divergence",
    "Score how well the code meets each criterion": "rate",
    "Look whether they hold together": "integration",
    "Audit the work against its specification": "audit",
}
# Who has to see the criteria's commands run; judges look at the change instead.
RUNNERS = frozenset({"execute", "mini_verify", "verify", "rate"})
LOOKERS = frozenset({"judge", "integration", "audit"})
LOOK = "git log --oneline | head -n 5"
RESULTS = frozenset({"tool_result", "function_call_output", "custom_tool_call_output"})
ANSWERING = "StructuredOutput"
_PHASE = re.compile(r"Phase (\d+(?:\.\d+)?): ")
_TASK = re.compile(r"Task (\d\d-\d\d): ")
_PLANNING = re.compile(r"`(\.planning/phases/[^/`\s]+)/")
_COMMAND = re.compile(r"verified by: `([^`]+)`")
_FOLDER = re.compile(r"(?:[Ww]orking.directory:? ?>?|<cwd>|Workspace Directories:\*\*\n  - )(/[^\s<]+)")


@dataclass(frozen=True, slots=True)
class Hands:
    """One program's tools for the two things a mind does: to write a file, given by its full path, and to run a command."""

    write: Callable[[str, str, str], Tool]
    run: Callable[[str], Tool]


def patch(path: str, text: str) -> str:
    added = "".join(f"+{line}\n" for line in text.splitlines())
    return f"*** Begin Patch\n*** Add File: {path}\n{added}*** End Patch\n"


# By the name of the tool that runs commands, which tells the programs apart.
HANDS = {
    "Bash": Hands(
        lambda folder, path, text: Tool(name="Write", input={"file_path": f"{folder}/{path}", "content": text}),
        lambda command: Tool(name="Bash", input={"command": command, "description": "look"}),
    ),
    "exec_command": Hands(
        lambda _, path, text: Tool(name="apply_patch", freeform=patch(path, text)),
        lambda command: Tool(name="exec_command", input={"cmd": command}),
    ),
    "run_shell_command": Hands(
        lambda folder, path, text: Tool(name="write_file", input={"file_path": f"{folder}/{path}", "content": text}),
        lambda command: Tool(name="run_shell_command", input={"command": command}),
    ),
    "shell": Hands(
        lambda folder, path, text: Tool(name="write", input={"path": f"{folder}/{path}", "content": text}),
        lambda command: Tool(name="shell", input={"command": command}),
    ),
    "bash": Hands(
        lambda folder, path, text: Tool(name="write", input={"filePath": f"{folder}/{path}", "content": text}),
        lambda command: Tool(name="bash", input={"command": command, "description": "look"}),
    ),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as a mind reads it. `done` counts the tools it has used so far in this conversation."""

    role: str
    prompt: str
    folder: str
    tools: frozenset[str]
    done: int

    @property
    def hands(self) -> Hands | None:
        """None for a role that may neither write nor run anything."""
        return next((hands for name, hands in HANDS.items() if name in self.tools), None)

    @property
    def commands(self) -> tuple[str, ...]:
        """What the role has to run: the criteria's commands, or a look at the change."""
        if self.role in LOOKERS:
            return (LOOK,)
        return tuple(dict.fromkeys(_COMMAND.findall(self.prompt))) if self.role in RUNNERS else ()

    def first(self, pattern: re.Pattern[str]) -> str:
        found = pattern.search(self.prompt)
        return found[1] if found else ""


@dataclass
class Brain:
    """
    Works on the project whose `answers` it has.

    A role in `troubles` gets that turn instead, and one in `detours` runs that command before its work, as long as its
    first call is not `over`.
    """

    answers: Sequence[Mapping[str, Any]]
    troubles: dict[str, Turn] = field(default_factory=dict)
    detours: dict[str, str] = field(default_factory=dict)
    over: Callable[[str], bool] = lambda _: False

    def __call__(self, body: Json) -> Turn:
        asked = read(body)
        if asked is None:
            return Turn(text="I was asked nothing that I know.")
        trouble = self.troubles.get(asked.role)
        if trouble and not self.over(asked.role):
            return trouble
        answer = self.answer_to(asked)
        if answer is None:
            return Turn(status=400, message=f"nothing is written for {asked.role}")
        deeds, result = tuple(self.deeds(asked, answer)), dict(answer["result"])
        if asked.done < len(deeds):
            return Turn(text=f"Step {asked.done + 1}.", tools=(deeds[asked.done],))
        if "commands_run" in result:
            result["commands_run"] = [f"{command} -> as demanded" for command in asked.commands]
        if ANSWERING in asked.tools and asked.done == len(deeds):
            return Turn(tools=(Tool(name=ANSWERING, input=result),))
        return Turn(text=json.dumps(result))

    def answer_to(self, asked: Asked) -> Mapping[str, Any] | None:
        """Of the written answers that fit, the one that says most about when it is to be given."""
        here = {"role": asked.role, "phase": asked.first(_PHASE), "task": asked.first(_TASK)}
        fitting = [a for a in self.answers if all(a.get(key) in {None, value} for key, value in here.items())]
        return max(fitting, key=lambda answer: len(answer.keys() & here.keys()), default=None)

    def deeds(self, asked: Asked, answer: Mapping[str, Any]) -> Iterator[Tool]:
        hands = asked.hands
        if hands is None:
            return
        if asked.role in self.detours and not self.over(asked.role):
            yield hands.run(self.detours[asked.role])
        for path, text in answer.get("write", {}).items():
            yield hands.write(asked.folder, path.replace("{dir}", asked.first(_PLANNING)), text)
        for command in asked.commands:
            yield hands.run(command)


def read(body: Json) -> Asked | None:
    """What a request is about; None for one in which no role of ours is asked."""
    said = {key: value for key, value in body.items() if key != "tools"}
    texts = list(strings(said))
    for text in texts:
        role = role_of(text)
        if role is not None:
            folder = next((found[1] for told in texts if (found := _FOLDER.search(told))), "")
            return Asked(role, text, folder, frozenset(tool_names(body)), results(said))
    return None


def role_of(prompt: str) -> str | None:
    return next((role for opening, role in OPENINGS.items() if opening in prompt), None)


def strings(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from strings(item)
        case dict():
            for item in value.values():
                yield from strings(item)


def results(value: Any) -> int:
    """How many tools have been used, whichever service's words tell it."""
    match value:
        case list():
            return sum(map(results, value))
        case dict():
            own = str(value.get("type")) in RESULTS or value.get("role") == "tool" or "functionResponse" in value
            return own + sum(map(results, value.values()))
    return 0


def tool_names(body: Json) -> Iterator[str]:
    for tool in body.get("tools") or ():
        declared = tool.get("functionDeclarations") or (tool.get("function") or tool,)
        yield from (each["name"] for each in declared if "name" in each)
