"""Who may ask what of the server: one table of refusals, read from the top, over the request's first lines. Pure."""

import hmac
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

MOST_BODY, MOST_HEAD = 16_384, 16_384
API = "/api/"
PAGES = frozenset({"/", "/app.js", "/style.css", "/icon.svg"})
_SINGLE = frozenset(
    {b"host", b"origin", b"authorization", b"content-type", b"content-length", b"sec-fetch-site", b"sec-fetch-mode"}
)
_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]{2,45}\]|[a-z0-9.-]{1,253})(?::(?P<port>[0-9]{1,5}))?")
_BEARER = "Bearer "

Access = Literal["none", "read", "write"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """`names` are the hosts we answer as. Without a `write_token` nothing can be done from outside."""

    names: frozenset[str]
    read_token: str
    write_token: str | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """The first lines of a request. Header names are in lower case, as ASGI has them."""

    method: str
    path: str
    headers: Sequence[tuple[bytes, bytes]] = ()

    def header(self, name: str) -> str | None:
        return next((value.decode("latin-1") for key, value in self.headers if key == name.encode()), None)

    @property
    def writes(self) -> bool:
        return self.method == "POST"

    @property
    def own_origin(self) -> str:
        return f"http://{self.header('host')}"


@dataclass(frozen=True, slots=True)
class Refusal:
    status: int
    because: str


@dataclass(frozen=True, slots=True)
class Rule:
    """Refuses what it applies to."""

    status: int
    because: str
    applies: Callable[[Asked, Door], bool]


def access(asked: Asked, door: Door) -> Access:
    """What the request's token allows. Both are compared to the end, so that the time tells nothing."""
    said = asked.header("authorization") or ""
    token = said.removeprefix(_BEARER).encode("latin-1") if said.startswith(_BEARER) else b""
    writes = hmac.compare_digest(token, (door.write_token or "").encode())
    reads = hmac.compare_digest(token, door.read_token.encode())
    if not token:
        return "none"
    return "write" if writes and door.write_token else "read" if reads else "none"


def refusal(asked: Asked, door: Door) -> Refusal | None:
    """None for a request that may go on."""
    return next((Refusal(rule.status, rule.because) for rule in RULES if rule.applies(asked, door)), None)


def _twice(asked: Asked, _: Door) -> bool:
    names = [name for name, _ in asked.headers if name in _SINGLE]
    return len(names) != len(set(names))


def _long_head(asked: Asked, _: Door) -> bool:
    return len(asked.path) + sum(len(name) + len(value) for name, value in asked.headers) > MOST_HEAD


def _other_host(asked: Asked, door: Door) -> bool:
    found = _HOST.fullmatch((asked.header("host") or "").lower())
    return found is None or found["name"] not in door.names


def _other_site(asked: Asked, _: Door) -> bool:
    """A link elsewhere may lead to the page, which holds nothing by itself; nothing else may come from there."""
    site = asked.header("sec-fetch-site")
    opened = asked.path == "/" and asked.method == "GET" and asked.header("sec-fetch-mode") == "navigate"
    followed = opened and asked.header("sec-fetch-dest") == "document"
    return site not in {None, "same-origin", "none"} and not followed


def _other_origin(asked: Asked, _: Door) -> bool:
    origin = asked.header("origin")
    return origin is not None and origin.lower() != asked.own_origin.lower()


def _other_method(asked: Asked, _: Door) -> bool:
    allowed = {"GET", "POST"} if asked.path.startswith(API) else {"GET", "HEAD"}
    return asked.method not in allowed


def _unknown(asked: Asked, _: Door) -> bool:
    return not asked.path.startswith(API) and asked.path not in PAGES


def _no_token(asked: Asked, door: Door) -> bool:
    return asked.path.startswith(API) and access(asked, door) == "none"


def _too_long(asked: Asked, _: Door) -> bool:
    length = asked.header("content-length")
    return length is not None and not (length.isdecimal() and int(length[:20]) <= MOST_BODY)


def _no_json(asked: Asked, _: Door) -> bool:
    kind = (asked.header("content-type") or "").partition(";")[0].strip().lower()
    return asked.writes and kind != "application/json"


RULES: tuple[Rule, ...] = (
    Rule(431, "the first lines of the request are too long", _long_head),
    Rule(400, "a header came twice", _twice),
    Rule(421, "the request is addressed to another host", _other_host),
    Rule(403, "another site asks", _other_site),
    Rule(403, "a page of another origin asks", _other_origin),
    Rule(404, "there is no such page", _unknown),
    Rule(405, "this cannot be done here", _other_method),
    Rule(401, "the token is missing or wrong", _no_token),
    Rule(403, "this token may only look", lambda asked, door: asked.writes and access(asked, door) != "write"),
    Rule(403, "the request does not say where it comes from", lambda a, _: a.writes and a.header("origin") is None),
    Rule(415, "only JSON is read here", _no_json),
    Rule(413, "the request is too long", _too_long),
)
