"""The filters, run step by step as the kernel would: what is refused is refused whatever its arguments."""

import errno
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.sandbox import seccomp
from autopilot.sandbox.seccomp import FOR_AGENTS, IN_BUBBLEWRAP, ON_LANDLOCK, Rules, compiled
from autopilot.sandbox.syscalls import AARCH64, KERNEL, MACHINES, MOUNTS, X86_64, Machine

ALLOWED = seccomp.ALLOW
NOT_PERMITTED, ABSENT = seccomp.REFUSE | errno.EPERM, seccomp.REFUSE | errno.ENOSYS
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
@pytest.mark.parametrize("rules", [IN_BUBBLEWRAP, ON_LANDLOCK, FOR_AGENTS], ids=["bubblewrap", "landlock", "agents"])
def test_every_named_call_is_refused_and_every_other_allowed(machine: Machine, rules: Rules) -> None:
    program = compiled(rules, machine)
    for name, number in machine.numbers.items():
        expected = NOT_PERMITTED if name in rules.refused else ABSENT if name in rules.absent else None
        if expected is not None:
            assert verdict(program, number, audit=machine.audit) == expected, name
    assert verdict(program, 0, audit=machine.audit) == ALLOWED


@given(number=st.integers(0, 0xFFFFFFFF), arguments=st.tuples(*[st.integers(0, 2**64 - 1)] * 3))
def test_the_filter_ends_for_any_call_and_foreign_machines_are_killed(number: int, arguments: tuple[int, ...]) -> None:
    program = compiled(ON_LANDLOCK, X86_64)

    assert verdict(program, number, arguments) in {ALLOWED, NOT_PERMITTED, ABSENT}
    assert verdict(program, number, arguments, audit=0x40000003) == seccomp.KILL


@given(flags=st.integers(0, 2**32 - 1))
def test_no_clone_makes_a_namespace(flags: int) -> None:
    expected = NOT_PERMITTED if flags & seccomp.NAMESPACES else ALLOWED

    assert verdict(compiled(IN_BUBBLEWRAP, X86_64), X86_64.numbers["clone"], (flags,)) == expected


@pytest.mark.parametrize(
    ("rules", "family", "expected"),
    [
        (IN_BUBBLEWRAP, 1, ALLOWED), (IN_BUBBLEWRAP, 2, ALLOWED), (IN_BUBBLEWRAP, 40, NOT_PERMITTED),
        (ON_LANDLOCK, 1, NOT_PERMITTED), (ON_LANDLOCK, 2, NOT_PERMITTED), (ON_LANDLOCK, 16, NOT_PERMITTED),
        (FOR_AGENTS, 2, ALLOWED),
    ],
)  # fmt: skip
@machines
def test_sockets_are_made_by_family(rules: Rules, family: int, expected: int, machine: Machine) -> None:
    assert verdict(compiled(rules, machine), machine.numbers["socket"], (family,), machine.audit) == expected


@pytest.mark.parametrize(
    ("kind", "expected"), [(1, ALLOWED), (1 | 0o2000000, ALLOWED), (5, ALLOWED), (2, NOT_PERMITTED)],
    ids=["stream", "stream, closed on exec", "packets in order", "datagrams"],
)  # fmt: skip
def test_pairs_of_sockets_are_connected_for_good(kind: int, expected: int) -> None:
    assert verdict(compiled(ON_LANDLOCK, X86_64), X86_64.numbers["socketpair"], (1, kind)) == expected


@pytest.mark.parametrize("request_code", seccomp.TERMINAL_INPUT)
def test_nobody_types_into_our_terminal(request_code: int) -> None:
    for rules in (IN_BUBBLEWRAP, ON_LANDLOCK, FOR_AGENTS):
        assert verdict(compiled(rules, X86_64), X86_64.numbers["ioctl"], (0, request_code)) == NOT_PERMITTED
    assert verdict(compiled(IN_BUBBLEWRAP, X86_64), X86_64.numbers["ioctl"], (0, 0x5401)) == ALLOWED


def test_every_call_we_refuse_has_a_number_on_every_machine() -> None:
    """But for those that exist on x86 alone."""
    for machine in MACHINES.values():
        assert {*KERNEL, *MOUNTS} - machine.numbers.keys() <= {"iopl", "ioperm"}
