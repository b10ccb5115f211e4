"""What counts as a renewed sign-in of the same account, and nothing else does."""

import base64
import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.agents.accounts.renewal import Rule, refusal
from autopilot.agents.backends.catalogue import BY_NAME, PREFERRED


def token(**claims: str) -> str:
    return f"x.{base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip('=')}.y"


# An account of each program that renews its tokens, and what a renewal makes of it.
ACCOUNTS: dict[str, dict[str, Any]] = {
    "claude": {
        "claudeAiOauth": {
            "accessToken": "a", "refreshToken": "r", "expiresAt": 1, "scopes": ["user:inference"], "subscriptionType": "max",
        },
        "organizationUuid": "o",
    },
    "codex": {
        "auth_mode": "chatgpt", "OPENAI_API_KEY": None, "last_refresh": "2026-01-01T00:00:00Z",
        "tokens": {"id_token": token(sub="me"), "access_token": token(sub="me", exp="1"), "refresh_token": "r", "account_id": "i"},
    },
    "gemini": {"access_token": "a", "refresh_token": "r", "scope": "s", "token_type": "Bearer", "id_token": "i", "expiry_date": 1},
    "qwen": {"access_token": "a", "refresh_token": "r", "token_type": "Bearer", "resource_url": "portal.qwen.ai", "expiry_date": 1},
    "opencode": {"anthropic": {"type": "oauth", "refresh": "r", "access": "a", "expires": 1}, "openai": {"type": "api", "key": "k"}},
    "pi": {"anthropic": {"type": "oauth", "refresh": "r", "access": "a", "expires": 1}},
}  # fmt: skip
RENEWED: dict[str, dict[str, Any]] = {
    "claude": {"claudeAiOauth": {"accessToken": "A", "refreshToken": "R", "expiresAt": 2.5}},
    "codex": {"last_refresh": "2026-02-02", "tokens": {"access_token": token(sub="me", exp="2"), "refresh_token": "R"}},
    "gemini": {"access_token": "A", "expiry_date": 2},
    "qwen": {"access_token": "A", "refresh_token": "R", "expiry_date": 2},
    "opencode": {"anthropic": {"refresh": "R", "access": "A", "expires": 2}},
    "pi": {"anthropic": {"refresh": "R", "access": "A", "expires": 2}},
}
# Another account by one field each.
OTHERS: dict[str, dict[str, Any]] = {
    "claude": {"claudeAiOauth": {"subscriptionType": "pro"}},
    "codex": {"tokens": {"access_token": token(sub="you")}},
    "gemini": {"refresh_token": "R"},
    "qwen": {"resource_url": "evil.example"},
    "opencode": {"openai": {"key": "K"}},
    "pi": {"anthropic": {"type": "api"}},
}


def rule_of(name: str) -> Rule:
    return Rule(identity=BY_NAME[name].identity, token_hosts=BY_NAME[name].token_hosts)


def changed(name: str, *changes: dict[str, Any]) -> bytes:
    made = copy.deepcopy(ACCOUNTS[name])
    for change in changes:
        for field, value in change.items():
            made[field] = {**made[field], **value} if isinstance(value, dict) else value
    return json.dumps(made).encode()


@pytest.fixture(params=sorted(ACCOUNTS))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_every_program_that_renews_is_among_these() -> None:
    assert {backend.name for backend in PREFERRED if backend.token_hosts} == ACCOUNTS.keys()


@pytest.mark.parametrize("watched", [True, False])
def test_a_renewal_is_taken_over(name: str, *, watched: bool) -> None:
    contacted = frozenset({rule_of(name).token_hosts[0], "model.example"}) if watched else None

    assert refusal(changed(name), changed(name, RENEWED[name]), rule_of(name), contacted) == ""


def test_another_account_is_not(name: str) -> None:
    refused = refusal(changed(name), changed(name, RENEWED[name], OTHERS[name]), rule_of(name), None)

    assert "another account" in refused


def test_what_was_renewed_nowhere_is_not(name: str) -> None:
    refused = refusal(changed(name), changed(name, RENEWED[name]), rule_of(name), frozenset({"model.example"}))

    assert "never reached" in refused


@pytest.mark.parametrize(
    ("after", "why"),
    [
        (b"", "not a JSON object"),
        (b"[]", "not a JSON object"),
        (b'{"claudeAiOauth": {"accessT', "not a JSON object"),
        (b"\xff\xfe", "not a JSON object"),
        (b"[" * 60_000, "not a JSON object"),
        (b"{}", "is gone"),
        (changed("claude", {"apiKeyHelper": "curl evil.example"}), "fields that were not there"),
        (changed("claude", {"claudeAiOauth": {"refreshToken": ""}}), "claudeAiOauth.refreshToken is gone"),
        (changed("claude", {"claudeAiOauth": {"refreshToken": None}}), "claudeAiOauth.refreshToken is gone"),
        (changed("claude", {"organizationUuid": "else"}), "another account"),
        (json.dumps({**ACCOUNTS["claude"], "claudeAiOauth": "text"}).encode(), "claudeAiOauth is gone"),
    ],
)
def test_what_is_no_renewal_is_refused_with_its_reason(after: bytes, why: str) -> None:
    assert why in refusal(changed("claude"), after, rule_of("claude"), None)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(st.sampled_from(["id", "tokens", "a", "b"]), json_values, max_size=4)
hosts = st.none() | st.frozensets(st.sampled_from(["token.example", "model.example"]))


@given(before=objects, after=json_values | objects, contacted=hosts)
def test_whatever_is_taken_over_keeps_the_rule(
    before: dict[str, Any], after: Any, contacted: frozenset[str] | None
) -> None:
    rule = Rule(identity=("id", "tokens.a"), token_hosts=("token.example",))
    old, new = json.dumps(before).encode(), json.dumps(after).encode()
    if refusal(old, new, rule, contacted):
        return
    assert isinstance(after, dict)
    assert after.keys() == before.keys()
    assert after.get("id") == before.get("id")
    assert contacted is None or "token.example" in contacted
    tokens = before.get("tokens")
    if isinstance(tokens, dict):
        assert tokens.keys() <= after["tokens"].keys()
        assert after["tokens"].get("a") == tokens.get("a")


@given(before=objects, contacted=hosts)
def test_the_same_again_is_refused_only_for_want_of_a_renewal(
    before: dict[str, Any], contacted: frozenset[str] | None
) -> None:
    held = json.dumps(before).encode()
    reached = contacted is None or "token.example" in contacted

    assert (refusal(held, held, Rule(identity=("id",), token_hosts=("token.example",)), contacted) == "") == reached


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_no_content_is_an_error(before: bytes, after: bytes) -> None:
    assert (
        refusal(before, after, Rule(identity=("a.b",)), None) != ""
        or json.loads(after).keys() == json.loads(before).keys()
    )
