"""The filters, run step by step as the kernel would: what is refused is refused whatever its arguments."""

import errno
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.sandbox.tiers import seccomp
from autopilot.sandbox.tiers.seccomp import (
    FOR_AGENTS,
    FOR_AGENTS_ON_LANDLOCK,
    IN_BUBBLEWRAP,
    ON_LANDLOCK,
    TO_A_PORT,
    TO_A_PROXY,
    Rules,
    compiled,
)
from autopilot.sandbox.tiers.syscalls import AARCH64, KERNEL, MACHINES, MOUNTS, X86_64, Machine

ALLOWED = seccomp.ALLOW
NOT_PERMITTED, ABSENT = seccomp.REFUSE | errno.EPERM, seccomp.REFUSE | errno.ENOSYS
NO_FAMILY, NO_PROTOCOL = seccomp.REFUSE | errno.EAFNOSUPPORT, seccomp.REFUSE | errno.EPROTONOSUPPORT
NO_TYPE, NO_FAST_OPEN = seccomp.REFUSE | errno.EACCES, seccomp.REFUSE | errno.EOPNOTSUPP
INET, INET6, NETLINK, STREAM, DATAGRAM, RAW, ON_EXEC = 2, 10, 16, 1, 2, 3, 0o2000000
OF_AGENTS = (FOR_AGENTS, FOR_AGENTS_ON_LANDLOCK, TO_A_PROXY, TO_A_PORT)
machines = pytest.mark.parametrize("machine", [X86_64, AARCH64], ids=["x86_64", "aarch64"])


def verdict(program: bytes, number: int, arguments: tuple[int, ...] = (), audit: int = X86_64.audit) -> int:
    """A BPF machine of the instructions we use."""
    padded = (*arguments, 0, 0, 0, 0, 0, 0)[:6]
    call = struct.pack("=IIQ6Q", number, audit, 0, *padded)
    steps, at, held = list(struct.iter_unpack("=HBBI", program)), 0, 0
    while True:
        code, yes, no, value = steps[at]
        at += 1
        match code:
            case seccomp.LOAD:
                held = struct.unpack_from("=I", call, value)[0]
            case seccomp.MASK:
                held &= value
            case seccomp.RETURN:
                return int(value)
            case seccomp.EQUALS:
                at += yes if held == value else no
            case seccomp.AT_LEAST:
                at += yes if held >= value else no
            case seccomp.ANY_BIT:
                at += yes if held & value else no


@machines
@pytest.mark.parametrize("rules", [IN_BUBBLEWRAP, ON_LANDLOCK, *OF_AGENTS])
def test_every_named_call_is_refused_and_every_other_allowed(machine: Machine, rules: Rules) -> None:
    program = compiled(rules, machine)
    for name, number in machine.numbers.items():
        expected = NOT_PERMITTED if name in rules.refused else ABSENT if name in rules.absent else None
        if expected is not None:
            assert verdict(program, number, audit=machine.audit) == expected, name
    assert verdict(program, 0, audit=machine.audit) == ALLOWED


@given(number=st.integers(0, 0xFFFFFFFF), arguments=st.tuples(*[st.integers(0, 2**64 - 1)] * 3))
def test_the_filter_ends_for_any_call_and_foreign_machines_are_killed(number: int, arguments: tuple[int, ...]) -> None:
    known = {ALLOWED, NOT_PERMITTED, ABSENT, NO_FAMILY, NO_PROTOCOL, NO_TYPE, NO_FAST_OPEN, seccomp.ASK, seccomp.REFUSE}
    for rules in (ON_LANDLOCK, TO_A_PROXY):
        program = compiled(rules, X86_64)
        assert verdict(program, number, arguments) in known
        assert verdict(program, number, arguments, audit=0x40000003) == seccomp.KILL
        assert verdict(program, number | 0x40000000, arguments) == ABSENT


@given(flags=st.integers(0, 2**32 - 1))
def test_no_clone_makes_a_namespace(flags: int) -> None:
    expected = NOT_PERMITTED if flags & seccomp.NAMESPACES else ALLOWED

    assert verdict(compiled(IN_BUBBLEWRAP, X86_64), X86_64.numbers["clone"], (flags,)) == expected


@pytest.mark.parametrize(
    ("rules", "family", "expected"),
    [
        (IN_BUBBLEWRAP, 1, ALLOWED), (IN_BUBBLEWRAP, 2, ALLOWED), (IN_BUBBLEWRAP, 40, NOT_PERMITTED),
        (ON_LANDLOCK, 1, NOT_PERMITTED), (ON_LANDLOCK, 2, NOT_PERMITTED), (ON_LANDLOCK, 16, NOT_PERMITTED),
    ],
)  # fmt: skip
@machines
def test_sockets_are_made_by_family(rules: Rules, family: int, expected: int, machine: Machine) -> None:
    assert verdict(compiled(rules, machine), machine.numbers["socket"], (family,), machine.audit) == expected


