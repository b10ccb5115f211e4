"""
The proxy: takes connections from a sandbox and makes those the user allows, one thread for each.

Threads and not an event loop: this is started for every call, and so takes a third of the time and half the memory.
"""

import socket
import threading
import time
from collections.abc import Iterable, Iterator

from autopilot.sandbox.egress.ledger import Ledger, Tried
from autopilot.sandbox.egress.rules import (
    LOCALHOST,
    TLS_PORT,
    Allowed,
    Refused,
    Request,
    check_greeting,
    closed,
    is_address,
    place_of,
    plain_target,
    server_name,
    written,
)

CHUNK, HEAD_BYTES, CHUNK_LINE = 1 << 18, 1 << 16, 1 << 10
CONNECTIONS, DIAL_S, LINGER_S = 128, 15.0, 1.0
NOBODYS = "192.0.2.1"  # for documentation only, so no machine has it
END = b"\r\n\r\n"
WRONG_NAME = bytes((21, 3, 1, 0, 2, 2, 112))  # TLS for: unrecognized name
STATUS = {"token": "407 Proxy Authentication Required", "busy": "503 Service Unavailable", "dial": "502 Bad Gateway"}
LONGEST_SIZE = 8


class Bounds:
    """Seconds, bytes and connections; `upload` is for the whole call."""

    def __init__(self, head_s: float = 10.0, silence_s: float = 900.0, upload: int = 1 << 30) -> None:
        self.head_s, self.silence_s, self.upload = head_s, silence_s, upload


class Policy:
    """
    What the user allows one call.

    `parents` are proxies of the user's own by scheme, `direct` what is reached without them. A `token` is asked for
    where others than the agent could find the listener. On the ports of `tls` nothing else is spoken.
    """

    def __init__(self, told: dict[str, object]) -> None:
        self.allowed = Allowed(list(map(str, _list(told.get("hosts")))))
        self.token = str(told.get("token") or "")
        parents = told.get("parents")
        self.parents = {str(k): str(v) for k, v in parents.items()} if isinstance(parents, dict) else {}
        self.direct = [str(name) for name in _list(told.get("direct"))]
        bounds = told.get("bounds")
        self.bounds = Bounds(**bounds) if isinstance(bounds, dict) else Bounds()
        self.tls = {*_list(told.get("tls")), TLS_PORT}

    def parent(self, scheme: str, host: str) -> "Parent | None":
        """By which proxy of the user's a host is reached. This machine is never reached by one."""
        url = self.parents.get(scheme)
        if not url or host == LOCALHOST or (is_address(host) and closed(host)) or _matches(host, self.direct):
            return None
        return Parent(url)


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _matches(host: str, names: list[str]) -> bool:
    """As others read NO_PROXY: a name stands for all below it too, `*` for everything."""
    plain = (name.strip().lower().removeprefix("*").lstrip(".") for name in names if name.strip())
    return any(name in {"", host} or host.endswith(f".{name}") for name in plain)


class Parent:
    """A proxy of the user's, by its URL."""

    def __init__(self, url: str) -> None:
        scheme, _, rest = url.rpartition("://")
        if scheme not in {"", "http"}:
            raise Refused("dial", f"The user's proxy speaks {scheme}; only http is known here.")
        account, _, place = rest.partition("/")[0].rpartition("@")
        self.host, self.port = place_of(place, 80)
        self.account = (f"Proxy-Authorization: Basic {_coded(_unquoted(account))}",) if account else ()

    def dialed(self) -> socket.socket:
        return socket.create_connection((self.host, self.port), DIAL_S)

    def tunnel(self, place: str) -> socket.socket:
        made = self.dialed()
        lines = (f"CONNECT {place} HTTP/1.1", f"Host: {place}", *self.account, "", "")
        made.sendall("\r\n".join(lines).encode("latin-1"))
        head = b""
        while END not in head and len(head) < HEAD_BYTES and (byte := made.recv(1)):
            head += byte  # not one more than the head: what follows is the other side's
        if head.split(b" ", 2)[1:2] != [b"200"]:
            raise Refused("dial", f"The user's proxy answered {head[:60].decode('latin-1')!a}.")
        return made


