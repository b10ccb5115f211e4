"""Codex: `codex exec --json`."""

import json
import re
import shlex
from collections.abc import Iterator
from typing import Any

from autopilot.agents.backend import Ask, Backend, Capabilities, Reach, SignIn
from autopilot.agents.json_fields import at, count, record, records, text
from autopilot.agents.outcomes import Meanings
from autopilot.agents.stream_events import Began, Failed, Finished, Noticed, Returned, Said, Spent, StreamEvent, Used

API = "api.openai.com"

# Reviewers that run the project's commands need room for what these write; their checkout is thrown away.
SANDBOX = {"read": "read-only", "run": "workspace-write", "write": "workspace-write"}
NO_SANDBOX = "danger-full-access"
OVERRIDES = (
    'approval_policy="never"',
    "sandbox_workspace_write.network_access=true",
    "analytics.enabled=false",
    "check_for_update_on_startup=false",
)
# It wants the schema in a file. One that has no name is gone with the program, however that ends.
WITH_SCHEMA = 's=$1; shift; exec "$@" --output-schema /dev/fd/3 - 3<<END\n$s\nEND\n'
_STATUS = re.compile(r"status:? (\d{3})\b")
_SHELL = re.compile(r"-l?c")
SHELL_WORDS = 3


def argv(ask: Ask) -> tuple[str, ...]:
    words = [ask.program, "exec", *(("resume",) if ask.thread else ()), "--json", "--skip-git-repo-check"]
    for override in (*OVERRIDES, f'sandbox_mode="{sandbox_of(ask)}"'):
        words += ["-c", override]
    words += ["-c", f'model_reasoning_effort="{ask.effort}"'] if ask.effort else []
    words += ["-m", ask.model] if ask.model else []
    words += [ask.thread] if ask.thread else []
    if ask.answer_schema is None:
        return (*words, "-")
    return ("sh", "-c", WITH_SCHEMA, "sh", json.dumps(ask.answer_schema), *words)


def sandbox_of(ask: Ask) -> str:
    """Its own sandbox, except in ours: there it cannot be made, and every command would fail without a word."""
    return NO_SANDBOX if ask.confined else SANDBOX[ask.access]


def shell_command(whole: str) -> str:
    """`/bin/bash -lc 'pytest -q'` is `pytest -q`."""
    try:
        words = shlex.split(whole)
    except ValueError:
        return whole
    return words[2] if len(words) == SHELL_WORDS and _SHELL.fullmatch(words[1]) else whole


def parse(event: dict[str, Any]) -> Iterator[StreamEvent]:
    match event.get("type"):
        case "thread.started":
            yield Began(session=text(event.get("thread_id")))
        case "item.started" | "item.completed":
            yield from item(record(event.get("item")), done=event["type"] == "item.completed")
        case "error":
            yield Noticed(text=text(event.get("message")))
        case "turn.completed":
            usage = record(event.get("usage"))
            yield Spent(
                input_tokens=count(usage.get("input_tokens")),
                output_tokens=count(usage.get("output_tokens")),
                cached_tokens=count(usage.get("cached_input_tokens")),
            )
            yield Finished()
        case "turn.failed":
            said = text(at(event, "error", "message"))
            status = _STATUS.search(said)
            yield Failed(text=said, status=int(status[1]) if status else None)
            yield Finished()


def item(part: dict[str, Any], *, done: bool) -> Iterator[StreamEvent]:
    """A step of the turn; its names are written with `_` here and in one word by the app server."""
    call, status = text(part.get("id")), text(part.get("status")).lower()
    match text(part.get("type")).replace("_", "").lower():
        case "agentmessage" if done:
            yield Said(text=text(part.get("text")))
        case "commandexecution":
            command = shell_command(text(part.get("command")))
            yield Used(call=call, what=f"shell {command}", command=command)
            if done:
                exit_code = part.get("exit_code", part.get("exitCode"))
                yield Returned(call=call, ran=status == "completed" or exit_code is not None)
        case "filechange":
            names = ", ".join(text(change.get("path")) for change in records(part.get("changes")))
            yield Used(call=call, what=f"edit {names}")
        case "mcptoolcall" | "websearch":
            yield Used(call=call, what=text(part.get("tool")) or text(part.get("query")) or "search")
        case "error":
            yield Noticed(text=text(part.get("message")))


BACKEND = Backend(
    name="codex",
    vendor="openai",
    tested="0.163.0",
    own_prompt=10_000,
    program="codex",
    sign_in=SignIn(
        variables=("OPENAI_API_KEY", "CODEX_API_KEY"), files=(".codex/auth.json",), instead=("CODEX_API_KEY",)
    ),
    capabilities=Capabilities(
        answer_schema="strict", resume=True, usage=True, read_only=True, own_sandbox=True, observes=True
    ),
    argv=argv,
    reader=lambda: parse,
    meanings=Meanings(),
    variables=("OPENAI_BASE_URL", "OPENAI_ORGANIZATION", "OPENAI_PROJECT"),
    folder=".codex",
    folder_variable="CODEX_HOME",
    credentials=(".codex/auth.json",),
    identity=("auth_mode", "OPENAI_API_KEY", "tokens.account_id", "tokens.id_token.sub", "tokens.access_token.sub"),
    token_hosts=("auth.openai.com",),
    counts="thread",
    reach=Reach(
        keys=dict.fromkeys(("OPENAI_API_KEY", "CODEX_API_KEY"), (API,)),
        account=("chatgpt.com", "auth.openai.com"),
        bases={"OPENAI_BASE_URL": API},
    ),
)
