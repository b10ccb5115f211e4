"""
What the proxy lets through, as pure functions: hosts, addresses, request heads, and the greeting of TLS.

Loaded by a program that is started for every call, so it imports little, and nothing of ours.
"""

import ipaddress
import re

LONGEST_NAME = 253
LONGEST_GREETING = 1 << 16
TLS_PORT = 443
LOCALHOST = "localhost"
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_PORT = re.compile(r"[0-9]{1,5}")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_VERSION = re.compile(r"HTTP/1\.[01]")
_LENGTH = re.compile(r"[0-9]{1,15}")
# Said to the next hop only, or said anew by us.
HOP_BY_HOP = frozenset(
    {
        "connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "host", "expect", "content-length",
        "proxy-connection", "proxy-authenticate", "proxy-authorization", "http2-settings",
    }
)  # fmt: skip
# Addresses by which machines of a cloud ask about themselves and which look like any other.
METADATA = frozenset({"168.63.129.16"})
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
HANDSHAKE, HELLO, SERVER_NAME, HOST_NAME = 22, 1, 0, 0


class Refused(Exception):
    """
    Not let through. `reason` is one word for the record, `sentence` is for who reads the answer.

    `address` is what the user must list, where the host's own name is not enough.
    """

    def __init__(self, reason: str, sentence: str, address: str = "") -> None:
        super().__init__(sentence)
        self.reason, self.sentence, self.address = reason, sentence, address


def host_of(text: str) -> str:
    """The one spelling of a host. A number in disguise is refused, not interpreted."""
    if text.startswith("["):
        return _sixth(text)
    name = text.removesuffix(".")
    if not name.isascii():
        try:
            name = name.encode("idna").decode()
        except UnicodeError:
            raise _no_host(text) from None
    name = name.lower()
    if len(name) > LONGEST_NAME or not _NAME.fullmatch(name):
        raise _no_host(text)
    if not _NUMBER.fullmatch(name.rpartition(".")[2]):
        return name
    try:
        return str(ipaddress.IPv4Address(name))
    except ValueError:
        raise Refused("number", f"{_shown(text)} is a number in disguise; write an address in full.") from None


def _sixth(text: str) -> str:
    try:
        address = ipaddress.IPv6Address(text[1:-1] if text.endswith("]") and "%" not in text else "")
    except ValueError:
        raise _no_host(text) from None
    if _within(address) is not None:
        raise Refused("number", f"{_shown(text)} is an IPv4 address in disguise.")
    return str(address)


def _no_host(text: str) -> Refused:
    return Refused("host", f"{_shown(text)} is not the name of a host.")


def _shown(text: str) -> str:
    return ascii(text[:100])


def place_of(text: str, usual: int | None = None) -> tuple[str, int]:
    """`host:port`, or a host alone where there is a usual port."""
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        if usual is None:
            raise Refused("port", f"{_shown(text)} names no port.")
        return host_of(text), usual
    if not _PORT.fullmatch(port) or not 0 < int(port) < 1 << 16:
        raise Refused("port", f"{_shown(text)} has no port that exists.")
    return host_of(host), int(port)


def rule_of(text: str) -> str:
    """An entry of the list in its one spelling, `host:port`; `*.suffix` stands for all below it, never for itself."""
    star = "*." if text.startswith("*.") else ""
    host, port = place_of(text[len(star) :], TLS_PORT)
    if star and (":" in host or is_address(host)):
        raise Refused("host", f"{_shown(text)}: there is nothing below an address.")
    return f"{star}{written(host)}:{port}"