def _coded(account: str) -> str:
    from base64 import b64encode

    return b64encode(account.encode()).decode()


def _unquoted(account: str) -> str:
    from urllib.parse import unquote

    return unquote(account)


class Proxy:
    """Serves one call."""

    def __init__(self, policy: Policy, ledger: Ledger) -> None:
        self._policy, self._ledger = policy, ledger
        self._room = threading.BoundedSemaphore(CONNECTIONS)

    def serve(self, listener: socket.socket) -> None:
        """Until the listener is closed."""
        while True:
            try:
                guest, _ = listener.accept()
            except OSError:
                return
            if self._room.acquire(blocking=False):
                threading.Thread(target=self._meet, args=(guest,), daemon=True).start()
            else:
                self._ledger.note("", 0, "refused", "busy")
                _answer(guest, Refused("busy", "Too many connections at once."))
                guest.close()

    def _meet(self, guest: socket.socket) -> None:
        try:
            with guest:
                Visit(guest, self._policy, self._ledger).run()
        finally:
            self._room.release()


class Visit:
    """One connection, from its first byte to its end."""

    def __init__(self, guest: socket.socket, policy: Policy, ledger: Ledger) -> None:
        self._guest, self._policy, self._ledger = guest, policy, ledger
        self._place = ("", 0)
        self._early = b""

    def run(self) -> None:
        try:
            self._guest.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._serve()
        except Refused as refusal:
            verdict = "failed" if refusal.reason == "dial" else "refused"
            host, port = self._place
            self._ledger.note(refusal.address or host, port, verdict, refusal.reason)
            _answer(self._guest, refusal)
        except OSError:
            return  # one side is gone, and with it who could be told

    def _serve(self) -> None:
        head = self._head()
        if head is None:
            return
        request = Request(head)
        if request.method == "CONNECT":
            self._place = host, port = place_of(request.target)
            self._check(request)
            self._tunnel(host, port)
        else:
            host, port, path = plain_target(request.target)
            self._place = host, port
            self._check(request)
            self._forward(request, path)

    def _check(self, request: Request) -> None:
        if self._policy.token:
            from hmac import compare_digest

            given = (value.partition(" ") for value in request.all("proxy-authorization"))
            wanted = _coded(f"autopilot:{self._policy.token}")
            if not any(k.lower() == "basic" and compare_digest(v.strip(), wanted) for k, _, v in given):
                raise Refused("token", "This proxy belongs to another program.")
        self._policy.allowed.check(*self._place)

    def _head(self) -> bytes | None:
        """The head, without its end; None for a guest that left without a word. The rest is kept as `_early`."""
        data, deadline = b"", time.monotonic() + self._policy.bounds.head_s
        while END not in data:
            more = self._more(deadline, "The head of the request")
            if not more and not data:
                return None
            if not more:
                raise Refused("request", "The request ends within its head.")
            data += more
            if len(data) > HEAD_BYTES and END not in data[:HEAD_BYTES]:
                raise Refused("request", "The head of the request is too large.")
        head, _, self._early = data.partition(END)
        return head

    def _more(self, deadline: float, what: str) -> bytes:
        self._guest.settimeout(max(deadline - time.monotonic(), 0.001))
        try:
            return self._guest.recv(HEAD_BYTES)
        except TimeoutError:
            raise Refused("slow", f"{what} took too long.") from None

    def _tunnel(self, host: str, port: int) -> None:
        parent = self._policy.parent("https", host)
        with self._dialed(host, port, parent, tunnel=True) as server:
            self._guest.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            try:
                first = self._greeting(host) if port in self._policy.tls else self._early
            except Refused as refusal:
                self._ledger.note(*self._place, "refused", refusal.reason)
                if refusal.reason == "name":
                    self._guest.sendall(WRONG_NAME)
                    _take_leave(self._guest)
                return
            tried = self._ledger.note(*self._place, "allowed")
            Relay(self._guest, server, self._ledger, tried, self._policy.bounds).both(first)

    def _greeting(self, host: str) -> bytes:
        """The first bytes, which must be those of TLS with this very host."""
        data, deadline = self._early, time.monotonic() + self._policy.bounds.head_s
        while (name := server_name(data)) is None:
            more = self._more(deadline, "The TLS greeting")
            if not more:
                raise Refused("tls", "The connection ended before its TLS greeting.")
            data += more
        check_greeting(name, host)
        return data

    def _forward(self, request: Request, path: str) -> None:
        """One plain request and its answer; the connection ends with it."""
        host, port = self._place
        length, parent = request.length, self._policy.parent("http", host)
        place = written(host) if port == 80 else f"{written(host)}:{port}"  # noqa: PLR2004 - the port of http
        with self._dialed(host, port, parent, tunnel=False) as server:
            tried = self._ledger.note(*self._place, "allowed")
            relay = Relay(self._guest, server, self._ledger, tried, self._policy.bounds)
            target = f"http://{place}{path}" if parent else path
            relay.send(request.onward(target, place, parent.account if parent else ()))
            if "100-continue" in (value.lower() for value in request.all("expect")):
                self._guest.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            body = Body(self._guest, self._early)
            relay.answer(body.chunked() if length is None else body.counted(length))

    def _dialed(self, host: str, port: int, parent: Parent | None, *, tunnel: bool) -> socket.socket:
        try:
            if parent is not None:
                return parent.tunnel(f"{written(host)}:{port}") if tunnel else parent.dialed()
            return dial(self._policy.allowed, host, port)
        except OSError as error:
            raise Refused("dial", f"{host} could not be reached: {error.strerror or error}.") from error


