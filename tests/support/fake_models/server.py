"""Serves a script on 127.0.0.1 and nowhere else, and remembers what it was asked."""

import gzip
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from support.fake_models.formats import FORMATS, Format
from support.fake_models.script import Script, Turn

HERE = "127.0.0.1"
GARBAGE = b'event: message\ndata: {"half": \xff\xfe\n\n'
TICK_S = 0.05


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: where it went and what it said. Keys are not kept."""

    path: str
    body: dict[str, Any]
    main: bool


@dataclass
class FakeModels:
    """
    A context manager; `url` is what a program is told its service is.

    A `mind` thinks of turns by itself once the script's own are played.
    """

    script: Script = field(default_factory=Script)
    mind: Callable[[dict[str, Any]], Turn] | None = None
    asked: list[Asked] = field(default_factory=list)

    def __enter__(self) -> Self:
        self._turns, self._lock, self.closing = self.script.turns(), threading.Lock(), threading.Event()
        self.server = ModelServer(self)
        self._thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": TICK_S})
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        return f"http://{HERE}:{self.server.server_address[1]}"

    @property
    def main_requests(self) -> list[Asked]:
        return [asked for asked in self.asked if asked.main]

    def turn_for(self, path: str, body: dict[str, Any]) -> Turn:
        """Requests without tools are asides, a title to be found or the like: they use up no turn."""
        with self._lock:
            main = bool(body.get("tools"))
            self.asked.append(Asked(path, body, main))
            if not main:
                return self.script.aside
            if self._turns:
                return self._turns.pop(0)
            return self.mind(body) if self.mind else self.script.rest


class Handler(BaseHTTPRequestHandler):
    """Answers one connection."""

    protocol_version = "HTTP/1.1"

    @property
    def models(self) -> FakeModels:
        assert isinstance(self.server, ModelServer)
        return self.server.models

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - named by the base class
        pass

    def do_HEAD(self) -> None:
        self._whole(200, {})

    def do_GET(self) -> None:
        names = ("fake-model", "claude-sonnet-4-5", "gpt-5.5", "gemini-2.5-pro")
        listed = [{"id": name, "object": "model", "type": "model", "display_name": name} for name in names]
        self._whole(200, {"object": "list", "data": listed, "models": [], "has_more": False})

    def do_POST(self) -> None:
        body = self._body()
        path = self.path.partition("?")[0]
        found = next((form for end, form in FORMATS.items() if path.endswith(end)), None)
        if path.endswith(("/count_tokens", ":countTokens")):
            self._whole(200, {"input_tokens": 100, "totalTokens": 100})
        elif found is None:
            self._whole(404, {"error": {"message": "no such service", "type": "not_found_error"}})
        else:
            self._play(found, self.models.turn_for(path, body), body, streams=_streams(path, body))

    def _body(self) -> dict[str, Any]:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        raw = gzip.decompress(raw) if self.headers.get("content-encoding") == "gzip" else raw
        decoded = json.loads(raw or b"{}")
        return decoded if isinstance(decoded, dict) else {}

    def _play(self, form: Format, turn: Turn, body: dict[str, Any], *, streams: bool) -> None:
        if turn.hang:
            self._wait(turn.hang)
            self.close_connection = True
        elif turn.status != 200:
            self._whole(turn.status, form.error(turn), turn.headers)
        elif streams:
            self._stream(list(form.stream(turn, body)), turn)
        else:
            self._whole(200, form.whole(turn, body), turn.headers)

    def _stream(self, events: list[bytes], turn: Turn) -> None:
        self.close_connection = True
        self.send_response(200)
        for name, value in {"content-type": "text/event-stream", "connection": "close", **turn.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        for number, event in enumerate(events):
            if number == len(events) // 2:
                self._wait(turn.stall)
                if turn.disconnect:
                    return
                event = GARBAGE if turn.garbage else event  # noqa: PLW2901 - one event is spoilt
            self.wfile.write(event)
            self.wfile.flush()

    def _whole(self, status: int, answer: dict[str, Any], more: dict[str, str] | None = None) -> None:
        text = json.dumps(answer).encode()
        self.send_response(status)
        for name, value in {"content-type": "application/json", **(more or {})}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)

    def _wait(self, seconds: float) -> None:
        """As long as is written, or until the test is over."""
        if seconds:
            self.models.closing.wait(seconds)

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except (ConnectionError, TimeoutError):
            self.close_connection = True


class ModelServer(ThreadingHTTPServer):
    """A server that knows what it plays."""

    daemon_threads = True

    def __init__(self, models: FakeModels) -> None:
        self.models = models
        super().__init__((HERE, 0), Handler)


def _streams(path: str, body: dict[str, Any]) -> bool:
    return path.endswith(":streamGenerateContent") or bool(body.get("stream"))
