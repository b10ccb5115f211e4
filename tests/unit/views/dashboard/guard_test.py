"""The guard's table: what it lets through and what it refuses, and that nothing gets in without a token."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.views.dashboard.guard import RULES, Asked, Door, access, refusal

READ, WRITE = "r" * 43, "w" * 43
DOOR = Door(names=frozenset({"127.0.0.1", "localhost"}), read_token=READ, write_token=WRITE)
SHARED = Door(names=frozenset({"127.0.0.1"}), read_token=READ)
LOOK, DO = "/api/projects/1/runs/latest/watch", "/api/projects/1/stop"


def asked(method: str, path: str, token: str | None = WRITE, **headers: str) -> Asked:
    fields = {"host": "127.0.0.1:8321", **({"authorization": f"Bearer {token}"} if token else {})}
    if method == "POST":
        fields |= {"origin": "http://127.0.0.1:8321", "content_type": "application/json"}
    told = {**fields, **headers}
    held = [(k.replace("_", "-").encode(), v.encode("latin-1")) for k, v in told.items() if v != "-"]
    return Asked(method, path, held)


@pytest.mark.parametrize(
    "request_",
    [
        asked("GET", "/", None),
        asked("HEAD", "/app.js", None, sec_fetch_site="same-origin"),
        asked("GET", "/", None, sec_fetch_site="cross-site", sec_fetch_mode="navigate", sec_fetch_dest="document"),
        asked("GET", LOOK, READ),
        asked("GET", LOOK, WRITE, sec_fetch_site="same-origin"),
        asked("GET", LOOK, WRITE, host="localhost:9000", origin="http://localhost:9000"),
        asked("POST", DO, WRITE, content_length="2"),
    ],
    ids=["page", "script", "link-elsewhere", "look", "same-origin", "tunnel", "deed"],
)
def test_what_the_page_itself_sends_is_let_through(request_: Asked) -> None:
    assert refusal(request_, DOOR) is None


@pytest.mark.parametrize(
    ("status", "request_"),
    [
        (421, asked("GET", "/", host="evil.example")),
        (421, asked("GET", LOOK, host="127.0.0.1.evil.example:8321")),
        (421, asked("GET", LOOK, host="evil.example@127.0.0.1")),
        (421, asked("GET", LOOK, host="localhost.")),
        (421, asked("GET", LOOK, host="-")),
        (421, asked("GET", LOOK, host="")),
        (403, asked("GET", LOOK, origin="http://evil.example")),
        (403, asked("GET", LOOK, origin="null")),
        (403, asked("GET", LOOK, origin="https://127.0.0.1:8321")),
        (403, asked("GET", LOOK, origin="http://127.0.0.1:9999")),
        (403, asked("GET", LOOK, origin="http://localhost:8321")),
        (403, asked("GET", LOOK, sec_fetch_site="cross-site")),
        (403, asked("GET", LOOK, sec_fetch_site="same-site")),
        (403, asked("GET", "/app.js", None, sec_fetch_site="cross-site", sec_fetch_dest="script")),
        (403, asked("GET", "/", None, sec_fetch_site="cross-site", sec_fetch_mode="navigate", sec_fetch_dest="iframe")),
        (401, asked("GET", LOOK, None)),
        (401, asked("GET", LOOK, "x" * 43)),
        (401, asked("GET", LOOK, WRITE[:-1])),
        (401, asked("GET", LOOK, f"{WRITE}w")),
        (401, asked("GET", LOOK, authorization=f"Basic {WRITE}")),
        (401, asked("GET", LOOK, authorization=WRITE)),
        (401, asked("GET", LOOK, authorization="Bearer ")),
        (401, asked("GET", LOOK, authorization="Bearer é")),
        (403, asked("POST", DO, READ)),
        (403, asked("POST", DO, WRITE, origin="-")),
        (403, asked("POST", DO, WRITE, origin="http://evil.example")),
        (403, asked("POST", DO, WRITE, sec_fetch_site="cross-site")),
        (415, asked("POST", DO, WRITE, content_type="application/x-www-form-urlencoded")),
        (415, asked("POST", DO, WRITE, content_type="text/plain")),
        (415, asked("POST", DO, WRITE, content_type="-")),
        (413, asked("POST", DO, WRITE, content_length="999999999")),
        (413, asked("POST", DO, WRITE, content_length="-1")),
        (405, asked("OPTIONS", DO)),
        (405, asked("PUT", DO)),
        (405, asked("DELETE", LOOK)),
        (405, asked("POST", "/")),
        (404, asked("GET", "/../../etc/passwd", None)),
        (404, asked("GET", "/page/app.js", None)),
        (400, Asked("GET", LOOK, [(b"host", b"127.0.0.1"), (b"host", b"evil.example")])),
    ],
    ids=lambda value: None if isinstance(value, int) else f"{value.method} {dict(value.headers)}"[:90],
)
def test_everything_else_is_refused(status: int, request_: Asked) -> None:
    found = refusal(request_, DOOR)

    assert found is not None
    assert found.status == status


def test_where_there_is_no_write_token_nobody_can_write() -> None:
    for token in (READ, WRITE, "", "None"):
        assert access(asked("POST", DO, token), SHARED) != "write"
        assert refusal(asked("POST", DO, token), SHARED) is not None


@given(
    method=st.sampled_from(["GET", "POST", "HEAD", "PUT"]),
    path=st.one_of(st.just(LOOK), st.just(DO), st.text(max_size=30).map(lambda text: f"/api/{text}")),
    headers=st.dictionaries(
        st.sampled_from(["host", "origin", "authorization", "sec-fetch-site", "sec-fetch-mode", "content-type"]),
        st.one_of(
            st.sampled_from(
                ["127.0.0.1", "http://127.0.0.1", "same-origin", "navigate", "application/json", "Bearer "]
            ),
            st.text(st.characters(max_codepoint=255), max_size=60),
        ),
    ),
)
def test_without_a_token_nothing_of_the_api_is_reached(method: str, path: str, headers: dict[str, Any]) -> None:
    held = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]

    assert refusal(Asked(method, path, held), DOOR) is not None


def test_every_rule_says_why() -> None:
    assert len({rule.because for rule in RULES}) == len(RULES)
