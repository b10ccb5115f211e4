"""Any program that speaks the Agent Client Protocol: JSON-RPC over standard streams."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from autopilot.agents.backend import Ask, Backend, Capabilities, SignIn, told
from autopilot.agents.json_fields import amount, at, count, record, records, text, total
from autopilot.agents.outcomes import Meanings
from autopilot.agents.stream_events import Began, Failed, Finished, Returned, Said, Spent, StreamEvent, Used
from autopilot.domain.agent_call import Access

INITIALIZE, SESSION, PROMPT = 0, 1, 2
VERSION = 1
NO_METHOD = -32601
CHANGING = frozenset({"edit", "delete", "move"})
HARMLESS = frozenset({"read", "search", "think", "fetch"})
STOPPED = {
    "max_tokens": "the model's answer was cut off at its longest",
    "max_turn_requests": "the turn used up its requests",
    "refusal": "the agent refused",
    "cancelled": "the turn was cancelled",
}


def line(message: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


class AcpDialogue:
    """One session, one prompt. What the agent asks leave for is granted as far as its role goes."""

    def __init__(self, ask: Ask) -> None:
        self._ask, self._session = ask, ask.thread or ""

    def opening(self) -> bytes:
        able = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
        client = {"name": "autopilot", "title": "Autopilot", "version": "1"}
        params = {"protocolVersion": VERSION, "clientCapabilities": able, "clientInfo": client}
        return line({"id": INITIALIZE, "method": "initialize", "params": params})

    def answer(self, event: dict[str, Any]) -> bytes:
        if "method" in event:
            return self._grant(event) if "id" in event else b""
        if "result" not in event:
            return b""
        match event.get("id"):
            case 0:
                return self._open()
            case 1:
                self._session = text(at(event, "result", "sessionId")) or self._session
                prompt = [{"type": "text", "text": self._ask.prompt}]
                params = {"sessionId": self._session, "prompt": prompt}
                return line({"id": PROMPT, "method": "session/prompt", "params": params})
        return b""

    def farewell(self) -> bytes:
        return line({"method": "session/cancel", "params": {"sessionId": self._session}}) if self._session else b""

    def _open(self) -> bytes:
        params: dict[str, Any] = {"cwd": self._ask.folder, "mcpServers": []}
        if self._ask.thread:
            params["sessionId"] = self._ask.thread
        return line({"id": SESSION, "method": "session/load" if self._ask.thread else "session/new", "params": params})

    def _grant(self, event: dict[str, Any]) -> bytes:
        if event["method"] != "session/request_permission":
            return line({"id": event["id"], "error": {"code": NO_METHOD, "message": "not supported"}})
        params = record(event.get("params"))
        wanted = "allow" if may(self._ask.access, text(at(params, "toolCall", "kind"))) else "reject"
        options = [o for o in records(params.get("options")) if text(o.get("kind")).startswith(wanted)]
        outcome = (
            {"outcome": "selected", "optionId": options[0].get("optionId")} if options else {"outcome": "cancelled"}
        )
        return line({"id": event["id"], "result": {"outcome": outcome}})


def may(access: Access, kind: str) -> bool:
    """Whether a role may use a tool of that kind; one of no known kind may do anything."""
    match access:
        case "write":
            return True
        case "run":
            return kind not in CHANGING
        case "read":
            return kind in HARMLESS


class AcpReader:
    """Reads one session. What comes before the prompt is the history of a session gone on with."""

    def __init__(self) -> None:
        self._prompted = False

    def __call__(self, event: dict[str, Any]) -> Iterable[StreamEvent]:
        if event.get("method") == "session/update" and self._prompted:
            return updated(record(at(event, "params", "update")))
        if "method" in event:
            return ()
        if event.get("id") == SESSION and "result" in event:
            self._prompted = True
        return answered(event)


def updated(update: dict[str, Any]) -> Iterator[StreamEvent]:
    match update.get("sessionUpdate"):
        case "agent_message_chunk":
            yield Said(text=text(at(update, "content", "text")), of="answer")
        case "tool_call" | "tool_call_update":
            call, given = text(update.get("toolCallId")), record(update.get("rawInput"))
            command = given.get("command")
            if update["sessionUpdate"] == "tool_call" or command:
                words = " ".join(map(str, command)) if isinstance(command, list) else text(command)
                what = told(text(update.get("title")) or text(update.get("kind")), given)
                yield Used(call=call, what=what, command=words or None)
            if update.get("status") == "completed":
                yield Returned(call=call)
        case "usage_update":
            cost = record(update.get("cost"))
            if cost.get("currency") == "USD":
                yield Spent(cost_usd=amount(cost.get("amount")))


def answered(event: dict[str, Any]) -> Iterator[StreamEvent]:
    if "error" in event:
        details = at(event, "error", "data")
        more = details if isinstance(details, str) else text(at(details, "details") or at(details, "message"))
        said = f"{text(at(event, 'error', 'message'))} {more}".strip()
        yield Failed(text=said, kind=str(at(event, "error", "code")))
        yield Finished()
    elif event.get("id") == SESSION:
        if session := text(at(event, "result", "sessionId")):
            yield Began(session=session)
    elif event.get("id") == PROMPT:
        yield from ended(record(event.get("result")))


def ended(result: dict[str, Any]) -> Iterator[StreamEvent]:
    usage, reason = record(result.get("usage")), text(result.get("stopReason"))
    if usage:
        cached = (usage.get("cachedReadTokens"), usage.get("cachedWriteTokens"))
        yield Spent(
            input_tokens=total(usage.get("inputTokens"), *cached),
            output_tokens=total(usage.get("outputTokens")),
            cached_tokens=count(usage.get("cachedReadTokens")),
        )
    if reason in STOPPED:
        yield Failed(text=STOPPED[reason], kind=reason)
    yield Finished()


NAME = "acp"
# What programs with this protocol add to a turn is not known; most add about this much.
OWN_PROMPT = 12_000


def backend(words: tuple[str, ...]) -> Backend:
    """The command is the user's: nothing is known of its account, and a mode that spares files is its own affair."""
    return Backend(
        name=NAME,
        vendor=words[0].rpartition("/")[2],
        tested="protocol 1",
        own_prompt=OWN_PROMPT,
        program=words[0],
        sign_in=SignIn(variables=(), files=()),
        capabilities=Capabilities(resume=True, usage=True),
        argv=lambda _: words,
        reader=AcpReader,
        dialogue=AcpDialogue,
        meanings=Meanings(
            kinds={
                "-32000": "auth",
                "max_tokens": "limit_hit",
                "max_turn_requests": "limit_hit",
                "refusal": "bad_output",
                "cancelled": "cancelled",
            }
        ),
    )
