"""The dashboard's server: every request past the guard, a stream of changes for each viewer, deeds in threads."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import anyio.to_thread
import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from autopilot.domain.errors import AutopilotError
from autopilot.domain.value import Value
from autopilot.text.clean import harmless
from autopilot.views.dashboard.actions import Deeds, Given
from autopilot.views.dashboard.feed import LISTING, Feed
from autopilot.views.dashboard.followed_project import Project
from autopilot.views.dashboard.guard import MOST_BODY, Asked, Door, Refusal, access, refusal
from autopilot.views.dashboard.phase_view import Looking
from autopilot.views.dashboard.slow_clients import Patience

BEAT_S, MOST_VIEWERS = 10.0, 500
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
    (b"cache-control", b"no-store"),
)
_OFFSET = re.compile(r"[0-9]{1,9}")
KINDS = {"index.html": "text/html", "app.js": "text/javascript", "style.css": "text/css", "icon.svg": "image/svg+xml"}


class VerdictGiven(Value, frozen=True, kw_only=True, forbid_unknown_fields=True):
    phase: str
    verdict: Given
    issues: tuple[str, ...] = ()


class AnswerGiven(Value, frozen=True, kw_only=True, forbid_unknown_fields=True):
    question: str
    text: str


class Nothing(Value, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of a deed that needs no words."""


class Guarded:
    """Lets through what the guard's table does not refuse, and gives every answer the same strict headers."""

    def __init__(self, app: ASGIApp, door: Door, send_s: float) -> None:
        self._app, self._door, self._send_s = app, door, send_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def timed(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *HEADERS]
            async with asyncio.timeout(self._send_s):
                await send(message)

        asked = Asked(scope["method"], scope["path"], scope["headers"])
        refused = refusal(asked, self._door)
        try:
            if refused is not None:
                await _told(refused)(scope, receive, timed)
                return
            scope["state"]["access"] = access(asked, self._door)
            await self._app(scope, receive, timed)
        except TimeoutError:
            return  # A viewer that does not take what it asked for is left alone; uvicorn closes the connection.


def _told(refused: Refusal) -> Response:
    """The connection ends with it, so that what was not read of a request cannot be taken for the next one."""
    return _json({"error": refused.because}, refused.status, {"connection": "close"})


def _json(content: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode(content), status, headers, media_type="application/json")


async def body_of(request: Request, patience_s: float) -> bytes:
    """The request's body, if it is short and comes in time."""
    held = b""
    try:
        async with asyncio.timeout(patience_s):
            async for piece in request.stream():
                held += piece
                if len(held) > MOST_BODY:
                    raise HTTPException(413, "the request is too long", {"connection": "close"})
    except TimeoutError:
        raise HTTPException(408, "the request came too slowly", {"connection": "close"}) from None
    return held


