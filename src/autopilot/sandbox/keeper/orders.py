"""What a keeper is told to run, as the bytes it reads from a pipe, and how it is told."""

import os
import subprocess
import sys
from contextlib import ExitStack, suppress
from io import FileIO
from typing import NamedTuple

from autopilot.sandbox.keeper import keeper
from autopilot.sandbox.processes import marks
from autopilot.sandbox.processes.launch import Ceilings, hold_to

MODES = ("rb", "wb", "rb", "wb")


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


def handed_over(order: Order) -> str:
    """
    Start a keeper with the order; what it told: the program's number, or why there is none.

    A keeper may be killed before it can tell, by the very program it has started: then its own number stands for it.
    """
    with ExitStack() as stack:
        ordering, giving, told, telling = opened = (*os.pipe(), *os.pipe())
        files = {fd: stack.enter_context(FileIO(fd, mode)) for fd, mode in zip(opened, MODES, strict=True)}
        child = subprocess.Popen(
            (sys.executable, "-I", "-S", keeper.__file__, str(ordering), str(telling)),
            cwd="/",
            env={marks.MARK: order.mark},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=(ordering, telling, *order.inherited, *order.held),
        )
        child.returncode = 0  # it is waited for by its number, in whichever process that will be
        files[ordering].close()
        files[telling].close()
        # Before it has its order: what it starts is held to them from its first moment.
        hold_to(Ceilings(), child.pid)
        with suppress(BrokenPipeError):
            give(files[giving], written(order))
        files[giving].close()
        heard = files[told].readall().decode(errors="replace")
        if not heard:
            os.waitpid(child.pid, 0)
        return heard or str(child.pid)


def give(pipe: FileIO, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[pipe.write(rest) :]
