"""Claude Code: `claude -p`, events as `stream-json`."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from autopilot.agents.backend import Ask, Backend, Capabilities, Reach, SignIn
from autopilot.agents.backends.message_stream import all_input, begun, came_back, said, windowed
from autopilot.agents.json_fields import amount, count, record, records, text, total
from autopilot.agents.outcomes import Meanings
from autopilot.agents.stream_events import Began, Failed, Finished, Returned, Spent, StreamEvent

API = "api.anthropic.com"

EDITING = ("Edit", "Write", "NotebookEdit")
LOOKING = ("Read", "Grep", "Glob")
WORKING = ("Bash", "Task", "TodoWrite", "WebFetch", "WebSearch")
# It asks nobody: what is not allowed here is refused.
ACCESS = {
    "read": ("--tools", ",".join(LOOKING), "--allowedTools", ",".join(LOOKING)),
    "run": ("--allowedTools", ",".join((*LOOKING, *WORKING)), "--disallowedTools", ",".join(EDITING)),
    "write": ("--allowedTools", ",".join((*LOOKING, *WORKING, *EDITING))),
}


def argv(ask: Ask) -> tuple[str, ...]:
    words = [ask.program, "-p", "--output-format", "stream-json", "--verbose", "--permission-mode", "dontAsk"]
    words += [*ACCESS[ask.access], "--strict-mcp-config", "--setting-sources", "user,project"]
    words += ["--resume", ask.thread] if ask.thread else []
    words += ["--model", ask.model] if ask.model else []
    words += ["--json-schema", json.dumps(ask.answer_schema)] if ask.answer_schema else []
    words += ["--max-turns", str(ask.turns)] if ask.turns else []
    words += ["--max-budget-usd", f"{ask.usd:g}"] if ask.usd else []
    return tuple(words)


def ended(event: dict[str, Any]) -> Iterator[StreamEvent]:
    """The result line. It says `success` in case of trouble with the service too: `is_error` tells."""
    for denial in records(event.get("permission_denials")):
        yield Returned(call=text(denial.get("tool_use_id")), ran=False)
    yield Began(session=text(event.get("session_id")))
    yield spent(event)
    if event.get("is_error"):
        errors = [error for error in event.get("errors") or [] if isinstance(error, str)]
        reason, subtype = text(event.get("terminal_reason")), text(event.get("subtype"))
        yield Failed(
            text=text(event.get("result")) or "; ".join(errors) or subtype,
            status=count(event.get("api_error_status")),
            kind=reason if reason in MEANINGS.kinds else subtype,
        )
    structured = event.get("structured_output")
    yield Finished(text=text(event.get("result")), structured=structured if isinstance(structured, dict) else None)


def spent(event: dict[str, Any]) -> Spent:
    """By model where it is told: the plain sum leaves out tries of which nothing came."""
    models = [record(entry) for entry in record(event.get("modelUsage")).values()]
    usage, cost = record(event.get("usage")), amount(event.get("total_cost_usd"))
    if not models:
        return Spent(
            input_tokens=all_input(usage),
            output_tokens=count(usage.get("output_tokens")),
            cost_usd=cost,
            cached_tokens=count(usage.get("cache_read_input_tokens")),
        )
    names = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
    return Spent(
        input_tokens=total(*(model.get(name) for model in models for name in names)),
        output_tokens=total(*(model.get("outputTokens") for model in models)),
        cost_usd=cost,
        cached_tokens=total(*(model.get("cacheReadInputTokens") for model in models)),
    )


MEANINGS = Meanings(
    kinds={
        "max_turns": "limit_hit",
        "error_max_turns": "limit_hit",
        "budget_exhausted": "limit_hit",
        "error_max_budget_usd": "limit_hit",
        "structured_output_retry_exhausted": "bad_output",
        "error_max_structured_output_retries": "bad_output",
        "prompt_too_long": "context_exhausted",
        "aborted_tools": "cancelled",
        "aborted_streaming": "cancelled",
    }
)
KINDS: dict[str, Callable[[dict[str, Any]], Iterator[StreamEvent]]] = {
    "system": begun,
    "assistant": said,
    "user": came_back,
    "rate_limit_event": windowed,
    "result": ended,
}


def parse(event: dict[str, Any]) -> Iterator[StreamEvent]:
    if reads := KINDS.get(text(event.get("type"))):
        yield from reads(event)


BACKEND = Backend(
    name="claude",
    vendor="anthropic",
    tested="2.1.325",
    own_prompt=12_500,
    program="claude",
    sign_in=SignIn(
        variables=("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN"),
        files=(".claude/.credentials.json",),
        instead=("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN", "AWS_BEARER_TOKEN_BEDROCK"),
    ),
    capabilities=Capabilities(
        answer_schema="checked",
        exact=False,
        resume=True,
        usage=True,
        cost=True,
        turn_cap=True,
        budget_cap=True,
        read_only=True,
        observes=True,
    ),
    argv=argv,
    reader=lambda: parse,
    meanings=MEANINGS,
    env={
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
        "CLAUDE_CODE_MAX_RETRIES": "3",
        "DISABLE_AUTOUPDATER": "1",
    },
    variables=(
        "ANTHROPIC_BASE_URL",
        "ANTHROPIC_CUSTOM_HEADERS",
        "CLAUDE_CODE_USE_BEDROCK",
        "CLAUDE_CODE_USE_VERTEX",
        "ANTHROPIC_VERTEX_PROJECT_ID",
        "CLOUD_ML_REGION",
        "AWS_REGION",
        "AWS_PROFILE",
        "AWS_BEARER_TOKEN_BEDROCK",
        "CLAUDE_CODE_MAX_RETRIES",
        "API_TIMEOUT_MS",
    ),
    folder=".claude",
    folder_variable="CLAUDE_CONFIG_DIR",
    credentials=(".claude/.credentials.json",),
    # Sign-ins at servers of the user's, which no agent of ours is connected to.
    withheld=("mcpOAuth", "mcpOAuthClientConfig"),
    identity=("organizationUuid", "claudeAiOauth.subscriptionType"),
    token_hosts=("platform.claude.com", "console.anthropic.com"),
    counts="thread",
    reach=Reach(
        keys=dict.fromkeys(("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN"), (API,)),
        account=(API, "platform.claude.com"),
        bases={"ANTHROPIC_BASE_URL": API},
        switches={
            "CLAUDE_CODE_USE_BEDROCK": ("bedrock-runtime.{AWS_REGION}.amazonaws.com",),
            "CLAUDE_CODE_USE_VERTEX": ("{CLOUD_ML_REGION}-aiplatform.googleapis.com", "oauth2.googleapis.com"),
        },
    ),
)
