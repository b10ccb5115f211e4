"""One turn in the words of each service: the whole answer, the events of a stream, and errors."""

import json
import uuid
from collections.abc import Callable, Iterator
from typing import Any

from support.fake_models.script import Turn

Json = dict[str, Any]


def named(prefix: str) -> str:
    return f"{prefix}_{uuid.uuid4().hex[:16]}"


def sse(data: Json, event: str | None = None) -> bytes:
    head = f"event: {event}\n" if event else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()


def halves(text: str) -> tuple[str, str]:
    return text[: len(text) // 2], text[len(text) // 2 :]


def anthropic(turn: Turn, asked: Json) -> Json:
    """The Messages API."""
    blocks: list[Json] = [{"type": "text", "text": turn.text}] if turn.text else []
    blocks += [{"type": "tool_use", "id": named("toolu"), "name": t.name, "input": t.input} for t in turn.tools]
    return {
        "id": named("msg"),
        "type": "message",
        "role": "assistant",
        "model": asked.get("model", "fake"),
        "content": blocks,
        "stop_reason": "tool_use" if turn.tools else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": turn.input_tokens,
            "output_tokens": turn.output_tokens,
            "cache_read_input_tokens": turn.cached_tokens,
            "cache_creation_input_tokens": 0,
        },
    }


def anthropic_stream(turn: Turn, asked: Json) -> Iterator[bytes]:
    message = anthropic(turn, asked)
    opening = {**message, "content": [], "stop_reason": None, "usage": {**message["usage"], "output_tokens": 1}}
    yield sse({"type": "message_start", "message": opening}, "message_start")
    for index, block in enumerate(message["content"]):
        is_text = block["type"] == "text"
        empty = {**block, "text": ""} if is_text else {**block, "input": {}}
        yield sse({"type": "content_block_start", "index": index, "content_block": empty}, "content_block_start")
        for half in halves(block["text"] if is_text else json.dumps(block["input"])):
            delta = (
                {"type": "text_delta", "text": half} if is_text else {"type": "input_json_delta", "partial_json": half}
            )
            yield sse({"type": "content_block_delta", "index": index, "delta": delta}, "content_block_delta")
        yield sse({"type": "content_block_stop", "index": index}, "content_block_stop")
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    usage = {"output_tokens": turn.output_tokens}
    yield sse({"type": "message_delta", "delta": stop, "usage": usage}, "message_delta")
    yield sse({"type": "message_stop"}, "message_stop")


def anthropic_error(turn: Turn) -> Json:
    kinds = {
        400: "invalid_request_error",
        401: "authentication_error",
        429: "rate_limit_error",
        529: "overloaded_error",
    }
    kind = turn.kind or kinds.get(turn.status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": turn.message, **turn.details}}


def responses(turn: Turn, asked: Json) -> Json:
    """OpenAI's Responses API."""
    part = {"type": "output_text", "text": turn.text, "annotations": []}
    items: list[Json] = []
    if turn.text:
        items.append(
            {"type": "message", "id": named("msg"), "role": "assistant", "status": "completed", "content": [part]}
        )
    for tool in turn.tools:
        call = {"id": named("fc"), "call_id": named("call"), "name": tool.name, "status": "completed"}
        if tool.freeform is not None:
            items.append({**call, "type": "custom_tool_call", "input": tool.freeform})
        else:
            items.append({**call, "type": "function_call", "arguments": json.dumps(tool.input)})
    return {
        "id": named("resp"),
        "object": "response",
        "created_at": 0,
        "model": asked.get("model"),
        "status": "completed",
        "output": items,
        "error": None,
        "usage": {
            "input_tokens": turn.input_tokens,
            "input_tokens_details": {"cached_tokens": turn.cached_tokens},
            "output_tokens": turn.output_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": turn.input_tokens + turn.output_tokens,
        },
    }


def responses_stream(turn: Turn, asked: Json) -> Iterator[bytes]:
    whole = responses(turn, asked)
    opened = {**whole, "status": "in_progress", "output": [], "usage": None}
    yield sse({"type": "response.created", "response": opened}, "response.created")
    for index, item in enumerate(whole["output"]):
        place = {"output_index": index}
        begun = {**item, "status": "in_progress"} | ({"content": []} if item["type"] == "message" else {})
        yield sse({"type": "response.output_item.added", **place, "item": begun}, "response.output_item.added")
        if item["type"] == "message":
            for half in halves(item["content"][0]["text"]):
                told = {"item_id": item["id"], "content_index": 0, "delta": half}
                yield sse({"type": "response.output_text.delta", **place, **told}, "response.output_text.delta")
        yield sse({"type": "response.output_item.done", **place, "item": item}, "response.output_item.done")
    yield sse({"type": "response.completed", "response": whole}, "response.completed")


def chat(turn: Turn, asked: Json) -> Json:
    """OpenAI's chat completions, which many others speak."""
    message: Json = {"role": "assistant", "content": turn.text or None}
    if turn.tools:
        message["tool_calls"] = [
            {"id": named("call"), "type": "function", "function": {"name": t.name, "arguments": json.dumps(t.input)}}
            for t in turn.tools
        ]
    return {
        "id": named("chatcmpl"),
        "object": "chat.completion",
        "created": 0,
        "model": asked.get("model"),
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if turn.tools else "stop"}],
        "usage": {
            "prompt_tokens": turn.input_tokens,
            "completion_tokens": turn.output_tokens,
            "total_tokens": turn.input_tokens + turn.output_tokens,
            "prompt_tokens_details": {"cached_tokens": turn.cached_tokens},
        },
    }