@machines
@pytest.mark.parametrize("rules", OF_AGENTS)
@given(family=st.integers(0, 2**32 - 1), kind=st.integers(0, 2**32 - 1), protocol=st.integers(0, 2**32 - 1))
def test_agents_make_no_socket_but_of_the_internet_and_of_routes(
    rules: Rules, machine: Machine, family: int, kind: int, protocol: int
) -> None:
    program, number = compiled(rules, machine), machine.numbers["socket"]

    for wanted in (family, 1, 40, 43):
        if wanted not in {INET, INET6, NETLINK}:
            assert verdict(program, number, (wanted, kind, protocol), machine.audit) == NO_FAMILY
    assert verdict(program, number, (NETLINK, kind, protocol or 1), machine.audit) == NO_PROTOCOL
    assert verdict(program, number, (NETLINK, kind, 0), machine.audit) == ALLOWED
    assert verdict(program, number, (INET6, STREAM | ON_EXEC, 0), machine.audit) == ALLOWED


@machines
@pytest.mark.parametrize("rules", [TO_A_PROXY, TO_A_PORT])
@pytest.mark.parametrize(
    ("kind", "protocol", "expected"),
    [
        (STREAM, 0, ALLOWED), (STREAM | ON_EXEC, 6, ALLOWED), (STREAM, 262, NO_PROTOCOL), (STREAM, 132, NO_PROTOCOL),
        (DATAGRAM, 0, NO_TYPE), (DATAGRAM | ON_EXEC, 17, NO_TYPE), (RAW, 1, NO_TYPE), (5, 132, NO_TYPE),
    ],
    ids=["plain", "TCP", "MPTCP", "SCTP", "datagrams", "UDP", "raw", "SCTP in packets"],
)  # fmt: skip
def test_agents_who_have_a_proxy_make_only_tcp_sockets(
    rules: Rules, machine: Machine, kind: int, protocol: int, expected: int
) -> None:
    for family in (INET, INET6):
        asked = (family, kind, protocol)
        assert verdict(compiled(rules, machine), machine.numbers["socket"], asked, machine.audit) == expected
    if expected == NO_TYPE:
        open_one = compiled(FOR_AGENTS, machine)
        assert verdict(open_one, machine.numbers["socket"], (INET, kind, protocol), machine.audit) == ALLOWED


@given(flags=st.integers(0, 2**32 - 1))
def test_agents_who_have_a_proxy_send_nothing_before_a_connection_is_made(flags: int) -> None:
    for rules in (TO_A_PROXY, TO_A_PORT):
        for name, position in {"sendto": 3, "sendmsg": 2, "sendmmsg": 3}.items():
            arguments = (*((0,) * position), flags)
            expected = NO_FAST_OPEN if flags & 0x20000000 else ALLOWED
            assert verdict(compiled(rules, X86_64), X86_64.numbers[name], arguments) == expected


@machines
@given(level=st.integers(0, 300), name=st.integers(0, 300))
def test_agents_who_have_a_proxy_cannot_lead_a_connection_elsewhere(machine: Machine, level: int, name: int) -> None:
    for asked in (*seccomp.DETOURS, (level, name)):
        expected = NOT_PERMITTED if asked in seccomp.DETOURS else ALLOWED
        for rules in (TO_A_PROXY, TO_A_PORT):
            found = verdict(compiled(rules, machine), machine.numbers["setsockopt"], (0, *asked), machine.audit)
            assert found == expected


@machines
def test_the_launcher_is_asked_for_every_connection_and_can_look_into_every_program(machine: Machine) -> None:
    program, numbers = compiled(TO_A_PROXY, machine), machine.numbers

    assert {verdict(program, numbers[name], (), machine.audit) for name in ("connect", "bind", "listen")} == {
        seccomp.ASK
    }
    assert verdict(program, numbers["prctl"], (4, 0), machine.audit) == seccomp.REFUSE, "not made, and no error"
    assert verdict(program, numbers["prctl"], (15, 0), machine.audit) == ALLOWED


@pytest.mark.parametrize(
    ("kind", "expected"), [(1, ALLOWED), (1 | ON_EXEC, ALLOWED), (5, ALLOWED), (2, NOT_PERMITTED)],
    ids=["stream", "stream, closed on exec", "packets in order", "datagrams"],
)  # fmt: skip
def test_pairs_of_sockets_are_connected_for_good(kind: int, expected: int) -> None:
    for rules in (ON_LANDLOCK, *OF_AGENTS):
        assert verdict(compiled(rules, X86_64), X86_64.numbers["socketpair"], (1, kind)) == expected
        assert verdict(compiled(rules, X86_64), X86_64.numbers["socketpair"], (30, kind)) == NO_FAMILY


@pytest.mark.parametrize("request_code", seccomp.TERMINAL_INPUT)
def test_nobody_types_into_our_terminal(request_code: int) -> None:
    for rules in (IN_BUBBLEWRAP, ON_LANDLOCK, FOR_AGENTS):
        assert verdict(compiled(rules, X86_64), X86_64.numbers["ioctl"], (0, request_code)) == NOT_PERMITTED
    assert verdict(compiled(IN_BUBBLEWRAP, X86_64), X86_64.numbers["ioctl"], (0, 0x5401)) == ALLOWED


def test_every_call_we_refuse_has_a_number_on_every_machine() -> None:
    """But for those that exist on x86 alone."""
    for machine in MACHINES.values():
        assert {*KERNEL, *MOUNTS} - machine.numbers.keys() <= {"iopl", "ioperm"}
