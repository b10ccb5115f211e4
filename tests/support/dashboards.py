"""A real dashboard on a free port with a journal behind it, and a client that sends exactly what it is told to."""

import http.client
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from autopilot.app import dashboard as serving
from autopilot.domain.agent_call import Role
from autopilot.domain.attempt import PhaseOutcome
from autopilot.domain.events import (
    AgentAnswered,
    AgentStarted,
    Event,
    PhaseFinished,
    PhaseStarted,
    StepFinished,
    StepStarted,
    stream_of,
)
from autopilot.domain.evidence import Usage
from autopilot.domain.phase import Phase
from autopilot.domain.results import Preflighted
from autopilot.domain.verdict import Advance, AskHuman, Verdict
from autopilot.journal.clock import SystemClock
from autopilot.journal.lock import birth_of
from autopilot.journal.sqlite import SqliteJournal
from autopilot.views.dashboard.actions import Deeds
from autopilot.views.dashboard.guard import Door
from autopilot.views.dashboard.slow_clients import Patience
from support.records import RUN, brief, phase, started
from support.waiting import PATIENCE_S

CLEAR = Preflighted(spec_hash_match=True, working_tree_clean=True, dependencies_met=True)
DONE = "every gate passed"


class Chronicle:
    """A run written into a real journal, entry by entry."""

    def __init__(self, root: Path, *phases: str, run: str = RUN, names: Mapping[str, str] | None = None) -> None:
        self.root, self.run = root, run
        self.names = dict(names or {})
        self.journal = SqliteJournal(root / ".autopilot" / "journal.db", SystemClock())
        self._lengths: dict[str, int] = {}
        described = [self._named(name) for name in phases or ("1", "2", "3")]
        start = started(*described)
        self.tell(run, type(start)(**{f: getattr(start, f) for f in start.__struct_fields__} | {"run": run}))

    def _named(self, name: str) -> Phase:
        told = self.names.get(name)
        return phase(name) if told is None else msgspec.structs.replace(phase(name), goal=told, name=told)

    def tell(self, stream: str, event: Event) -> None:
        number = self._lengths.get(stream, 0)
        self.journal.append(stream, number, event)
        self._lengths[stream] = number + 1

    def begin(self, name: str) -> None:
        self.tell(self.run, PhaseStarted(brief=brief(phase=self._named(name))))

    def open_step(self, name: str, step: str = "execute", role: Role = "execute", pid: int = 0) -> None:
        """Without a process of its own the call has one that is long gone."""
        stream, birth = stream_of(self.run, name, 0), birth_of(pid) if pid else "1"
        self.tell(stream, StepStarted(step=step, n=1, base="b", nonce="n", boot="b"))
        self.tell(stream, AgentStarted(call=f"{self.run}/{name}/{step}/1", role=role, pid=pid or 1, birth=birth))

    def close_step(
        self, name: str, step: str = "execute", *, said: str = "done", verdict: Verdict | None = None
    ) -> None:
        stream = stream_of(self.run, name, 0)
        usage = Usage(input_tokens=1000, output_tokens=200, cost_usd=0.25)
        answer = AgentAnswered(
            call=f"{self.run}/{name}/{step}/1", role="execute", outcome="ok", answer=json.dumps({"said": said}),
            text=said, usage=usage, commands=("make test",), seconds=2.5,
        )  # fmt: skip
        self.tell(stream, answer)
        done = StepFinished(step=step, n=1, commit="c", result=CLEAR, verdict=verdict or Advance(), seconds=3.0)
        self.tell(stream, done)

    def end(self, name: str, verdict: Verdict | None = None, score: float = 9.4, **more: Any) -> None:
        fields: dict[str, Any] = {"phase": name, "status": "completed", "reason": DONE, "commit": "c", **more}
        outcome = PhaseOutcome(alignment_score=score, **fields)
        self.tell(self.run, PhaseFinished(cycle=0, outcome=outcome, verdict=verdict or Advance()))

    def whole(self, name: str, *, said: str = "done", verdict: Verdict | None = None) -> None:
        self.begin(name)
        self.open_step(name)
        self.close_step(name, said=said)
        self.end(name, verdict)

    def ask(self, name: str, question: str = "Does the letter look right?") -> None:
        self.whole(name, verdict=AskHuman(question=question))


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Site:
    port: int
    door: Door
    roots: tuple[Path, ...]

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def origin(self) -> str:
        return f"http://{self.host}"

    def address(self, token: str | None = None) -> str:
        return f"{self.origin}/#token={token or self.door.write_token or self.door.read_token}"

    def headers(self, token: str | None = None, **more: str) -> dict[str, str]:
        held = token if token is not None else self.door.write_token or self.door.read_token
        return {"Authorization": f"Bearer {held}", **{name.replace("_", "-"): value for name, value in more.items()}}

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> Answer:
        return self.send("GET", path, self.headers() if headers is None else headers)

    def post(self, path: str, body: Any, headers: Mapping[str, str] | None = None) -> Answer:
        own = {**self.headers(), "Origin": self.origin, "Content-Type": "application/json"}
        return self.send("POST", path, own if headers is None else headers, json.dumps(body).encode())

    def send(self, method: str, path: str, headers: Mapping[str, str], body: bytes = b"") -> Answer:
        """The path goes out as it is, and so do the headers; only a missing Host and length are added."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        lower = {name.lower() for name in headers}
        try:
            connection.putrequest(method, path, skip_host="host" in lower, skip_accept_encoding=True)
            for name, value in headers.items():
                connection.putheader(name, value)
            if body and not lower & {"content-length", "transfer-encoding"}:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body or None)
            got = connection.getresponse()
            return Answer(got.status, {k.lower(): v for k, v in got.getheaders()}, got.read())
        finally:
            connection.close()

    def raw(self, text: bytes, patience_s: float = PATIENCE_S) -> bytes:
        """Whatever comes back for these bytes until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=patience_s) as held:
            held.sendall(text)
            got = b""
            while piece := held.recv(65536):
                got += piece
        return got

    @contextmanager
    def watching(self, run: str = "latest", project: str = "1", token: str | None = None) -> "Iterator[Stream]":
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        connection.request("GET", f"/api/projects/{project}/runs/{run}/watch", headers=self.headers(token))
        try:
            yield Stream(connection.getresponse())
        finally:
            connection.close()


@dataclass(slots=True)
class Stream:
    """The events of one viewer."""

    response: http.client.HTTPResponse

    def event(self) -> tuple[str, Any]:
        """The next event that says something."""
        name, data = "", ""
        while True:
            line = self.response.readline().decode()
            if line.startswith("event: "):
                name = line[7:].strip()
            elif line.startswith("data: "):
                data = line[6:]
            elif line == "\n" and data:
                return name, json.loads(data)
            elif not line:
                raise EOFError("the stream ended")

    def run(self) -> dict[str, Any]:
        """The next event about the run."""
        while True:
            name, told = self.event()
            if name == "run":
                found: dict[str, Any] = told
                return found


@contextmanager
def served(
    *roots: Path, deeds: Deeds | None = None, read_only: bool = False, patience: Patience | None = None
) -> Iterator[Site]:
    request = serving.ServeRequest(folders=(), port=0, read_only=read_only)
    door = serving.door_of(request)
    with serving.listening(request) as sock:
        server = serving.server_of(roots, deeds or Deeds(), door, patience)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]})
        thread.start()
        try:
            yield Site(sock.getsockname()[1], door, roots)
        finally:
            server.should_exit = True
            thread.join()
