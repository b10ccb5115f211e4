"""Compiles what a confined program may not ask of the kernel into a seccomp filter, as plain BPF."""

import errno
import platform
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from autopilot.sandbox.tiers.syscalls import ABSENT, CALLING_OUT, KERNEL, MACHINES, MOUNTS, OTHERS_MEMORY, Machine

ALLOW, ASK, REFUSE, KILL = 0x7FFF0000, 0x7FC00000, 0x00050000, 0x80000000
LOAD, EQUALS, AT_LEAST, ANY_BIT, MASK, RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
NUMBER_AT, ARCHITECTURE_AT, ARGUMENTS_AT = 0, 4, 16
# CLONE_NEWCGROUP | NEWUTS | NEWIPC | NEWUSER | NEWPID | NEWNET | NEWNS | NEWTIME
NAMESPACES = 0x7E020080
TERMINAL_INPUT = (0x5412, 0x541C)  # TIOCSTI and TIOCLINUX: typing into the terminal we were started from
UNIX, INET, INET6, NETLINK = 1, 2, 10, 16
KINDS, STREAM, SEQPACKET = 0xF, 1, 5
# Pairs that cannot be led elsewhere. Rust starts programs with one of packets.
CONNECTED = (STREAM, SEQPACKET)
ROUTES, ANY_PROTOCOL, TCP = 0, 0, 6
FAST_OPEN = 0x20000000
FLAGS_AT = {"sendto": 3, "sendmsg": 2, "sendmmsg": 3}
# Level and name of what leads a connection elsewhere than its address says: IP_OPTIONS, SO_BINDTODEVICE and
# SO_BINDTOIFINDEX.
DETOURS = ((0, 4), (1, 25), (1, 62))
SET_DUMPABLE = 4

Step = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a filter allows."""

    refused: tuple[str, ...]
    absent: tuple[str, ...]
    families: tuple[int, ...] | None
    """The families of sockets that may be made; None: any. Netlink is for looking at addresses and routes only."""
    unknown_family: int = errno.EPERM
    """The error for any other one. Agents' programs know one from machines without IPv6, and find another way."""
    pairs: tuple[int, ...] | None = None
    """The types of socket pairs that may be made; None: any."""
    no_namespaces: bool = True
    only_tcp: bool = False
    """No datagrams, no multipath, no data before a connection is made: nothing that Landlock does not see."""
    asked: tuple[str, ...] = ()
    """The calls that the launcher carries out instead of the program. It must be able to look into the program."""


# Processes and network are namespaces of its own, so it may debug its children and serve itself.
IN_BUBBLEWRAP = Rules(refused=(*KERNEL, *MOUNTS), absent=(*ABSENT, "clone3"), families=(UNIX, INET, INET6, NETLINK))
# The filter is all there is between it and the network. A pair of datagram sockets could still be sent from anywhere.
ON_LANDLOCK = Rules(
    refused=(*KERNEL, *MOUNTS, *OTHERS_MEMORY, *CALLING_OUT),
    absent=(*ABSENT, "clone3"),
    families=(),
    pairs=CONNECTED,
)
# An agent needs its service and may bring a sandbox of its own, which needs namespaces and mounts. A socket of the file
# system leads to whoever listens there, through every wall; so does one to the machine this one runs on (vsock).
FOR_AGENTS = Rules(
    refused=KERNEL,
    absent=ABSENT,
    families=(INET, INET6, NETLINK),
    unknown_family=errno.EAFNOSUPPORT,
    pairs=CONNECTED,
    no_namespaces=False,
)
# As FOR_AGENTS where there are no namespaces: it can see the processes of others, but not touch them.
FOR_AGENTS_ON_LANDLOCK = replace(FOR_AGENTS, refused=(*KERNEL, *MOUNTS, *OTHERS_MEMORY), no_namespaces=True)
# As FOR_AGENTS_ON_LANDLOCK for those who may reach their proxy and nothing else. The launcher compares addresses.
TO_A_PROXY = replace(FOR_AGENTS_ON_LANDLOCK, only_tcp=True, asked=("connect", "bind", "listen"))
# The same where no launcher can be asked: Landlock compares ports, and nobody can be let in.
TO_A_PORT = replace(FOR_AGENTS_ON_LANDLOCK, only_tcp=True, refused=(*FOR_AGENTS_ON_LANDLOCK.refused, "listen"))
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
    yield from _asked(rules.asked, machine)
    yield from _for(machine, "ioctl", (_argument(1), *_one_of(TERMINAL_INPUT)))
    if rules.no_namespaces:
        yield from _for(machine, "clone", (_argument(0), (ANY_BIT, 0, 1, NAMESPACES), _refuse(errno.EPERM)))
    if rules.families is not None:
        yield from _for(machine, "socket", tuple(_sockets(rules, rules.families)))
    if rules.pairs is not None:
        yield from _for(machine, "socketpair", tuple(_pairs(rules.pairs)))
    for name, position in FLAGS_AT.items() if rules.only_tcp else ():
        refusal = ((ANY_BIT, 0, 1, FAST_OPEN), _refuse(errno.EOPNOTSUPP))
        yield from _for(machine, name, (_argument(position), *refusal))
    if rules.only_tcp:
        yield from _for(machine, "setsockopt", tuple(_detours()))
    yield RETURN, 0, 0, ALLOW


