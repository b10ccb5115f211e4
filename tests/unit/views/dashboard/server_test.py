"""The server's outermost layer: a viewer that does not take what it asked for is let go."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route
from starlette.types import Message, Scope

from autopilot.views.dashboard.actions import Deeds
from autopilot.views.dashboard.feed import LISTING, Change, Feed
from autopilot.views.dashboard.followed_project import Project
from autopilot.views.dashboard.guard import Door
from autopilot.views.dashboard.phase_view import Looking
from autopilot.views.dashboard.server import Dashboard, Guarded
from autopilot.views.dashboard.slow_clients import Patience
from support.waiting import PATIENCE_S

DOOR = Door(names=frozenset({"127.0.0.1"}), read_token="r" * 43)
SCOPE: Scope = {
    "type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1", "method": "GET",
    "path": "/api/watch", "raw_path": b"/api/watch", "query_string": b"", "root_path": "", "scheme": "http",
    "headers": [(b"host", b"127.0.0.1"), (b"authorization", b"Bearer " + b"r" * 43)], "state": {},
}  # fmt: skip


def test_a_viewer_that_takes_nothing_is_let_go() -> None:
    ended = list[str]()

    async def endless() -> AsyncIterator[bytes]:
        try:
            while True:
                yield b"data: 1\n\n"
        finally:
            ended.append("ended")

    async def watch(_: Request) -> StreamingResponse:
        return StreamingResponse(endless(), media_type="text/event-stream")

    async def stuck(message: Message) -> None:
        if message["type"] == "http.response.body":
            await asyncio.sleep(3000)

    async def silent() -> Message:
        await asyncio.sleep(3000)
        return {"type": "http.disconnect"}

    app = Guarded(Starlette(routes=[Route("/api/watch", watch)]), DOOR, send_s=0.05)
    asyncio.run(asyncio.wait_for(app(dict(SCOPE), silent, stuck), timeout=PATIENCE_S))

    assert ended == ["ended"]


def test_a_change_while_a_viewer_takes_the_one_before_is_sent_next(tmp_path: Path) -> None:
    """A viewer that was slow for a moment must not wait for the next beat."""
    feed = Feed([Project("1", tmp_path)], str)
    dashboard = Dashboard(feed, Looking(Deeds(), str), Deeds(), Patience())
    named = {"projects": msgspec.Raw(b"[]"), "newest": msgspec.Raw(b"{}")}

    async def watched() -> bytes:
        sent = dashboard._changes("1", "latest", ())
        await anext(sent)
        await anext(sent)
        feed._publish_all([Change(key=LISTING, parts=named)])
        following = asyncio.ensure_future(anext(sent))
        await asyncio.sleep(0)  # it gets one turn: nothing is left to wait for
        assert following.done()
        return following.result()

    assert asyncio.run(watched()).startswith(b"event: projects")
