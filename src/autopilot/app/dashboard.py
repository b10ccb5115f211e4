"""`autopilot serve`: put the dashboard together with what it may do, and run its server until it is ended."""

import os
import secrets
import shlex
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from autopilot.agents import transcripts
from autopilot.app import prepare as app
from autopilot.app.consult.open_questions import OpenQuestions
from autopilot.domain.errors import AutopilotError, RepositoryInvalid, UsageInvalid
from autopilot.domain.value import Value
from autopilot.files import home_files
from autopilot.journal.clock import SystemClock
from autopilot.journal.lock import owner
from autopilot.sandbox.processes.own_command import own_command
from autopilot.text.clean import last_line
from autopilot.text.distribution import how_to_install
from autopilot.text.redact import Redactor
from autopilot.views.dashboard.actions import Deeds, Given, Transcript
from autopilot.views.dashboard.guard import MOST_HEAD, Door
from autopilot.views.lines.announcement import lines
from autopilot.workspace.files.beneath import Refused, opened, read_regular
from autopilot.workspace.user_files import find_root

if TYPE_CHECKING:
    import uvicorn

    from autopilot.views.dashboard.slow_clients import Patience

PORT, LOOPBACK = 8321, "127.0.0.1"
MOST_CONNECTIONS, SETTLE_S = 800, 120.0
# Two streams of four million letters, of which JSON may write each as six.
MOST_TRANSCRIPT = 64_000_000
# How a verb's complaints and warnings start.
OURS, WARNED = "autopilot: ", "autopilot: warning: "
SEE_ALL = "Type `autopilot resume` in the project to see all of it."
Say = Callable[[str], None]


class ServeRequest(Value, frozen=True, kw_only=True):
    """`port` None takes the usual one, or any that is free. `host` is an address of this machine."""

    folders: tuple[str, ...]
    port: int | None = None
    host: str = LOOPBACK
    read_only: bool = False


def serve(request: ServeRequest, say: Say, deeds: Deeds | None = None) -> None:
    """Serve until interrupted. Runs are not touched by its end."""
    roots = tuple(dict.fromkeys(find_root(Path(folder)) for folder in request.folders))
    door = door_of(request)
    with listening(request) as sock:
        server = server_of(roots, deeds or verbs(), door)
        port = sock.getsockname()[1]
        with suppress(KeyboardInterrupt):
            for line in welcome(request.host, port, door):
                say(line)
            server.run(sockets=[sock])


def welcome(host: str, port: int, door: Door) -> list[str]:
    """Where to look. The token is behind the `#`: browsers keep that part to themselves."""
    place = f"http://{f'[{host}]' if ':' in host else host}:{port}/#token="
    full = [f"Dashboard: {place}{door.write_token}"] if door.write_token else []
    return [*full, f"To look only: {place}{door.read_token}", "Ctrl-C ends the dashboard; runs go on without it."]


def door_of(request: ServeRequest) -> Door:
    """New tokens at every start. Beyond this machine nothing can be done, only looked at: what is sent can be read."""
    loopback = _address(request.host).is_loopback
    if not loopback and not request.read_only:
        raise UsageInvalid(
            f"{request.host} can be reached from other machines.",
            why="What is sent there can be read on the way, a token that may stop and start runs among it.",
            do="Add --read-only to share a look, or use a tunnel: ssh -L 8321:127.0.0.1:8321 this-machine",
        )
    name = f"[{request.host}]" if ":" in request.host else request.host
    return Door(
        names=frozenset({name, *(("localhost", LOOPBACK, "[::1]") if loopback else ())}),
        read_token=secrets.token_urlsafe(32),
        write_token=None if request.read_only else secrets.token_urlsafe(32),
    )


def _address(host: str) -> IPv4Address | IPv6Address:
    try:
        found = ip_address(host)
    except ValueError:
        found = None
    if found is None or found.is_unspecified:
        raise UsageInvalid(
            f"{host!r} is no address to serve at.",
            why="The server answers only under names it was given, so that no other page can speak in its place.",
            do="Name one address of this machine, as in --host 192.168.1.7; without --host it is 127.0.0.1.",
        )
    return found


def listening(request: ServeRequest) -> socket.socket:
    """An open socket. The usual port may be taken by another dashboard; one that was asked for must be free."""
    family = socket.AF_INET6 if ":" in request.host else socket.AF_INET
    ports = (PORT, 0) if request.port is None else (request.port,)
    for last, port in enumerate(ports, start=1):
        try:
            return socket.create_server((request.host, port), family=family, backlog=512)
        except OSError as error:
            if last == len(ports):
                raise UsageInvalid(
                    f"Port {port} of {request.host} cannot be served: {error.strerror}.",
                    why="The dashboard needs a port of its own.",
                    do="Name another one with --port, or leave --port out to have one chosen.",
                ) from error
    raise AssertionError("there is always a last port")


