"""How a call gets its way out: the open files its proxy is started with, and what that one has written down."""

import hashlib
import ipaddress
import json
import os
import secrets
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from autopilot.domain.process import Job, Ran, Try
from autopilot.sandbox.egress import listener, program
from autopilot.sandbox.egress.ledger import Row, rows_in
from autopilot.sandbox.egress.rules import LOCALHOST, Refused, is_address, place_of, rule_of

PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
DIRECT = "NO_PROXY"
LOOPBACK = ("localhost", "127.0.0.1", "::1")
BACKLOG = 128
MOST_READ = 1 << 20

Where = Literal["inside", "beside"]
"""Where the agent finds its proxy: in a network of its own, or on the loopback of this machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """
    `policy` and `record` are open files; `door` is the listener where it is on this machine's own loopback, and
    `refusals` a pair by which the proxy hears from the launcher, which says what it refused.

    `variables` tell the agent where the proxy is.
    """

    policy: int
    record: int
    variables: Mapping[str, str]
    door: socket.socket | None = None
    refusals: tuple[socket.socket, socket.socket] | None = None

    @property
    def inherited(self) -> tuple[int, ...]:
        more = (*((self.door,) if self.door else ()), *(self.refusals or ()))
        return (self.policy, self.record, *(each.fileno() for each in more))

    @property
    def telling(self) -> int | None:
        """Where the launcher says what it refused."""
        return self.refusals[1].fileno() if self.refusals else None

    @property
    def port(self) -> int:
        return int(self.door.getsockname()[1]) if self.door else listener.PORT

    def leading(self, argv: tuple[str, ...]) -> tuple[str, ...]:
        """The command line that starts `argv` together with its proxy."""
        door, hearing = self.door, self.refusals[0] if self.refusals else None
        files = (self.policy, self.record, *(each.fileno() if each else None for each in (door, hearing)))
        numbers = (program.NONE if file is None else str(file) for file in files)
        return (sys.executable, "-I", "-S", program.__file__, *numbers, "--", *argv)

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """With our proxy in the place of the user's, which only our proxy is told of."""
        known = {name for each in (*PROXIES, DIRECT) for name in (each, each.lower())}
        return {**{name: value for name, value in env.items() if name not in known}, **self.variables}

    @property
    def served(self) -> bool:
        """Whether the agent was started together with its proxy; the record is out of an agent's reach."""
        return bool(os.pread(self.record, 1, 0))

    def told_by(self, ran: Ran) -> Ran:
        """With what was tried."""
        return msgspec.structs.replace(ran, tries=tries_in(os.pread(self.record, MOST_READ, 0)))


@contextmanager
def passage(job: Job, where: Where, records: str = "", *, telling: bool = False) -> Iterator[Passage]:
    """
    For one call. `records` is a folder where what it tries outlives us, if the call has a name to find it by again.

    With `telling` there is a pair for a launcher that says what it refused.
    """
    with ExitStack() as stack:
        door = (
            stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=BACKLOG)) if where == "beside" else None
        )
        refusals = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM) if telling else None
        for each in refusals or ():
            stack.enter_context(each).setblocking(False)  # noqa: FBT003 - it takes no name
        token = secrets.token_urlsafe(24) if door else ""
        policy = _nameless()
        stack.callback(os.close, policy)
        told = json.dumps(
            {"hosts": [host for host in job.hosts if _is_rule(host)], "token": token, **parents(os.environ)}
        )
        os.write(policy, told.encode())
        os.lseek(policy, 0, os.SEEK_SET)
        record = _record(job, records)
        stack.callback(os.close, record)
        port = door.getsockname()[1] if door else listener.PORT
        account = f"autopilot:{token}@" if token else ""
        # In a network of its own an agent may call its own servers; unless it is to call one of ours by such a name.
        own = where == "inside" and not any(map(_is_here, job.hosts))
        variables = pointing_at(f"http://{account}127.0.0.1:{port}", LOOPBACK if own else ())
        yield Passage(policy=policy, record=record, variables=variables, door=door, refusals=refusals)


def pointing_at(url: str, direct: tuple[str, ...]) -> dict[str, str]:
    """In both cases of letters: programs read one or the other."""
    values = {**dict.fromkeys(PROXIES, url), DIRECT: ",".join(direct)}
    both = {spelled: value for name, value in values.items() for spelled in (name, name.lower())}
    return {**both, "NODE_USE_ENV_PROXY": "1"}


def parents(environment: Mapping[str, str]) -> dict[str, Any]:
    """The user's own proxies, by which ours reaches what it lets through."""

    def value(name: str) -> str:
        return environment.get(name.lower()) or environment.get(name) or ""

    fallback = value("ALL_PROXY")
    found = {"http": value("HTTP_PROXY") or fallback, "https": value("HTTPS_PROXY") or fallback}
    return {"parents": found, "direct": [name.strip() for name in value(DIRECT).split(",") if name.strip()]}


def tries_in(text: bytes) -> tuple[Try, ...]:
    return tuple(map(_try, rows_in(text)))


def _try(row: Row) -> Try:
    names = ("host", "port", "verdict", "reason", "count", "sent", "received")
    return msgspec.convert(dict(zip(names, row, strict=True)), Try)


def _nameless() -> int:
    """A file that is gone with its last holder."""
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _record(job: Job, records: str) -> int:
    if not records or not job.mark:
        return _nameless()
    folder = Path(records)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return os.open(_named(folder, job.mark), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def contacted(records: Path, mark: str) -> frozenset[str] | None:
    """The hosts a call was let through to so far; None where nobody stood in between."""
    try:
        tries = tries_in(_named(records, mark).read_bytes())
    except OSError:
        return None
    return frozenset(known.host for known in tries if known.verdict == "allowed")


def _named(records: Path, mark: str) -> Path:
    return records / f"{hashlib.sha256(mark.encode()).hexdigest()[:24]}.json"


def clear_records(records: Path) -> None:
    for path in records.glob("*.json"):
        with suppress(OSError):
            path.unlink()


def _is_rule(entry: str) -> bool:
    """What names no host, as a base URL may, cannot be reached either."""
    try:
        rule_of(entry)
    except Refused:
        return False
    return True


def _is_here(entry: str) -> bool:
    host, _ = place_of(rule_of(entry).removeprefix("*.")) if _is_rule(entry) else ("", 0)
    return host == LOCALHOST or (is_address(host) and ipaddress.ip_address(host).is_loopback)
