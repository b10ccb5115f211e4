"""Decides whether a credentials file that a call left is the renewed sign-in of the same account."""

import base64
import binascii
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

SHOWN = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """
    What a renewal leaves as it is, and where it is made.

    A part of an identity field may be `*` for every entry, or name a claim of the token it is behind.
    """

    identity: tuple[str, ...] = ()
    token_hosts: tuple[str, ...] = ()


def refusal(before: bytes, after: bytes, rule: Rule, contacted: frozenset[str] | None) -> str:
    """
    Why `after` is not taken for a renewal of `before`; empty where it is.

    `contacted` are the hosts that the call reached, None where nobody watched its network: then the rest decides.
    """
    old, new = decoded(before), decoded(after)
    if old is None or new is None:
        return "it is not a JSON object"
    try:
        changed = _altered(old, new, rule.identity)
    except RecursionError:
        return "it is nested too deeply"
    if not changed and contacted is not None and not contacted & {*rule.token_hosts}:
        return f"the call never reached {' or '.join(rule.token_hosts)}, where tokens are renewed"
    return changed


def _altered(old: dict[str, Any], new: dict[str, Any], identity: tuple[str, ...]) -> str:
    """What a renewal would not have changed; empty where it is one."""
    if new.keys() - old.keys():
        return "it has fields that were not there before"  # whose names are the agent's words
    if gone := next(_gone(old, new), ""):
        return f"{gone[:SHOWN]} is gone or is of another kind"
    for field in identity:
        if _values(old, field.split(".")) != _values(new, field.split(".")):
            return f"it is another account: {field} differs"
    return ""


def decoded(text: bytes) -> dict[str, Any] | None:
    """The JSON object in it, None where there is none."""
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _gone(old: Mapping[str, Any], new: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """Everything that was there and is not, or is now empty or of another kind. A token that is gone signs out."""
    for name, value in old.items():
        path, other = f"{above}{name}", new.get(name)
        if isinstance(value, dict) and isinstance(other, dict):
            yield from _gone(value, other, f"{path}.")
        elif (
            name not in new
            or (value is not None and _kind(value) != _kind(other))
            or (isinstance(value, str | list) and value and not other)
        ):
            yield path


def _kind(value: Any) -> type:
    return float if isinstance(value, int | float) and not isinstance(value, bool) else type(value)


def _values(value: Any, parts: list[str]) -> Any:
    """What is at the path, None where nothing is; for `*` by the name of the entry."""
    if not parts:
        return value
    if isinstance(value, str):
        value = _claims(value)
    if not isinstance(value, dict):
        return None
    first, *rest = parts
    if first == "*":
        return {name: _values(entry, rest) for name, entry in value.items()}
    return _values(value.get(first), rest)


def _claims(token: str) -> Any:
    """What a JSON web token says; its signature is the service's to check."""
    parts = token.split(".")
    if len(parts) != 3:  # noqa: PLR2004 - head, claims, signature
        return None
    try:
        return msgspec.json.decode(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (ValueError, binascii.Error, msgspec.DecodeError, RecursionError):
        return None