def _asked(names: tuple[str, ...], machine: Machine) -> Iterator[Step]:
    for name in names:
        yield EQUALS, 0, 1, machine.numbers[name]
        yield RETURN, 0, 0, ASK
    if names:
        # The launcher cannot look into a program that hides its memory; one that wants to is told that it does.
        yield from _for(machine, "prctl", (_argument(0), (EQUALS, 0, 1, SET_DUMPABLE), _refuse(0)))


def _sockets(rules: Rules, families: tuple[int, ...]) -> Iterator[Step]:
    """Steps for `socket`: its family, then its type, then its protocol."""
    yield from (_argument(0), *_none_of(families, rules.unknown_family))
    netlink = (_argument(2), *_none_of((ROUTES,), errno.EPROTONOSUPPORT), (RETURN, 0, 0, ALLOW))
    yield from ((EQUALS, 0, len(netlink), NETLINK), *netlink)
    if rules.only_tcp:
        yield from (_argument(1), (MASK, 0, 0, KINDS), *_none_of((STREAM,), errno.EACCES))
        yield from (_argument(2), *_none_of((ANY_PROTOCOL, TCP), errno.EPROTONOSUPPORT))


def _detours() -> Iterator[Step]:
    for level, name in DETOURS:
        yield from (_argument(1), (EQUALS, 0, 3, level), _argument(2), (EQUALS, 0, 1, name), _refuse(errno.EPERM))


def _pairs(kinds: tuple[int, ...]) -> Iterator[Step]:
    yield from (_argument(0), *_none_of((UNIX,), errno.EAFNOSUPPORT))
    yield from (_argument(1), (MASK, 0, 0, KINDS), *_none_of(kinds, errno.EPERM))


def _named(names: Iterable[str], machine: Machine, error: int) -> Iterator[Step]:
    for name in names:
        if name in machine.numbers:
            yield EQUALS, 0, 1, machine.numbers[name]
            yield _refuse(error)


def _for(machine: Machine, name: str, test: tuple[Step, ...]) -> Iterator[Step]:
    """Steps taken for one call only; a test that refuses nothing allows."""
    yield EQUALS, 0, len(test) + 1, machine.numbers[name]
    yield from test
    yield RETURN, 0, 0, ALLOW


def _argument(position: int) -> Step:
    """The low half of one of the call's arguments."""
    return LOAD, 0, 0, ARGUMENTS_AT + 8 * position


def _one_of(values: tuple[int, ...]) -> tuple[Step, ...]:
    return tuple(step for value in values for step in ((EQUALS, 0, 1, value), _refuse(errno.EPERM)))


def _none_of(values: tuple[int, ...], error: int) -> tuple[Step, ...]:
    last = len(values)
    jumps = tuple((EQUALS, last - number, 0, value) for number, value in enumerate(values))
    return (*jumps, _refuse(error))


def _refuse(error: int) -> Step:
    """With 0 the call is not made and succeeds."""
    return RETURN, 0, 0, REFUSE | error