@dataclass(slots=True)
class Dashboard:
    """`feed` tells what to show, `looking` what is inside; `deeds` are all that can be done."""

    feed: Feed
    looking: Looking
    deeds: Deeds
    patience: Patience
    viewers: int = 0
    pages: dict[str, bytes] = field(default_factory=dict)

    def app(self, door: Door) -> ASGIApp:
        self.pages = {name: (files(__package__) / "page" / name).read_bytes() for name in KINDS}
        inside, place = "/api/projects/{project}/runs/{run}", "/phases/{phase}"
        routes = [
            Route("/", self.page),
            Route("/{name}", self.page),
            Route(f"{inside}/watch", self.watch),
            Route(f"{inside}{place}", self.phase),
            Route(f"{inside}{place}/passes/{{number:int}}/calls/{{entry:int}}", self.call),
            Route("/api/projects/{project}/{deed}", self.deed, methods=["POST"]),
        ]

        @asynccontextmanager
        async def following(_: Starlette) -> AsyncIterator[None]:
            self.feed.start()
            yield
            self.feed.stop()

        handlers: Any = {HTTPException: _http_error, AutopilotError: _own_error}
        inner = Starlette(routes=routes, exception_handlers=handlers, lifespan=following)
        inner.router.redirect_slashes = False
        return Guarded(inner, door, self.patience.send_s)

    async def page(self, request: Request) -> Response:
        name = request.path_params.get("name", "index.html")
        return Response(self.pages[name], media_type=f"{KINDS[name]}; charset=utf-8")

    async def watch(self, request: Request) -> Response:
        """All there is to see of a run and then what changes, as server-sent events."""
        project, run = request.path_params["project"], request.path_params["run"]
        if self.feed.key_of(project, run) is None:
            raise HTTPException(404, "there is no such run")
        if self.viewers >= MOST_VIEWERS:
            raise HTTPException(503, "too many viewers", {"connection": "close"})
        may = self.deeds.possible if request.state.access == "write" else ()
        return Watching(self, self._changes(project, run, may))

    async def _changes(self, project: str, run: str, may: tuple[str, ...]) -> AsyncIterator[bytes]:
        yield b"event: may\ndata: " + msgspec.json.encode(may) + b"\n\n"
        listed, seen, shown = 0, 0, self.feed.key_of(project, run)
        while True:
            bell = self.feed.bell
            listed, news = self.feed.channels[LISTING].since(listed)
            pieces = [b"event: projects\n" + news] if news else []
            key = self.feed.key_of(project, run)
            if key != shown:
                shown, seen = key, 0
            channel = self.feed.channels.get(key) if key else None
            if channel is not None:
                seen, news = channel.since(seen)
                pieces += [b"event: run\n" + one + b"\n\n" for one in news.split(b"\n\n") if one]
            yield b"".join(pieces) or b": beat\n\n"
            with suppress(TimeoutError):
                async with asyncio.timeout(BEAT_S):
                    await bell.wait()

    async def phase(self, request: Request) -> Response:
        ids = request.path_params
        seen = await self._thread(lambda: self.looking.phase(self._project(request), ids["run"], ids["phase"]))
        return self._found(seen)

    async def call(self, request: Request) -> Response:
        ids, query = request.path_params, request.query_params
        offset = query.get("offset", "0")
        stream = ids["run"], ids["phase"], ids["number"]
        asked = query.get("part", ""), int(offset) if _OFFSET.fullmatch(offset) else 0
        project = self._project(request)
        return self._found(await self._thread(lambda: self.looking.call(project, stream, ids["entry"], asked)))

    async def deed(self, request: Request) -> Response:
        """Carried out in a thread; what it says is what the verb would print."""
        name, project, body = (
            request.path_params["deed"],
            self._project(request),
            await body_of(request, self.patience.body_s),
        )
        work = self._work(name, project.folder, body)
        if name not in self.deeds.possible or work is None:
            raise HTTPException(404, "this cannot be done here")
        return _json({"said": await self._thread(work)})

    def _work(self, name: str, folder: Path, body: bytes) -> Callable[[], str] | None:
        deeds = self.deeds
        match name:
            case "stop" | "resume":
                _read(body, Nothing)
                act = deeds.stop if name == "stop" else deeds.resume
                return (lambda: act(folder)) if act else None
            case "verdict":
                given, judge = _read(body, VerdictGiven), deeds.verdict
                return (lambda: judge(folder, given.phase, given.verdict, given.issues)) if judge else None
            case "answer":
                answer, asked = _read(body, AnswerGiven), deeds.questions
                return (lambda: asked.answer(folder, answer.question, answer.text)) if asked else None
        return None

    def _project(self, request: Request) -> Project:
        found = self.feed.projects.get(request.path_params["project"])
        if found is None:
            raise HTTPException(404, "there is no such project")
        return found

    def _found(self, seen: Value | None) -> Response:
        if seen is None:
            raise HTTPException(404, "there is no such thing")
        text = harmless(self.looking.redact(msgspec.json.encode(seen).decode()))
        return Response(text.encode(), media_type="application/json")

    async def _thread(self, work: Callable[[], Any]) -> Any:
        return await anyio.to_thread.run_sync(work)


class Watching(StreamingResponse):
    """A stream of events. Its viewer counts from the moment it is let in until it is gone."""

    def __init__(self, dashboard: Dashboard, changes: AsyncIterator[bytes]) -> None:
        super().__init__(changes, media_type="text/event-stream")
        self._dashboard = dashboard
        dashboard.viewers += 1

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._dashboard.viewers -= 1


def _read(body: bytes, kind: type[Any]) -> Any:
    try:
        return msgspec.json.decode(body or b"{}", type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise HTTPException(400, "the request cannot be read") from None


async def _http_error(_: Request, error: HTTPException) -> Response:
    return _json({"error": error.detail}, error.status_code, dict(error.headers or {}))


async def _own_error(_: Request, error: AutopilotError) -> Response:
    return _json({"error": error.what, "why": error.why, "do": error.do}, 409)
