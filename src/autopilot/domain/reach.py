"""What is said of hosts that a confined program tried to reach and was refused."""

import re
from collections.abc import Callable, Iterable, Iterator

from autopilot.domain.process import Try

OF_THE_USER = frozenset({"host", "address", "loopback"})
"""Refusals that the user can lift by a line of their config; the others are rules."""
HERE = re.compile(r"(127(\.[0-9]+){3}|localhost|\[::1\])(:[0-9]+)?")
NOT_SHARED = (
    "It is on this machine, whose loopback confined programs do not share. "
    "Once it is listed, programs that use HTTP_PROXY reach it; others, such as database clients, need --open-network."
)


def host_line(host: str) -> str:
    """The line of `[network]` in the user's config.toml that allows it."""
    return f'hosts = ["{host}"]'


def is_here(place: str) -> bool:
    return HERE.fullmatch(place) is not None


def refused(tries: Iterable[Try]) -> dict[str, int]:
    """The hosts that were refused and could be allowed, with how often; once each."""
    found: dict[str, int] = {}
    for known in tries:
        if known.verdict == "refused" and known.reason in OF_THE_USER and known.host and known.port:
            host = f"[{known.host}]" if ":" in known.host else known.host
            place = host if known.port == 443 else f"{host}:{known.port}"  # noqa: PLR2004 - the usual port
            found[place] = found.get(place, 0) + known.count
    return found


def refusals(tries: Iterable[Try], who: str, line: Callable[[str], str] = host_line) -> Iterator[str]:
    for host in refused(tries):
        allow = f"add it to the list in [network] of your config.toml: {line(host)}"
        more = f". {NOT_SHARED}" if is_here(host) else ""
        yield f"{who} was refused {host}. To allow it, {allow}{more}"
