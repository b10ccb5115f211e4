"""Compiles what a confined program may not ask of the kernel into a seccomp filter, as plain BPF."""

import errno
import platform
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from autopilot.sandbox.syscalls import (
    ABSENT,
    CALLING_OUT,
    KERNEL,
    MACHINES,
    MOUNTS,
    OTHERS_MEMORY,
    Machine,
)

ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050000, 0x80000000
LOAD, EQUALS, AT_LEAST, ANY_BIT, MASK, RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
NUMBER_AT, ARCHITECTURE_AT, ARGUMENTS_AT = 0, 4, 16
# CLONE_NEWCGROUP | NEWUTS | NEWIPC | NEWUSER | NEWPID | NEWNET | NEWNS | NEWTIME
NAMESPACES = 0x7E020080
TERMINAL_INPUT = (0x5412, 0x541C)  # TIOCSTI and TIOCLINUX: typing into the terminal we were started from
UNIX, INET, INET6, NETLINK = 1, 2, 10, 16
KINDS, STREAM, SEQPACKET = 0xF, 1, 5

Step = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """`families` are the kinds of socket that may be made; None: any. `pairs_only_connected`: no datagram pairs."""

    refused: tuple[str, ...]
    absent: tuple[str, ...]
    families: tuple[int, ...] | None
    pairs_only_connected: bool = False
    no_namespaces: bool = True


# Processes and network are namespaces of its own, so it may debug its children and serve itself.
IN_BUBBLEWRAP = Rules(refused=(*KERNEL, *MOUNTS), absent=(*ABSENT, "clone3"), families=(UNIX, INET, INET6, NETLINK))
# The filter is all there is between it and the network. A pair of datagram sockets could still be sent from anywhere.
ON_LANDLOCK = Rules(
    refused=(*KERNEL, *MOUNTS, *OTHERS_MEMORY, *CALLING_OUT),
    absent=(*ABSENT, "clone3"),
    families=(),
    pairs_only_connected=True,
)
# An agent needs its service and may bring a sandbox of its own, which needs namespaces and mounts.
FOR_AGENTS = Rules(refused=KERNEL, absent=ABSENT, families=None, no_namespaces=False)
# As FOR_AGENTS where there are no namespaces: it can see the processes of others, but not touch them.
FOR_AGENTS_ON_LANDLOCK = Rules(refused=(*KERNEL, *MOUNTS, *OTHERS_MEMORY), absent=ABSENT, families=None)
# What a container without user namespaces refuses; the tests use it to stand in for one.
LIKE_A_CONTAINER = Rules(refused=MOUNTS, absent=("clone3",), families=None)


def machine_here() -> Machine | None:
    """None on an architecture whose numbers we do not know."""
    return MACHINES.get(platform.machine().lower())


def compiled(rules: Rules, machine: Machine) -> bytes:
    """The filter as the kernel takes it: eight bytes a step."""
    return b"".join(struct.pack("=HBBI", *step) for step in steps(rules, machine))


def steps(rules: Rules, machine: Machine) -> Iterator[Step]:
    yield LOAD, 0, 0, ARCHITECTURE_AT
    # Numbers of another architecture mean other calls, so a program made for it does not run at all.
    yield EQUALS, 1, 0, machine.audit
    yield RETURN, 0, 0, KILL
    yield LOAD, 0, 0, NUMBER_AT
    if machine.foreign is not None:
        yield AT_LEAST, 0, 1, machine.foreign
        yield _refuse(errno.ENOSYS)
    yield from _named(rules.refused, machine, errno.EPERM)
    yield from _named(rules.absent, machine, errno.ENOSYS)
    yield from _argument(machine.numbers["ioctl"], 1, _one_of(TERMINAL_INPUT))
    if rules.no_namespaces:
        yield from _argument(machine.numbers["clone"], 0, ((ANY_BIT, 0, 1, NAMESPACES), _refuse(errno.EPERM)))
    if rules.families is not None:
        yield from _argument(machine.numbers["socket"], 0, _none_of(rules.families))
    if rules.pairs_only_connected:
        kinds = ((MASK, 0, 0, KINDS), *_none_of((STREAM, SEQPACKET)))
        yield from _argument(machine.numbers["socketpair"], 1, kinds)
    yield RETURN, 0, 0, ALLOW


def _named(names: Iterable[str], machine: Machine, error: int) -> Iterator[Step]:
    for name in names:
        if name in machine.numbers:
            yield EQUALS, 0, 1, machine.numbers[name]
            yield _refuse(error)


def _argument(number: int, position: int, test: tuple[Step, ...]) -> Iterator[Step]:
    """Steps taken for one call only, on the low half of one of its arguments; a test that refuses nothing allows."""
    yield EQUALS, 0, len(test) + 2, number
    yield LOAD, 0, 0, ARGUMENTS_AT + 8 * position
    yield from test
    yield RETURN, 0, 0, ALLOW


def _one_of(values: tuple[int, ...]) -> tuple[Step, ...]:
    return tuple(step for value in values for step in ((EQUALS, 0, 1, value), _refuse(errno.EPERM)))


def _none_of(values: tuple[int, ...]) -> tuple[Step, ...]:
    last = len(values)
    jumps = tuple((EQUALS, last - number, 0, value) for number, value in enumerate(values))
    return (*jumps, _refuse(errno.EPERM))


def _refuse(error: int) -> Step:
    return RETURN, 0, 0, REFUSE | error
