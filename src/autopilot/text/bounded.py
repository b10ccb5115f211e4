"""Remembers a few of many values: what a long run finds out must not fill the memory."""

from collections.abc import MutableMapping
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


def remember(memory: MutableMapping[K, V], key: K, value: V, most: int) -> V:
    """Put the value down, and let the oldest go beyond `most`."""
    memory[key] = value
    forget(memory, most)
    return value


def forget(memory: MutableMapping[K, V], most: int) -> None:
    """Let the oldest go beyond `most`."""
    while len(memory) > most:
        del memory[next(iter(memory))]
