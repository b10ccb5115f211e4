"""What looks like a secret is replaced, whatever surrounds it; what only resembles one stays."""

import base64
import hashlib
import json
import time
import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autopilot.text.redact import Redactor, is_secret_name, redact

KEY = (
    "-----BEGIN {0}PRIVATE KEY-----\n"
    + "MIIEvQIBADANBgkq" * 4
    + "\n"
    + "hkiG9w0BAQEFAASC" * 4
    + "\nab==\n-----END {0}PRIVATE KEY-----"
)
SECRETS = {
    "aws": "AKIA" + "IOSFODNN7EXAMPLE",
    "aws temporary": "ASIA" + "QWERTYUIOPASDFGH",
    "github": "ghp_" + "a1B2" * 9,
    "github fine-grained": "github_pat_" + "11ABCDEFG0" * 8,
    "gitlab": "glpat-" + "x1Y2z3W4" * 3,
    "slack": "xoxb-" + "123456789012-1234567890123-abcdEFGHijkl",
    "anthropic": "sk-ant-" + "api03-" + "Ab_1" * 20,
    "openai": "sk-proj-" + "Ab-1" * 20,
    "openai legacy": "sk-" + "Ab12" * 12,
    "google": "AIza" + "Sy_-1aB" * 5,
    "stripe": "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc",
    "npm": "npm_" + "a1B2" * 9,
    "pypi": "pypi-" + "AgEIcHlwaS5vcmc" + "Ab_1" * 20,
    "jwt": "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0." + "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
    "private_key": KEY.format(""),
    "private_key rsa": KEY.format("RSA "),
    "private_key openssh": KEY.format("OPENSSH "),
}  # fmt: skip
HARMLESS = {
    "a git commit": "0acf835d5f1c9c3e8f5c5f0e9d1b7a6c5d4e3f2a",
    "a sha256": hashlib.sha256(b"x").hexdigest(),
    "a uuid": str(uuid.UUID(int=2**100 + 7)),
    "base64": base64.b64encode(bytes(range(256)) * 2).decode(),
    "base64url": base64.urlsafe_b64encode(bytes(range(200))).decode(),
    "a url with a port": "https://example.org:8080/a/b?c=d@e",
    "an ssh remote": "git@github.com:owner/name.git",
    "words": "the bearer of this letter, a basic idea, sk-learn and npm_config_registry, xox, glpat",
    "a short option": "task-01-01.sh sk-test AKIA AIzaShort ghp_short",
    "a public key": "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
    "a dotted name": "eyJ.package.module",
}


@pytest.mark.parametrize("name", SECRETS)
@pytest.mark.parametrize("around", ["{}", "key={}\n", 'x = "{}",', "('{}')", "a\t{} b"], ids=repr)
def test_a_known_shape_is_replaced(name: str, around: str) -> None:
    assert redact(around.format(SECRETS[name])) == around.format(f"[redacted:{name.split(maxsplit=1)[0]}]")


@pytest.mark.parametrize("name", SECRETS)
@pytest.mark.parametrize("before", ["at work\n", "a\t", "\x1b[31m", "\r\n"], ids=repr)
def test_a_known_shape_is_found_in_json_and_in_json_within_json(name: str, before: str) -> None:
    """Agents print events, and transcripts hold what they print: a line's end is two letters there, or three."""
    text, kept = before + SECRETS[name], f"{before}[redacted:{name.split(maxsplit=1)[0]}]"

    assert redact(text) == kept
    assert redact(json.dumps(text)) == json.dumps(kept)
    assert redact(json.dumps(json.dumps(text))) == json.dumps(json.dumps(kept))


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Authorization: Bearer abc123def456ghi789", "Authorization: Bearer [redacted:bearer]"),
        ("authorization: Basic dXNlcjpwYXNzd29yZA==", "authorization: Basic [redacted:basic_auth]"),
        ("postgres://ada:pa55word@db.example.org/x", "postgres://ada:[redacted:url_password]@db.example.org/x"),
        ("AWS_SECRET_ACCESS_KEY=" + "wJalrXUtnFEMI/K7MDENGbPxRfiCYEXAMPLEKEY1", "AWS_SECRET_ACCESS_KEY=[redacted:aws]"),
        ("https://hooks.slack.com/services/" + "T0000/B0000/XXXXXXXXXXXX", "https://hooks.slack.com/services/[redacted:slack]"),
    ],
    ids=["bearer", "basic", "url", "aws secret key", "slack hook"],
)  # fmt: skip
def test_what_leads_to_a_secret_is_kept(text: str, kept: str) -> None:
    assert redact(f"{text} end") == f"{kept} end"
    assert redact(json.dumps(json.dumps(f"said\n{text} end"))) == json.dumps(json.dumps(f"said\n{kept} end"))


@pytest.mark.parametrize("name", HARMLESS)
def test_what_only_resembles_a_secret_stays(name: str) -> None:
    assert redact(HARMLESS[name]) == HARMLESS[name]


def test_values_of_secret_variables_are_known_plain_and_as_json() -> None:
    redactor = Redactor.of({"DEPLOY_TOKEN": 'hunter2"hunter2', "HOME": "/home/ada", "API_KEY": "short"})

    assert redactor('say hunter2"hunter2 at /home/ada, short') == "say [redacted:env:DEPLOY_TOKEN] at /home/ada, short"
    assert redactor(json.dumps({"a": 'hunter2"hunter2'})) == '{"a": "[redacted:env:DEPLOY_TOKEN]"}'


@pytest.mark.parametrize("name", ["GH_TOKEN", "OPENAI_API_KEY", "APP_SECRET", "DB_PASSWORD", "PASSWORD", "api_keys"])
def test_names_of_secrets_are_recognised(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["HOME", "KEYBOARD", "MONKEY", "SSH_AUTH_SOCK", "TOKENIZER", "LANG"])
def test_other_names_are_not(name: str) -> None:
    assert not is_secret_name(name)


texts = st.one_of(st.sampled_from([*SECRETS.values()]), st.text())
documents = st.recursive(texts, lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from("abc"), inner))


def shape(value: object) -> object:
    if isinstance(value, dict):
        return {key: shape(inner) for key, inner in value.items()}
    return [shape(inner) for inner in value] if isinstance(value, list) else type(value)


@settings(max_examples=60, deadline=None)
@given(data=documents)
def test_json_stays_json_of_the_same_shape(data: object) -> None:
    assert shape(json.loads(redact(json.dumps(data)))) == shape(data)


@pytest.mark.parametrize(
    "piece",
    ["a", "eyJ-", "eyJa.", "://a:", "sk-", "-----BEGIN PRIVATE KEY-----", "Bearer ", "xoxb-", "gl", "A1b2\n", "hunter2hunter2"],
    ids=repr,
)  # fmt: skip
def test_a_line_of_a_million_characters_takes_no_time(piece: str) -> None:
    line = piece * (1_000_000 // len(piece))
    began = time.process_time()
    Redactor.of({"A_TOKEN": "hunter2hunter2"})(line)

    assert time.process_time() - began < 5
