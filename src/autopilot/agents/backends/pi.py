"""pi: `pi -p --mode json`. It leaves with 0 on errors of the service; its last message says how it went."""

from collections.abc import Iterator
from typing import Any

from autopilot.agents.accounts.account_kind import ONE_PER_PROVIDER, PROVIDERS
from autopilot.agents.backend import KEY_HOSTS, Ask, Backend, Capabilities, Reach, SignIn, told
from autopilot.agents.json_fields import amount, at, count, record, records, text, total
from autopilot.agents.outcomes import Meanings
from autopilot.agents.stream_events import (
    Began,
    Failed,
    Finished,
    Noticed,
    Reopened,
    Returned,
    Said,
    Spent,
    StreamEvent,
    Used,
)

TROUBLE = frozenset({"error", "aborted"})
TOOLS = {"read": ("--tools", "read,grep,find,ls"), "run": ("--tools", "read,bash,grep,find,ls"), "write": ()}


def argv(ask: Ask) -> tuple[str, ...]:
    words = [ask.program, "-p", "--mode", "json", *TOOLS[ask.access]]
    words += ["--model", ask.model] if ask.model else []
    words += ["--session", ask.thread] if ask.thread else []
    return tuple(words)


def parse(event: dict[str, Any]) -> Iterator[StreamEvent]:
    match event.get("type"):
        case "session":
            yield Began(session=text(event.get("id")))
        case "message_end":
            yield from message(record(event.get("message")))
        case "tool_execution_start":
            name, given = text(event.get("toolName")), record(event.get("args"))
            command = text(given.get("command")) if name == "bash" else None
            yield Used(call=text(event.get("toolCallId")), what=told(name, given), command=command or None)
        case "tool_execution_end":
            said = [text(block.get("text")) for block in records(at(event, "result", "content"))]
            ran = not event.get("isError") or "exited with code" in " ".join(said)
            yield Returned(call=text(event.get("toolCallId")), ran=ran)
        case "auto_retry_start":
            yield Reopened()
            yield Noticed(text=f"trying again: {text(event.get('errorMessage'))}")
        case "agent_end":
            last = next(iter(records(event.get("messages"))[-1:]), {})
            if last.get("stopReason") in TROUBLE:
                yield Failed(text=text(last.get("errorMessage")), kind=text(last.get("stopReason")))
            yield Finished()


def message(told_of: dict[str, Any]) -> Iterator[StreamEvent]:
    if told_of.get("role") != "assistant":
        return
    usage = record(told_of.get("usage"))
    yield Spent(
        input_tokens=total(usage.get("input"), usage.get("cacheRead"), usage.get("cacheWrite")),
        output_tokens=total(usage.get("output")),
        cost_usd=amount(at(usage, "cost", "total")),
        cached_tokens=count(usage.get("cacheRead")),
        part=text(told_of.get("responseId")) or f"message {told_of.get('timestamp')}",
    )
    said = [text(block.get("text")) for block in records(told_of.get("content")) if block.get("type") == "text"]
    if said:
        yield Said(text="\n".join(said))


BACKEND = Backend(
    name="pi",
    vendor="pi",
    tested="0.73",
    own_prompt=1_500,
    program="pi",
    sign_in=SignIn(variables=("ANTHROPIC_API_KEY", "OPENAI_API_KEY"), files=(".pi/agent/auth.json",)),
    capabilities=Capabilities(resume=True, usage=True, cost=True, read_only=True, observes=True),
    argv=argv,
    reader=lambda: parse,
    meanings=Meanings(kinds={"aborted": "cancelled"}),
    env={"PI_SKIP_VERSION_CHECK": "1"},
    variables=("GEMINI_API_KEY", "OPENROUTER_API_KEY"),
    folder=".pi/agent",
    folder_variable="PI_CODING_AGENT_DIR",
    credentials=(".pi/agent/auth.json",),
    identity=ONE_PER_PROVIDER,
    token_hosts=PROVIDERS,
    reach=Reach(keys=KEY_HOSTS),
)
