"""Plays written answers and file edits from a TOML file; the demo, the tests and dry runs use it."""

import json
import time
import tomllib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from autopilot.agents import safe_write as placing
from autopilot.agents.answer_parsing import Extracted, extract
from autopilot.agents.exec_agent import TEXT_SHOWN
from autopilot.domain.agent_call import Call, Outcome, Reply, Role
from autopilot.domain.errors import ConfigInvalid
from autopilot.domain.evidence import Usage
from autopilot.domain.value import Value
from autopilot.text.plain import ending, plain

MOST_SECONDS = 10**9


class Cost(Usage, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the written call is said to have cost."""


class Answer(Value, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    One `[[answer]]` of the file. `phase`, `task`, `attempt` and `tries` narrow down which calls it answers.

    `tries` is how often the very same call was put, for agents that are not to be had at first; `resets_in` says in
    seconds what `resets_at` says as a time.
    """

    role: Role
    phase: str | None = None
    task: str | None = None
    attempt: int | None = None
    tries: int | None = None
    outcome: Outcome = "ok"
    text: str | None = None
    result: dict[str, Any] | None = None
    resets_at: str | None = None
    resets_in: float | None = None
    sleep: float = 0.0
    usage: Cost | None = None
    commands: tuple[str, ...] = ()
    write: dict[str, str] = {}
    remove: tuple[str, ...] = ()
    executable: tuple[str, ...] = ()

    def fits(self, call: Call) -> bool:
        task = None if call.task is None else call.task.id
        return (
            self.role == call.role
            and self.phase in {None, call.phase.id}
            and self.task in {None, task}
            and self.attempt in {None, call.attempt}
            and self.tries in {None, call.tries}
        )

    def precision(self) -> int:
        return sum(key is not None for key in (self.phase, self.task, self.attempt, self.tries))

    def paths(self) -> tuple[str, ...]:
        return (*self.write, *self.remove, *self.executable)


class ScriptedAgent:
    """Answers by role, phase, task and attempt, never by position, so that a resumed run finds its place."""

    def __init__(self, answers: tuple[Answer, ...]) -> None:
        self._answers = answers

    @classmethod
    def from_file(cls, path: Path) -> "ScriptedAgent":
        """Raises `ConfigInvalid`, naming the entry and the key."""
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise _invalid(path, f"cannot be read: {error}") from error
        unknown = sorted(content.keys() - {"answer"})
        entries = content.get("answer", [])
        if unknown or not isinstance(entries, list):
            raise _invalid(path, f"has an unknown key {unknown[0]!r}" if unknown else "wants [[answer]], not [answer]")
        return cls(tuple(_answer(path, number, entry) for number, entry in enumerate(entries, 1)))

    def call(self, call: Call, started: Callable[[int], None]) -> Reply:  # noqa: ARG002 - there is no process to name
        """Play the most precise entry that fits; edits first, then the answer."""
        fitting = [answer for answer in self._answers if answer.fits(call)]
        if not fitting:
            return Reply(outcome="bad_output", text=_unmatched(call))
        answer = max(fitting, key=Answer.precision)
        time.sleep(min(answer.sleep, call.seconds))
        if answer.sleep > call.seconds:
            return Reply(outcome="timeout", text=f"cut off after {call.seconds} seconds")
        try:
            _edit(call, answer)
        except OSError as error:
            return Reply(outcome="crashed", text=f"a file could not be written: {error}")
        return _reply(answer)


def _answer(path: Path, number: int, entry: Any) -> Answer:
    try:
        answer = msgspec.convert(entry, Answer)
        json.dumps(answer.result, allow_nan=False)
    except msgspec.ValidationError as error:
        raise _invalid(path, f"answer {number}: {error}") from error
    except (TypeError, ValueError) as error:
        raise _invalid(path, f"answer {number}: result: {error}") from error
    for problem in _problems(answer):
        raise _invalid(path, f"answer {number}: {problem}")
    return answer


def _problems(answer: Answer) -> Iterator[str]:
    if answer.text is not None and answer.result is not None:
        yield "text and result exclude each other"
    if not 0 <= answer.sleep < float("inf"):
        yield f"sleep: {answer.sleep} is no time to wait"
    if answer.resets_in is not None and not abs(answer.resets_in) < MOST_SECONDS:
        yield f"resets_in: {answer.resets_in} is no number of seconds"
    for name in answer.paths():
        if not placing.is_beneath(name.replace("{dir}", "dir")):
            yield f"{name!r} is not inside the workspace"


def _edit(call: Call, answer: Answer) -> None:
    def place(path: str) -> str:
        placed = path.replace("{dir}", call.phase.dir)
        if not placing.is_beneath(placed):
            raise PermissionError(f"{placed!r} is not inside the workspace")
        return placed

    for path in answer.remove:
        placing.remove(call.folder, place(path))
    for path, text in answer.write.items():
        placing.write(call.folder, place(path), text)
    for path in answer.executable:
        placing.make_executable(call.folder, place(path))


def _reply(answer: Answer) -> Reply:
    printed = answer.text if answer.text is not None else json.dumps(answer.result or {}, ensure_ascii=False)
    printed = plain(printed)
    found = extract(printed) if answer.text is not None else Extracted(answer=printed)
    outcome: Outcome = "bad_output" if answer.outcome == "ok" and found.answer is None else answer.outcome
    said = answer.outcome == "ok" or answer.text is not None
    return Reply(
        outcome=outcome,
        answer=found.answer if outcome == "ok" else None,
        text=ending(printed.strip(), TEXT_SHOWN) if said else "",
        lines=len(printed.strip().splitlines()) if said else 0,
        usage=found.usage if answer.usage is None else Usage(**msgspec.structs.asdict(answer.usage)),
        commands=answer.commands or found.commands,
        resets_at=_reset(answer) or found.resets_at,
    )


def _reset(answer: Answer) -> str | None:
    if answer.resets_in is None:
        return answer.resets_at
    return (datetime.now(UTC) + timedelta(seconds=answer.resets_in)).isoformat()


def _unmatched(call: Call) -> str:
    task = "none" if call.task is None else call.task.id
    return (
        f"no written answer fits role {call.role!r}, phase {call.phase.id!r}, task {task!r}, attempt {call.attempt}; "
        "add an [[answer]] for it to the scripted agent's file"
    )


def _invalid(path: Path, problem: str) -> ConfigInvalid:
    return ConfigInvalid(
        f"{path}: {problem}",
        why="the scripted agent plays exactly what this file says, so it is read strictly",
        do="correct the file; docs/agents.md describes its format",
    )
