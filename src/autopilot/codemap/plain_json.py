"""JSON for a process too short-lived to import `json`, which compiles patterns it has no use for here."""

try:
    from _json import encode_basestring
except ImportError:
    from json.encoder import encode_basestring


def quoted(text: str) -> str:
    return encode_basestring(text)


def encoded(value: object) -> str:
    """Text, numbers, truth values, None, and lists, tuples and dicts of them."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, dict):
        return "{" + ",".join([f"{quoted(key)}:{encoded(one)}" for key, one in value.items()]) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join([encoded(one) for one in value]) + "]"
    return "null" if value is None else str(value).lower()