def dial(allowed: Allowed, host: str, port: int) -> socket.socket:
    """Looked up once; an address that was checked is the address that is dialed."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    fit, refusal, trouble = [], None, None
    for family, _, _, _, address in found:
        try:
            check_address(allowed, host, str(address[0]).partition("%")[0], port)
            fit.append((family, address))
        except Refused as told:
            refusal = told
    if not fit:
        raise refusal or Refused("dial", f"{host} has no address.")
    deadline = time.monotonic() + DIAL_S
    for number, (family, address) in enumerate(fit):
        made = socket.socket(family, socket.SOCK_STREAM)
        made.settimeout(max((deadline - time.monotonic()) / (len(fit) - number), 0.001))
        try:
            made.connect(address)
        except OSError as error:
            trouble = error
            made.close()
        else:
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return made
    raise trouble or TimeoutError


def check_address(allowed: Allowed, host: str, address: str, port: int) -> None:
    allowed.check_address(host, address, port)
    if not allowed.permits(address, port) and host != LOCALHOST and is_ours(address):
        raise Refused("address", f"{host} is at {address}, an address of this machine.", address)


def is_ours(address: str) -> bool:
    """Whether this machine has the address: only then can it be bound to. Where anything can, nothing is known."""
    return _can_bind(address) and not _can_bind(NOBODYS)


def _can_bind(address: str) -> bool:
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM) as trial:
        try:
            trial.bind((address, 0))
        except OSError:
            return False
    return True


class Relay:
    """Carries bytes both ways between two sockets and counts them."""

    def __init__(
        self, guest: socket.socket, server: socket.socket, ledger: Ledger, tried: Tried, bounds: Bounds
    ) -> None:
        self._guest, self._server, self._ledger, self._tried, self._bounds = guest, server, ledger, tried, bounds
        self._last = time.monotonic()
        for side in (guest, server):
            side.settimeout(self._bounds.silence_s)

    def both(self, first: bytes) -> None:
        """Until both sides have said all, or one is gone."""
        if first:
            self.send(first)
        there = threading.Thread(target=self._there, daemon=True)
        there.start()
        self.back()
        there.join(LINGER_S)
        _shut(self._guest, self._server)
        there.join()

    def send(self, piece: bytes) -> None:
        if self._ledger.sent + len(piece) > self._bounds.upload:
            self._ledger.note(*self._tried.key[:2], "refused", "upload")
            _shut(self._guest, self._server)
            raise OSError("more than a call may send")
        self._server.sendall(piece)
        self._ledger.moved(self._tried, sent=len(piece))

    def back(self) -> None:
        """Until the server has nothing more to say."""
        try:
            while piece := self._take(self._server):
                self._guest.sendall(piece)
                self._ledger.moved(self._tried, received=len(piece))
            self._guest.shutdown(socket.SHUT_WR)
        except OSError:
            _shut(self._guest, self._server)

    def answer(self, pieces: Iterable[bytes]) -> None:
        """Send the rest of a request while its answer comes. A guest that says more than that is cut off."""
        back = threading.Thread(target=self._back_alone, daemon=True)
        back.start()
        try:
            for piece in pieces:
                self.send(piece)
            if self._guest.recv(1):
                _shut(self._guest, self._server)
        except TimeoutError:
            pass  # it listens; whether that is of use, the other direction knows
        finally:
            back.join()

    def _back_alone(self) -> None:
        self.back()
        _shut(self._guest)

    def _there(self) -> None:
        try:
            while piece := self._take(self._guest):
                self.send(piece)
            self._server.shutdown(socket.SHUT_WR)
        except OSError:
            _shut(self._guest, self._server)

    def _take(self, side: socket.socket) -> bytes:
        """What comes next. Silence counts only where the other direction is silent too."""
        while True:
            try:
                piece = side.recv(CHUNK)
            except TimeoutError:
                if time.monotonic() - self._last >= self._bounds.silence_s:
                    raise
            else:
                self._last = time.monotonic()
                return piece


class Body:
    """The body of a plain request: as long as its head says, and not one byte more."""

    def __init__(self, guest: socket.socket, early: bytes) -> None:
        self._guest, self._held = guest, early

    def counted(self, length: int) -> Iterator[bytes]:
        while length:
            piece = self._some(min(length, CHUNK))
            length -= len(piece)
            yield piece

    def chunked(self) -> Iterator[bytes]:
        """In chunks of ours: how the guest wrote theirs, and what it wrote beside them, stays here."""
        while size := self._size():
            yield f"{size:x}\r\n".encode()
            yield from self.counted(size)
            self._ended(self._line())
            yield b"\r\n"
        while self._line():
            pass
        yield b"0\r\n\r\n"

    def _size(self) -> int:
        digits = self._line().partition(b";")[0].strip()
        if not 0 < len(digits) <= LONGEST_SIZE or not all(letter in b"0123456789abcdefABCDEF" for letter in digits):
            raise Refused("request", "A chunk of the body has no length.")
        return int(digits, 16)

    def _ended(self, line: bytes) -> None:
        if line:
            raise Refused("request", "A chunk of the body is longer than it says.")

    def _line(self) -> bytes:
        while b"\r\n" not in self._held:
            if len(self._held) > CHUNK_LINE:
                raise Refused("request", "A line between chunks is too long.")
            self._held += self._received()
        line, _, self._held = self._held.partition(b"\r\n")
        return line

    def _some(self, most: int) -> bytes:
        held = self._held or self._received()
        piece, self._held = held[:most], held[most:]
        return piece

    def _received(self) -> bytes:
        got = self._guest.recv(CHUNK)
        if not got:
            raise OSError("the guest left before it had said all")
        return got


def _answer(guest: socket.socket, refusal: Refused) -> None:
    """Quickly, in words an agent can read."""
    text = f"{refusal.sentence}\n".encode()
    more = ('Proxy-Authenticate: Basic realm="autopilot"',) if refusal.reason == "token" else ()
    lines = (
        f"HTTP/1.1 {STATUS.get(refusal.reason, '403 Forbidden')}",
        f"X-Autopilot-Egress: {refusal.reason}",
        *more,
        "Content-Type: text/plain; charset=utf-8",
        f"Content-Length: {len(text)}",
        "Connection: close",
        "",
        "",
    )
    try:
        guest.settimeout(LINGER_S)
        guest.sendall("\r\n".join(lines).encode() + text)
        _take_leave(guest)
    except OSError:
        return


def _take_leave(guest: socket.socket) -> None:
    """Let the other side read what was said last: a socket closed over unread bytes takes it back."""
    deadline = time.monotonic() + LINGER_S
    guest.settimeout(LINGER_S)
    guest.shutdown(socket.SHUT_WR)
    while time.monotonic() < deadline and guest.recv(CHUNK):
        pass


def _shut(*sockets: socket.socket) -> None:
    """Closing alone would not wake a thread that waits for one of them."""
    for each in sockets:
        try:
            each.shutdown(socket.SHUT_RDWR)
        except OSError:
            continue
