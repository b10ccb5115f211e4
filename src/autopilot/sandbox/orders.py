"""What a keeper is told to run, as the bytes it reads from a pipe."""

import os
from typing import NamedTuple

from autopilot.sandbox import keeper


class Order(NamedTuple):
    """
    What to run. `mark` is in the environment of everything it starts.

    `inherited` are open files for the program, `held` others that only must not be closed while it is at work.
    """

    folder: str
    cwd: str
    timeout_s: float
    lease_s: float
    max_output: int
    mark: str
    inherited: tuple[int, ...]
    held: tuple[int, ...]
    argv: tuple[str, ...]
    env: dict[str, str]


def written(order: Order) -> bytes:
    """The order as bytes: no word of it can hold a zero. Its last word tells a whole one from one cut short."""
    head = (order.folder, order.cwd, repr(order.timeout_s), repr(order.lease_s), str(order.max_output), order.mark)
    pairs = tuple(f"{name}={value}" for name, value in order.env.items())
    files = (",".join(map(str, fds)) for fds in (order.inherited, order.held))
    words = (*head, *files, str(len(order.argv)), *order.argv, *pairs, keeper.WHOLE)
    return b"\0".join(os.fsencode(word) for word in words)
