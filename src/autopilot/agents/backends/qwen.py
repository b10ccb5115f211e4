"""Qwen Code: `qwen -o stream-json`, a stream after that of Claude Code."""

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from autopilot.agents.accounts.account_kind import quiet_settings
from autopilot.agents.backend import Ask, Backend, Capabilities, Reach, SignIn, WrittenFile
from autopilot.agents.backends.message_stream import begun, came_back, said
from autopilot.agents.json_fields import at, count, record, text
from autopilot.agents.outcomes import Meanings
from autopilot.agents.stream_events import Failed, Finished, Spent, StreamEvent

API = "dashscope.aliyuncs.com"

APPROVAL = {"read": "plan", "run": "yolo", "write": "yolo"}
UNSTRUCTURED = "no structured output"
_UNSTRUCTURED = re.compile(r"instead of calling the structured_output tool")
_STATUS = re.compile(r"API Error: (\d{3})\b")


def argv(ask: Ask) -> tuple[str, ...]:
    words = [ask.program, "-o", "stream-json", "--approval-mode", APPROVAL[ask.access]]
    words += ["-m", ask.model] if ask.model else []
    words += ["--json-schema", json.dumps(ask.answer_schema)] if ask.answer_schema else []
    words += ["--max-session-turns", str(ask.turns)] if ask.turns else []
    words += ["--resume", ask.thread] if ask.thread else []
    return tuple(words)


def ended(event: dict[str, Any]) -> Iterator[StreamEvent]:
    usage = record(event.get("usage"))
    yield Spent(
        input_tokens=count(usage.get("input_tokens")),
        output_tokens=count(usage.get("output_tokens")),
        cached_tokens=count(usage.get("cache_read_input_tokens")),
    )
    if event.get("is_error"):
        problem = text(at(event, "error", "message")) or text(event.get("subtype"))
        status = _STATUS.search(problem)
        kind = UNSTRUCTURED if _UNSTRUCTURED.search(problem) else text(event.get("subtype"))
        yield Failed(text=problem, status=int(status[1]) if status else None, kind=kind)
    structured = event.get("structured_result")
    yield Finished(
        text=text(event.get("result")) or None, structured=structured if isinstance(structured, dict) else None
    )


KINDS: dict[str, Callable[[dict[str, Any]], Iterator[StreamEvent]]] = {
    "system": begun,
    "assistant": said,
    "user": came_back,
    "result": ended,
}


def parse(event: dict[str, Any]) -> Iterator[StreamEvent]:
    if reads := KINDS.get(text(event.get("type"))):
        yield from reads(event)


BACKEND = Backend(
    name="qwen",
    vendor="alibaba",
    tested="0.24.4",
    own_prompt=19_500,
    program="qwen",
    sign_in=SignIn(
        variables=("OPENAI_API_KEY", "DASHSCOPE_API_KEY"), files=(".qwen/oauth_creds.json",), kind="qwen-oauth"
    ),
    capabilities=Capabilities(
        answer_schema="checked", exact=False, resume=True, usage=True, turn_cap=True, read_only=True, observes=True
    ),
    argv=argv,
    reader=lambda: parse,
    meanings=Meanings(
        kinds={UNSTRUCTURED: "bad_output", "error_max_turns": "limit_hit"}, exits={53: "limit_hit", 55: "limit_hit"}
    ),
    env={"QWEN_CODE_SUPPRESS_YOLO_WARNING": "1"},
    variables=("OPENAI_BASE_URL", "OPENAI_MODEL", "DASHSCOPE_BASE_URL"),
    folder=".qwen",
    credentials=(".qwen/oauth_creds.json",),
    identity=("token_type", "resource_url"),
    token_hosts=("chat.qwen.ai",),
    settings=(WrittenFile(".qwen/settings.json", partial(quiet_settings, {"OPENAI_API_KEY": "openai"}, "qwen-oauth")),),
    counts="thread",
    reach=Reach(
        keys=dict.fromkeys(("OPENAI_API_KEY", "DASHSCOPE_API_KEY"), (API,)),
        account=(API,),
        bases={"OPENAI_BASE_URL": API, "DASHSCOPE_BASE_URL": API},
    ),
)
