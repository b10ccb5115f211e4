"""Gemini CLI: `gemini -o stream-json`."""

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from autopilot.agents.accounts.account_kind import quiet_settings
from autopilot.agents.backend import Ask, Backend, Capabilities, Reach, SignIn, WrittenFile, told
from autopilot.agents.json_fields import at, count, record, text
from autopilot.agents.outcomes import Meanings
from autopilot.agents.stream_events import Began, Failed, Finished, Returned, Said, Spent, StreamEvent, Used

API = "generativelanguage.googleapis.com"

APPROVAL = {"read": "plan", "run": "yolo", "write": "yolo"}
RAN_AND_FAILED = "shell_execute_error"
# The account that a variable stands for, where the user has not chosen one in the program.
KINDS = {"GOOGLE_GENAI_USE_VERTEXAI": "vertex-ai", "GEMINI_API_KEY": "gemini-api-key"}
_CODE = re.compile(r'"code":\s?(\d{3})\b')


def argv(ask: Ask) -> tuple[str, ...]:
    words = [ask.program, "-o", "stream-json", "--skip-trust", "--approval-mode", APPROVAL[ask.access]]
    words += ["-m", ask.model] if ask.model else []
    words += ["--resume", ask.thread] if ask.thread else []
    return tuple(words)


def parse(event: dict[str, Any]) -> Iterator[StreamEvent]:
    match event.get("type"):
        case "init":
            yield Began(session=text(event.get("session_id")), model=text(event.get("model")) or None)
        case "message" if event.get("role") == "assistant":
            yield Said(text=text(event.get("content")), of="answer" if event.get("delta") else "")
        case "tool_use":
            name, given = text(event.get("tool_name")), record(event.get("parameters"))
            command = text(given.get("command")) if name == "run_shell_command" else None
            yield Used(call=text(event.get("tool_id")), what=told(name, given), command=command or None)
        case "tool_result":
            ran = event.get("status") == "success" or at(event, "error", "type") == RAN_AND_FAILED
            yield Returned(call=text(event.get("tool_id")), ran=ran)
        case "result":
            yield from ended(event)


def ended(event: dict[str, Any]) -> Iterator[StreamEvent]:
    stats = record(event.get("stats"))
    yield Spent(
        input_tokens=count(stats.get("input_tokens")),
        output_tokens=count(stats.get("output_tokens")),
        cached_tokens=count(stats.get("cached")),
    )
    if event.get("status") != "success":
        said = text(at(event, "error", "message"))
        code = _CODE.search(said)
        kind = text(at(event, "error", "type"))
        yield Failed(text=said, status=int(code[1]) if code else None, kind=kind)
    yield Finished()


BACKEND = Backend(
    name="gemini",
    vendor="google",
    tested="0.61",
    own_prompt=12_000,
    program="gemini",
    sign_in=SignIn(
        variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"), files=(".gemini/oauth_creds.json",), kind="oauth-personal"
    ),
    capabilities=Capabilities(resume=True, usage=True, read_only=True, observes=True),
    argv=argv,
    reader=lambda: parse,
    meanings=Meanings(
        kinds={"FatalTurnLimitedError": "limit_hit", "FatalAuthenticationError": "auth"},
        exits={41: "auth", 53: "limit_hit", 130: "cancelled", 145: "auth", 173: "usage_limited"},
    ),
    env={"GEMINI_CLI_NO_RELAUNCH": "true"},
    variables=(
        "GOOGLE_GEMINI_BASE_URL",
        "GOOGLE_CLOUD_PROJECT",
        "GOOGLE_CLOUD_LOCATION",
        "GOOGLE_GENAI_USE_VERTEXAI",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "GOOGLE_GENAI_USE_GCA",
    ),
    folder=".gemini",
    credentials=(".gemini/oauth_creds.json",),
    identity=("refresh_token", "token_type"),
    token_hosts=("oauth2.googleapis.com",),
    settings=(WrittenFile(".gemini/settings.json", partial(quiet_settings, KINDS, "oauth-personal")),),
    reach=Reach(
        keys=dict.fromkeys(("GEMINI_API_KEY", "GOOGLE_API_KEY"), (API,)),
        account=("cloudcode-pa.googleapis.com", "oauth2.googleapis.com", "www.googleapis.com"),
        bases={"GOOGLE_GEMINI_BASE_URL": API},
        switches={
            "GOOGLE_GENAI_USE_VERTEXAI": ("{GOOGLE_CLOUD_LOCATION}-aiplatform.googleapis.com", "oauth2.googleapis.com")
        },
    ),
)
