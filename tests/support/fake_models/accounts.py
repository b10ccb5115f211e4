"""Stands for the vendors' own hosts behind a proxy of this machine: signs dummy accounts in anew, and asks the script."""

import base64
import json
import ssl
import subprocess
import threading
import time
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qs

from support.fake_models.formats import gemini, gemini_error, gemini_stream, sse
from support.fake_models.server import HERE, TICK_S, FakeModels, Handler

Json = dict[str, Any]
HOSTS = (
    "api.anthropic.com", "platform.claude.com", "console.anthropic.com", "claude.ai", "chatgpt.com", "auth.openai.com",
    "api.openai.com", "cloudcode-pa.googleapis.com", "oauth2.googleapis.com", "www.googleapis.com",
)  # fmt: skip
TOKEN_PATHS = ("/oauth/token", "/token")
HOUR_S, ACCOUNT = 3600, "acc-1"


def token(**claims: Any) -> str:
    """A JSON web token that nobody has signed."""
    parts = (
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in ({"alg": "none"}, claims)
    )
    return f"{'.'.join(parts)}.x"


def identity(access: str, expires: float) -> str:
    account = {"chatgpt_account_id": ACCOUNT, "chatgpt_plan_type": "plus", "chatgpt_user_id": "user-1"}
    return token(
        sub="user-1", email="ada@example.org", exp=int(expires), jti=access, **{"https://api.openai.com/auth": account}
    )


def expired(name: str) -> tuple[str, Json]:
    """Where a program keeps its account, and one that must be renewed first."""
    past = time.time() - HOUR_S
    match name:
        case "claude":
            held = {"accessToken": "access-0", "refreshToken": "refresh-0", "expiresAt": int(past * 1000)}
            scopes = ["user:inference", "user:profile"]
            return ".claude/.credentials.json", {"claudeAiOauth": {**held, "scopes": scopes, "subscriptionType": "max"}}
        case "codex":
            old = identity("access-0", past)
            tokens = {"id_token": old, "access_token": old, "refresh_token": "refresh-0", "account_id": ACCOUNT}
            return ".codex/auth.json", {
                "OPENAI_API_KEY": None,
                "tokens": tokens,
                "last_refresh": "2020-01-01T00:00:00Z",
            }
    held = {"access_token": "access-0", "refresh_token": "refresh-0", "expiry_date": int(past * 1000)}
    return ".gemini/oauth_creds.json", {
        **held,
        "scope": "s",
        "token_type": "Bearer",
        "id_token": identity("access-0", past),
    }


@dataclass
class FakeAccounts:
    """
    A context manager; `proxy` is where programs are to be sent, with the certificate in `ca`.

    A token to renew with is good for one renewal, as at the real services; Google's stays the same.
    """

    models: FakeModels
    place: Path
    renewals: list[str] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)

    def __enter__(self) -> Self:
        self.ca, self._lock, self.good = self.place / "ca.pem", threading.Lock(), {"refresh-0"}
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(*certificate(self.place))
        self.tls.set_alpn_protocols(["http/1.1"])
        self._server = ProxyServer(self)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": TICK_S})
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def variables(self) -> dict[str, str]:
        proxy = f"http://{HERE}:{self._server.server_address[1]}"
        ca = str(self.ca)
        return {"HTTPS_PROXY": proxy, "https_proxy": proxy, "NODE_EXTRA_CA_CERTS": ca, "SSL_CERT_FILE": ca}

    def renew(self, host: str, old: str) -> Json | None:
        """New tokens for an old one, None for one that was used up."""
        with self._lock:
            self.renewals.append(old)
            if old not in self.good:
                return None
            number = len(self.renewals)
            keeps = host.endswith("googleapis.com")
            refresh = old if keeps else f"refresh-{number}"
            self.good = {refresh}
        access = f"access-{number}"
        signed = identity(access, time.time() + HOUR_S)
        told = {"access_token": signed if "openai" in host else access, "expires_in": HOUR_S, "id_token": signed}
        more = {} if keeps else {"refresh_token": refresh}
        return {**told, **more, "token_type": "Bearer", "scope": "s" if keeps else "user:inference user:profile"}


def certificate(place: Path) -> tuple[str, str]:
    """A certificate for all the hosts and its key, by an authority made for it in `ca.pem`."""
    names = ",".join(f"DNS:{host}" for host in HOSTS)
    (place / "names.cnf").write_text(f"subjectAltName={names}\n")
    for words in (
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj /CN=fake -keyout ca.key -out ca.pem",
        "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=fake-hosts -keyout hosts.key -out hosts.csr",
        "x509 -req -in hosts.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -extfile names.cnf -out hosts.pem",
    ):
        subprocess.run(["openssl", *words.split()], cwd=place, check=True, capture_output=True)
    return str(place / "hosts.pem"), str(place / "hosts.key")


