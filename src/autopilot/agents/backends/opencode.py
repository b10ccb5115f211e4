"""opencode: `opencode run --format json`. It has no last line of its own: the last step is the one that stops."""

import json
from collections.abc import Iterator
from typing import Any

from autopilot.agents.accounts.account_kind import ONE_PER_PROVIDER, PROVIDERS
from autopilot.agents.backend import KEY_HOSTS, Ask, Backend, Capabilities, Reach, SignIn, told
from autopilot.agents.json_fields import amount, at, count, record, text, total
from autopilot.agents.outcomes import Meanings
from autopilot.agents.stream_events import Began, Failed, Finished, Returned, Said, Spent, StreamEvent, Used

GOES_ON = "tool-calls"
# Its built-in agent that plans has no tools to change files with.
AGENT = {"read": ("--agent", "plan"), "run": (), "write": ()}


def argv(ask: Ask) -> tuple[str, ...]:
    words = [ask.program, "run", "--format", "json", "--pure", "--auto", "--dir", ask.folder, *AGENT[ask.access]]
    words += ["-m", ask.model] if ask.model else []
    words += ["-s", ask.thread] if ask.thread else []
    return tuple(words)


def parse(event: dict[str, Any]) -> Iterator[StreamEvent]:
    part = record(event.get("part"))
    match event.get("type"):
        case "step_start":
            yield Began(session=text(event.get("sessionID")))
        case "text":
            yield Said(text=text(part.get("text")))
        case "tool_use":
            yield from used(part)
        case "step_finish":
            tokens = record(part.get("tokens"))
            yield Spent(
                input_tokens=total(tokens.get("input"), at(tokens, "cache", "read"), at(tokens, "cache", "write")),
                output_tokens=total(tokens.get("output"), tokens.get("reasoning")),
                cost_usd=amount(part.get("cost")),
                cached_tokens=count(at(tokens, "cache", "read")),
                part=text(part.get("id")) or "step",
            )
            if part.get("reason") != GOES_ON:
                yield Finished()
        case "error":
            yield failed(record(event.get("error")))
            yield Finished()


def used(part: dict[str, Any]) -> Iterator[StreamEvent]:
    call, name, given = text(part.get("callID")), text(part.get("tool")), record(at(part, "state", "input"))
    command = text(given.get("command")) if name == "bash" else None
    yield Used(call=call, what=told(name, given), command=command or None)
    # A call that ended in an error may never have begun; one whose exit code is told did run.
    ran = at(part, "state", "status") == "completed" or at(part, "state", "metadata", "exit") is not None
    yield Returned(call=call, ran=ran)


def failed(error: dict[str, Any]) -> Failed:
    wait = at(error, "data", "responseHeaders", "retry-after")
    said = text(at(error, "data", "message")) or text(error.get("name"))
    return Failed(
        text=f"{said} (retry-after: {wait})" if wait else said,
        status=count(at(error, "data", "statusCode")),
        kind=text(error.get("name")),
    )


BACKEND = Backend(
    name="opencode",
    vendor="opencode",
    tested="1.18",
    own_prompt=8_000,
    program="opencode",
    sign_in=SignIn(variables=("ANTHROPIC_API_KEY", "OPENAI_API_KEY"), files=(".local/share/opencode/auth.json",)),
    capabilities=Capabilities(resume=True, usage=True, cost=True, read_only=True, observes=True),
    argv=argv,
    reader=lambda: parse,
    meanings=Meanings(
        kinds={
            "ProviderAuthError": "auth",
            "MessageAbortedError": "cancelled",
            "MessageOutputLengthError": "limit_hit",
            "ContextOverflowError": "context_exhausted",
        }
    ),
    env={
        "OPENCODE_DISABLE_AUTOUPDATE": "true",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "true",
        "OPENCODE_PERMISSION": json.dumps({"edit": "allow", "bash": "allow", "webfetch": "allow"}),
    },
    variables=(
        "OPENCODE_CONFIG_CONTENT",
        "OPENCODE_DISABLE_MODELS_FETCH",
        "GEMINI_API_KEY",
        "OPENROUTER_API_KEY",
        "OPENAI_BASE_URL",
        "ANTHROPIC_BASE_URL",
    ),
    folder=".config/opencode",
    credentials=(".local/share/opencode/auth.json",),
    identity=ONE_PER_PROVIDER,
    token_hosts=PROVIDERS,
    reach=Reach(keys=KEY_HOSTS, bases={"OPENAI_BASE_URL": "api.openai.com", "ANTHROPIC_BASE_URL": "api.anthropic.com"}),
)
