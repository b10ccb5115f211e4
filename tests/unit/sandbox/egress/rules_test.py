"""Which hosts, addresses and greetings the proxy lets through, for all inputs we can think of."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.sandbox.egress.rules import (
    Allowed,
    Refused,
    Request,
    check_greeting,
    closed,
    host_of,
    place_of,
    plain_target,
    rule_of,
    server_name,
)
from support.egress import greeting

DISGUISES = (
    "0x7f.1", "2130706433", "0177.0.0.1", "127.1", "0x7f000001", "127.0.0.0x1", "1.2.3", "256.0.0.1", "127.0.0.01",
    "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]",
)  # fmt: skip
NO_HOSTS = (
    "",
    ".",
    "a..b",
    "a b",
    "-a.b",
    "a/b",
    "a@b",
    "a%00b",
    "x" * 64,
    f"{'a.' * 127}aa",
    "[::1",
    "[fe80::1%eth0]",
    "*",
)


@pytest.mark.parametrize("text", DISGUISES)
def test_a_number_in_disguise_is_refused(text: str) -> None:
    with pytest.raises(Refused) as told:
        host_of(text)

    assert told.value.reason == "number"


@pytest.mark.parametrize("text", NO_HOSTS)
def test_what_is_no_host_is_refused(text: str) -> None:
    with pytest.raises(Refused) as told:
        host_of(text)

    assert told.value.reason == "host"


def test_a_host_has_one_spelling() -> None:
    assert host_of("API.Example.COM.") == "api.example.com"
    assert host_of("bücher.example") == "xn--bcher-kva.example"
    assert host_of("１２７.0.0.1") == "127.0.0.1"
    assert host_of("[2001:DB8::0:1]") == "2001:db8::1"
    assert place_of("a.b:443") == ("a.b", 443)
    assert rule_of("A.b") == "a.b:443"
    assert rule_of("[::1]:80") == "[::1]:80"
    assert rule_of("*.A.b.:8443") == "*.a.b:8443"


@pytest.mark.parametrize(
    "text", ["a.b", "a.b:", "a.b:0", "a.b:65536", "a.b:+1", "a.b:１", "a.b:1:2", ":443", "::1:443"]
)
def test_a_place_without_a_real_host_and_port_is_refused(text: str) -> None:
    with pytest.raises(Refused):
        place_of(text)


def test_a_suffix_stands_for_all_below_it_and_never_for_itself() -> None:
    allowed = Allowed(["*.example.com", "api.test:8080"])

    assert allowed.permits("a.example.com", 443)
    assert allowed.permits("a.b.example.com", 443)
    assert not allowed.permits("example.com", 443)
    assert not allowed.permits("evilexample.com", 443)
    assert not allowed.permits("a.example.com", 80)
    assert allowed.permits("api.test", 8080)
    assert not allowed.permits("x.api.test", 8080)


@pytest.mark.parametrize("text", ["*", "*.", "*.1.2.3.4", "*.[::1]", "a.*.b", "http://a.b", "a.b/c"])
def test_an_entry_that_would_allow_more_than_it_says_is_refused(text: str) -> None:
    with pytest.raises(Refused):
        rule_of(text)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.8.8", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
        "100.100.100.200", "168.63.129.16", "224.0.0.1", "239.1.1.1", "255.255.255.255", "240.0.0.1", "::1", "::",
        "fe80::1", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1", "::ffff:10.0.0.1", "64:ff9b::a00:1",
        "2002:a00:1::1", "2001:db8::1", "192.0.2.1",
    ],
)  # fmt: skip
def test_an_address_that_is_not_out_in_public_is_closed_unless_it_is_listed(address: str) -> None:
    assert closed(address)
    with pytest.raises(Refused):
        Allowed(["a.b"]).check_address("a.b", address, 443)


@given(st.ip_addresses())
def test_no_private_address_is_ever_open(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    private = address.is_private or address.is_loopback or address.is_link_local or address.is_multicast
    if private:
        assert closed(str(address))


def test_a_listed_address_and_a_public_one_are_open() -> None:
    Allowed(["a.b", "10.0.0.1:443"]).check_address("a.b", "10.0.0.1", 443)
    Allowed(["localhost:99"]).check_address("localhost", "127.0.0.1", 99)
    Allowed(["a.b"]).check_address("a.b", "1.1.1.1", 443)
    with pytest.raises(Refused):
        Allowed(["a.b", "10.0.0.1:443"]).check_address("a.b", "10.0.0.1", 80)


@given(st.text(max_size=40))
def test_whatever_is_asked_for_has_one_spelling_or_is_refused(text: str) -> None:
    try:
        host = host_of(text)
    except Refused:
        return
    assert host_of(f"[{host}]" if ":" in host else host) == host


@pytest.mark.parametrize(
    "target",
    ["/", "*", "https://a.b/", "ftp://a.b/", "http:/a.b/", "http://a@a.b/", "http://a.b#x", "http://a.b:0/", "a.b:80"],
)
def test_only_absolute_plain_addresses_are_served(target: str) -> None:
    with pytest.raises(Refused):
        plain_target(target)


def test_an_absolute_address_is_taken_apart() -> None:
    assert plain_target("http://A.b:81/c?d=e") == ("a.b", 81, "/c?d=e")
    assert plain_target("http://a.b?x") == ("a.b", 80, "/?x")


def test_what_is_meant_for_the_next_hop_is_dropped_and_the_host_is_ours() -> None:
    head = b"\r\n".join(
        (
            b"POST http://a.b/ HTTP/1.1", b"Host: evil.test", b"Connection: x-secret, close", b"X-Secret: 1",
            b"Proxy-Authorization: Basic eA==", b"Upgrade: h2c", b"Content-Length: 3", b"X-Kept: 2",
        )
    )  # fmt: skip
    sent = Request(head).onward("/", "a.b")

    assert sent == (b"POST / HTTP/1.1\r\nHost: a.b\r\nX-Kept: 2\r\nContent-Length: 3\r\nConnection: close\r\n\r\n")


def test_the_name_in_a_real_greeting_is_found_however_it_is_cut() -> None:
    whole = greeting("api.example.com")

    assert server_name(whole) == "api.example.com"
    assert all(server_name(whole[:length]) is None for length in range(len(whole)))
    body = whole[5:]
    cut = b"".join(b"\x16\x03\x01" + len(p).to_bytes(2, "big") + p for p in (body[:7], body[7:40], body[40:]))
    assert server_name(cut) == "api.example.com"
    assert server_name(greeting(None)) == ""


@pytest.mark.parametrize(
    "data", [b"SSH-2.0-x\r\n", b"GET / HTTP/1.1\r\n", b"\x16\x02\x01\x00\x01\x01", b"\x17\x03\x03"]
)
def test_what_is_no_greeting_is_refused_at_its_first_bytes(data: bytes) -> None:
    with pytest.raises(Refused):
        server_name(data)


@given(st.binary(max_size=200), st.integers(0, 400), st.binary(max_size=4))
def test_a_broken_greeting_is_refused_or_names_something_and_never_crashes(noise: bytes, at: int, over: bytes) -> None:
    whole = bytearray(greeting("api.example.com"))
    whole[at : at + len(over)] = over
    for data in (bytes(whole), b"\x16\x03\x01" + len(noise).to_bytes(2, "big") + noise):
        try:
            server_name(data)
        except Refused:
            continue


def test_a_greeting_for_another_host_is_refused() -> None:
    check_greeting("a.b", "a.b")
    check_greeting("", "1.1.1.1")
    for name, host in (("c.d", "a.b"), ("", "a.b"), ("a.b.", "a.b"), ("a.b", "1.1.1.1")):
        with pytest.raises(Refused):
            check_greeting(name, host)