def server_of(roots: Sequence[Path], deeds: Deeds, door: Door, patience: "Patience | None" = None) -> "uvicorn.Server":
    """All that is there is read before this returns; the server then answers at once."""
    try:
        import uvicorn

        from autopilot.views.dashboard.feed import Feed
        from autopilot.views.dashboard.followed_project import Project
        from autopilot.views.dashboard.phase_view import Looking
        from autopilot.views.dashboard.server import Dashboard
        from autopilot.views.dashboard.slow_clients import Patience, patient
    except ModuleNotFoundError as error:
        raise UsageInvalid(
            f"The dashboard needs a library that is not installed: {error.name}.",
            why="It is an extra, so that those who do not use it need not have it.",
            do=f"Install it: {how_to_install('web')}.",
        ) from error
    patience, redact = patience or Patience(), Redactor.of(os.environ)
    pending = deeds.questions.pending if deeds.questions else None
    feed = Feed((Project(f"{n}", root, pending) for n, root in enumerate(roots, start=1)), redact)
    feed.catch_up()
    config = uvicorn.Config(
        Dashboard(feed, Looking(deeds, redact), deeds, patience).app(door),
        http=patient(patience, door),
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        log_level="critical",  # what strangers send must not fill the terminal
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        h11_max_incomplete_event_size=MOST_HEAD,
        timeout_graceful_shutdown=1,
    )
    return uvicorn.Server(config)


def verbs() -> Deeds:
    """What a person can do from the page, done as the verbs do it."""
    return Deeds(
        stop=lambda folder: app.stop(str(folder), now=False),
        resume=resume,
        verdict=verdict,
        questions=OpenQuestions(SystemClock()),
        transcript=transcript,
    )


def verdict(folder: Path, phase: str, word: Given, issues: tuple[str, ...]) -> str:
    notes = list[str]()
    end = app.verdict(str(folder), phase, word, issues, notes.append)
    return " ".join((*lines(end), *notes))


def resume(folder: Path) -> str:
    """Start `autopilot resume` as a process of its own, which outlives the dashboard, and see that it got going."""
    home = app.resumable(folder)
    if (holder := owner(home)) is not None:
        return f"{holder.run or 'A run'} is going on already."
    own, log = own_command(folder, "resume", "--plain", environment=os.environ), home / "resume.log"
    with os.fdopen(home_files.open_file(log, os.O_RDWR | os.O_CREAT), "wb") as out:
        out.truncate()
        child = subprocess.Popen(
            own.argv,
            cwd=own.cwd,
            env=own.env,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    threading.Thread(target=child.wait, daemon=True).start()
    deadline = time.monotonic() + SETTLE_S
    while child.poll() is None and owner(home) is None and time.monotonic() < deadline:
        time.sleep(0.05)
    if child.poll() not in {None, 0}:
        raise _did_not_start(child.returncode, home_files.read_file(log).decode("utf-8", "replace"))
    return "The run goes on." if child.poll() is None else "The run came to its end."


def _did_not_start(code: int, told: str) -> AutopilotError:
    """What the process said, in the three parts it says it in."""
    said = [line.strip() for line in told.splitlines() if line.strip()]
    starts = [n for n, line in enumerate(said) if line.startswith(OURS) and not line.startswith(WARNED)]
    what, *rest = said[starts[-1] :] if starts else [last_line(told)]
    whole = len(rest) >= len(("why", "do"))
    return RepositoryInvalid(
        what.removeprefix(OURS) or f"autopilot resume ended with {code}.",
        why=" ".join(rest[:-1]) if whole else f"It ended with exit code {code}.",
        do=rest[-1] if whole else SEE_ALL,
    )


def transcript(folder: Path, call: str) -> Transcript:
    """What was kept of a call: nothing for one without a transcript, or with one that is not as we write them."""
    try:
        with opened(folder / ".autopilot") as home:
            held = read_regular(home, str(transcripts.path_of(Path("transcripts"), call)), MOST_TRANSCRIPT)
        kept = msgspec.json.decode(held, type=transcripts.Transcript)
    except (OSError, Refused, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Transcript()
    ended = "cut off at its time limit" if kept.exit is None else f"exit code {kept.exit}"
    told = f"{shlex.join(kept.command)}\n{ended} after {kept.seconds:.1f} s"
    prompt = kept.stdin.get("prompt")
    asked = prompt if isinstance(prompt, str) else msgspec.json.encode(kept.stdin).decode()
    return Transcript(parts={"prompt": asked, "output": kept.stdout, "errors": kept.stderr, "process": told})