class HostHandler(Handler):
    """Answers for one host, inside TLS."""

    accounts: FakeAccounts
    host: str

    def do_POST(self) -> None:  # noqa: N802 - named by the base class
        path = self.path.partition("?")[0]
        if path.endswith(TOKEN_PATHS):
            self._renew()
        elif path.endswith("/tokeninfo"):
            self._whole(200, {"sub": "user-1", "email": "ada@example.org", "expires_in": HOUR_S, "scope": "s"})
        elif "access-0" in self._signed():
            self._whole(
                401, {"type": "error", "error": {"type": "authentication_error", "message": "token has expired"}}
            )
        elif self.host.startswith("cloudcode"):
            self._code_assist(path.rpartition(":")[2])
        else:
            super().do_POST()

    def do_GET(self) -> None:  # noqa: N802 - as above
        if self.path.endswith("/wham/accounts/check"):
            own = {
                "id": ACCOUNT,
                "name": "Ada",
                "structure": "personal",
                "plan_type": "plus",
                "workspace_backend_origin": "https://chatgpt.com",
                "account_routing_override": "us",
            }
            self._whole(200, {"accounts": [own], "default_account_id": ACCOUNT, "account_ordering": [ACCOUNT]})
        elif self.headers.get("upgrade") or (self.host == "chatgpt.com" and "/codex/models" not in self.path):
            self._whole(404, {"error": {"message": "no such service"}})
        elif self.path.startswith("/oauth2/v2/userinfo"):
            self._whole(200, {"id": "user-1", "email": "ada@example.org"})
        else:
            super().do_GET()

    def _signed(self) -> str:
        """What the request's token says, whether or not it is a JSON web token."""
        held = (self.headers.get("authorization") or "").removeprefix("Bearer ")
        if held.count(".") != 2:
            return held
        part = held.split(".")[1]
        return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)).decode()

    def _renew(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
        old = (
            json.loads(raw).get("refresh_token") if raw.startswith("{") else parse_qs(raw).get("refresh_token", [""])[0]
        )
        told = self.accounts.renew(self.host, old)
        self._whole(200 if told else 400, told or {"error": "invalid_grant", "error_description": "used up"})

    def _code_assist(self, what: str) -> None:
        """Google's service for accounts: questions and answers are wrapped."""
        body = self._body()
        match what:
            case "streamGenerateContent" | "generateContent":
                asked = body.get("request") or {}
                turn = self.models.turn_for(self.path, asked)
                if turn.status != 200:
                    self._whole(turn.status, gemini_error(turn))
                elif what == "generateContent":
                    self._whole(200, {"response": gemini(turn, asked)})
                else:
                    self._stream([_wrapped(event) for event in gemini_stream(turn, asked)], turn)
            case "loadCodeAssist":
                tier = {"id": "free-tier", "name": "free", "isDefault": True}
                self._whole(200, {"currentTier": tier, "allowedTiers": [tier], "cloudaicompanionProject": "p1"})
            case "onboardUser":
                self._whole(200, {"done": True, "response": {"cloudaicompanionProject": {"id": "p1"}}})
            case "countTokens":
                self._whole(200, {"totalTokens": 100})
            case _:
                self._whole(200, {})


def _wrapped(event: bytes) -> bytes:
    return sse({"response": json.loads(event.removeprefix(b"data: "))})


class ProxyHandler(Handler):
    """Takes a tunnel to a host for one to ourselves."""

    def do_CONNECT(self) -> None:  # noqa: N802 - as above
        assert isinstance(self.server, ProxyServer)
        accounts, host = self.server.accounts, self.path.partition(":")[0]
        self.close_connection = True
        accounts.hosts.append(host)
        if host not in HOSTS:
            self._whole(403, {})
            return
        self.send_response(200)
        self.end_headers()
        try:
            inside = accounts.tls.wrap_socket(self.connection, server_side=True)
        except OSError:
            return
        kind = type("OneHost", (HostHandler,), {"accounts": accounts, "host": host})
        try:
            kind(inside, self.client_address, accounts.models.server)
        finally:
            inside.close()


class ProxyServer(ThreadingHTTPServer):
    """A proxy that knows whose accounts it renews."""

    daemon_threads = True

    def __init__(self, accounts: FakeAccounts) -> None:
        self.accounts = accounts
        super().__init__((HERE, 0), ProxyHandler)
