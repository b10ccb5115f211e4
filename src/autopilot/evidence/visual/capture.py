"""Pages seen by a real browser. Runs as a program of its own, so that a page that hangs can be ended."""

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from autopilot.domain.value import Value
from autopilot.domain.visual import Viewport

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Playwright, Request, Response
    from playwright.sync_api import Page as Tab

MOST = 20
SHOWN = 300
FAILED = 400
NO_BROWSER, HUNG = 3, 4
GRACE_S = 2.0


class Page(Value, frozen=True, kw_only=True):
    """`picture` is where the screenshot goes."""

    url: str
    picture: str
    wait_ms: int


class Visit(Value, frozen=True, kw_only=True):
    """`flags` are the browser's own, `confined` its sandbox. Each page has `limit_ms`."""

    pages: tuple[Page, ...]
    executable: str
    flags: tuple[str, ...]
    viewport: Viewport
    limit_ms: int
    headless: bool
    confined: bool


class Refusal(Value, frozen=True, kw_only=True):
    """Something the page asked for and did not get from the app."""

    url: str
    kind: str
    why: str


class Measures(Value, frozen=True, kw_only=True):
    """What `measure.js` finds, in a world of its own that the page cannot reach."""

    width: int = 0
    view: int = 0
    widest: str = ""
    text: int = 0
    drawn: int = 0
    title: str = ""
    lang: str = ""
    no_alt: tuple[str, ...] = ()
    no_label: tuple[str, ...] = ()


class PageSeen(Value, frozen=True, kw_only=True):
    """`status` None: no answer; `error` says why there is no picture."""

    status: int | None = None
    error: str = ""
    console: tuple[str, ...] = ()
    exceptions: tuple[str, ...] = ()
    refused: tuple[Refusal, ...] = ()
    blocked: tuple[str, ...] = ()
    measures: Measures = Measures()


class Ears:
    """Everything the page says and asks for while it is looked at; each thing once, and no more than a few."""

    def __init__(self, tab: "Tab", url: str) -> None:
        self._home = urlsplit(url)[:2]
        self.console, self.exceptions, self.blocked = dict[str, None](), dict[str, None](), dict[str, None]()
        self.refused: dict[Refusal, None] = {}
        tab.on("console", self._said)
        tab.on("pageerror", lambda error: _keep(self.exceptions, str(error)[:SHOWN]))
        tab.on("requestfailed", self._failed)
        tab.on("response", self._answered)

    def _own(self, url: str) -> bool:
        parts = urlsplit(url)
        return parts[:2] == self._home or parts.scheme in {"data", "blob", "about", ""}

    def _said(self, message: "ConsoleMessage") -> None:
        # What could not be loaded is told by the request itself.
        if message.type == "error" and not message.text.startswith("Failed to load resource"):
            _keep(self.console, message.text[:SHOWN])

    def _failed(self, request: "Request") -> None:
        if not self._own(request.url):
            _keep(self.blocked, request.url[:SHOWN])
        elif request.failure != "net::ERR_ABORTED" and not request.is_navigation_request():
            self._refuse(request, request.failure or "failed")

    def _answered(self, response: "Response") -> None:
        request = response.request
        if response.status >= FAILED and self._own(response.url) and not request.is_navigation_request():
            self._refuse(request, f"HTTP {response.status}")

    def _refuse(self, request: "Request", why: str) -> None:
        parts = urlsplit(request.url)
        # Browsers ask for it by themselves.
        if parts.path != "/favicon.ico":
            _keep(self.refused, Refusal(url=request.url[:SHOWN], kind=request.resource_type, why=why))


def _keep(heard: dict[Any, None], thing: object) -> None:
    if len(heard) < MOST:
        heard[thing] = None


def look_at(page: Page, wanted: Visit, browser: "Browser") -> PageSeen:
    """In a context of its own: nothing a page leaves behind reaches the next."""
    until = time.monotonic() + wanted.limit_ms / 1000
    tab = browser.new_page(
        viewport={"width": wanted.viewport.width, "height": wanted.viewport.height},
        device_scale_factor=1,
        color_scheme="light",
        reduced_motion="reduce",
        locale="en-US",
        timezone_id="UTC",
        ignore_https_errors=True,
    )
    ears = Ears(tab, page.url)
    seen = captured(tab, page, until)
    tab.context.close()
    return msgspec.structs.replace(
        seen,
        console=tuple(ears.console),
        exceptions=tuple(ears.exceptions),
        refused=tuple(ears.refused),
        blocked=tuple(ears.blocked),
    )


def captured(tab: "Tab", page: Page, until: float) -> PageSeen:
    from playwright.sync_api import Error

    status: int | None = None
    try:
        response = tab.goto(page.url, wait_until="load", timeout=left(until))
        status = response.status if response else None
        tab.wait_for_timeout(min(page.wait_ms, left(until)))
        measures = measured(tab)
        tab.screenshot(path=page.picture, animations="disabled", timeout=left(until))
    except Error as problem:
        return PageSeen(status=status, error=problem.message.splitlines()[0][:SHOWN])
    return PageSeen(status=status, measures=measures)


def left(until: float) -> float:
    """Milliseconds; never 0, which would mean no limit."""
    return max(1.0, (until - time.monotonic()) * 1000)


def measured(tab: "Tab") -> Measures:
    """The page's own scripts have no part in it: they could have changed what the questions mean."""
    tools = tab.context.new_cdp_session(tab)
    frame = tools.send("Page.getFrameTree")["frameTree"]["frame"]["id"]
    world = tools.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": "autopilot"})["executionContextId"]
    text = (files("autopilot.evidence.visual") / "measure.js").read_text(encoding="utf-8")
    found = tools.send("Runtime.evaluate", {"expression": text, "contextId": world, "returnByValue": True})
    return msgspec.convert(found["result"].get("value") or {}, Measures, strict=False)


def launched(wanted: Visit, playwright: "Playwright") -> "Browser | None":
    """A browser, or None with the reason on standard error: then no page is to blame for what is missing."""
    from playwright.sync_api import Error

    try:
        return playwright.chromium.launch(
            executable_path=wanted.executable,
            args=list(wanted.flags),
            headless=wanted.headless,
            chromium_sandbox=wanted.confined,
        )
    except Error as problem:
        lines = [line for line in problem.message.splitlines() if line.strip()]
        sys.stderr.write(f"{lines[0][:SHOWN]}\n")
        return None


def main() -> int:
    from playwright.sync_api import Error, sync_playwright

    wanted = msgspec.json.decode(sys.stdin.buffer.read(), type=Visit)
    with sync_playwright() as playwright:
        browser = launched(wanted, playwright)
        if browser is None:
            return NO_BROWSER
        for page in wanted.pages:
            with ended_after(wanted.limit_ms / 1000 + GRACE_S):
                seen = look_at(page, wanted, browser)
            sys.stdout.buffer.write(msgspec.json.encode(seen) + b"\n")
            sys.stdout.buffer.flush()
        with suppress(Error):
            browser.close()
    return 0


@contextmanager
def ended_after(seconds: float) -> Iterator[None]:
    """A page that keeps its browser busy for ever cannot be asked to stop: then this program ends, and all with it."""
    watch = threading.Timer(seconds, os._exit, (HUNG,))
    watch.daemon = True
    watch.start()
    try:
        yield
    finally:
        watch.cancel()


if __name__ == "__main__":
    sys.exit(main())
