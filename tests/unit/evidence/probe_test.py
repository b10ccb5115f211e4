"""When an app counts as up: it answers 200 where it said it would."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from autopilot.domain.visual import Route, VisualTesting
from autopilot.evidence.visual.wait_for_app import await_answer

WAIT = VisualTesting(
    launch_command="x",
    base_url="http://app.test:3000/start?a=b",
    routes=(Route(path="/", name="home"),),
    launch_wait_ms=0,
    launch_limit_ms=200,
)


@dataclass(frozen=True, slots=True)
class Up:
    port: int
    tier: str = "none"
    end: str | None = None

    def ended(self) -> str | None:
        return self.end


class Answers(BaseHTTPRequestHandler):
    """The status that the server was given, with the address it was given to go on to."""

    def do_GET(self) -> None:
        status, onward = self.server.plan.get(self.path, (200, ""))  # type: ignore[attr-defined]  # set below
        assert self.headers["Host"] == "app.test:3000"
        self.send_response(status)
        self.send_header("Location", onward)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Quiet."""


@contextmanager
def answering(plan: dict[str, tuple[int, str]]) -> Iterator[Up]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        server.plan = plan  # type: ignore[attr-defined]  # read above
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield Up(server.server_port)
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("plan", "trouble"),
    [
        ({}, None),
        ({"/start?a=b": (404, "")}, "it answered 404"),
        ({"/start?a=b": (302, "/login"), "/login": (200, "")}, None),
        ({"/start?a=b": (302, "/login"), "/login": (500, "")}, "it answered 500"),
        ({"/start?a=b": (302, "http://elsewhere/")}, "it answered 302"),
        ({"/start?a=b": (302, "/1"), "/1": (302, "/start?a=b")}, "it redirects for ever"),
    ],
    ids=["200", "404", "redirect", "redirect to an error", "redirect away", "circle"],
)
def test_vist_01_an_app_is_up_when_it_answers_200(plan: dict[str, tuple[int, str]], trouble: str | None) -> None:
    """VIST-01."""
    with answering(plan) as app:
        found = await_answer(app, WAIT)

    assert found == (None if trouble is None else f"{WAIT.base_url} did not answer 200: {trouble}")


def test_an_app_that_takes_a_connection_and_says_nothing_is_not_waited_for_for_ever() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert "TimeoutError" in str(await_answer(Up(silent.getsockname()[1]), WAIT))


def test_an_app_that_has_ended_is_not_asked() -> None:
    assert await_answer(Up(1, end="it ended with exit code 1"), WAIT) == "it ended with exit code 1"
