"""Reads the stream that Claude Code prints, and programs made after it."""

from collections.abc import Iterator
from typing import Any

from autopilot.agents.backend import told
from autopilot.agents.json_fields import at, count, record, records, text, total
from autopilot.agents.stream_events import Began, Noticed, Returned, Said, Spent, StreamEvent, Used, Windowed

SHELLS = frozenset({"Bash", "run_shell_command"})
SYNTHETIC = "<synthetic>"


def begun(event: dict[str, Any]) -> Iterator[StreamEvent]:
    match event.get("subtype"):
        case "init":
            yield Began(session=text(event.get("session_id")), model=text(event.get("model")) or None)
        case "api_retry":
            yield Noticed(text=f"trying again after error {event.get('error_status') or event.get('error')}")
        case "retry":
            yield Noticed(text=f"trying again, attempt {at(event, 'data', 'attempt') or 1}")


def said(event: dict[str, Any]) -> Iterator[StreamEvent]:
    """What the model said and called. Messages of the program itself, and the talk of helpers, are no answer."""
    message = record(event.get("message"))
    for block in records(message.get("content")):
        if block.get("type") == "tool_use":
            name, given = text(block.get("name")), record(block.get("input"))
            command = text(given.get("command")) if name in SHELLS else None
            yield Used(call=text(block.get("id")), what=told(name, given), command=command or None)
        elif block.get("type") == "text" and not event.get("parent_tool_use_id") and message.get("model") != SYNTHETIC:
            yield Said(text=text(block.get("text")))
    usage = record(message.get("usage"))
    if usage and text(message.get("id")):
        yield Spent(
            input_tokens=all_input(usage), output_tokens=count(usage.get("output_tokens")), part=text(message["id"])
        )


def came_back(event: dict[str, Any]) -> Iterator[StreamEvent]:
    notes = {text(note.get("id")): note for note in records(event.get("tool_result_meta"))}
    for block in records(at(event, "message", "content")):
        if block.get("type") == "tool_result":
            call = text(block.get("tool_use_id"))
            yield Returned(call=call, ran=not _refused(block, notes.get(call, {})))


def _refused(block: dict[str, Any], note: dict[str, Any]) -> bool:
    """By the program's own note. Where there is none, an error without an exit code means that nothing ran."""
    if note:
        return "non_execution_kind" in note or at(note, "permission_decision", "decision") in {"reject", "deny"}
    return bool(block.get("is_error")) and not text(block.get("content")).lower().startswith("exit code")


def windowed(event: dict[str, Any]) -> Iterator[StreamEvent]:
    told_of = record(event.get("rate_limit_info"))
    when = told_of.get("resetsAt")
    yield Windowed(
        rejected=told_of.get("status") == "rejected", resets_at=float(when) if isinstance(when, int | float) else None
    )


def all_input(usage: dict[str, Any]) -> int | None:
    """Where cached tokens are counted apart, they are added."""
    cached = (usage.get("cache_read_input_tokens"), usage.get("cache_creation_input_tokens"))
    return total(usage.get("input_tokens"), *cached)