def chat_stream(turn: Turn, asked: Json) -> Iterator[bytes]:
    whole = chat(turn, asked)
    (choice,) = whole["choices"]
    base = {"id": whole["id"], "object": "chat.completion.chunk", "created": 0, "model": whole["model"]}

    def chunk(delta: Json, reason: str | None = None) -> bytes:
        return sse({**base, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})

    yield chunk({"role": "assistant", "content": ""})
    for half in halves(turn.text) if turn.text else ():
        yield chunk({"content": half})
    for index, call in enumerate(choice["message"].get("tool_calls", ())):
        yield chunk({"tool_calls": [{"index": index, **call}]})
    yield chunk({}, choice["finish_reason"])
    yield sse({**base, "choices": [], "usage": whole["usage"]})
    yield b"data: [DONE]\n\n"


def openai_error(turn: Turn) -> Json:
    kinds = {401: "invalid_api_key", 429: "rate_limit_exceeded", 500: "server_error"}
    kind = turn.kind or kinds.get(turn.status, "error")
    return {"error": {"message": turn.message, "type": kind, "code": kind, "param": None, **turn.details}}


def gemini(turn: Turn, asked: Json) -> Json:
    """Google's generateContent."""
    parts: list[Json] = [{"text": turn.text}] if turn.text else []
    parts += [{"functionCall": {"name": tool.name, "args": tool.input}} for tool in turn.tools]
    return {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {
            "promptTokenCount": turn.input_tokens,
            "candidatesTokenCount": turn.output_tokens,
            "totalTokenCount": turn.input_tokens + turn.output_tokens,
            "cachedContentTokenCount": turn.cached_tokens,
        },
        "modelVersion": "fake-gemini",
    }


def gemini_stream(turn: Turn, asked: Json) -> Iterator[bytes]:
    whole = gemini(turn, asked)
    (candidate,) = whole["candidates"]
    parts = candidate["content"]["parts"] or [{"text": ""}]
    for number, part in enumerate(parts, 1):
        told: Json = {"content": {"role": "model", "parts": [part]}, "index": 0}
        yield sse({**whole, "candidates": [told | ({"finishReason": "STOP"} if number == len(parts) else {})]})


def gemini_error(turn: Turn) -> Json:
    kinds = {401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL"}
    status = turn.kind or kinds.get(turn.status, "UNKNOWN")
    return {"error": {"code": turn.status, "message": turn.message, "status": status, **turn.details}}


class Format:
    """How one service answers: all at once, bit by bit, and in case of trouble."""

    def __init__(
        self,
        whole: Callable[[Turn, Json], Json],
        stream: Callable[[Turn, Json], Iterator[bytes]],
        error: Callable[[Turn], Json],
    ) -> None:
        self.whole, self.stream, self.error = whole, stream, error


# By the end of the path that is asked for.
FORMATS: dict[str, Format] = {
    "/messages": Format(anthropic, anthropic_stream, anthropic_error),
    "/responses": Format(responses, responses_stream, openai_error),
    "/chat/completions": Format(chat, chat_stream, openai_error),
    ":generateContent": Format(gemini, gemini_stream, gemini_error),
    ":streamGenerateContent": Format(gemini, gemini_stream, gemini_error),
}
