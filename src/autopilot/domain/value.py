"""The base of every value: immutable, compared by content, and its own JSON codec and schema."""

import msgspec


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """A plain value. Unknown fields in stored JSON are ignored, missing ones take their defaults."""


class Tagged(Value, frozen=True, kw_only=True, tag_field="kind", tag=True):
    """A value that is one of several in a union; its class name is its tag, so renaming one needs a migration."""


def tag_of(value: Tagged) -> str:
    """The name of its kind as it is stored and shown; the name of its class is our own affair."""
    return str(value.__struct_config__.tag)