def written(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


class Allowed:
    """The hosts somebody may reach, each with its port."""

    def __init__(self, rules: list[str]) -> None:
        known = [rule_of(rule) for rule in rules]
        self._exact = frozenset(rule for rule in known if not rule.startswith("*."))
        self._below = tuple(rule[1:] for rule in known if rule.startswith("*."))

    def permits(self, host: str, port: int) -> bool:
        place = f"{written(host)}:{port}"
        return place in self._exact or (not is_address(host) and place.endswith(self._below))

    def check(self, host: str, port: int) -> None:
        if not self.permits(host, port):
            place = f"{written(host)}:{port}"
            raise Refused("host", f"Autopilot does not let this agent reach {place}; only its user can allow it.")

    def check_address(self, host: str, address: str, port: int) -> None:
        """The host is allowed; whether it may be at this address. What is not public must be listed as it is."""
        known = closed(address)
        listed = self.permits(address, port) or (host == LOCALHOST and ipaddress.ip_address(address).is_loopback)
        if known and not listed:
            sentence = f"{host} is at {address}, {known}; its user can allow {written(address)}:{port}."
            raise Refused("address", sentence, address)


def closed(address: str) -> str:
    """What is wrong with an address that is not out on the public network; empty for others."""
    found = ipaddress.ip_address(address)
    if isinstance(found, ipaddress.IPv6Address):
        inner = _within(found)
        if inner is not None:
            return closed(str(inner))
        if found.is_site_local:
            return "a private address"
    kinds = {
        "an address of this machine": found.is_loopback or found.is_unspecified,
        "a link-local address": found.is_link_local,
        "a multicast address": found.is_multicast,
        "an address of the cloud's own": address in METADATA,
        "a private address": not found.is_global or found.is_reserved,
    }
    return next((kind for kind, holds in kinds.items() if holds), "")


def _within(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that an IPv6 one stands for."""
    if address in NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else None)


class Request:
    """One request's head: strictly read, since what two programs read differently can be smuggled past one of them."""

    def __init__(self, head: bytes) -> None:
        first, *lines = head.decode("latin-1").split("\r\n")
        words = first.split(" ")
        if len(words) != 3 or not _TOKEN.fullmatch(words[0]) or not _VERSION.fullmatch(words[2]):  # noqa: PLR2004 - as written
            raise _broken("its first line is none")
        self.method, self.target = words[0], words[1]
        self.headers = [self._header(line) for line in lines]

    def _header(self, line: str) -> tuple[str, str]:
        name, colon, value = line.partition(":")
        if not colon or not _TOKEN.fullmatch(name) or _CONTROL.search(value):
            raise _broken("a header of it is none")
        return name, value.strip(" \t")

    def all(self, name: str) -> list[str]:
        return [value for known, value in self.headers if known.lower() == name]

    @property
    def length(self) -> int | None:
        """How many bytes of a body follow; None where they come in chunks."""
        lengths, coded = self.all("content-length"), self.all("transfer-encoding")
        if coded:
            if lengths or [value.lower() for value in coded] != ["chunked"]:
                raise _broken("the length of its body is told in two ways")
            return None
        if len(lengths) > 1 or not all(_LENGTH.fullmatch(value) for value in lengths):
            raise _broken("the length of its body is unclear")
        return int(lengths[0]) if lengths else 0

    def onward(self, target: str, place: str, more: tuple[str, ...] = ()) -> bytes:
        """The head as it goes out: the host is ours to say, and the connection ends with the answer."""
        named = {word.strip().lower() for value in self.all("connection") for word in value.split(",")}
        kept = [f"{k}: {v}" for k, v in self.headers if k.lower() not in HOP_BY_HOP | named]
        length = self.length
        has_body = bool(self.all("content-length"))
        framing = ["Transfer-Encoding: chunked"] if length is None else [f"Content-Length: {length}"] * has_body
        lines = (f"{self.method} {target} HTTP/1.1", f"Host: {place}", *kept, *framing, *more, "Connection: close")
        return "\r\n".join((*lines, "", "")).encode("latin-1")


def _broken(why: str) -> Refused:
    return Refused("request", f"The request cannot be read: {why}.")


def plain_target(target: str) -> tuple[str, int, str]:
    """Host, port and path of an absolute `http://` address, the only form besides CONNECT."""
    scheme, found, rest = target.partition("://")
    if not found or scheme.lower() != "http":
        raise Refused("form", "Only CONNECT and absolute http:// addresses are served.")
    end = next((at for at, letter in enumerate(rest) if letter in "/?#"), len(rest))
    authority, path = rest[:end], rest[end:]
    if "@" in authority or "#" in path or not path.isascii() or _CONTROL.search(path):
        raise Refused("form", "The address has parts that do not belong there.")
    return *place_of(authority, 80), path if path.startswith("/") else f"/{path}"


class _Reading:
    """Takes fields off the front; a field that is not there is a greeting that is none."""

    def __init__(self, rest: bytes) -> None:
        self.rest = rest

    def take(self, count: int) -> bytes:
        if len(self.rest) < count:
            raise _no_greeting()
        taken, self.rest = self.rest[:count], self.rest[count:]
        return taken

    def number(self, width: int) -> int:
        return int.from_bytes(self.take(width), "big")

    def block(self, width: int) -> "_Reading":
        return _Reading(self.take(self.number(width)))


def _no_greeting() -> Refused:
    return Refused("tls", "Port 443 is for TLS only, and this does not begin like it.")


def server_name(data: bytes) -> str | None:
    """The host that a TLS greeting asks for, empty where it names none; None while the greeting is not whole yet."""
    message, rest = b"", data
    while len(message) < 4 or len(message) < 4 + int.from_bytes(message[1:4], "big"):  # noqa: PLR2004 - type and length
        if rest[:1] not in {b"", bytes([HANDSHAKE])} or rest[1:2] not in {b"", b"\x03"}:
            raise _no_greeting()
        if message[:1] not in {b"", bytes([HELLO])} or len(data) > LONGEST_GREETING:
            raise _no_greeting()
        size = int.from_bytes(rest[3:5], "big")
        if len(rest) < 5 or len(rest) < 5 + size:  # noqa: PLR2004 - the head of a record
            return None
        if size == 0:
            raise _no_greeting()
        message, rest = message + rest[5 : 5 + size], rest[5 + size :]
    return _named(message)


def _named(message: bytes) -> str:
    hello = _Reading(message)
    if hello.number(1) != HELLO:
        raise _no_greeting()
    body = hello.block(3)
    body.take(34)  # version and random
    for width in (1, 2, 1):  # session, ciphers, compressions
        body.block(width)
    extensions = body.block(2) if body.rest else body
    names: list[bytes] = []
    while extensions.rest:
        kind, content = extensions.number(2), extensions.block(2)
        if kind == SERVER_NAME:
            entries = content.block(2)
            while entries.rest:
                known, name = entries.number(1), entries.block(2)
                names += [name.rest] if known == HOST_NAME else [b"?"]
    if len(names) > 1:
        raise _no_greeting()
    return names[0].decode("latin-1").lower() if names else ""


def check_greeting(name: str, host: str) -> None:
    """An address has no name to ask for; any other host must be the one that was allowed."""
    if name != host and not (is_address(host) and not name):
        raise Refused("name", f"The TLS greeting asks for {_shown(name)}, not for {host}.")
