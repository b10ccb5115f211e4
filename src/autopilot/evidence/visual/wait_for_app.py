"""Waits for an app to answer."""

import http.client
import ssl
import time
from collections.abc import Callable
from urllib.parse import urljoin, urlsplit

from autopilot.domain.visual import Served, VisualTesting

ANSWER_S, LEAST_S = 5.0, 0.5
PAUSE_S = 0.1
GOOD = 200
MOST_REDIRECTS = 5
REDIRECTS = frozenset({301, 302, 303, 307, 308})


def await_answer(served: Served, visual: VisualTesting, sleep: Callable[[float], None] = time.sleep) -> str | None:
    """None once `base_url` answers 200, else what happened instead. VIST-01: first the app is given its time."""
    ready = time.monotonic() + visual.launch_wait_ms / 1000
    until = ready + visual.launch_limit_ms / 1000
    last = "nothing listened"
    while True:
        if (end := served.ended()) is not None:
            return end
        now = time.monotonic()
        if now >= ready:
            found = status(served.port, visual.base_url, min(ANSWER_S, max(LEAST_S, until - now)))
            if found == GOOD:
                return None
            last = f"it answered {found}" if isinstance(found, int) else found
            if now >= until:
                return f"{visual.base_url} did not answer 200: {last}"
        sleep(min(PAUSE_S, max(0.0, ready - now)) or PAUSE_S)


def status(port: int, url: str, seconds: float = ANSWER_S) -> int | str:
    """The HTTP status of the address as the app gives it, redirects within the app followed; or what went wrong."""
    for _ in range(MOST_REDIRECTS):
        parts = urlsplit(url)
        connection = _connection(parts.scheme, port, seconds)
        try:
            connection.request("GET", _target(url), headers={"Host": parts.netloc})
            answer = connection.getresponse()
            onward = urljoin(url, answer.getheader("Location") or url)
        except (OSError, http.client.HTTPException, ValueError) as error:
            return f"{type(error).__name__}: {error}"
        finally:
            connection.close()
        if answer.status not in REDIRECTS or urlsplit(onward)[:2] != parts[:2] or onward == url:
            return answer.status
        url = onward
    return "it redirects for ever"


def _target(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"


def _connection(scheme: str, port: int, seconds: float) -> http.client.HTTPConnection:
    if scheme == "https":
        # An app on this machine has no certificate anybody else would vouch for; nobody can stand between us.
        trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
        return http.client.HTTPSConnection("127.0.0.1", port, timeout=seconds, context=trusting)
    return http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
