"""Codex by its app server: JSON-RPC over standard streams, with typed errors and a clean way to leave off."""

import json
from collections.abc import Iterator
from typing import Any

from autopilot.agents.backend import Ask, Backend
from autopilot.agents.backends import codex
from autopilot.agents.json_fields import amount, at, count, record, text
from autopilot.agents.outcomes import Meanings
from autopilot.agents.stream_events import Began, Failed, Finished, Noticed, Spent, StreamEvent, Windowed

INITIALIZE, THREAD, TURN, INTERRUPT = 1, 2, 3, 4
INTERRUPTED = "interrupted"
FULL = 100
NO_METHOD = -32601
CLIENT = {"name": "autopilot", "title": "Autopilot", "version": "1"}


def line(message: dict[str, Any]) -> bytes:
    return json.dumps(message).encode() + b"\n"


def argv(ask: Ask) -> tuple[str, ...]:
    words = [ask.program, "app-server"]
    for override in codex.OVERRIDES:
        words += ["-c", override]
    return tuple(words)


class AppServerDialogue:
    """One thread, one turn. Nobody is there to approve anything, so what asks for it is declined."""

    def __init__(self, ask: Ask) -> None:
        self._ask, self._thread, self._turn = ask, "", ""

    def opening(self) -> bytes:
        return line({"id": INITIALIZE, "method": "initialize", "params": {"clientInfo": CLIENT}})

    def answer(self, event: dict[str, Any]) -> bytes:
        if "method" in event:
            return self._refuse(event) if "id" in event else b""
        match event.get("id"):
            case 1 if "result" in event:
                return line({"method": "initialized"}) + self._start_thread()
            case 2 if "result" in event:
                self._thread = text(at(event, "result", "thread", "id"))
                return self._start_turn()
            case 3:
                self._turn = text(at(event, "result", "turn", "id"))
        return b""

    def farewell(self) -> bytes:
        if not self._turn:
            return b""
        params = {"threadId": self._thread, "turnId": self._turn}
        return line({"id": INTERRUPT, "method": "turn/interrupt", "params": params})

    def _start_thread(self) -> bytes:
        ask = self._ask
        params: dict[str, Any] = {
            "cwd": ask.folder,
            "approvalPolicy": "never",
            "sandbox": codex.sandbox_of(ask),
            **({"model": ask.model} if ask.model else {}),
        }
        if ask.thread:
            return line({"id": THREAD, "method": "thread/resume", "params": {**params, "threadId": ask.thread}})
        return line({"id": THREAD, "method": "thread/start", "params": params})

    def _start_turn(self) -> bytes:
        ask = self._ask
        params = {
            "threadId": self._thread,
            "input": [{"type": "text", "text": ask.prompt}],
            **({"outputSchema": ask.answer_schema} if ask.answer_schema else {}),
            **({"effort": ask.effort} if ask.effort else {}),
        }
        return line({"id": TURN, "method": "turn/start", "params": params})

    def _refuse(self, event: dict[str, Any]) -> bytes:
        if text(event["method"]).endswith(("requestApproval", "Approval")):
            return line({"id": event["id"], "result": {"decision": "decline"}})
        return line({"id": event["id"], "error": {"code": NO_METHOD, "message": "not supported"}})


def parse(event: dict[str, Any]) -> Iterator[StreamEvent]:
    params = record(event.get("params"))
    match event.get("method"):
        case None:
            yield from answered(event)
        case "item/started" | "item/completed":
            yield from codex.item(record(params.get("item")), done=event["method"] == "item/completed")
        case "thread/tokenUsage/updated":
            spent = record(at(params, "tokenUsage", "total"))
            yield Spent(
                input_tokens=count(spent.get("inputTokens")),
                output_tokens=count(spent.get("outputTokens")),
                cached_tokens=count(spent.get("cachedInputTokens")),
            )
        case "account/rateLimits/updated":
            yield from windowed(record(params.get("rateLimits")))
        case "error" if params.get("willRetry"):
            yield Noticed(text=text(at(params, "error", "additionalDetails")) or text(at(params, "error", "message")))
        case "turn/completed":
            yield from ended(record(params.get("turn")))


def answered(event: dict[str, Any]) -> Iterator[StreamEvent]:
    if "error" in event and event.get("id") in {INITIALIZE, THREAD, TURN}:
        yield Failed(text=text(at(event, "error", "message")))
        yield Finished()
    elif event.get("id") == THREAD:
        model = text(at(event, "result", "model")) or None
        yield Began(session=text(at(event, "result", "thread", "id")), model=model)


def windowed(limits: dict[str, Any]) -> Iterator[StreamEvent]:
    windows = [record(limits.get(name)) for name in ("primary", "secondary")]
    full = [window for window in windows if (amount(window.get("usedPercent")) or 0) >= FULL]
    if any(windows):
        times = [when for window in full if (when := amount(window.get("resetsAt"))) is not None]
        yield Windowed(rejected=bool(full), resets_at=max(times, default=None))


def ended(turn: dict[str, Any]) -> Iterator[StreamEvent]:
    match turn.get("status"):
        case "failed":
            yield failed(record(turn.get("error")))
        case "interrupted":
            yield Failed(text="the turn was interrupted", kind=INTERRUPTED)
    yield Finished()


def failed(error: dict[str, Any]) -> Failed:
    """Its error is named by a word, or by a word with details below it."""
    named = error.get("codexErrorInfo")
    kind = next(iter(named), "") if isinstance(named, dict) else text(named)
    return Failed(text=text(error.get("message")), kind=kind, status=count(at(named, kind, "httpStatusCode")))


BACKEND: Backend = Backend(
    name="codex:app-server",
    vendor="openai",
    tested="0.163.0",
    own_prompt=codex.BACKEND.own_prompt,
    program="codex",
    sign_in=codex.BACKEND.sign_in,
    capabilities=codex.BACKEND.capabilities,
    argv=argv,
    reader=lambda: parse,
    dialogue=AppServerDialogue,
    meanings=Meanings(
        kinds={
            "usageLimitExceeded": "usage_limited",
            "contextWindowExceeded": "context_exhausted",
            "unauthorized": "auth",
            "serverOverloaded": "overloaded",
            INTERRUPTED: "cancelled",
        }
    ),
    variables=codex.BACKEND.variables,
    folder=codex.BACKEND.folder,
    folder_variable=codex.BACKEND.folder_variable,
    credentials=codex.BACKEND.credentials,
    identity=codex.BACKEND.identity,
    token_hosts=codex.BACKEND.token_hosts,
    reach=codex.BACKEND.reach,
    counts="thread",
)
